//! Checkpoints: the signed length and last hash of a chain, in a separate file.
//!
//! Each is a signed note (C2SP): origin, number of records, base64 hash of the last record, an
//! empty line, the signature, and an empty line before the next one. A checkpoint covers everything
//! that an earlier one covers, and only records that are on disk.
//!
//! If a process is killed before it signs its last records, the next process signs them and marks
//! the checkpoint with a fourth line. It proves only that the records existed when that process
//! started.

use std::fs::OpenOptions;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::chain::{ChainHash, ChainHead, ChainLink, origin};
use crate::disk::{AppendFile, JournalDisk, RealDisk};
use crate::key::{CheckpointSigner, JournalPublicKey};
use crate::private_files;

/// A checkpoint is due after this many records,
const RECORDS: u64 = 256;
/// or this long after the last one, if there are new records.
const PAUSE: Duration = Duration::from_secs(5);
/// The minimum time between two syncs of the file.
const SYNC: Duration = Duration::from_secs(5);

/// The maximum time that a record stays without a checkpoint, unless checkpoints cannot be written.
const UNSIGNED: Duration = Duration::from_secs(60);
/// The fourth line of a checkpoint that the next process signed.
const RECOVERED: &str = "recovered";

/// The writer of the checkpoints of one chain.
#[derive(Debug)]
pub(crate) struct CheckpointWriter {
    origin: String,
    path: PathBuf,
    signer: CheckpointSigner,
    file: Option<Box<dyn AppendFile>>,
    length: u64,
    /// Whether the file may contain a torn checkpoint after that length, to be truncated first.
    dirty: bool,
    /// The number of records in the last checkpoint, and when it was signed.
    signed: u64,
    last: Instant,
    synced: Option<Instant>,
    failing: bool,
}

impl CheckpointWriter {
    pub(crate) fn new(chain: &str, path: PathBuf, signer: CheckpointSigner) -> Self {
        Self {
            origin: origin(chain),
            path,
            signer,
            file: None,
            length: 0,
            dirty: false,
            signed: 0,
            last: Instant::now(),
            synced: None,
            failing: false,
        }
    }

    /// Returns when the next checkpoint is due for a chain with this head, or `None` without new
    /// records.
    pub(crate) fn due(&self, head: &ChainHead) -> Option<Instant> {
        let at_once = self.signed == 0 || head.seq >= self.signed + RECORDS;
        let when = if at_once && !self.failing { self.last } else { self.last + PAUSE };
        (head.seq > self.signed).then_some(when)
    }

    /// Returns true if the last checkpoint could not be written.
    pub(crate) fn is_failing(&self) -> bool {
        self.failing
    }

    /// Signs a checkpoint. `last` is true for the end of the chain.
    pub(crate) fn sign(
        &mut self,
        head: &ChainHead,
        last: bool,
        disk: &dyn JournalDisk,
    ) -> io::Result<()> {
        self.last = Instant::now();
        let signed = self.write(head, last, disk);
        self.failing = signed.is_err();
        signed
    }

    fn write(&mut self, head: &ChainHead, last: bool, disk: &dyn JournalDisk) -> io::Result<()> {
        if self.file.is_none() {
            disk.create_folder(self.path.parent().unwrap_or(Path::new(".")))?;
            self.file = Some(disk.create(&self.path)?);
        }
        let Some(sink) = &mut self.file else { return Ok(()) };
        if head.seq > self.signed {
            if self.dirty {
                sink.truncate(self.length)?;
            }
            let note = format_note(&self.origin, head, "", &self.signer);
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

/// Formats a checkpoint. `more` is an additional line with its line end, or empty.
fn format_note(origin: &str, head: &ChainHead, more: &str, signer: &CheckpointSigner) -> String {
    let text = format!("{origin}\n{}\n{}\n{more}", head.seq, STANDARD.encode(head.hash));
    format!("{text}\n{}\n", signer.sign(&text))
}

/// Appends a checkpoint for a chain whose process was killed.
pub(crate) fn append_recovered(
    chain: &str,
    head: &ChainHead,
    signer: &CheckpointSigner,
    path: &Path,
) -> io::Result<()> {
    RealDisk.create_folder(path.parent().unwrap_or(Path::new(".")))?;
    let mut file =
        private_files::open(path, OpenOptions::new().read(true).append(true).create(true))?;
    let mut written = Vec::new();
    file.read_to_end(&mut written)?;
    // Remove a torn checkpoint before this one.
    let (_, _, whole) = parse(&written, chain, None);
    file.set_len(whole as u64)?;
    let note = format_note(&origin(chain), head, &format!("{RECOVERED}\n"), signer);
    file.write_all(note.as_bytes())?;
    file.sync_all()
}

/// The time span of the records after the last checkpoint of a chain.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct UnsignedTail {
    /// The times of the first and the last, in microseconds since the chain began.
    times: Option<(u64, u64)>,
    /// The time of the first, in milliseconds since 1970.
    since: u64,
}

impl UnsignedTail {
    pub(crate) fn push(&mut self, link: &ChainLink) {
        if self.times.is_none() {
            self.since = link.ms;
        }
        let first = self.times.map_or(link.mono, |(first, _)| first);
        self.times = Some((first, link.mono));
    }

    /// Returns true if a killed process may have left these records unsigned, since processes sign
    /// every few seconds.
    pub(crate) fn fits_crash(&self) -> bool {
        let length = self.times.map(|(first, last)| last.saturating_sub(first));
        length.unwrap_or_default() <= UNSIGNED.as_micros() as u64
    }

    /// Returns true if a running process may not have signed these records yet.
    pub(crate) fn is_recent(&self, now: u64) -> bool {
        self.times.is_none() || now.saturating_sub(self.since) <= UNSIGNED.as_millis() as u64
    }
}

/// One parsed checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Checkpoint {
    pub(crate) size: u64,
    pub(crate) hash: ChainHash,
    /// Whether the next process signed it.
    pub(crate) recovered: bool,
    /// Its first line in the file, from 1.
    pub(crate) line: u64,
}

/// A flaw in a checkpoint file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CheckpointFlaw {
    /// The line, from 1.
    pub(crate) line: u64,
    pub(crate) what: &'static str,
    /// Whether the last checkpoint is only incomplete.
    pub(crate) torn: bool,
}

/// Parses the checkpoints of a chain. Returns them, their flaws, and the length of the complete
/// ones. Does not verify signatures without a key.
///
/// The input is bytes, because a write can be cut inside the three-byte dash before a signature.
pub(crate) fn parse(
    written: &[u8],
    chain: &str,
    key: Option<&JournalPublicKey>,
) -> (Vec<Checkpoint>, Vec<CheckpointFlaw>, usize) {
    let (mut read, mut flaws) = (Vec::new(), Vec::new());
    let mut rest = written;
    let mut line = 1;
    while !rest.is_empty() {
        let Some((note, behind, lines)) = split_note(rest) else {
            let what = "the last checkpoint is incomplete";
            flaws.push(CheckpointFlaw { line, what, torn: true });
            break;
        };
        let text = std::str::from_utf8(note).map_err(|_| "the checkpoint is not UTF-8 text");
        match text.and_then(|text| parse_note(text, chain, key)) {
            Ok(checkpoint) => read.push(Checkpoint { line, ..checkpoint }),
            Err(what) => flaws.push(CheckpointFlaw { line, what, torn: false }),
        }
        (rest, line) = (behind, line + lines);
    }
    (read, flaws, written.len() - rest.len())
}

/// Splits off the first note. Returns it, the rest, and its number of lines.
fn split_note(written: &[u8]) -> Option<(&[u8], &[u8], u64)> {
    let fourth = written.split(|byte| *byte == b'\n').nth(3);
    let lines = if fourth == Some(RECOVERED.as_bytes()) { 7 } else { 6 };
    let end = written.split_inclusive(|byte| *byte == b'\n').take(lines).map(<[u8]>::len).sum();
    let (note, behind) = written.split_at(end);
    let is_whole = note.iter().filter(|byte| **byte == b'\n').count() == lines;
    is_whole.then_some((note, behind, lines as u64))
}

fn parse_note(
    note: &str,
    chain: &str,
    key: Option<&JournalPublicKey>,
) -> Result<Checkpoint, &'static str> {
    let lines: Vec<_> = note.split('\n').collect();
    let (name, size, hash, signature, recovered) = match lines[..] {
        [name, size, hash, "", signature, "", ""] => (name, size, hash, signature, false),
        [name, size, hash, RECOVERED, "", signature, "", ""] => (name, size, hash, signature, true),
        _ => return Err("the text is not a checkpoint"),
    };
    let more = if recovered { format!("{RECOVERED}\n") } else { String::new() };
    let text = format!("{name}\n{size}\n{hash}\n{more}");
    if key.is_some_and(|key| !key.verifies(&text, signature)) {
        return Err("the signature of the checkpoint is not valid");
    }
    if name != origin(chain) {
        return Err("the checkpoint is for another chain");
    }
    let is_number = size.bytes().all(|byte| byte.is_ascii_digit());
    let size = size
        .parse()
        .ok()
        .filter(|_| is_number)
        .ok_or("the checkpoint has no valid number of records")?;
    let hash = STANDARD.decode(hash).ok().and_then(|hash| hash.try_into().ok());
    Ok(Checkpoint {
        size,
        hash: hash.ok_or("the checkpoint has no valid hash")?,
        recovered,
        line: 0,
    })
}
