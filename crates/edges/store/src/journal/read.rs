//! Reading the journal: all chains as one stream, in the order of time.
//!
//! A chain is opened when its time has come and closed when it is at its end, so that a journal of
//! thousands of processes can be read with few open files. Nothing is proven here, and nothing
//! repaired; a torn last line is passed over, because it was never acknowledged.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use toolgate_model::Effect;

use super::entry::{Entry, Happened};
use super::layout::{self, Chain};
use crate::StoreError;

/// The longest line that is read; the writer's are far shorter.
pub(super) const LONGEST: u64 = 1 << 20;

/// How far a file's time may be behind that of what was written into it, in milliseconds: systems
/// stamp files by a slower clock than the one that is asked for the time, and some round to seconds.
const BEHIND: u64 = 2_000;

/// Every record below this folder, oldest first; no folder is no record. Calls whose process ended
/// before their outcome was written get one: unknown.
pub fn read(folder: &Path) -> Result<Entries, StoreError> {
    read_since(folder, 0)
}

/// The same from a point in time on (milliseconds since 1970). What is older is not looked at where
/// that can be known from outside.
pub fn read_since(folder: &Path, ms: u64) -> Result<Entries, StoreError> {
    let mut chains = layout::chains(folder)?;
    chains.retain(|chain| ms == 0 || chain.last_change().is_none_or(|last| last + BEHIND >= ms));
    chains.sort_by(|one, other| (one.began, &one.id).cmp(&(other.began, &other.id)));
    Ok(Entries { since: ms, waiting: chains.into(), open: Vec::new(), heads: BinaryHeap::new() })
}

/// The records of a journal, oldest first.
#[derive(Debug)]
pub struct Entries {
    since: u64,
    /// Chains that were not opened yet, the oldest first.
    waiting: VecDeque<Chain>,
    open: Vec<Option<OfChain>>,
    /// When the next record of each open chain was written. A chain's clock may have gone back; its
    /// records stay in their own order.
    heads: BinaryHeap<Reverse<(u64, usize)>>,
}

impl Entries {
    /// Opens every chain that may hold the oldest record.
    fn admit(&mut self) -> Result<(), StoreError> {
        while let Some(chain) = self.waiting.front() {
            let next = self.heads.peek().map(|Reverse((ms, _))| *ms);
            if next.is_some_and(|next| chain.began > next) {
                break;
            }
            let Some(chain) = self.waiting.pop_front() else { break };
            let place = self.open.len();
            let mut opened = OfChain::new(chain);
            let peeked = opened.peek();
            self.heads.extend(peeked.map(|ms| Reverse((ms, place))));
            self.open.push(Some(opened));
        }
        Ok(())
    }

    fn step(&mut self) -> Option<Result<Entry, StoreError>> {
        if let Err(error) = self.admit() {
            return Some(Err(error));
        }
        let Reverse((_, place)) = self.heads.pop()?;
        let chain = self.open.get_mut(place)?;
        let entry = chain.as_mut()?.next();
        match chain.as_mut()?.peek() {
            Some(ms) => self.heads.push(Reverse((ms, place))),
            None => *chain = None,
        }
        entry
    }
}

impl Iterator for Entries {
    type Item = Result<Entry, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.step()? {
                Ok(entry) if entry.ms < self.since => {}
                other => return Some(other),
            }
        }
    }
}

/// The records of one chain, and behind them the outcomes that were never written.
#[derive(Debug)]
pub struct OfChain {
    chain: Chain,
    lines: Lines,
    next: Option<Result<Entry, StoreError>>,
    /// The latest time so far.
    latest: u64,
    /// Calls that were let through and are not over, by their number.
    under_way: BTreeMap<u64, Entry>,
    /// Number and times of the last record.
    last: (u64, u64, u64),
    ended: bool,
}

impl OfChain {
    pub(super) fn new(chain: Chain) -> Self {
        let lines = Lines::of(&chain);
        let (latest, under_way) = (chain.began, BTreeMap::new());
        Self { chain, lines, next: None, latest, under_way, last: (0, 0, 0), ended: false }
    }

    /// When the next record was written; that of one that cannot be read is now.
    fn peek(&mut self) -> Option<u64> {
        if self.next.is_none() {
            self.next = self.advance();
        }
        if let Ok(entry) = self.next.as_ref()? {
            self.latest = self.latest.max(entry.ms);
        }
        Some(self.latest)
    }

    fn next(&mut self) -> Option<Result<Entry, StoreError>> {
        self.peek()?;
        self.next.take()
    }

    fn advance(&mut self) -> Option<Result<Entry, StoreError>> {
        if let Some(line) = self.lines.next() {
            let entry = line.and_then(|line| {
                let Line { path, number, text } = line;
                let what = |what| StoreError::Line { path, line: number, what };
                Entry::parse(&self.chain.id, text).map_err(what)
            });
            return Some(entry.inspect(|entry| self.follow(entry)));
        }
        self.conclude()
    }

    fn follow(&mut self, entry: &Entry) {
        match &entry.event {
            Happened::Decided(decided) if decided.effect == Effect::Allow && entry.call != 0 => {
                self.under_way.insert(entry.call, entry.clone());
            }
            Happened::Done { .. } => _ = self.under_way.remove(&entry.call),
            _ => {}
        }
        self.last = (entry.seq, entry.ms, entry.mono);
    }

    /// What became of calls whose process is gone.
    fn conclude(&mut self) -> Option<Result<Entry, StoreError>> {
        if !self.ended && self.chain.is_being_written() {
            self.under_way.clear();
        }
        self.ended = true;
        let (_, call) = self.under_way.pop_first()?;
        Some(Ok(call.concluded(self.last)))
    }
}

/// A line of a segment.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) path: PathBuf,
    /// From 1.
    pub(super) number: u64,
    pub(super) text: String,
}

/// The complete lines of a chain, segment after segment.
#[derive(Debug)]
struct Lines {
    segments: VecDeque<PathBuf>,
    current: Option<(PathBuf, BufReader<File>, u64)>,
    failed: Option<StoreError>,
}

impl Lines {
    fn of(chain: &Chain) -> Self {
        let (segments, failed) = match chain.segments() {
            Ok(segments) => (segments.into_iter().map(|(_, path)| path).collect(), None),
            Err(error) => (VecDeque::new(), Some(error)),
        };
        Self { segments, current: None, failed }
    }
}

impl Iterator for Lines {
    type Item = Result<Line, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(error) = self.failed.take() {
            return Some(Err(error));
        }
        loop {
            if self.current.is_none() {
                let path = self.segments.pop_front()?;
                match File::open(&path) {
                    Ok(file) => self.current = Some((path, BufReader::new(file), 0)),
                    Err(source) => return Some(Err(StoreError::ReadJournal { path, source })),
                }
            }
            let (path, reader, number) = self.current.as_mut()?;
            *number += 1;
            let mut bytes = Vec::new();
            let read = reader.by_ref().take(LONGEST).read_until(b'\n', &mut bytes);
            if let Err(source) = read {
                let path = path.clone();
                self.current = None;
                return Some(Err(StoreError::ReadJournal { path, source }));
            }
            if bytes.pop() != Some(b'\n') {
                self.current = None;
                continue;
            }
            let (path, number) = (path.clone(), *number);
            let text = String::from_utf8(bytes).map_err(|_| StoreError::Line {
                path: path.clone(),
                line: number,
                what: "it is no text".into(),
            });
            return Some(text.map(|text| Line { path, number, text }));
        }
    }
}
