//! The proof that nobody changed the journal, or the exact places where somebody did.
//!
//! The chain itself shows a record that was edited, removed, moved or put in. Whoever writes the
//! rest of a chain anew must take away the checkpoints that say otherwise, and cannot sign others
//! without the key: records that nobody signed are a fault. There are two exceptions, and both are
//! told: a process that writes signs every few seconds, and one that was ended leaves as much
//! unsigned until the next one begins. Nothing is repaired here.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::chain::{self, Hash, Head};
use super::checkpoint::{self, Tail};
use super::key::PublicKey;
use super::layout::{self, Chain, LOCK};
use super::read::LONGEST;
use super::time;
use crate::StoreError;

/// What kind of change was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// A record is not what was written.
    Edited,
    /// Records are missing.
    Removed,
    /// A record stands where it does not belong.
    Moved,
    /// A record stands there that the chain does not know.
    Inserted,
    /// The end of a chain is missing.
    Truncated,
    /// The last line is no whole record.
    Torn,
    /// The chain holds, but it is not the one that was signed.
    Rewritten,
    /// A whole chain is missing.
    MissingChain,
    /// A checkpoint does not prove anything.
    BadCheckpoint,
    /// Records stand behind the last checkpoint, and their process did not leave them so.
    Unsigned,
    /// A chain has no checkpoint at all.
    MissingCheckpoint,
    /// There is no key, so that nothing is proven.
    MissingKey,
    /// A file cannot be read.
    Unreadable,
}

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The chain.
    pub chain: String,
    /// What kind of change.
    pub fault: Fault,
    /// The file.
    pub file: PathBuf,
    /// The line in it, from 1; 0 where it is about the whole.
    pub line: u64,
    /// The record's number, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// All of it in words.
    pub detail: String,
}

/// What a look at the whole journal found.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Report {
    /// How many chains there are.
    pub chains: u64,
    /// How many records.
    pub records: u64,
    /// How many checkpoints were found good.
    pub checkpoints: u64,
    /// How many records stand behind the last checkpoint of their chain: chained, but not signed.
    pub unsigned: u64,
    /// What is wrong.
    pub problems: Vec<Problem>,
    /// What is worth knowing, and proves nothing.
    pub notices: Vec<String>,
}

impl Report {
    /// Whether everything is as it was written, as far as that can be proven.
    pub fn holds(&self) -> bool {
        self.problems.is_empty()
    }
}

/// Looks at every record below `folder`, against the checkpoints in another folder. Without a key
/// nothing is proven, and that is a fault. `told` hears how many records were seen, now and then.
pub fn verify(
    folder: &Path,
    checkpoints: &Path,
    key: Option<&PublicKey>,
    told: &mut dyn FnMut(u64),
) -> Result<Report, StoreError> {
    let mut report = Report::default();
    let signed: BTreeMap<_, _> = layout::signed(checkpoints)?.into_iter().collect();
    let mut known = BTreeSet::new();
    for chain in layout::chains(folder)? {
        known.insert(chain.id.to_string());
        report.chains += 1;
        // Asked first: what ends meanwhile was being written when it was looked at.
        let written = chain.is_being_written();
        let mut look = Look { report: &mut report, chain: &chain, written, told };
        let marks = look.checkpoints(signed.get(&*chain.id).map(PathBuf::as_path), key);
        look.chain(marks)?;
    }
    for (id, path) in signed.iter().filter(|(id, _)| !known.contains(*id)) {
        report.problems.push(Problem {
            chain: id.clone(),
            fault: Fault::MissingChain,
            file: path.clone(),
            line: 0,
            seq: None,
            detail: "there are checkpoints of this chain, and the chain is gone".into(),
        });
    }
    if key.is_none() && (report.records > 0 || !signed.is_empty()) {
        report.problems.push(Problem {
            chain: String::new(),
            fault: Fault::MissingKey,
            file: checkpoints.to_owned(),
            line: 0,
            seq: None,
            detail: "there is no public key, so that no signature was looked at".into(),
        });
    }
    Ok(report)
}

/// What checkpoints say of a chain: the hash of the record with this number.
#[derive(Default)]
struct Marks {
    hashes: BTreeMap<u64, (Hash, u64)>,
    path: PathBuf,
    /// How many records the last of them speaks of.
    signed: u64,
}

/// A look at one chain.
struct Look<'r> {
    report: &'r mut Report,
    chain: &'r Chain,
    /// Whether its writer lives.
    written: bool,
    told: &'r mut dyn FnMut(u64),
}

/// Where in a chain we are.
struct At {
    file: PathBuf,
    line: u64,
    /// How far the chain goes, by what it says itself.
    head: Head,
    /// Whether the records so far hang together.
    whole: bool,
    /// The records behind the last checkpoint.
    tail: Tail,
}

impl Look<'_> {
    fn problem(&mut self, at: &At, fault: Fault, seq: Option<u64>, detail: impl Into<String>) {
        let (file, detail) = (at.file.clone(), detail.into());
        let chain = self.chain.id.to_string();
        self.report.problems.push(Problem { chain, fault, file, line: at.line, seq, detail });
    }

    fn notice(&mut self, text: &str) {
        self.report.notices.push(format!("{}: {text}", self.chain.id));
    }

    /// Reads the checkpoints of the chain.
    fn checkpoints(&mut self, path: Option<&Path>, key: Option<&PublicKey>) -> Marks {
        let Some(path) = path else { return Marks::default() };
        let mut marks = Marks { path: path.to_owned(), ..Marks::default() };
        let head = Head::of(&self.chain.id);
        let mut at =
            At { file: path.to_owned(), line: 0, head, whole: true, tail: Tail::default() };
        let written = match fs::read(path) {
            Ok(written) => written,
            Err(error) => {
                self.problem(&at, Fault::Unreadable, None, error.to_string());
                return marks;
            }
        };
        let (read, flaws, _) = checkpoint::parse(&written, &self.chain.id, key);
        for flaw in flaws {
            at.line = flaw.line;
            match flaw.torn {
                true => self.notice(flaw.what),
                false => self.problem(&at, Fault::BadCheckpoint, None, flaw.what),
            }
        }
        self.report.checkpoints += read.len() as u64;
        let mut before = 0;
        for mark in read {
            if mark.recovered {
                let (from, to) = (before + 1, mark.size);
                self.notice(&format!(
                    "records {from} to {to} were signed by the process that came after it, which \
                     cannot know whether they are what was written"
                ));
            }
            before = mark.size;
            marks.hashes.insert(mark.size, (mark.hash, mark.line));
        }
        marks.signed = marks.hashes.last_key_value().map_or(0, |(size, _)| *size);
        marks
    }

    /// Follows the chain from its beginning.
    fn chain(&mut self, mut marks: Marks) -> Result<(), StoreError> {
        let signed = marks.signed;
        let head = Head::of(&self.chain.id);
        let folder = self.chain.folder.clone();
        let mut at = At { file: folder, line: 0, head, whole: true, tail: Tail::default() };
        let segments = self.chain.segments()?;
        let mut closed = false;
        for (index, (number, path)) in segments.iter().enumerate() {
            (at.file, at.line) = (path.clone(), 0);
            if *number != index as u64 + 1 && index == 0 {
                self.problem(&at, Fault::Removed, None, "the segments before it are missing");
            }
            let is_last = index + 1 == segments.len();
            closed = self.segment(&mut at, &mut marks, is_last);
        }
        self.aside()?;
        if let Some((size, (_, line))) = marks.hashes.range(at.head.seq + 1..).next_back() {
            let detail =
                format!("record {size} was signed, and the chain ends with {}", at.head.seq);
            let at = At { file: marks.path.clone(), line: *line, ..at };
            self.problem(&at, Fault::Truncated, Some(*size), detail);
        }
        let behind = at.head.seq.saturating_sub(signed);
        self.report.unsigned += behind;
        if !closed && !self.written {
            self.notice(&format!(
                "it was not closed: its process was ended, or its end was cut off ({behind} records \
                 stand behind the last checkpoint)"
            ));
        }
        // Whoever was ended left its lock, and nobody has looked after it since.
        let left = || !closed && self.chain.folder.join(LOCK).exists() && at.tail.is_a_crash();
        let expected = if self.written { at.tail.is_new(time::now()) } else { left() };
        if behind > 0 && !expected {
            let (fault, what) = match signed {
                0 => (Fault::MissingCheckpoint, "it has no checkpoint"),
                _ => (Fault::Unsigned, "its last checkpoint is missing"),
            };
            let (first, last) = (signed + 1, at.head.seq);
            let detail = format!(
                "{what}: nobody signed records {first} to {last}, so that they may have been \
                 written anew"
            );
            self.problem(&at, fault, Some(first), detail);
        }
        Ok(())
    }

    /// What lies beside the segments.
    fn aside(&mut self) -> Result<(), StoreError> {
        for path in layout::listed(&self.chain.folder)? {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            match path.extension().and_then(|it| it.to_str()) {
                Some("jsonl") => {}
                Some("torn") => {
                    let bytes = fs::metadata(&path).map_or(0, |it| it.len());
                    self.notice(&format!("a torn end was set aside in {name} ({bytes} bytes)"));
                }
                _ if name == LOCK => {}
                _ => self.notice(&format!("{name} does not belong there")),
            }
        }
        Ok(())
    }

    /// Follows the chain through a segment; whether it ends as the end of a chain does.
    fn segment(&mut self, at: &mut At, marks: &mut Marks, is_last: bool) -> bool {
        let mut reader = match File::open(&at.file) {
            Ok(file) => BufReader::with_capacity(64 << 10, file),
            Err(error) => {
                self.problem(at, Fault::Unreadable, None, error.to_string());
                return false;
            }
        };
        let (mut line, mut closed) = (Vec::new(), false);
        loop {
            line.clear();
            let read = reader.by_ref().take(LONGEST).read_until(b'\n', &mut line);
            at.line += 1;
            match read {
                Ok(0) => return closed,
                Err(error) => {
                    self.problem(at, Fault::Unreadable, None, error.to_string());
                    return false;
                }
                Ok(_) => {}
            }
            if line.last() != Some(&b'\n') {
                self.torn(at, line.len(), is_last);
                return false;
            }
            line.pop();
            self.line(at, &line, marks);
            closed = is_end(&line);
        }
    }

    fn torn(&mut self, at: &At, bytes: usize, is_last: bool) {
        // Whoever writes is in the middle of it.
        if is_last && self.written {
            return;
        }
        let detail = format!(
            "{bytes} bytes at the end are no whole record (what a process leaves that was ended in \
             the middle of a write is set aside when the next one writes)"
        );
        self.problem(at, Fault::Torn, Some(at.head.seq + 1), detail);
    }

    /// Looks at one record.
    fn line(&mut self, at: &mut At, line: &[u8], marks: &mut Marks) {
        self.report.records += 1;
        if self.report.records.is_multiple_of(1024) {
            (self.told)(self.report.records);
        }
        let expected = at.head.seq + 1;
        let Some(link) = chain::link(line) else {
            self.problem(at, Fault::Edited, Some(expected), "this is no record");
            at.head.seq += u64::from(at.whole);
            at.whole = false;
            return;
        };
        if !link.holds {
            let detail = format!("record {} is not what was written", link.seq);
            self.problem(at, Fault::Edited, Some(link.seq), detail);
        } else if (link.seq, link.prev) != (expected, at.head.hash) && at.whole {
            let (fault, detail) = misplaced(&link, at.head);
            self.problem(at, fault, Some(link.seq), detail);
        } else if !at.whole && link.seq != expected {
            // What stands before could not be read: it may have been one record or several.
            let detail = format!("record {} follows on {}", link.seq, at.head.seq);
            let fault = if link.seq > expected { Fault::Removed } else { Fault::Moved };
            self.problem(at, fault, Some(link.seq), detail);
        }
        at.whole = link.holds;
        at.head = Head { seq: link.seq, hash: link.hash };
        if link.seq > marks.signed {
            at.tail.push(&link);
        }
        if let Some((hash, _)) = marks.hashes.remove(&link.seq)
            && hash != link.hash
        {
            let detail = format!("record {} is another than the one that was signed", link.seq);
            self.problem(at, Fault::Rewritten, Some(link.seq), detail);
        }
    }
}

/// What it means that a record that holds does not follow on the one before.
fn misplaced(link: &chain::Link, head: Head) -> (Fault, String) {
    let expected = head.seq + 1;
    match link.seq {
        seq if seq == expected + 1 => (Fault::Removed, format!("record {expected} is missing")),
        seq if seq > expected => {
            (Fault::Removed, format!("records {expected} to {} are missing", seq - 1))
        }
        seq if seq < expected => {
            (Fault::Moved, format!("record {seq} stands behind record {}", head.seq))
        }
        seq => (Fault::Inserted, format!("record {seq} does not follow on the one before it")),
    }
}

/// Whether a record is the last of a chain that was closed.
fn is_end(line: &[u8]) -> bool {
    line.starts_with(b"{\"call\":0,\"event\":{\"end\":true,")
}
