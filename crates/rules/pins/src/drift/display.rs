//! Formats parts of a definition for the person who approves it: invisible characters are escaped,
//! and text within a sentence stays on one line.

use toolgate_model::is_invisible;

use crate::canonical_json::CanonicalJson;

/// Replaces invisible characters by their code points. Line feeds and tabs stay.
pub(crate) fn escape_invisible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c != '\n' && c != '\t' && is_invisible(c) {
            true => out.push_str(&format!("⟦U+{:04X}⟧", c as u32)),
            false => out.push(c),
        }
    }
    out
}

/// Formats a value: a string as its text, everything else as JSON.
pub(crate) fn display_json(value: &CanonicalJson) -> String {
    match value {
        CanonicalJson::Text(text) => escape_invisible(&text.to_string_lossy()),
        other => {
            let mut out = Vec::new();
            other.write(&mut out);
            escape_invisible(&String::from_utf8_lossy(&out))
        }
    }
}

/// Quotes a name for use within a sentence.
pub(crate) fn quote_name(name: &str) -> String {
    format!("`{}`", escape_invisible(name).replace('\n', "⟦U+000A⟧").replace('\t', "⟦U+0009⟧"))
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
