//! A server's stderr: always drained, the last 64 KiB kept, its lines logged within a rate.
//!
//! Does not interpret what the lines say beyond how loud they are. What is logged is masked; what
//! is kept is not, and whoever shows it has the mask too.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncReadExt};
use toolgate_model::{Mask, TokenBucket};
use tracing::{debug, info, warn};

use crate::severity::{self, Severity};

/// How much of a server's stderr is kept.
const KEPT: usize = 64 * 1024;
/// Longer lines are logged cut; the ring keeps them whole as far as it reaches.
const LOGGED_LINE: usize = 2 * 1024;
/// As much of a line is looked at for what must not be logged: a secret that the cut goes through
/// would not be recognised.
const MASKED_LINE: usize = 4 * LOGGED_LINE;
/// As much of a line is read for how loud it is.
const JUDGED_LINE: usize = 512;
/// Lines logged per second and server in the long run; the rest is counted.
const LOGGED_PER_SECOND: u32 = 20;
/// Lines logged at once after a pause: a whole traceback fits.
const LOGGED_AT_ONCE: u32 = 200;
/// Lines logged per hour and server: enough to see what is wrong, too few to fill a disk.
const LOGGED_PER_HOUR: u32 = 2000;

/// The last 64 KiB a server wrote to stderr.
#[derive(Debug, Default)]
pub struct StderrRing {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    tail: VecDeque<u8>,
    bytes: u64,
    lines: u64,
}

impl StderrRing {
    /// All that is kept, from the first whole line; invalid UTF-8 replaced.
    pub fn tail(&self) -> String {
        let mut kept = self.lock();
        let overflowed = kept.bytes > kept.tail.len() as u64;
        let bytes = kept.tail.make_contiguous();
        let cut = match bytes.iter().position(|byte| *byte == b'\n') {
            // A line longer than the ring is better shown without its beginning than not at all.
            Some(end) if overflowed && end + 1 < bytes.len() => end + 1,
            _ => 0,
        };
        String::from_utf8_lossy(&bytes[cut..]).into_owned()
    }

    /// The last `count` lines of [`StderrRing::tail`].
    pub fn last_lines(&self, count: usize) -> Vec<String> {
        let tail = self.tail();
        let lines: Vec<&str> = tail.lines().collect();
        lines[lines.len().saturating_sub(count)..].iter().map(ToString::to_string).collect()
    }

    /// How many lines were written in all, kept or not.
    pub fn lines_written(&self) -> u64 {
        self.lock().lines
    }

    /// How many bytes were written in all, kept or not.
    pub fn bytes_written(&self) -> u64 {
        self.lock().bytes
    }

    fn push(&self, chunk: &[u8]) {
        let mut kept = self.lock();
        kept.bytes += chunk.len() as u64;
        kept.lines += chunk.iter().filter(|byte| **byte == b'\n').count() as u64;
        let fresh = &chunk[chunk.len().saturating_sub(KEPT)..];
        let surplus = (kept.tail.len() + fresh.len()).saturating_sub(KEPT);
        kept.tail.drain(..surplus);
        kept.tail.extend(fresh);
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        // Bytes stay bytes: a panic elsewhere leaves nothing here half done.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads until the pipe ends, whatever comes: a full pipe would stop the server.
pub(crate) async fn drain(mut pipe: impl AsyncRead + Unpin, ring: Arc<StderrRing>, spoken: Spoken) {
    let mut chunk = vec![0; 8 * 1024];
    let mut log = LineLog::new(spoken);
    while let Ok(count @ 1..) = pipe.read(&mut chunk).await {
        ring.push(&chunk[..count]);
        log.feed(&chunk[..count]);
    }
    log.finish();
}

/// How a server's words are logged.
#[derive(Debug, Default)]
pub(crate) struct Spoken {
    /// What it is called.
    pub(crate) label: String,
    /// What is taken out of them.
    pub(crate) mask: Mask,
}

/// Cuts the stream into lines and logs them.
struct LineLog {
    spoken: Spoken,
    line: Vec<u8>,
    rate: Rate,
    /// Lines that few see take no place from the others.
    quiet: Rate,
}

impl LineLog {
    fn new(spoken: Spoken) -> Self {
        let now = Instant::now();
        Self { spoken, line: Vec::new(), rate: Rate::new(now), quiet: Rate::new(now) }
    }

    fn feed(&mut self, chunk: &[u8]) {
        for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
            let room = MASKED_LINE.saturating_sub(self.line.len()).min(piece.len());
            self.line.extend_from_slice(&piece[..room]);
            if piece.ends_with(b"\n") {
                self.log();
            }
        }
    }

    fn finish(&mut self) {
        if !self.line.is_empty() {
            self.log();
        }
    }

    fn log(&mut self) {
        let now = Instant::now();
        // In a flood, nearly no line is logged: those that are not cost no look at their words.
        if !self.rate.has_room(now) {
            self.rate.unlogged += 1;
            self.line.clear();
            return;
        }
        let severity = severity::of(&visible(&self.line[..self.line.len().min(JUDGED_LINE)]));
        let rate = if severity == Severity::Quiet { &mut self.quiet } else { &mut self.rate };
        let Admitted { passes, unlogged } = rate.admit(now);
        let server = &self.spoken.label;
        match severity {
            _ if unlogged == 0 => {}
            Severity::Quiet => debug!(target: "launch", server, "{unlogged} more lines on stderr"),
            _ => info!(target: "launch", server, "{unlogged} more lines on stderr"),
        }
        if passes {
            let line = logged(&self.line, &self.spoken.mask);
            match severity {
                Severity::Loud => warn!(target: "launch", server, "stderr: {line}"),
                Severity::Plain => info!(target: "launch", server, "stderr: {line}"),
                Severity::Quiet => debug!(target: "launch", server, "stderr: {line}"),
            }
        }
        self.line.clear();
    }
}

/// The line as it is logged: without what must not be, and no longer than it may be.
fn logged(line: &[u8], mask: &Mask) -> String {
    let mut text = visible(line);
    mask.hide_in(&mut text);
    let end = (0..=LOGGED_LINE.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    text.truncate(end.unwrap_or_default());
    text
}

/// The line as text, without the power to move a cursor or colour a terminal.
fn visible(line: &[u8]) -> String {
    let mut text = String::with_capacity(line.len());
    let line = String::from_utf8_lossy(line);
    let mut characters = line.trim_end().chars().peekable();
    while let Some(c) = characters.next() {
        if c == '\u{1b}' && characters.next_if_eq(&'[').is_some() {
            // A terminal sequence, up to its final letter: colour, which says nothing.
            characters.by_ref().find(|c| ('@'..='~').contains(c));
        } else if c.is_control() && c != '\t' {
            // Writing to a String cannot fail.
            let _ = write!(text, "{}", c.escape_default());
        } else {
            text.push(c);
        }
    }
    text
}

/// So many lines a second, more after a pause, and so many an hour.
struct Rate {
    bucket: TokenBucket,
    hour: Instant,
    used_in_hour: u32,
    unlogged: u64,
}

struct Admitted {
    passes: bool,
    /// Lines refused since the last one that passed.
    unlogged: u64,
}

impl Rate {
    fn new(now: Instant) -> Self {
        let period = Duration::from_secs(1) / LOGGED_PER_SECOND;
        let bucket = TokenBucket::full(LOGGED_AT_ONCE, period, now);
        Self { bucket, hour: now, used_in_hour: 0, unlogged: 0 }
    }

    fn admit(&mut self, now: Instant) -> Admitted {
        let passes = self.has_room(now);
        if passes {
            self.bucket.take(now);
            self.used_in_hour += 1;
            return Admitted { passes, unlogged: std::mem::take(&mut self.unlogged) };
        }
        self.unlogged += 1;
        Admitted { passes, unlogged: 0 }
    }

    /// Whether a line may be logged now.
    fn has_room(&mut self, now: Instant) -> bool {
        if now.duration_since(self.hour) >= Duration::from_secs(3600) {
            (self.hour, self.used_in_hour) = (now, 0);
        }
        self.bucket.available(now) > 0 && self.used_in_hour < LOGGED_PER_HOUR
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ring_keeps_the_last_whole_lines_of_a_flood() {
        let ring = StderrRing::default();
        for number in 0..50_000 {
            ring.push(format!("line {number}\n").as_bytes());
        }
        let tail = ring.tail();
        assert!(tail.len() <= KEPT && tail.len() > KEPT - 32, "{}", tail.len());
        assert!(tail.starts_with("line ") && tail.ends_with("line 49999\n"));
        assert_eq!(ring.lines_written(), 50_000);
        assert_eq!(ring.last_lines(2), ["line 49998", "line 49999"]);
        assert!(ring.lock().tail.capacity() <= 2 * KEPT);
    }

    #[test]
    fn a_chunk_larger_than_the_ring_leaves_its_end() {
        let ring = StderrRing::default();
        ring.push(&vec![b'x'; 3 * KEPT]);
        ring.push(b"end");
        assert!(ring.tail().ends_with("xend"));
        assert_eq!(ring.bytes_written(), 3 * KEPT as u64 + 3);
    }

    #[test]
    fn a_line_without_end_is_cut_and_costs_no_memory() {
        let mut log = LineLog::new(Spoken::default());
        for _ in 0..1000 {
            log.feed(&[b'x'; 4096]);
        }
        assert_eq!(log.line.len(), MASKED_LINE);
        assert_eq!(logged(&log.line, &Mask::default()).len(), LOGGED_LINE);
    }

    #[test]
    fn what_must_not_be_logged_is_taken_out_also_where_the_line_is_cut() {
        let mask = Mask::new(["canary-secret".to_owned()]);
        assert_eq!(logged(b"ERROR bad token canary-secret\n", &mask), "ERROR bad token ***");
        let line = format!("{}canary-secret", "x".repeat(LOGGED_LINE - 6));
        assert!(!logged(line.as_bytes(), &mask).contains("canary"));
    }

    #[test]
    fn a_flood_of_lines_is_counted_instead_of_logged() {
        let start = Instant::now();
        let mut rate = Rate::new(start);
        let passed = (0..1000).filter(|_| rate.admit(start).passes).count();
        assert_eq!(passed, LOGGED_AT_ONCE as usize);
        let later = start + Duration::from_secs(1);
        let next = rate.admit(later);
        assert!(next.passes);
        assert_eq!(next.unlogged, 1000 - u64::from(LOGGED_AT_ONCE));
        let passed = (0..1000).filter(|_| rate.admit(later).passes).count();
        assert_eq!(passed, LOGGED_PER_SECOND as usize - 1);
    }

    #[test]
    fn a_server_that_writes_on_and_on_fills_no_log() {
        let start = Instant::now();
        let mut rate = Rate::new(start);
        let second = Duration::from_secs(1);
        let mut passed = |from: u32, to: u32| {
            let lines = (from..to).flat_map(|at| (0..30).map(move |_| start + second * at));
            lines.filter(|now| rate.admit(*now).passes).count()
        };
        assert_eq!(passed(0, 3600), LOGGED_PER_HOUR as usize);
        assert_eq!(passed(3600, 3602), 60, "then it is heard again, a burst first");
    }

    #[test]
    fn colours_are_dropped_and_control_characters_made_visible() {
        assert_eq!(visible(b"\x1b[31mERROR\x1b[0m\tbell\x07\r\n"), "ERROR\tbell\\u{7}");
    }
}
