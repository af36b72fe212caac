//! How pieces of a definition are shown to whoever is to approve them: nothing invisible, and on
//! one line where a line is wanted.

use toolgate_model::is_invisible;

use crate::tree::Json;

/// A text with everything invisible in it shown as its code point; lines stay lines.
pub(crate) fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c != '\n' && c != '\t' && is_invisible(c) {
            true => out.push_str(&format!("⟦U+{:04X}⟧", c as u32)),
            false => out.push(c),
        }
    }
    out
}

/// A value, visibly: a text as it reads, anything else as JSON.
pub(crate) fn shown(value: &Json) -> String {
    match value {
        Json::Text(text) => visible(&text.lossy()),
        other => {
            let mut out = Vec::new();
            other.write(&mut out);
            visible(&String::from_utf8_lossy(&out))
        }
    }
}

/// A name within a sentence.
pub(crate) fn word(name: &str) -> String {
    format!("`{}`", visible(name).replace('\n', "⟦U+000A⟧").replace('\t', "⟦U+0009⟧"))
}

/// The longest value that is put into a sentence.
const SHORT: usize = 60;

/// A value within a sentence; one that is too long for that is left to be looked at beside it.
pub(crate) fn brief(value: &Json) -> String {
    let shown = shown(value);
    match shown.chars().count() <= SHORT {
        true => word(&shown),
        false => "a longer value".to_owned(),
    }
}
