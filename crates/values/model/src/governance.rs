//! Who decides about calls, as files say it: the mode, the rules, who approves, what servers may ask.
//!
//! This is what is written; what follows from it for one call is decided by `rules/policy`.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::{Data, Origin};

/// What becomes of a call. Later is stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// It passes.
    Allow,
    /// Somebody is asked.
    Ask,
    /// It is refused.
    Deny,
}

impl Effect {
    /// All of them, the strictest last.
    pub const ALL: [Self; 3] = [Self::Allow, Self::Ask, Self::Deny];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How calls are decided that no rule speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Somebody is asked.
    #[default]
    Ask,
    /// What is allowed passes, the rest is asked about, and refused where nobody can be asked.
    Limited,
    /// Nobody is asked.
    #[serde(rename = "yolo")]
    Full,
}

impl Mode {
    /// The words for it in our configuration; the first is the one we write.
    pub const WORDS: [(&'static str, Self); 4] = [
        ("ask", Self::Ask),
        ("limited", Self::Limited),
        ("yolo", Self::Full),
        ("full", Self::Full),
    ];

    /// The word we write for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Limited => "limited",
            Self::Full => "yolo",
        }
    }
}

/// A rule as it is written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WrittenRule {
    /// What it is about: `mcp:server/tool`, `mcp:server_tool`, `mcp__server__tool`, `tag:mcp.git`.
    pub about: String,
    /// A pattern of the clients it holds for; none: all.
    pub client: Option<String>,
    /// A pattern of the profiles it holds for; none: all.
    pub profile: Option<String>,
    /// What must all hold of the arguments.
    pub when: Vec<Condition>,
    /// Line and column of it in its file, from 1; 0 where that is not known.
    pub at: (u32, u32),
}

impl From<String> for WrittenRule {
    fn from(about: String) -> Self {
        Self { about, ..Self::default() }
    }
}

impl fmt::Display for WrittenRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { about, client, profile, when, at: _ } = self;
        f.write_str(about)?;
        for (what, pattern) in [("client", client), ("profile", profile)] {
            if let Some(pattern) = pattern {
                write!(f, ", {what} {pattern:?}")?;
            }
        }
        when.iter().try_for_each(|condition| write!(f, ", {condition}"))
    }
}

/// What must hold of one argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// A JSON pointer into the arguments.
    pub at: String,
    /// What must stand there.
    pub is: Expected,
}

/// What must stand at a place in the arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expected {
    /// A text that fits this pattern: `*` is any text, `?` any one character.
    Glob(String),
    /// Exactly this value.
    Value(Data),
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.is {
            Expected::Glob(glob) => write!(f, "{} like {glob:?}", self.at),
            Expected::Value(value) => write!(f, "{} = {value}", self.at),
        }
    }
}

/// The rules of one file, with whose word they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleSet {
    /// The file; a rule's own line is beside it.
    pub origin: Origin,
    /// How calls are decided that no rule speaks of, if the file says.
    pub mode: Option<Mode>,
    /// What each rule does.
    pub rules: Vec<(Effect, WrittenRule)>,
}

/// How much is asked of servers before they may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Posture {
    /// For one person on his own machine.
    #[default]
    Personal,
    /// Nothing that was not approved, and every call on record before it is made.
    Governed,
}

impl Posture {
    /// All of them, in the order they are documented.
    pub const ALL: [Self; 2] = [Self::Personal, Self::Governed];

    /// The word for it in configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Personal => "personal",
            Self::Governed => "governed",
        }
    }
}

/// Who approves a call that is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Via {
    /// The client asks by itself: what it sends counts as approved.
    Client,
    /// We ask, through the client.
    Elicitation,
    /// We ask whoever runs this gateway.
    Operator,
}

impl Via {
    /// All of them, in the order they are documented.
    pub const ALL: [Self; 3] = [Self::Client, Self::Elicitation, Self::Operator];

    /// The word for it in configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Elicitation => "elicitation",
            Self::Operator => "operator",
        }
    }
}

/// How approvals are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approvals {
    /// Who approves, where nothing is said of the client.
    pub via: Option<Via>,
    /// Who approves the calls of single clients, by the name the client gives itself.
    pub clients: BTreeMap<String, Via>,
    /// How long a call waits for an approval.
    pub wait: Duration,
    /// How long after it was asked for a call may still be approved, and a one-time approval used.
    pub expiry: Duration,
    /// Whether a process that a client started may approve, where no passphrase is set.
    pub from_client_terminal: bool,
}

impl Default for Approvals {
    fn default() -> Self {
        Self {
            via: None,
            clients: BTreeMap::new(),
            // Below the 60 s after which most clients give a call up.
            wait: Duration::from_secs(45),
            expiry: Duration::from_secs(600),
            from_client_terminal: false,
        }
    }
}

/// What a server may ask of its callers' models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SamplingLimits {
    /// Completions in a day (UTC).
    pub requests_per_day: u32,
    /// Tokens that it may ask for in a day (UTC), as `maxTokens` says.
    pub tokens_per_day: u64,
    /// Tokens that it may ask for at once.
    pub max_tokens: u64,
    /// Completions under way at once.
    pub concurrency: u32,
}

impl Default for SamplingLimits {
    fn default() -> Self {
        Self { requests_per_day: 200, tokens_per_day: 500_000, max_tokens: 16_384, concurrency: 1 }
    }
}

/// Everything files say about decisions, put together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Governance {
    /// The rules, nearest file first.
    pub rules: Vec<RuleSet>,
    /// The posture: the stricter of all that is said.
    pub posture: Posture,
    /// Who approves.
    pub approvals: Approvals,
    /// Whether content of untrusted servers makes `egress` and `destructive` tools be asked about;
    /// none: in the governed posture.
    pub taint: Option<bool>,
    /// Whether calls that are tainted and destructive are asked about even where nobody is asked.
    pub yolo_floor: bool,
    /// How old a list of definitions may be when one of them is called; none: as the posture has it.
    pub recheck: Option<Duration>,
}

/// Whether an operator's tags say something of a tool in one word: a part between dots is that word.
pub fn says(tags: &[String], word: &str) -> bool {
    tags.iter().any(|tag| tag.split('.').any(|part| part == word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_shown_with_all_it_says() {
        let when = vec![
            Condition { at: "/path".into(), is: Expected::Glob("/srv/*".into()) },
            Condition { at: "/n".into(), is: Expected::Value(Data::Integer(3)) },
        ];
        let rule = WrittenRule { client: Some("claude*".into()), when, ..WrittenRule::default() };
        let rule = WrittenRule { about: "mcp:fs/*".into(), ..rule };
        assert_eq!(rule.to_string(), r#"mcp:fs/*, client "claude*", /path like "/srv/*", /n = 3"#);
    }

    #[test]
    fn a_tag_says_a_word_by_one_of_its_parts() {
        let tags = ["mcp.git.read-only".to_owned(), "egress".to_owned()];
        assert!(says(&tags, "read-only") && says(&tags, "egress"));
        assert!(!says(&tags, "read") && !says(&tags, "gress"));
    }
}
