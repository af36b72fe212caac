//! What is no text, said in a word or two where text is wanted: a picture, a sound, a link.

use std::fmt::Write as _;

/// Something binary: what it is, of which type and size, and where it comes from.
pub fn binary(kind: &str, mime: &str, uri: &str, bytes: u64) -> String {
    let mut words = format!("[{kind}");
    for word in [uri, mime].into_iter().filter(|word| !word.is_empty()) {
        // Writing to a String cannot fail.
        let _ = write!(words, " {word}");
    }
    let _ = write!(words, ", {}]", size(bytes));
    words
}

/// A link to a resource, or one whose contents are not there.
pub fn link(uri: &str) -> String {
    format!("[resource {uri}]")
}

/// A block of a type nobody here knows.
pub fn unknown(kind: &str) -> String {
    match kind {
        "" => "[content without a type]".to_owned(),
        kind => format!("[{kind}]"),
    }
}

/// How many bytes a base64 text of this length stands for, but for its padding.
pub fn decoded_size(base64: u64) -> u64 {
    base64 / 4 * 3 + base64 % 4 * 3 / 4
}

/// A number of bytes, for people.
pub fn size(bytes: u64) -> String {
    const KIB: u64 = 1 << 10;
    match bytes {
        0..KIB => format!("{bytes} B"),
        KIB..0x10_0000 => format!("{} KiB", (bytes + KIB / 2) / KIB),
        _ => format!("{:.1} MiB", bytes as f64 / (1 << 20) as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_text_is_named_with_type_and_size() {
        assert_eq!(binary("image", "image/png", "", 12 << 10), "[image image/png, 12 KiB]");
        assert_eq!(binary("resource", "", "x:y", 3), "[resource x:y, 3 B]");
        assert_eq!((size(12_000), size(50_000_000)), ("12 KiB".into(), "47.7 MiB".into()));
        assert_eq!((decoded_size(8), decoded_size(3), decoded_size(0)), (6, 2, 0));
    }
}
