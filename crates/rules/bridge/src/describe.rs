//! Short descriptions of non-text content, such as images, audio and links.

use std::fmt::Write as _;

/// Describes binary content: kind, type, source and size.
pub fn binary(kind: &str, mime: &str, uri: &str, bytes: u64) -> String {
    let mut words = format!("[{kind}");
    for word in [uri, mime].into_iter().filter(|word| !word.is_empty()) {
        // Writing to a String cannot fail.
        let _ = write!(words, " {word}");
    }
    let _ = write!(words, ", {}]", format_size(bytes));
    words
}

/// Describes a resource link, or a resource without contents.
pub fn link(uri: &str) -> String {
    format!("[resource {uri}]")
}

/// Describes a block of an unknown type.
pub fn unknown_block(kind: &str) -> String {
    match kind {
        "" => "[content without a type]".to_owned(),
        kind => format!("[{kind}]"),
    }
}

/// Returns the decoded size of a base64 text of this length, padding not considered.
pub fn decoded_size(base64: u64) -> u64 {
    base64 / 4 * 3 + base64 % 4 * 3 / 4
}

/// Formats a number of bytes for display.
pub fn format_size(bytes: u64) -> String {
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
        assert_eq!(
            (format_size(12_000), format_size(50_000_000)),
            ("12 KiB".into(), "47.7 MiB".into())
        );
        assert_eq!((decoded_size(8), decoded_size(3), decoded_size(0)), (6, 2, 0));
    }
}
