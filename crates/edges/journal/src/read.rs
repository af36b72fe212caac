//! Reads the journal: all chains as one stream, ordered by time.
//!
//! A chain is opened when its first record is due and closed at its end, so a journal of thousands
//! of processes needs few open files. This module does not verify or repair anything. It skips an
//! incomplete last line, because that was never acknowledged.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::iter::Peekable;
use std::path::{Path, PathBuf};

use toolgate_model::Effect;

use crate::JournalError;
use crate::entry::{EntryEvent, JournalEntry};
use crate::layout::{self, JournalChain};

/// The maximum length of a line. The writer's lines are far shorter.
pub(crate) const LONGEST: u64 = 1 << 20;

/// How many milliseconds a file's modification time may be behind its last record. File systems use
/// a coarser clock, and some round to seconds.
const BEHIND: u64 = 2_000;

/// Returns every record below this folder, oldest first. A missing folder has no records. A call
/// whose process ended before it wrote an outcome gets the outcome `unknown`.
pub fn read(folder: &Path) -> Result<JournalEntries, JournalError> {
    read_since(folder, 0)
}

/// Like [`read`], for records from a time on (milliseconds since 1970). Does not open chains whose
/// files are older.
pub fn read_since(folder: &Path, ms: u64) -> Result<JournalEntries, JournalError> {
    let mut chains = layout::list_chains(folder)?;
    chains.retain(|chain| ms == 0 || chain.last_change().is_none_or(|last| last + BEHIND >= ms));
    chains.sort_by(|one, other| (one.began, &one.id).cmp(&(other.began, &other.id)));
    Ok(JournalEntries {
        since: ms,
        unopened: chains.into(),
        open: Vec::new(),
        heads: BinaryHeap::new(),
    })
}

/// The records of a journal, oldest first.
#[derive(Debug)]
pub struct JournalEntries {
    since: u64,
    /// The chains that are not open yet, oldest first.
    unopened: VecDeque<JournalChain>,
    open: Vec<Peekable<ChainEntries>>,
    /// The time of the next record of each open chain. The clock may have gone back during a chain;
    /// its records keep their order.
    heads: BinaryHeap<Reverse<(u64, usize)>>,
}

impl JournalEntries {
    /// Opens every chain that may contain the oldest record.
    fn open_due_chains(&mut self) {
        while let Some(chain) = self.unopened.front() {
            let next = self.heads.peek().map(|Reverse((ms, _))| *ms);
            if next.is_some_and(|next| chain.began > next) {
                break;
            }
            let Some(chain) = self.unopened.pop_front() else { break };
            let place = self.open.len();
            let mut opened = ChainEntries::new(chain).peekable();
            self.heads.extend(opened.peek().map(|(ms, _)| Reverse((*ms, place))));
            self.open.push(opened);
        }
    }
}

impl Iterator for JournalEntries {
    type Item = Result<JournalEntry, JournalError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            self.open_due_chains();
            let Reverse((_, place)) = self.heads.pop()?;
            let chain = self.open.get_mut(place)?;
            let (_, entry) = chain.next()?;
            self.heads.extend(chain.peek().map(|(ms, _)| Reverse((*ms, place))));
            match entry {
                Ok(entry) if entry.ms < self.since => {}
                other => return Some(other),
            }
        }
    }
}

/// The records of one chain, followed by the outcomes that were never written.
#[derive(Debug)]
struct ChainEntries {
    chain: JournalChain,
    lines: ChainLines,
    /// The latest time so far.
    latest: u64,
    /// The allowed calls without an outcome, by call number.
    unfinished_calls: BTreeMap<u64, JournalEntry>,
    /// The number and the times of the last record.
    last: (u64, u64, u64),
    ended: bool,
}

impl ChainEntries {
    fn new(chain: JournalChain) -> Self {
        let lines = ChainLines::open(&chain);
        let (latest, unfinished_calls) = (chain.began, BTreeMap::new());
        Self { chain, lines, latest, unfinished_calls, last: (0, 0, 0), ended: false }
    }

    fn advance(&mut self) -> Option<Result<JournalEntry, JournalError>> {
        if let Some(line) = self.lines.next() {
            let entry = line.and_then(|line| {
                let SegmentLine { path, number, text } = line;
                let what = |what| JournalError::Line { path, line: number, what };
                JournalEntry::parse(&self.chain.id, text).map_err(what)
            });
            return Some(entry.inspect(|entry| self.track_call(entry)));
        }
        self.next_unfinished()
    }

    fn track_call(&mut self, entry: &JournalEntry) {
        match &entry.event {
            EntryEvent::Decided(decided) if decided.effect == Effect::Allow && entry.call != 0 => {
                self.unfinished_calls.insert(entry.call, entry.clone());
            }
            EntryEvent::Done { .. } => _ = self.unfinished_calls.remove(&entry.call),
            _ => {}
        }
        self.last = (entry.seq, entry.ms, entry.mono);
    }

    /// Returns the unknown outcome of a call whose process has ended.
    fn next_unfinished(&mut self) -> Option<Result<JournalEntry, JournalError>> {
        if !self.ended && self.chain.is_being_written() {
            self.unfinished_calls.clear();
        }
        self.ended = true;
        let (_, call) = self.unfinished_calls.pop_first()?;
        Some(Ok(call.into_unknown_outcome(self.last)))
    }
}

impl Iterator for ChainEntries {
    /// A record and its time. An unreadable record gets the latest time so far.
    type Item = (u64, Result<JournalEntry, JournalError>);

    fn next(&mut self) -> Option<Self::Item> {
        let entry = self.advance()?;
        if let Ok(entry) = &entry {
            self.latest = self.latest.max(entry.ms);
        }
        Some((self.latest, entry))
    }
}

/// A line of a segment.
#[derive(Debug)]
pub(crate) struct SegmentLine {
    pub(crate) path: PathBuf,
    /// The line number, from 1.
    pub(crate) number: u64,
    pub(crate) text: String,
}

/// The complete lines of a chain, segment after segment.
#[derive(Debug)]
struct ChainLines {
    segments: VecDeque<PathBuf>,
    current: Option<(PathBuf, BufReader<File>, u64)>,
    failed: Option<JournalError>,
}

impl ChainLines {
    fn open(chain: &JournalChain) -> Self {
        let (segments, failed) = match chain.segments() {
            Ok(segments) => (segments.into_iter().map(|(_, path)| path).collect(), None),
            Err(error) => (VecDeque::new(), Some(error)),
        };
        Self { segments, current: None, failed }
    }
}

impl Iterator for ChainLines {
    type Item = Result<SegmentLine, JournalError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(error) = self.failed.take() {
            return Some(Err(error));
        }
        loop {
            if self.current.is_none() {
                let path = self.segments.pop_front()?;
                match File::open(&path) {
                    Ok(file) => self.current = Some((path, BufReader::new(file), 0)),
                    Err(source) => return Some(Err(JournalError::Read { path, source })),
                }
            }
            let (path, reader, number) = self.current.as_mut()?;
            *number += 1;
            let mut bytes = Vec::new();
            let read = reader.by_ref().take(LONGEST).read_until(b'\n', &mut bytes);
            if let Err(source) = read {
                let path = path.clone();
                self.current = None;
                return Some(Err(JournalError::Read { path, source }));
            }
            if bytes.pop() != Some(b'\n') {
                self.current = None;
                continue;
            }
            let (path, number) = (path.clone(), *number);
            let text = String::from_utf8(bytes).map_err(|_| JournalError::Line {
                path: path.clone(),
                line: number,
                what: "the line is not UTF-8 text".into(),
            });
            return Some(text.map(|text| SegmentLine { path, number, text }));
        }
    }
}
