//! What a name may consist of, for each manner of naming: one table.
//!
//! Every name that is made is within it, whatever servers call their tools. Where a host sets no
//! bound of its own, it is that of the widest model provider: a longer name is refused there.

use toolgate_model::{Naming, Prefix};

use crate::Style;

/// Clients put the name of the gateway's entry before every name, `mcp__toolgate__` at most, and
/// the narrowest model providers take 64 characters. One budget for all clients keeps a name the
/// same in every client, rule and journal.
const BEHIND_A_PREFIX: usize = 64 - "mcp__toolgate__".len();

/// The characters and the length of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// What it may hold beside ASCII letters and digits.
    pub marks: &'static str,
    /// How many bytes it may have.
    pub max: usize,
    /// Whether a character outside is replaced by as many `_` as it has UTF-16 units, as programs
    /// in JavaScript do.
    pub(crate) utf16: bool,
}

impl Bounds {
    /// The bounds of the names that a style makes.
    pub fn of(style: &Style) -> Self {
        let as_written = style.prefix == Prefix::Never;
        let (marks, max, utf16) = match style.naming {
            // The narrowest among model providers, because it is not known which one reads them.
            Naming::Toolgate if as_written => ("_-./", BEHIND_A_PREFIX, false),
            Naming::Toolgate => ("_-", BEHIND_A_PREFIX, false),
            Naming::Claude => ("_-", 128, true),
            Naming::CoreAgent => ("_", 64, false),
            Naming::Llxprt => ("_.-", 63, true),
            Naming::Gemini => ("_-.:", 63, true),
            Naming::Codex => ("_", 128, false),
            Naming::Opencode => ("_-", 128, true),
            Naming::Sidekick => ("_-./", 128, false),
        };
        Self { marks, max, utf16 }
    }

    /// The bounds of this program's own names: it sees to what its model accepts.
    pub(crate) fn of_own(style: &Style) -> Self {
        match style.naming {
            Naming::Toolgate => Self { marks: "_-./", ..Self::of(style) },
            _ => Self::of(style),
        }
    }

    /// Whether a name is within them.
    pub fn allow(&self, name: &str) -> bool {
        (1..=self.max).contains(&name.len()) && name.chars().all(|c| self.allows(c))
    }

    fn allows(&self, c: char) -> bool {
        c.is_ascii_alphanumeric() || self.marks.contains(c)
    }

    /// The text with `_` for what it may not hold: ASCII.
    pub(crate) fn sanitised(&self, text: &str) -> String {
        let mut clean = String::with_capacity(text.len());
        for c in text.chars() {
            let units = if self.utf16 { c.len_utf16() } else { 1 };
            match self.allows(c) {
                true => clean.push(c),
                false => clean.extend(std::iter::repeat_n('_', units)),
            }
        }
        clean
    }
}
