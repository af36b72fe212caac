//! A finding: what was seen, where, and under which code.

use std::fmt;

use serde::ser::{Serialize, SerializeStruct, Serializer};
use toolgate_model::{CapabilityId, ServerName, is_invisible};

/// How much of a text is shown, in characters.
const EXCERPT: usize = 120;

/// What was found. The words are stable: scripts may look for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Code {
    /// Characters that nobody sees, or that change how others are seen.
    HiddenCharacters,
    /// The same in the name of a property, where they cannot be removed.
    HiddenKey,
    /// Text that is pushed out of sight by a long stretch of white space.
    Padded,
    /// A long stretch of text in base64.
    Encoded,
    /// Marks that pose as the voice of a system or a user.
    FalseVoice,
    /// Orders to set other instructions aside.
    Overrides,
    /// Orders to keep something from the user.
    Conceals,
    /// A claim on calls that are none of its business: before, after or instead of other tools.
    Intrudes,
    /// Files and values that hold secrets are to be read or passed on.
    ReadsSecrets,
    /// Conversations or secrets are to be sent somewhere.
    SendsAway,
    /// A tool or server of somebody else is named.
    NamesOther,
    /// A name that can be taken for another server's.
    LooksAlike,
    /// Letters of several scripts that look like one.
    MixedScripts,
    /// A form that asks for a secret.
    AsksForSecret,
}

impl Code {
    /// All of them, in the order they are documented.
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

    /// The word for it.
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

    /// How much it weighs, unless the case says otherwise.
    pub fn severity(self) -> Severity {
        match self {
            Self::Padded | Self::Encoded | Self::NamesOther | Self::Intrudes => Severity::Low,
            Self::HiddenCharacters | Self::Conceals | Self::LooksAlike | Self::ReadsSecrets => {
                Severity::Medium
            }
            Self::HiddenKey
            | Self::FalseVoice
            | Self::Overrides
            | Self::SendsAway
            | Self::MixedScripts
            | Self::AsksForSecret => Severity::High,
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How much a finding weighs. Later is heavier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Honest servers do it too.
    Low,
    /// Worth a look.
    Medium,
    /// Hardly ever innocent.
    High,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        })
    }
}

/// Something suspicious in the words of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What it is.
    pub code: Code,
    /// How much it weighs.
    pub severity: Severity,
    /// Whose words they are.
    pub server: ServerName,
    /// What of the server they belong to; none for the server itself.
    pub capability: Option<CapabilityId>,
    /// Where in the definition: a JSON pointer, or `name` or `instructions`.
    pub at: String,
    /// The words, cut short, with what is invisible made visible.
    pub excerpt: String,
    /// What is wrong with them, for a person.
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

/// A text around a place, short and visible.
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
