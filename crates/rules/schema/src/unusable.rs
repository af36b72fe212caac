//! Why a tool cannot be used: its definition is not one, or its schema is none.

use std::fmt;

/// Why a tool's definition cannot be used, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Unusable {
    /// JSON pointer into the definition; empty for the whole of it.
    pub path: String,
    /// What is wrong there, as a lower-case fragment.
    pub what: String,
}

/// Long values of a server do not fill a diagnostic.
const LONGEST: usize = 300;

impl Unusable {
    pub(crate) fn new(path: impl Into<String>, what: impl Into<String>) -> Self {
        Self { path: path.into(), what: cut(&what.into(), LONGEST) }
    }

    /// The same fault of a schema that stands under `prefix` in its definition.
    pub(crate) fn under(self, prefix: &str) -> Self {
        Self { path: format!("{prefix}{}", self.path), ..self }
    }
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            return f.write_str(&self.what);
        }
        write!(f, "{}: {}", self.path, self.what)
    }
}

/// At most `longest` bytes of a text, with a mark where the rest was.
pub(crate) fn cut(text: &str, longest: usize) -> String {
    if text.len() <= longest {
        return text.to_owned();
    }
    let mut end = longest;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &text[..end])
}
