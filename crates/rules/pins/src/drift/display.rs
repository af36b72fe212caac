//! Formats parts of a definition for the person who approves it: invisible characters are escaped,
//! and text within a sentence stays on one line.

use toolgate_model::{escape_invisible, escape_invisible_lines};

use crate::canonical_json::CanonicalJson;

/// Formats a value: a string as its text, everything else as JSON.
pub(crate) fn display_json(value: &CanonicalJson) -> String {
    match value {
        CanonicalJson::Text(text) => escape_invisible_lines(&text.to_string_lossy()),
        other => {
            let mut out = Vec::new();
            other.write(&mut out);
            escape_invisible_lines(&String::from_utf8_lossy(&out))
        }
    }
}

/// Quotes a name for use within a sentence.
pub(crate) fn quote_name(name: &str) -> String {
    format!("`{}`", escape_invisible(name))
}

/// The longest value that is quoted within a sentence, in characters.
const SHORT: usize = 60;

/// Quotes a value for use within a sentence. A long value is only mentioned, since the difference
/// also carries it in full.
pub(crate) fn quote_short_value(value: &CanonicalJson) -> String {
    let shown = display_json(value);
    match shown.chars().count() <= SHORT {
        true => quote_name(&shown),
        false => "a longer value".to_owned(),
    }
}
