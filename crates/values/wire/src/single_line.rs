//! Puts a pretty-printed message on one line, as stdio framing demands.

use bytes::Bytes;

/// Returns the message with each raw line break replaced by a space. Adds no line end, and copies
/// only if there is a line break to replace.
///
/// Valid JSON has raw line breaks between tokens only, so the meaning does not change.
pub fn to_single_line(message: &Bytes) -> Bytes {
    let Some(first) = memchr::memchr2(b'\n', b'\r', message) else {
        return message.clone();
    };
    let mut flat = message.to_vec();
    for byte in flat.iter_mut().skip(first).filter(|byte| matches!(byte, b'\n' | b'\r')) {
        *byte = b' ';
    }
    flat.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pretty_printed_message_becomes_one_line_of_the_same_length() {
        let pretty = Bytes::from_static(b"{\r\n  \"a\": \"x\\ny\"\n}");
        assert_eq!(to_single_line(&pretty), &b"{    \"a\": \"x\\ny\" }"[..]);
    }

    #[test]
    fn a_compact_message_is_not_copied() {
        let compact = Bytes::from_static(b"{\"a\":1}");
        assert_eq!(to_single_line(&compact).as_ptr(), compact.as_ptr());
    }
}
