//! The type of a finding, with its code, severity and excerpt.

use std::fmt;

use serde::ser::{Serialize, SerializeStruct, Serializer};
use toolgate_model::{CapabilityId, ServerName, is_invisible};

/// The length of an excerpt, in characters.
const EXCERPT: usize = 120;

/// The kind of a finding. Its string form is stable, so scripts may match it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FindingCode {
    /// Invisible characters, or characters that change how others are displayed.
    HiddenCharacters,
    /// Such characters in a property name, where they cannot be removed.
    HiddenKey,
    /// Text behind a long run of white space that moves it out of sight.
    Padded,
    /// A long run of base64.
    Encoded,
    /// Markup that imitates a system or user message.
    FalseVoice,
    /// An order to ignore other instructions.
    Overrides,
    /// An order to hide something from the user.
    Conceals,
    /// An order to act before, after or instead of calls of other tools.
    Intrudes,
    /// An order to read or pass on files or values that contain secrets.
    ReadsSecrets,
    /// An order to send conversations or secrets elsewhere.
    SendsAway,
    /// A mention of another server or its tool.
    NamesOther,
    /// A name that can be mistaken for a name of another server.
    LooksAlike,
    /// A name with letters of several scripts.
    MixedScripts,
    /// A form that asks for a secret.
    AsksForSecret,
}

impl FindingCode {
    /// All codes, in the order of the documentation.
    pub const ALL: [Self; 14] = [
        Self::HiddenCharacters,
        Self::HiddenKey,
        Self::Padded,
        Self::Encoded,
        Self::FalseVoice,
        Self::Overrides,
        Self::Conceals,
        Self::Intrudes,
        Self::ReadsSecrets,
        Self::SendsAway,
        Self::NamesOther,
        Self::LooksAlike,
        Self::MixedScripts,
        Self::AsksForSecret,
    ];

    /// Returns the stable string form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::HiddenCharacters => "hidden-characters",
            Self::HiddenKey => "hidden-key",
            Self::Padded => "padded",
            Self::Encoded => "encoded",
            Self::FalseVoice => "false-voice",
            Self::Overrides => "overrides",
            Self::Conceals => "conceals",
            Self::Intrudes => "intrudes",
            Self::ReadsSecrets => "reads-secrets",
            Self::SendsAway => "sends-away",
            Self::NamesOther => "names-other",
            Self::LooksAlike => "looks-alike",
            Self::MixedScripts => "mixed-scripts",
            Self::AsksForSecret => "asks-for-secret",
        }
    }

    /// Returns the default severity.
    pub fn severity(self) -> FindingSeverity {
        match self {
            Self::Padded | Self::Encoded | Self::NamesOther | Self::Intrudes => {
                FindingSeverity::Low
            }
            Self::HiddenCharacters | Self::Conceals | Self::LooksAlike | Self::ReadsSecrets => {
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

impl fmt::Display for FindingCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The severity of a finding, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FindingSeverity {
    /// Common in benign servers too.
    Low,
    /// Worth a review.
    Medium,
    /// Rarely innocent.
    High,
}

impl fmt::Display for FindingSeverity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        })
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
    let mut shown = String::new();
    if start > 0 {
        shown.push('…');
    }
    let mut rest = text.get(start..).unwrap_or_default().chars();
    for c in rest.by_ref().take(EXCERPT) {
        put_visible(c, &mut shown);
    }
    if rest.next().is_some() {
        shown.push('…');
    }
    shown
}

fn put_visible(c: char, shown: &mut String) {
    match c {
        '\n' | '\r' | '\t' => shown.push(' '),
        c if is_invisible(c) => shown.push_str(&format!("⟦U+{:04X}⟧", c as u32)),
        c => shown.push(c),
    }
}
