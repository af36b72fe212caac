//! Finds the end of a plain run of string bytes, eight or more bytes at a time.
//!
//! Nearly all bytes of nearly all messages are string contents, so this loop determines the speed
//! of the scanner. It finds the first byte that has a meaning inside a JSON string: the closing
//! quote, a backslash, or a forbidden control character.

const LANES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;
const BLOCK: usize = 64;

/// Returns the offset of the first special byte at or after `at`, or the length if there is none.
#[inline]
pub(crate) fn plain_end(bytes: &[u8], at: usize) -> usize {
    match by_words(bytes, at, 4) {
        (at, true) => at,
        (at, false) => long_plain_end(bytes, at),
    }
}

/// Does the same for a long string, or near the end of the input.
#[inline(never)]
fn long_plain_end(bytes: &[u8], at: usize) -> usize {
    let at = at + by_blocks(bytes.get(at..).unwrap_or_default());
    let (mut at, found) = by_words(bytes, at, usize::MAX);
    while !found && bytes.get(at).is_some_and(|&byte| !is_special(byte)) {
        at += 1;
    }
    at
}

/// Checks up to `count` words. Returns the offset reached, and true if that byte is special.
#[inline]
fn by_words(bytes: &[u8], mut at: usize, count: usize) -> (usize, bool) {
    for _ in 0..count {
        let Some(word) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) else {
            break;
        };
        let special = specials(u64::from_le_bytes(*word));
        if special != 0 {
            return (at + special.trailing_zeros() as usize / 8, true);
        }
        at += 8;
    }
    (at, false)
}

/// Returns the number of bytes in the leading blocks without a special byte.
fn by_blocks(bytes: &[u8]) -> usize {
    let (blocks, _) = bytes.as_chunks::<BLOCK>();
    BLOCK * blocks.iter().take_while(|block| is_plain(block)).count()
}

/// Returns true if the block has no special byte. It has no branch per byte and nothing wider than
/// a byte, so the compiler vectorises it.
fn is_plain(block: &[u8; BLOCK]) -> bool {
    let (mut marks, mut least) = (0, u8::MAX);
    for &byte in block {
        marks |= u8::from(byte == b'"') | u8::from(byte == b'\\');
        least = least.min(byte);
    }
    marks == 0 && least >= 0x20
}

#[inline]
fn is_special(byte: u8) -> bool {
    (byte == b'"') | (byte == b'\\') | (byte < 0x20)
}

/// Sets the high bit of every special lane. A borrow may mark lanes above the first special one,
/// never below it, so the lowest mark is exact.
#[inline]
fn specials(word: u64) -> u64 {
    let zero = |lanes: u64| lanes.wrapping_sub(LANES) & !lanes;
    let quote = zero(word ^ (LANES * b'"' as u64));
    let backslash = zero(word ^ (LANES * b'\\' as u64));
    let control = word.wrapping_sub(LANES * 0x20) & !word;
    (quote | backslash | control) & HIGH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_at_every_offset_is_classified_as_the_byte_loop_does() {
        for length in [1, 7, 8, 9, 40, 65, 200] {
            for special in 0..=255_u8 {
                for offset in 0..length {
                    let mut bytes = vec![0xE9; length];
                    bytes[offset] = special;
                    let slow = bytes.iter().position(|&byte| is_special(byte)).unwrap_or(length);
                    assert_eq!(plain_end(&bytes, 0), slow, "{special:#x} at {offset} of {length}");
                }
            }
        }
    }
}
