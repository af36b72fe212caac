//! Verifies that the journal is unchanged, or reports where it was changed.
//!
//! The hash chain reveals records that were edited, removed, moved or inserted. An attacker who
//! rewrites the rest of a chain must delete its checkpoints and cannot sign new ones without the
//! key, so unsigned records are a problem. There are two exceptions, which the report counts: a
//! running process signs only every few seconds, and a killed one leaves its last records unsigned
//! until the next process starts. This module repairs nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::Serialize;
use toolgate_model::time;

use crate::JournalError;
use crate::chain::{self, ChainHash, ChainHead};
use crate::checkpoint::{self, UnsignedTail};
use crate::key::JournalPublicKey;
use crate::layout::{self, JournalChain, LOCK};
use crate::read::LONGEST;

/// The kind of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum JournalProblemKind {
    /// A record is not what was written.
    Edited,
    /// Records are missing.
    Removed,
    /// A record is not at its position.
    Moved,
    /// A record does not belong to the chain.
    Inserted,
    /// The end of a chain is missing.
    Truncated,
    /// The last line is not a complete record.
    Torn,
    /// The chain is consistent, but not the one that was signed.
    Rewritten,
    /// A whole chain is missing.
    MissingChain,
    /// A checkpoint is not valid.
    BadCheckpoint,
    /// Records after the last checkpoint are unsigned, and their process did not leave them so.
    Unsigned,
    /// A chain has no checkpoint at all.
    MissingCheckpoint,
    /// There is no public key, so no signature was verified.
    MissingKey,
    /// A file cannot be read.
    Unreadable,
}

/// One problem in the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JournalProblem {
    /// The chain.
    pub chain: String,
    /// The kind of problem.
    pub fault: JournalProblemKind,
    /// The file.
    pub file: PathBuf,
    /// The line in the file, from 1, or 0 for the whole file.
    pub line: u64,
    /// The number of the record, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// The description.
    pub detail: String,
}

/// The result of verifying a journal.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct VerifyReport {
    /// The number of chains.
    pub chains: u64,
    /// The number of records.
    pub records: u64,
    /// The number of valid checkpoints.
    pub checkpoints: u64,
    /// The number of records after the last checkpoint of their chain: chained, but not signed.
    pub unsigned: u64,
    /// The problems.
    pub problems: Vec<JournalProblem>,
    /// Observations that are not problems.
    pub notices: Vec<String>,
}

impl VerifyReport {
    /// Returns true if no change was found.
    pub fn is_intact(&self) -> bool {
        self.problems.is_empty()
    }
}

/// Verifies every record below `folder` against the checkpoints in another folder. A missing key is
/// a problem, because then no signature is verified. Calls `on_progress` from time to time with the
/// number of records so far.
pub fn verify(
    folder: &Path,
    checkpoints: &Path,
    key: Option<&JournalPublicKey>,
    on_progress: &mut dyn FnMut(u64),
) -> Result<VerifyReport, JournalError> {
    let mut report = VerifyReport::default();
    let signed: BTreeMap<_, _> = layout::list_checkpoint_files(checkpoints)?.into_iter().collect();
    let mut known = BTreeSet::new();
    for chain in layout::list_chains(folder)? {
        known.insert(chain.id.to_string());
        report.chains += 1;
        // Check this first, because the writer may end during the verification.
        let written = chain.is_being_written();
        let mut look = ChainVerifier {
            report: &mut report,
            chain: &chain,
            has_live_writer: written,
            on_progress: &mut *on_progress,
        };
        let marks = look.read_checkpoints(signed.get(&*chain.id).map(PathBuf::as_path), key);
        look.verify_chain(marks)?;
    }
    let has_content = report.records > 0 || !signed.is_empty();
    let mut add_whole = |chain: &str, fault, file: &Path, detail: &str| {
        let (chain, file, detail) = (chain.to_owned(), file.to_owned(), detail.to_owned());
        report.problems.push(JournalProblem { chain, fault, file, line: 0, seq: None, detail });
    };
    for (id, path) in signed.iter().filter(|(id, _)| !known.contains(*id)) {
        let what = "the chain is missing, but it has checkpoints";
        add_whole(id, JournalProblemKind::MissingChain, path, what);
    }
    if key.is_none() && has_content {
        let what = "there is no public key, so no signature was verified";
        add_whole("", JournalProblemKind::MissingKey, checkpoints, what);
    }
    Ok(report)
}

/// Verifies the records of a chain that nobody writes, against the checkpoints in this file. Returns
/// the first problem, the position after the last record, and the number of signed records.
pub(crate) fn verify_ended_chain(
    chain: &JournalChain,
    checkpoints: &Path,
    key: &JournalPublicKey,
) -> Result<(Option<JournalProblem>, ChainCursor, u64), JournalError> {
    let mut report = VerifyReport::default();
    let (has_live_writer, on_progress) = (false, &mut |_| {});
    let mut look = ChainVerifier { report: &mut report, chain, has_live_writer, on_progress };
    let mut marks = look.read_checkpoints(checkpoints.exists().then_some(checkpoints), Some(key));
    let (at, _) = look.verify_records(&mut marks)?;
    Ok((report.problems.into_iter().next(), at, marks.signed))
}

/// The hashes that the checkpoints of a chain have signed, by record number.
#[derive(Default)]
struct SignedRecordHashes {
    hashes: BTreeMap<u64, (ChainHash, u64)>,
    path: PathBuf,
    /// The number of records that the last checkpoint covers.
    signed: u64,
}

/// The verification of one chain.
struct ChainVerifier<'r> {
    report: &'r mut VerifyReport,
    chain: &'r JournalChain,
    /// Whether a running process writes the chain.
    has_live_writer: bool,
    on_progress: &'r mut dyn FnMut(u64),
}

/// The position in a chain during its verification.
pub(crate) struct ChainCursor {
    file: PathBuf,
    line: u64,
    /// The last record so far, as the chain states it.
    pub(crate) head: ChainHead,
    /// Whether the last record was valid, so that the next one must follow it.
    is_contiguous: bool,
    /// The records after the last checkpoint.
    pub(crate) tail: UnsignedTail,
}

impl ChainVerifier<'_> {
    fn add_problem(
        &mut self,
        at: &ChainCursor,
        fault: JournalProblemKind,
        seq: Option<u64>,
        detail: impl Into<String>,
    ) {
        let (chain, file, line) = (self.chain.id.to_string(), at.file.clone(), at.line);
        let detail = detail.into();
        self.report.problems.push(JournalProblem { chain, fault, file, line, seq, detail });
    }

    /// Returns the position before the first record, in this file.
    fn start_of(&self, file: &Path) -> ChainCursor {
        ChainCursor {
            file: file.to_owned(),
            line: 0,
            head: ChainHead::start_of(&self.chain.id),
            is_contiguous: true,
            tail: UnsignedTail::default(),
        }
    }

    fn add_notice(&mut self, text: &str) {
        self.report.notices.push(format!("{}: {text}", self.chain.id));
    }

    /// Reads the checkpoints of the chain.
    fn read_checkpoints(
        &mut self,
        path: Option<&Path>,
        key: Option<&JournalPublicKey>,
    ) -> SignedRecordHashes {
        let Some(path) = path else { return SignedRecordHashes::default() };
        let mut marks =
            SignedRecordHashes { path: path.to_owned(), ..SignedRecordHashes::default() };
        let mut at = self.start_of(path);
        let written = match fs::read(path) {
            Ok(written) => written,
            Err(error) => {
                self.add_problem(&at, JournalProblemKind::Unreadable, None, error.to_string());
                return marks;
            }
        };
        let (read, flaws, _) = checkpoint::parse(&written, &self.chain.id, key);
        for flaw in flaws {
            at.line = flaw.line;
            match flaw.torn {
                true => self.add_notice(flaw.what),
                false => self.add_problem(&at, JournalProblemKind::BadCheckpoint, None, flaw.what),
            }
        }
        self.report.checkpoints += read.len() as u64;
        let mut before = 0;
        for mark in read {
            if mark.recovered {
                let (from, to) = (before + 1, mark.size);
                self.add_notice(&format!(
                    "records {from} to {to} were signed by the next process, which cannot know \
                     whether they were changed before"
                ));
            }
            before = mark.size;
            marks.hashes.insert(mark.size, (mark.hash, mark.line));
        }
        marks.signed = marks.hashes.last_key_value().map_or(0, |(size, _)| *size);
        marks
    }

    /// Verifies the records of the chain from its beginning. Returns the position after the last one
    /// and whether it closes the chain.
    fn verify_records(
        &mut self,
        marks: &mut SignedRecordHashes,
    ) -> Result<(ChainCursor, bool), JournalError> {
        let mut at = self.start_of(&self.chain.folder);
        let segments = self.chain.segments()?;
        let mut closed = false;
        for (index, (number, path)) in segments.iter().enumerate() {
            (at.file, at.line) = (path.clone(), 0);
            if *number != index as u64 + 1 && index == 0 {
                let what = "the segments before it are missing";
                self.add_problem(&at, JournalProblemKind::Removed, None, what);
            }
            let is_last = index + 1 == segments.len();
            closed = self.verify_segment(&mut at, marks, is_last);
        }
        self.check_other_files()?;
        if let Some((size, (_, line))) = marks.hashes.range(at.head.seq + 1..).next_back() {
            let detail =
                format!("record {size} was signed, but the chain ends with {}", at.head.seq);
            let at = ChainCursor { file: marks.path.clone(), line: *line, ..at };
            self.add_problem(&at, JournalProblemKind::Truncated, Some(*size), detail);
        }
        Ok((at, closed))
    }

    /// Verifies the chain: its records, and that its end is signed.
    fn verify_chain(&mut self, mut marks: SignedRecordHashes) -> Result<(), JournalError> {
        let (at, closed) = self.verify_records(&mut marks)?;
        let signed = marks.signed;
        let behind = at.head.seq.saturating_sub(signed);
        self.report.unsigned += behind;
        if !closed && !self.has_live_writer {
            self.add_notice(&format!(
                "the chain was not closed: its process was killed, or its end was removed \
                 ({behind} records after the last checkpoint)"
            ));
        }
        // A killed process leaves its lock file, which the next process removes.
        let left = || !closed && self.chain.folder.join(LOCK).exists() && at.tail.fits_crash();
        let expected = if self.has_live_writer {
            at.tail.is_recent(time::to_millis(SystemTime::now()))
        } else {
            left()
        };
        if behind > 0 && !expected {
            let (fault, what) = match signed {
                0 => (JournalProblemKind::MissingCheckpoint, "the chain has no checkpoint"),
                _ => (JournalProblemKind::Unsigned, "the last checkpoint is missing"),
            };
            let (first, last) = (signed + 1, at.head.seq);
            let detail = format!(
                "{what}: records {first} to {last} are not signed and may have been rewritten"
            );
            self.add_problem(&at, fault, Some(first), detail);
        }
        Ok(())
    }

    /// Reports the other files in the chain's folder.
    fn check_other_files(&mut self) -> Result<(), JournalError> {
        for path in layout::list_folder(&self.chain.folder)? {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            match path.extension().and_then(|it| it.to_str()) {
                Some("jsonl") => {}
                Some("torn") => {
                    let bytes = fs::metadata(&path).map_or(0, |it| it.len());
                    self.add_notice(&format!("a torn end was set aside in {name} ({bytes} bytes)"));
                }
                _ if name == LOCK => {}
                _ => self.add_notice(&format!("{name} is not a file of the journal")),
            }
        }
        Ok(())
    }

    /// Verifies a segment. Returns true if it ends with the last record of a closed chain.
    fn verify_segment(
        &mut self,
        at: &mut ChainCursor,
        marks: &mut SignedRecordHashes,
        is_last: bool,
    ) -> bool {
        let mut reader = match File::open(&at.file) {
            Ok(file) => BufReader::with_capacity(64 << 10, file),
            Err(error) => {
                self.add_problem(at, JournalProblemKind::Unreadable, None, error.to_string());
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
                    self.add_problem(at, JournalProblemKind::Unreadable, None, error.to_string());
                    return false;
                }
                Ok(_) => {}
            }
            if line.last() != Some(&b'\n') {
                self.report_torn_end(at, line.len(), is_last);
                return false;
            }
            line.pop();
            self.verify_record(at, &line, marks);
            closed = is_chain_end(&line);
        }
    }

    fn report_torn_end(&mut self, at: &ChainCursor, bytes: usize, is_last: bool) {
        // The writer may be in the middle of a write.
        if is_last && self.has_live_writer {
            return;
        }
        let detail = format!(
            "{bytes} bytes at the end are not a complete record (if the process was killed during \
             a write, the next one sets them aside)"
        );
        self.add_problem(at, JournalProblemKind::Torn, Some(at.head.seq + 1), detail);
    }

    /// Verifies one record.
    fn verify_record(&mut self, at: &mut ChainCursor, line: &[u8], marks: &mut SignedRecordHashes) {
        self.report.records += 1;
        if self.report.records.is_multiple_of(1024) {
            (self.on_progress)(self.report.records);
        }
        let expected = at.head.seq + 1;
        let Some(link) = chain::parse_link(line) else {
            let what = "the line is not a record";
            self.add_problem(at, JournalProblemKind::Edited, Some(expected), what);
            at.head.seq += u64::from(at.is_contiguous);
            at.is_contiguous = false;
            return;
        };
        if !link.hash_matches {
            let detail = format!("record {} is not what was written", link.seq);
            self.add_problem(at, JournalProblemKind::Edited, Some(link.seq), detail);
        } else if (link.seq, link.prev) != (expected, at.head.hash) && at.is_contiguous {
            let (fault, detail) = classify_misplaced(&link, at.head);
            self.add_problem(at, fault, Some(link.seq), detail);
        } else if !at.is_contiguous && link.seq != expected {
            // The text before could not be parsed: it may have been one record or several.
            let detail = format!("record {} follows record {}", link.seq, at.head.seq);
            let fault = match link.seq > expected {
                true => JournalProblemKind::Removed,
                false => JournalProblemKind::Moved,
            };
            self.add_problem(at, fault, Some(link.seq), detail);
        }
        at.is_contiguous = link.hash_matches;
        at.head = ChainHead { seq: link.seq, hash: link.hash };
        if link.seq > marks.signed {
            at.tail.push(&link);
        }
        if let Some((hash, _)) = marks.hashes.remove(&link.seq)
            && hash != link.hash
        {
            let detail = format!("record {} differs from the one that was signed", link.seq);
            self.add_problem(at, JournalProblemKind::Rewritten, Some(link.seq), detail);
        }
    }
}

/// Classifies a valid record that does not follow the one before it.
fn classify_misplaced(link: &chain::ChainLink, head: ChainHead) -> (JournalProblemKind, String) {
    let expected = head.seq + 1;
    match link.seq {
        seq if seq == expected + 1 => {
            (JournalProblemKind::Removed, format!("record {expected} is missing"))
        }
        seq if seq > expected => {
            (JournalProblemKind::Removed, format!("records {expected} to {} are missing", seq - 1))
        }
        seq if seq < expected => {
            (JournalProblemKind::Moved, format!("record {seq} comes after record {}", head.seq))
        }
        seq => (
            JournalProblemKind::Inserted,
            format!("record {seq} does not follow from the one before it"),
        ),
    }
}

/// Returns true for the last record of a closed chain.
fn is_chain_end(line: &[u8]) -> bool {
    line.starts_with(b"{\"call\":0,\"event\":{\"end\":true,")
}
