//! The hash chain: each record contains the hash of the previous one, and its own hash covers both.
//!
//! A line is `<body>,"hash":"H","mono":…,"prev":"P","seq":…,"ts":"…"}`, all of it canonical, and
//! `H = SHA-256(P as 32 bytes || the line without its hash member)`. The first record's `P` is the
//! SHA-256 of the chain's origin, so that one chain cannot be passed off as another.

use std::io::Write as _;

use ring::digest::{Context, SHA256};
use toolgate_model::time;
use toolgate_wire::hex;

/// The SHA-256 hash of a record.
pub(crate) type ChainHash = [u8; 32];

/// The text before the hash in a line.
const HASH: &[u8] = b",\"hash\":\"";

/// Returns the name of a chain in signatures.
pub(crate) fn origin(chain: &str) -> String {
    format!("toolgate/{chain}")
}

/// The last record of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ChainHead {
    /// The number of records.
    pub(crate) seq: u64,
    /// The hash of the last record.
    pub(crate) hash: ChainHash,
}

impl ChainHead {
    /// Returns the head before the first record.
    pub(crate) fn start_of(chain: &str) -> Self {
        Self { seq: 0, hash: hash_parts(&[origin(chain).as_bytes()]) }
    }

    /// Appends the next record as a line to `out`.
    pub(crate) fn push(&mut self, body: &[u8], when: RecordTime, out: &mut Vec<u8>) {
        self.seq += 1;
        out.extend_from_slice(body);
        out.extend_from_slice(HASH);
        let place = out.len();
        out.extend_from_slice(&[b'0'; 64]);
        let rest = out.len() + 1;
        let RecordTime { ms, mono } = when;
        let (prev, seq, ts) = (hex::encode(&self.hash), self.seq, time::rfc3339(ms));
        // Writing to memory does not fail.
        _ = write!(out, r#"","mono":{mono},"prev":"{prev}","seq":{seq},"ts":"{ts}"}}"#);
        self.hash = hash_parts(&[&self.hash, body, &out[rest..]]);
        out[place..place + 64].copy_from_slice(hex::encode(&self.hash).as_bytes());
        out.push(b'\n');
    }
}

/// The time at which the journal accepted a record.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RecordTime {
    /// Milliseconds since 1970.
    pub(crate) ms: u64,
    /// Microseconds since the chain began.
    pub(crate) mono: u64,
}

fn hash_parts(parts: &[&[u8]]) -> ChainHash {
    let mut context = Context::new(&SHA256);
    parts.iter().for_each(|part| context.update(part));
    let mut hash = [0; 32];
    hash.copy_from_slice(context.finish().as_ref());
    hash
}

/// The link of a line to its chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ChainLink {
    pub(crate) seq: u64,
    /// Microseconds since the chain began.
    pub(crate) mono: u64,
    /// Milliseconds since 1970, or 0 if the time is not valid.
    pub(crate) ms: u64,
    pub(crate) prev: ChainHash,
    /// The hash in the line.
    pub(crate) hash: ChainHash,
    /// Whether the hash is correct.
    pub(crate) hash_matches: bool,
}

/// Parses the link of a line, given without its line end. Returns `None` if it has none. Parses
/// from the end, because the journal writes those members itself, whatever the body contains.
pub(crate) fn parse_link(line: &[u8]) -> Option<ChainLink> {
    let before = line.strip_suffix(b"\"}")?;
    let (before, ts) = before.split_at(before.len().checked_sub(24)?);
    let ms = std::str::from_utf8(ts).ok().and_then(time::parse_rfc3339).unwrap_or_default();
    let before = before.strip_suffix(b",\"ts\":\"")?;
    let (before, seq) = split_number(before)?;
    let (before, prev) = split_hash(before.strip_suffix(b"\",\"seq\":")?)?;
    let (before, mono) = split_number(before.strip_suffix(b",\"prev\":\"")?)?;
    let before = before.strip_suffix(b",\"mono\":")?;
    let rest = line.get(before.len()..)?;
    let (before, stated) = split_hash(before.strip_suffix(b"\"")?)?;
    let body = before.strip_suffix(HASH)?;
    let holds = hash_parts(&[&prev, body, rest]) == stated;
    Some(ChainLink { seq, mono, ms, prev, hash: stated, hash_matches: holds })
}

/// Splits off the number at the end of a text.
fn split_number(text: &[u8]) -> Option<(&[u8], u64)> {
    let length = text.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let (before, digits) = text.split_at(text.len() - length);
    Some((before, std::str::from_utf8(digits).ok()?.parse().ok()?))
}

/// Splits off the hash at the end of a text.
fn split_hash(text: &[u8]) -> Option<(&[u8], ChainHash)> {
    let (before, digits) = text.split_at(text.len().checked_sub(64)?);
    Some((before, hex::decode(digits)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_holds_its_link_and_any_change_breaks_it() {
        let mut head = ChainHead::start_of("c");
        let first = head;
        let mut line = Vec::new();
        head.push(b"{\"call\":0,\"event\":{}", RecordTime { ms: 5, mono: 7 }, &mut line);
        assert_eq!(line.pop(), Some(b'\n'));
        let read = parse_link(&line).unwrap();
        let (prev, hash) = (first.hash, head.hash);
        assert_eq!(read, ChainLink { seq: 1, mono: 7, ms: 5, prev, hash, hash_matches: true });
        for at in 0..line.len() {
            for change in [1, 0x20, 0x80] {
                let mut changed = line.clone();
                changed[at] ^= change;
                assert!(parse_link(&changed).is_none_or(|link| !link.hash_matches), "byte {at}");
            }
            assert!(parse_link(&line[..at]).is_none_or(|link| !link.hash_matches));
        }
    }
}
