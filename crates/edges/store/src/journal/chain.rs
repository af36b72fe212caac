//! The hash chain: each record names the hash of the one before it, and its own covers both.
//!
//! A line is `<body>,"hash":"H","mono":…,"prev":"P","seq":…,"ts":"…"}`, all of it canonical, and
//! `H = SHA-256(P as 32 bytes || the line without its hash member)`. The first record's `P` is the
//! SHA-256 of the chain's origin, so that one chain cannot be passed off as another.

use ring::digest::{Context, SHA256};

use super::{json, time};

/// A hash.
pub(super) type Hash = [u8; 32];

/// What stands in front of the hash in a line.
const HASH: &[u8] = b",\"hash\":\"";

/// The name of a chain wherever it is signed.
pub(super) fn origin(chain: &str) -> String {
    format!("toolgate/{chain}")
}

/// How far a chain goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    /// How many records it has.
    pub(super) seq: u64,
    /// The hash of the last.
    pub(super) hash: Hash,
}

impl Head {
    /// Before the first record.
    pub(super) fn of(chain: &str) -> Self {
        Self { seq: 0, hash: hashed(&[origin(chain).as_bytes()]) }
    }

    /// Writes the next record as a line.
    pub(super) fn push(&mut self, body: &[u8], when: When, out: &mut Vec<u8>) {
        self.seq += 1;
        out.extend_from_slice(body);
        out.extend_from_slice(HASH);
        let place = out.len();
        out.extend_from_slice(&[b'0'; 64]);
        out.push(b'"');
        let rest = out.len();
        self.tail(when, out);
        self.hash = hashed(&[&self.hash, body, &out[rest..]]);
        hex_at(&self.hash, &mut out[place..place + 64]);
        out.push(b'\n');
    }

    /// What stands behind the hash.
    fn tail(&self, when: When, out: &mut Vec<u8>) {
        out.extend_from_slice(b",\"mono\":");
        json::whole(when.mono, out);
        out.extend_from_slice(b",\"prev\":\"");
        json::hex(&self.hash, out);
        out.extend_from_slice(b"\",\"seq\":");
        json::whole(self.seq, out);
        out.extend_from_slice(b",\"ts\":\"");
        out.extend_from_slice(&time::written(when.ms));
        out.extend_from_slice(b"\"}");
    }
}

/// When a record was taken.
#[derive(Debug, Clone, Copy)]
pub(super) struct When {
    /// Milliseconds since 1970.
    pub(super) ms: u64,
    /// Microseconds since the chain began.
    pub(super) mono: u64,
}

fn hex_at(hash: &Hash, place: &mut [u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for (pair, byte) in place.chunks_mut(2).zip(hash) {
        pair.copy_from_slice(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    }
}

fn hashed(parts: &[&[u8]]) -> Hash {
    let mut context = Context::new(&SHA256);
    parts.iter().for_each(|part| context.update(part));
    let mut hash = [0; 32];
    hash.copy_from_slice(context.finish().as_ref());
    hash
}

/// What a line says about its place in the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) seq: u64,
    /// Microseconds since the chain began.
    pub(super) mono: u64,
    /// Milliseconds since 1970; 0 if that cannot be read.
    pub(super) ms: u64,
    pub(super) prev: Hash,
    /// The hash it states.
    pub(super) hash: Hash,
    /// Whether that is its hash.
    pub(super) holds: bool,
}

/// Reads the link of a line, which comes without its end; `None` if it has none. It is read from
/// behind: what stands there is ours, whatever the body holds.
pub(super) fn link(line: &[u8]) -> Option<Link> {
    let before = line.strip_suffix(b"\"}")?;
    let (before, ts) = before.split_at(before.len().checked_sub(24)?);
    let ms = std::str::from_utf8(ts).ok().and_then(time::parse_rfc3339).unwrap_or_default();
    let before = before.strip_suffix(b",\"ts\":\"")?;
    let (before, seq) = number(before)?;
    let (before, prev) = hash(before.strip_suffix(b"\",\"seq\":")?)?;
    let (before, mono) = number(before.strip_suffix(b",\"prev\":\"")?)?;
    let before = before.strip_suffix(b",\"mono\":")?;
    let rest = line.get(before.len()..)?;
    let (before, stated) = hash(before.strip_suffix(b"\"")?)?;
    let body = before.strip_suffix(HASH)?;
    let holds = hashed(&[&prev, body, rest]) == stated;
    Some(Link { seq, mono, ms, prev, hash: stated, holds })
}

/// The number a text ends with, and what stands before it.
fn number(text: &[u8]) -> Option<(&[u8], u64)> {
    let length = text.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let (before, digits) = text.split_at(text.len() - length);
    Some((before, std::str::from_utf8(digits).ok()?.parse().ok()?))
}

/// The hash a text ends with, and what stands before it.
fn hash(text: &[u8]) -> Option<(&[u8], Hash)> {
    let (before, digits) = text.split_at(text.len().checked_sub(64)?);
    Some((before, unhex(digits)?))
}

/// Reads hexadecimal in lower case.
pub(super) fn unhex(text: &[u8]) -> Option<Hash> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let mut hash = [0; 32];
    if text.len() != 64 {
        return None;
    }
    for (at, byte) in hash.iter_mut().enumerate() {
        *byte = digit(text[2 * at])? << 4 | digit(text[2 * at + 1])?;
    }
    Some(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_holds_its_link_and_any_change_breaks_it() {
        let mut head = Head::of("c");
        let first = head;
        let mut line = Vec::new();
        head.push(b"{\"call\":0,\"event\":{}", When { ms: 5, mono: 7 }, &mut line);
        assert_eq!(line.pop(), Some(b'\n'));
        let read = link(&line).unwrap();
        let (prev, hash) = (first.hash, head.hash);
        assert_eq!(read, Link { seq: 1, mono: 7, ms: 5, prev, hash, holds: true });
        for at in 0..line.len() {
            for change in [1, 0x20, 0x80] {
                let mut changed = line.clone();
                changed[at] ^= change;
                assert!(link(&changed).is_none_or(|link| !link.holds), "byte {at}");
            }
            assert!(link(&line[..at]).is_none_or(|link| !link.holds));
        }
    }
}
