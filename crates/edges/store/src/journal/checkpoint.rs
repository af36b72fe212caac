//! Checkpoints: how far a chain went and what its last hash was, signed, in a file of their own.
//!
//! Each is a signed note (C2SP): origin, number of records, hash of the last of them in base64, an
//! empty line, the signature; an empty line stands between two. A later one says all that an
//! earlier one did. They never speak of a record that is not on disk.
//!
//! One that the next process signed, because the one that wrote was ended before it could, says so
//! in a fourth line: it proves no more than that the records were there when that process began.

use std::fs::OpenOptions;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::chain::{Hash, Head, Link, origin};
use super::disk::{Disk, RealDisk, Sink};
use super::key::{PublicKey, Signer};
use crate::private;

/// A checkpoint is due after so many records,
const RECORDS: u64 = 256;
/// or so long after the last, if there are new ones.
const PAUSE: Duration = Duration::from_secs(5);
/// The file is brought to the disk no more often than this.
const SYNC: Duration = Duration::from_secs(5);

/// Longer than this no record is without a checkpoint, unless none can be written.
const UNSIGNED: Duration = Duration::from_secs(60);
/// The fourth line of a checkpoint that the next process signed.
const RECOVERED: &str = "recovered";

/// The checkpoints of one chain, being written.
#[derive(Debug)]
pub(super) struct Checkpoints {
    origin: String,
    path: PathBuf,
    signer: Signer,
    sink: Option<Box<dyn Sink>>,
    length: u64,
    /// Whether a torn one may stand behind that length, which must not stand in front of the next.
    dirty: bool,
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
            dirty: false,
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
            if self.dirty {
                sink.cut(self.length)?;
            }
            let note = noted(&self.origin, head, "", &self.signer);
            self.dirty = true;
            sink.append(note.as_bytes())?;
            self.dirty = false;
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

/// A checkpoint as text. `more` is a further line of it, with its end.
fn noted(origin: &str, head: &Head, more: &str, signer: &Signer) -> String {
    let text = format!("{origin}\n{}\n{}\n{more}", head.seq, STANDARD.encode(head.hash));
    format!("{text}\n{}\n", signer.sign(&text))
}

/// Signs how far a chain goes whose process was ended, behind the checkpoints it has.
pub(super) fn recover(chain: &str, head: &Head, signer: &Signer, path: &Path) -> io::Result<()> {
    RealDisk.create_folder(path.parent().unwrap_or(Path::new(".")))?;
    let mut file = private::open(path, OpenOptions::new().read(true).append(true).create(true))?;
    let mut written = Vec::new();
    file.read_to_end(&mut written)?;
    // What is left of one that was being written must not stand in front of this one.
    let (_, _, whole) = parse(&written, chain, None);
    file.set_len(whole as u64)?;
    let note = noted(&origin(chain), head, &format!("{RECOVERED}\n"), signer);
    file.write_all(note.as_bytes())?;
    file.sync_all()
}

/// The records behind the last checkpoint of a chain.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tail {
    /// When the first and the last were taken, in microseconds since the chain began.
    times: Option<(u64, u64)>,
    /// When the first was, in milliseconds since 1970.
    since: u64,
}

impl Tail {
    pub(super) fn push(&mut self, link: &Link) {
        if self.times.is_none() {
            self.since = link.ms;
        }
        let first = self.times.map_or(link.mono, |(first, _)| first);
        self.times = Some((first, link.mono));
    }

    /// Whether a process may have left as much unsigned that was ended: it signs every few seconds.
    pub(super) fn is_a_crash(&self) -> bool {
        let length = self.times.map(|(first, last)| last.saturating_sub(first));
        length.unwrap_or_default() <= UNSIGNED.as_micros() as u64
    }

    /// Whether a process that writes may not have signed it yet.
    pub(super) fn is_new(&self, now: u64) -> bool {
        self.times.is_none() || now.saturating_sub(self.since) <= UNSIGNED.as_millis() as u64
    }
}

/// What one checkpoint says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Checkpoint {
    pub(super) size: u64,
    pub(super) hash: Hash,
    /// Whether the next process signed it.
    pub(super) recovered: bool,
    /// Its first line in the file, from 1.
    pub(super) line: u64,
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

/// Reads the checkpoints of a chain, what is wrong with them, and how long the whole ones are
/// together. Without a key nothing is proven.
///
/// It takes bytes: the dash in front of a signature has three, and a write can be cut between them.
pub(super) fn parse(
    written: &[u8],
    chain: &str,
    key: Option<&PublicKey>,
) -> (Vec<Checkpoint>, Vec<Flaw>, usize) {
    let (mut read, mut flaws) = (Vec::new(), Vec::new());
    let mut rest = written;
    let mut line = 1;
    while !rest.is_empty() {
        let Some((note, behind, lines)) = note(rest) else {
            let what = "the last checkpoint is cut off, or it is none";
            flaws.push(Flaw { line, what, torn: true });
            break;
        };
        let text = std::str::from_utf8(note).map_err(|_| "it is no text");
        match text.and_then(|text| one(text, chain, key)) {
            Ok(checkpoint) => read.push(Checkpoint { line, ..checkpoint }),
            Err(what) => flaws.push(Flaw { line, what, torn: false }),
        }
        (rest, line) = (behind, line + lines);
    }
    (read, flaws, written.len() - rest.len())
}

/// The first note, what stands behind it, and how many lines it has.
fn note(written: &[u8]) -> Option<(&[u8], &[u8], u64)> {
    let fourth = written.split(|byte| *byte == b'\n').nth(3);
    let lines = if fourth == Some(RECOVERED.as_bytes()) { 7 } else { 6 };
    let end = written.split_inclusive(|byte| *byte == b'\n').take(lines).map(<[u8]>::len).sum();
    let (note, behind) = written.split_at(end);
    let is_whole = note.iter().filter(|byte| **byte == b'\n').count() == lines;
    is_whole.then_some((note, behind, lines as u64))
}

fn one(note: &str, chain: &str, key: Option<&PublicKey>) -> Result<Checkpoint, &'static str> {
    let lines: Vec<_> = note.split('\n').collect();
    let (name, size, hash, signature, recovered) = match lines[..] {
        [name, size, hash, "", signature, "", ""] => (name, size, hash, signature, false),
        [name, size, hash, RECOVERED, "", signature, "", ""] => (name, size, hash, signature, true),
        _ => return Err("this is no checkpoint"),
    };
    let more = if recovered { format!("{RECOVERED}\n") } else { String::new() };
    let text = format!("{name}\n{size}\n{hash}\n{more}");
    if key.is_some_and(|key| !key.proves(&text, signature)) {
        return Err("its signature does not fit");
    }
    if name != origin(chain) {
        return Err("it speaks of another chain");
    }
    let is_number = size.bytes().all(|byte| byte.is_ascii_digit());
    let size = size.parse().ok().filter(|_| is_number).ok_or("it says no number of records")?;
    let hash = STANDARD.decode(hash).ok().and_then(|hash| hash.try_into().ok());
    Ok(Checkpoint { size, hash: hash.ok_or("it says no hash")?, recovered, line: 0 })
}
