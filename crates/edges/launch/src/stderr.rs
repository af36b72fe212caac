//! Drains a server's stderr, keeps its last 64 KiB, and logs its lines within a rate limit.
//!
//! This module reads only the severity from a line. Logged lines are masked. The kept text is not:
//! the code that shows it must apply the mask.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt};
use toolgate_model::{Mask, TokenBucket};
use tracing::{debug, info, warn};

use crate::stderr_severity::{self, StderrSeverity};

/// How many bytes of a server's stderr are kept.
const KEPT: usize = 64 * 1024;
/// The maximum length of a logged line. The ring keeps longer lines whole, up to its size.
const LOGGED_LINE: usize = 2 * 1024;
/// How much of a line is masked. This is more than is logged, because a secret that is cut off at
/// the end would not be recognised.
const MASKED_LINE: usize = 4 * LOGGED_LINE;
/// How much of a line is read to find its severity.
const JUDGED_LINE: usize = 512;
/// The average number of lines logged per second and server. The rest is only counted.
const LOGGED_PER_SECOND: u32 = 20;
/// The number of lines logged at once after a pause: a whole traceback fits.
const LOGGED_AT_ONCE: u32 = 200;
/// The number of lines logged per hour and server: enough to find a problem, too few to fill a
/// disk.
const LOGGED_PER_HOUR: u32 = 2000;

/// The last 64 KiB a server wrote to stderr.
#[derive(Debug, Default)]
pub struct StderrRing {
    state: Mutex<StderrRingState>,
}

/// The content and the counters of a [`StderrRing`].
#[derive(Debug, Default)]
struct StderrRingState {
    tail: VecDeque<u8>,
    /// The number of bytes written in total, kept or not.
    bytes: u64,
}

impl StderrRing {
    /// Returns the kept text from its first whole line. Replaces invalid UTF-8.
    pub fn tail(&self) -> String {
        let mut kept = self.state.lock();
        let overflowed = kept.bytes > kept.tail.len() as u64;
        let bytes = kept.tail.make_contiguous();
        let cut = match bytes.iter().position(|byte| *byte == b'\n') {
            // A line longer than the ring is shown without its beginning rather than not at all.
            Some(end) if overflowed && end + 1 < bytes.len() => end + 1,
            _ => 0,
        };
        String::from_utf8_lossy(&bytes[cut..]).into_owned()
    }

    fn push(&self, chunk: &[u8]) {
        let mut kept = self.state.lock();
        kept.bytes += chunk.len() as u64;
        let fresh = &chunk[chunk.len().saturating_sub(KEPT)..];
        let surplus = (kept.tail.len() + fresh.len()).saturating_sub(KEPT);
        kept.tail.drain(..surplus);
        kept.tail.extend(fresh);
    }
}

/// Reads the pipe until it ends. Without this, a full pipe would block the server.
pub(crate) async fn drain(
    mut pipe: impl AsyncRead + Unpin,
    ring: Arc<StderrRing>,
    options: ServerStderrLogOptions,
) {
    let mut chunk = vec![0; 8 * 1024];
    let mut log = ServerStderrLogger::new(options);
    while let Ok(count @ 1..) = pipe.read(&mut chunk).await {
        ring.push(&chunk[..count]);
        log.feed(&chunk[..count]);
    }
    log.finish();
}

/// The options for logging a server's stderr.
#[derive(Debug, Default)]
pub(crate) struct ServerStderrLogOptions {
    /// The server's name in log lines.
    pub(crate) label: String,
    /// The secrets to remove from log lines.
    pub(crate) mask: Mask,
}

/// A logger that splits a stream into lines.
struct ServerStderrLogger {
    options: ServerStderrLogOptions,
    line: Vec<u8>,
    rate: LogRateLimit,
    /// A separate limit for quiet lines, so that they do not use up the limit of the others.
    quiet: LogRateLimit,
}

impl ServerStderrLogger {
    fn new(options: ServerStderrLogOptions) -> Self {
        let now = Instant::now();
        Self {
            options,
            line: Vec::new(),
            rate: LogRateLimit::new(now),
            quiet: LogRateLimit::new(now),
        }
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
        // In a flood most lines are not logged. Their severity is not computed.
        if !self.rate.has_room(now) {
            self.rate.unlogged += 1;
            self.line.clear();
            return;
        }
        let severity = stderr_severity::classify_line(&escape_controls(
            &self.line[..self.line.len().min(JUDGED_LINE)],
        ));
        let rate = if severity == StderrSeverity::Quiet { &mut self.quiet } else { &mut self.rate };
        if let Some(unlogged) = rate.admit(now) {
            let server = &self.options.label;
            match severity {
                _ if unlogged == 0 => {}
                StderrSeverity::Quiet => {
                    debug!(target: "launch", server, "{unlogged} more lines on stderr")
                }
                _ => info!(target: "launch", server, "{unlogged} more lines on stderr"),
            }
            let line = format_log_line(&self.line, &self.options.mask);
            match severity {
                StderrSeverity::Loud => warn!(target: "launch", server, "stderr: {line}"),
                StderrSeverity::Plain => info!(target: "launch", server, "stderr: {line}"),
                StderrSeverity::Quiet => debug!(target: "launch", server, "stderr: {line}"),
            }
        }
        self.line.clear();
    }
}

/// Returns the line for the log: escaped, masked and cut to the maximum length.
fn format_log_line(line: &[u8], mask: &Mask) -> String {
    let mut text = escape_controls(line);
    mask.apply_in_place(&mut text);
    let end = (0..=LOGGED_LINE.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    text.truncate(end.unwrap_or_default());
    text
}

/// Returns the line as text without terminal sequences, and with control characters escaped.
fn escape_controls(line: &[u8]) -> String {
    let mut text = String::with_capacity(line.len());
    let line = String::from_utf8_lossy(line);
    let mut characters = line.trim_end().chars().peekable();
    while let Some(c) = characters.next() {
        if c == '\u{1b}' && characters.next_if_eq(&'[').is_some() {
            // Drop a terminal sequence, such as a colour, up to its final letter.
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

/// A rate limit for log lines: per second, with a burst after a pause, and per hour.
struct LogRateLimit {
    bucket: TokenBucket,
    hour: Instant,
    used_in_hour: u32,
    unlogged: u64,
}

impl LogRateLimit {
    fn new(now: Instant) -> Self {
        let period = Duration::from_secs(1) / LOGGED_PER_SECOND;
        let bucket = TokenBucket::full(LOGGED_AT_ONCE, period, now);
        Self { bucket, hour: now, used_in_hour: 0, unlogged: 0 }
    }

    /// Takes room for one line. Returns the number of lines refused since the last one that passed,
    /// or `None` if this one is refused too.
    fn admit(&mut self, now: Instant) -> Option<u64> {
        if !self.has_room(now) {
            self.unlogged += 1;
            return None;
        }
        self.bucket.take(now);
        self.used_in_hour += 1;
        Some(std::mem::take(&mut self.unlogged))
    }

    /// Returns true if a line may be logged now.
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
        assert!(tail.starts_with("line ") && tail.ends_with("\nline 49998\nline 49999\n"));
        assert!(ring.state.lock().tail.capacity() <= 2 * KEPT);
    }

    #[test]
    fn a_chunk_larger_than_the_ring_leaves_its_end() {
        let ring = StderrRing::default();
        ring.push(&vec![b'x'; 3 * KEPT]);
        ring.push(b"end");
        assert!(ring.tail().ends_with("xend"));
        assert_eq!(ring.state.lock().bytes, 3 * KEPT as u64 + 3);
    }

    #[test]
    fn a_line_without_end_is_cut_and_costs_no_memory() {
        let mut log = ServerStderrLogger::new(ServerStderrLogOptions::default());
        for _ in 0..1000 {
            log.feed(&[b'x'; 4096]);
        }
        assert_eq!(log.line.len(), MASKED_LINE);
        assert_eq!(format_log_line(&log.line, &Mask::default()).len(), LOGGED_LINE);
    }

    #[test]
    fn what_must_not_be_logged_is_taken_out_also_where_the_line_is_cut() {
        let mask = Mask::new(["canary-secret".to_owned()]);
        assert_eq!(
            format_log_line(b"ERROR bad token canary-secret\n", &mask),
            "ERROR bad token ***"
        );
        let line = format!("{}canary-secret", "x".repeat(LOGGED_LINE - 6));
        assert!(!format_log_line(line.as_bytes(), &mask).contains("canary"));
    }

    #[test]
    fn a_flood_of_lines_is_counted_instead_of_logged() {
        let start = Instant::now();
        let mut rate = LogRateLimit::new(start);
        let passed = (0..1000).filter(|_| rate.admit(start).is_some()).count();
        assert_eq!(passed, LOGGED_AT_ONCE as usize);
        let later = start + Duration::from_secs(1);
        assert_eq!(rate.admit(later), Some(1000 - u64::from(LOGGED_AT_ONCE)));
        let passed = (0..1000).filter(|_| rate.admit(later).is_some()).count();
        assert_eq!(passed, LOGGED_PER_SECOND as usize - 1);
    }

    #[test]
    fn a_server_that_writes_on_and_on_fills_no_log() {
        let start = Instant::now();
        let mut rate = LogRateLimit::new(start);
        let second = Duration::from_secs(1);
        let mut passed = |from: u32, to: u32| {
            let lines = (from..to).flat_map(|at| (0..30).map(move |_| start + second * at));
            lines.filter(|now| rate.admit(*now).is_some()).count()
        };
        assert_eq!(passed(0, 3600), LOGGED_PER_HOUR as usize);
        assert_eq!(passed(3600, 3602), 60, "then it is heard again, a burst first");
    }

    #[test]
    fn colours_are_dropped_and_control_characters_made_visible() {
        assert_eq!(escape_controls(b"\x1b[31mERROR\x1b[0m\tbell\x07\r\n"), "ERROR\tbell\\u{7}");
    }
}
