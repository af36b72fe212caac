//! The characters and length that each naming style allows.
//!
//! Every exposed name stays within these bounds, whatever servers call their tools. If a host sets
//! no bound, that of the widest model provider applies, because a longer name would be refused
//! there.

use toolgate_model::{NamingStyle, PrefixMode};

use crate::NamingOptions;

/// Clients prefix every name with the name of the gateway's entry, at most `mcp__toolgate__`, and
/// the narrowest model providers accept 64 characters. One limit for all clients keeps a name the
/// same in every client, rule and journal.
const BEHIND_A_PREFIX: usize = 64 - "mcp__toolgate__".len();

/// The allowed characters and length of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NameBounds {
    /// The allowed characters beside ASCII letters and digits.
    pub marks: &'static str,
    /// The maximum length in bytes.
    pub max: usize,
    /// Whether a forbidden character is replaced by one `_` per UTF-16 unit, as JavaScript programs
    /// do.
    pub(crate) utf16: bool,
}

impl NameBounds {
    /// Returns the bounds of a naming style.
    pub fn of(style: &NamingOptions) -> Self {
        let as_written = style.prefix == PrefixMode::Never;
        let (marks, max, utf16) = match style.naming {
            // The narrowest bounds of all model providers, because the provider is unknown.
            NamingStyle::Toolgate if as_written => ("_-./", BEHIND_A_PREFIX, false),
            NamingStyle::Toolgate => ("_-", BEHIND_A_PREFIX, false),
            NamingStyle::Claude => ("_-", 128, true),
            NamingStyle::CoreAgent => ("_", 64, false),
            NamingStyle::Llxprt => ("_.-", 63, true),
            NamingStyle::Gemini => ("_-.:", 63, true),
            NamingStyle::Codex => ("_", 128, false),
            NamingStyle::Opencode => ("_-", 128, true),
            NamingStyle::Sidekick => ("_-./", 128, false),
        };
        Self { marks, max, utf16 }
    }

    /// Returns the bounds of this program's own names, which its model is known to accept.
    pub(crate) fn of_own(style: &NamingOptions) -> Self {
        match style.naming {
            NamingStyle::Toolgate => Self { marks: "_-./", ..Self::of(style) },
            _ => Self::of(style),
        }
    }

    /// Returns true if a name is within the bounds.
    pub fn allow(&self, name: &str) -> bool {
        (1..=self.max).contains(&name.len()) && name.chars().all(|c| self.allows(c))
    }

    fn allows(&self, c: char) -> bool {
        c.is_ascii_alphanumeric() || self.marks.contains(c)
    }

    /// Replaces forbidden characters by `_`; the result is ASCII.
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
