//! Checkpoints: how far a chain went and what its last hash was, signed, in a file of their own.
//!
//! Each is a signed note (C2SP): origin, number of records, hash of the last of them in base64, an
//! empty line, the signature; an empty line stands between two. A later one says all that an
//! earlier one did. They never speak of a record that is not on disk.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::chain::{Hash, Head, origin};
use super::disk::{Disk, Sink};
use super::key::{PublicKey, Signer};

/// A checkpoint is due after so many records,
const RECORDS: u64 = 256;
/// or so long after the last, if there are new ones.
const PAUSE: Duration = Duration::from_secs(5);
/// The file is brought to the disk no more often than this.
const SYNC: Duration = Duration::from_secs(5);

/// The checkpoints of one chain, being written.
#[derive(Debug)]
pub(super) struct Checkpoints {
    origin: String,
    path: PathBuf,
    signer: Signer,
    sink: Option<Box<dyn Sink>>,
    length: u64,
    /// What the last one says, and when it was signed.
    signed: u64,
    last: Instant,
    synced: Option<Instant>,
    failing: bool,
}

impl Checkpoints {
    pub(super) fn new(chain: &str, path: PathBuf, signer: Signer) -> Self {
        Self {
            origin: origin(chain),
            path,
            signer,
            sink: None,
            length: 0,
            signed: 0,
            last: Instant::now(),
            synced: None,
            failing: false,
        }
    }

    /// When the next one is due for a chain that goes so far; `None` if nothing is new.
    pub(super) fn due(&self, head: &Head) -> Option<Instant> {
        let at_once = self.signed == 0 || head.seq >= self.signed + RECORDS;
        let when = if at_once && !self.failing { self.last } else { self.last + PAUSE };
        (head.seq > self.signed).then_some(when)
    }

    /// Whether the last could not be written.
    pub(super) fn is_failing(&self) -> bool {
        self.failing
    }

    /// Signs how far the chain goes. `last` if nothing will follow.
    pub(super) fn sign(&mut self, head: &Head, last: bool, disk: &dyn Disk) -> io::Result<()> {
        self.last = Instant::now();
        let signed = self.write(head, last, disk);
        self.failing = signed.is_err();
        signed
    }

    fn write(&mut self, head: &Head, last: bool, disk: &dyn Disk) -> io::Result<()> {
        if self.sink.is_none() {
            disk.create_folder(self.path.parent().unwrap_or(Path::new(".")))?;
            self.sink = Some(disk.create(&self.path)?);
        }
        let Some(sink) = &mut self.sink else { return Ok(()) };
        if head.seq > self.signed {
            let hash = STANDARD.encode(head.hash);
            let text = format!("{}\n{}\n{hash}\n", self.origin, head.seq);
            let note = format!("{text}\n{}\n", self.signer.sign(&text));
            let added = sink.append(note.as_bytes());
            if let Err(error) = added {
                // What is left of it must not stand in front of the next.
                sink.cut(self.length)?;
                return Err(error);
            }
            self.length += note.len() as u64;
            self.signed = head.seq;
        }
        if last || self.synced.is_none_or(|synced| synced.elapsed() >= SYNC) {
            sink.sync()?;
            self.synced = Some(Instant::now());
        }
        Ok(())
    }
}

/// What one checkpoint says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Checkpoint {
    pub(super) size: u64,
    pub(super) hash: Hash,
}

/// What is wrong with a file of checkpoints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Flaw {
    /// The line, from 1.
    pub(super) line: u64,
    pub(super) what: &'static str,
    /// Whether it is no more than the last one cut off.
    pub(super) torn: bool,
}

/// Reads the checkpoints of a chain, and what is wrong with them. Without a key nothing is proven.
pub(super) fn parse(
    text: &str,
    chain: &str,
    key: Option<&PublicKey>,
) -> (Vec<Checkpoint>, Vec<Flaw>) {
    let (mut read, mut flaws) = (Vec::new(), Vec::new());
    let mut rest = text;
    let mut line = 1;
    while !rest.is_empty() {
        let Some((note, behind)) = note(rest) else {
            let what = "the last checkpoint is cut off, or it is none";
            flaws.push(Flaw { line, what, torn: true });
            break;
        };
        match one(note, chain, key) {
            Ok(checkpoint) => read.push(checkpoint),
            Err(what) => flaws.push(Flaw { line, what, torn: false }),
        }
        (rest, line) = (behind, line + 6);
    }
    (read, flaws)
}

/// The first note, six lines of them, and what stands behind it.
fn note(text: &str) -> Option<(&str, &str)> {
    let end = text.match_indices('\n').nth(5)?.0 + 1;
    Some(text.split_at(end))
}

fn one(note: &str, chain: &str, key: Option<&PublicKey>) -> Result<Checkpoint, &'static str> {
    let lines: Vec<_> = note.split('\n').collect();
    let [name, size, hash, "", signature, "", ""] = lines[..] else {
        return Err("this is no checkpoint");
    };
    let text = format!("{name}\n{size}\n{hash}\n");
    if key.is_some_and(|key| !key.proves(&text, signature)) {
        return Err("its signature does not fit");
    }
    if name != origin(chain) {
        return Err("it speaks of another chain");
    }
    let is_number = size.bytes().all(|byte| byte.is_ascii_digit());
    let size = size.parse().ok().filter(|_| is_number).ok_or("it says no number of records")?;
    let hash = STANDARD.decode(hash).ok().and_then(|hash| hash.try_into().ok());
    Ok(Checkpoint { size, hash: hash.ok_or("it says no hash")? })
}
