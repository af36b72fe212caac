//! Writes the content of a result or of a resource to a file.

use std::path::{Path, PathBuf};

use base64::alphabet;
use base64::engine::{DecodePaddingMode, Engine, GeneralPurpose, GeneralPurposeConfig};
use serde_json::Value;

use crate::exit::{ErrorCode, OrFail as _, Result, cli_error};
use crate::out;

/// Accepts missing padding and trailing bits, which some servers send.
const READER: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Returns true if a content block or resource has binary content.
pub fn is_binary(block: &Value) -> bool {
    encoded(block).is_some()
}

/// Writes binary content to the file, and prints the text beside it. Several contents go to
/// numbered files. Without binary content it writes all text.
pub fn write(file: &Path, blocks: &[Value]) -> Result<()> {
    let binary: Vec<_> = blocks.iter().filter_map(encoded).collect();
    let texts = blocks.iter().filter_map(text).collect::<Vec<_>>().concat();
    if binary.is_empty() {
        return write_bytes(file, texts.as_bytes());
    }
    out::text(&texts)?;
    for (at, encoded) in binary.into_iter().enumerate() {
        let decoded = decode(encoded);
        let bytes =
            decoded.ok_or_else(|| cli_error!(CallBadAnswer, "the content is not valid base64"))?;
        write_bytes(&numbered(file, at + 1), &bytes)?;
    }
    Ok(())
}

fn write_bytes(file: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::write(file, bytes)
        .or_fail(ErrorCode::CliWrite, format_args!("cannot write {}", file.display()))?;
    out::note(&format!("wrote {} to {}", out::format_size(bytes.len() as u64), file.display()));
    Ok(())
}

/// Returns the base64 text of a block: of an image, audio or a resource.
fn encoded(block: &Value) -> Option<&str> {
    [&block["data"], &block["blob"], &block["resource"]["blob"]].into_iter().find_map(Value::as_str)
}

fn text(block: &Value) -> Option<&str> {
    [&block["text"], &block["resource"]["text"]].into_iter().find_map(Value::as_str)
}

/// Returns the path with a number before its extension; the first has none.
fn numbered(file: &Path, number: usize) -> PathBuf {
    if number == 1 {
        return file.to_owned();
    }
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let extension = file.extension().map(|it| format!(".{}", it.to_string_lossy()));
    file.with_file_name(format!("{stem}-{number}{}", extension.unwrap_or_default()))
}

/// Decodes base64 text; returns `None` if it is not base64. Accepts white space, missing padding
/// and the URL-safe alphabet.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let digits = text.bytes().filter(|byte| !byte.is_ascii_whitespace());
    let standard = digits.map(|byte| match byte {
        b'-' => b'+',
        b'_' => b'/',
        byte => byte,
    });
    READER.decode(standard.collect::<Vec<u8>>()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_texts_decode() {
        for (text, bytes) in [
            ("", &b""[..]),
            ("Zg==", b"f"),
            ("Zm8=", b"fo"),
            ("Zm9v", b"foo"),
            ("Zm9vYmFy", b"foobar"),
            ("/+8A", &[0xff, 0xef, 0x00]),
            ("Zm9v\nYmFy\n", b"foobar"),
        ] {
            assert_eq!(decode(text).as_deref(), Some(bytes), "{text}");
        }
    }

    #[test]
    fn what_is_not_base64_is_refused() {
        for text in ["Z", "Zm9v!", "Zm=9"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
