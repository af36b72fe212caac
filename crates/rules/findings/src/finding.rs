//! The type of a finding, with its code, severity and excerpt.

use std::fmt;

use serde::ser::{Serialize, SerializeStruct, Serializer};
use toolgate_model::{CapabilityId, ServerName, escape_invisible};
use toolgate_wire::words;

/// The length of an excerpt, in characters.
const EXCERPT: usize = 120;

words! {
    /// The kind of a finding. Its string form is stable, so scripts may match it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum FindingCode {
        /// Invisible characters, or characters that change how others are displayed.
        HiddenCharacters = "hidden-characters",
        /// Such characters in a property name, where they cannot be removed.
        HiddenKey = "hidden-key",
        /// Text behind a long run of white space that moves it out of sight.
        Padded = "padded",
        /// A long run of base64.
        Encoded = "encoded",
        /// Markup that imitates a system or user message.
        FalseVoice = "false-voice",
        /// An order to ignore other instructions.
        Overrides = "overrides",
        /// An order to hide something from the user.
        Conceals = "conceals",
        /// An order to act before, after or instead of calls of other tools.
        Intrudes = "intrudes",
        /// An order to read or pass on files or values that contain secrets.
        ReadsSecrets = "reads-secrets",
        /// An order to send conversations or secrets elsewhere.
        SendsAway = "sends-away",
        /// A mention of another server or its tool.
        NamesOther = "names-other",
        /// A name that can be mistaken for a name of another server.
        LooksAlike = "looks-alike",
        /// A name with letters of several scripts.
        MixedScripts = "mixed-scripts",
        /// A form that asks for a secret.
        AsksForSecret = "asks-for-secret",
    }
}

impl FindingCode {
    /// Returns the default severity.
    pub fn severity(self) -> FindingSeverity {
        match self {
            Self::Padded | Self::Encoded | Self::Intrudes | Self::NamesOther => {
                FindingSeverity::Low
            }
            Self::HiddenCharacters | Self::Conceals | Self::ReadsSecrets | Self::LooksAlike => {
                FindingSeverity::Medium
            }
            Self::HiddenKey
            | Self::FalseVoice
            | Self::Overrides
            | Self::SendsAway
            | Self::MixedScripts
            | Self::AsksForSecret => FindingSeverity::High,
        }
    }
}

words! {
    /// The severity of a finding, in ascending order.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum FindingSeverity {
        /// Common in benign servers too.
        Low = "low",
        /// Worth a review.
        Medium = "medium",
        /// Rarely innocent.
        High = "high",
    }
}

/// One suspicious text of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The kind of finding.
    pub code: FindingCode,
    /// The severity.
    pub severity: FindingSeverity,
    /// The server that wrote the text.
    pub server: ServerName,
    /// The capability that the text belongs to, or none for the server itself.
    pub capability: Option<CapabilityId>,
    /// The location in the definition: a JSON pointer, or `name` or `instructions`.
    pub at: String,
    /// A shortened excerpt of the text, with invisible characters escaped.
    pub excerpt: String,
    /// What is wrong with the text.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.capability {
            Some(id) => write!(f, "{}: {id}", self.code)?,
            None => write!(f, "{}: {}", self.code, self.server)?,
        }
        write!(f, " at {}: {}: {}", self.at, self.message, self.excerpt)
    }
}

impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_struct("Finding", 8)?;
        map.serialize_field("code", self.code.as_str())?;
        map.serialize_field("severity", &self.severity)?;
        map.serialize_field("server", &self.server)?;
        map.serialize_field("kind", &self.capability.as_ref().map(|id| id.kind))?;
        map.serialize_field("name", &self.capability.as_ref().map(|id| &*id.name))?;
        map.serialize_field("at", &self.at)?;
        map.serialize_field("excerpt", &self.excerpt)?;
        map.serialize_field("message", &self.message)?;
        map.end()
    }
}

/// Returns a short excerpt around an offset, with invisible characters escaped.
pub(crate) fn excerpt(text: &str, at: usize) -> String {
    let before = EXCERPT / 4;
    let head = text.get(..at).unwrap_or_default();
    let start = head.char_indices().rev().nth(before - 1).map_or(0, |(at, _)| at);
    let (mark, mut rest) = (if start > 0 { "…" } else { "" }, text[start..].chars());
    let one_line = |c: char| if matches!(c, '\n' | '\r' | '\t') { ' ' } else { c };
    let shown: String = rest.by_ref().take(EXCERPT).map(one_line).collect();
    let end = if rest.next().is_some() { "…" } else { "" };
    format!("{mark}{}{end}", escape_invisible(&shown))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_words_and_all_different() {
        let mut words: Vec<_> = FindingCode::ALL.iter().map(|code| code.as_str()).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), FindingCode::ALL.len());
        assert!(words.iter().all(|word| word.chars().all(|c| c.is_ascii_lowercase() || c == '-')));
    }
}
