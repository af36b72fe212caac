//! One message, one line: what stdio framing asks of a pretty-printed message.

use bytes::Bytes;

/// The message without raw line breaks, each replaced by a space. The line's own end is not
/// added. Copies only if there is one to replace.
///
/// Legal JSON has line breaks between tokens only, so the meaning stays.
pub fn line(message: &Bytes) -> Bytes {
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
        assert_eq!(line(&pretty), &b"{    \"a\": \"x\\ny\" }"[..]);
    }

    #[test]
    fn a_compact_message_is_not_copied() {
        let compact = Bytes::from_static(b"{\"a\":1}");
        assert_eq!(line(&compact).as_ptr(), compact.as_ptr());
    }
}
