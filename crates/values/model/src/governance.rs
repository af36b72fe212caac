//! The declared governance: the mode, the rules, who approves, and what servers may ask.
//!
//! This is what files declare; `rules/policy` decides what follows for one call.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use toolgate_wire::words;

use crate::{ConfigValue, Origin};

words! {
    /// The effect of a decision on a call. Later values are stricter.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[derive(serde::Serialize, serde::Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Effect {
        /// The call passes.
        Allow = "allow",
        /// The call requires approval.
        Ask = "ask",
        /// The call is denied.
        Deny = "deny",
    }
}

words! {
    /// How calls are decided that no rule matches.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum PolicyMode {
        /// Calls require approval.
        #[default]
        Ask = "ask",
        /// Allowed calls pass. Others require approval, and are denied where no one can approve.
        Limited = "limited",
        /// Calls pass without approval.
        #[serde(rename = "yolo")]
        Full = "yolo",
    }
}

impl PolicyMode {
    /// The words for the modes in our configuration. For two words of one mode, the first is the
    /// one we write.
    pub const WORDS: [(&'static str, Self); 4] = [
        ("ask", Self::Ask),
        ("limited", Self::Limited),
        ("yolo", Self::Full),
        ("full", Self::Full),
    ];
}

/// A rule as written in a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RuleSpec {
    /// The subject: `mcp:server/tool`, `mcp:server_tool`, `mcp__server__tool`, `tag:mcp.git`.
    pub subject: String,
    /// A pattern of the clients it applies to; `None`: all.
    pub client: Option<String>,
    /// A pattern of the profiles it applies to; `None`: all.
    pub profile: Option<String>,
    /// Conditions on the arguments; all of them must hold.
    pub when: Vec<ArgumentCondition>,
    /// Its line and column in the file, from 1; 0 if unknown.
    pub position: (u32, u32),
}

impl From<String> for RuleSpec {
    fn from(subject: String) -> Self {
        Self { subject, ..Self::default() }
    }
}

impl fmt::Display for RuleSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { subject, client, profile, when, position: _ } = self;
        f.write_str(subject)?;
        for (what, pattern) in [("client", client), ("profile", profile)] {
            if let Some(pattern) = pattern {
                write!(f, ", {what} {pattern:?}")?;
            }
        }
        when.iter().try_for_each(|condition| write!(f, ", {condition}"))
    }
}

/// A condition on one argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgumentCondition {
    /// A JSON pointer into the arguments.
    pub pointer: String,
    /// The expected value.
    pub expected: ExpectedArgumentValue,
}

/// The expected value of an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExpectedArgumentValue {
    /// A text that matches this pattern: `*` is any text, `?` any one character.
    Glob(String),
    /// Exactly this value.
    Value(ConfigValue),
}

impl fmt::Display for ArgumentCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.expected {
            ExpectedArgumentValue::Glob(glob) => write!(f, "{} like {glob:?}", self.pointer),
            ExpectedArgumentValue::Value(value) => write!(f, "{} = {value}", self.pointer),
        }
    }
}

/// The rules of one file, with their origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleSet {
    /// The file. Each rule has its own line.
    pub origin: Origin,
    /// The mode, if the file sets one.
    pub mode: Option<PolicyMode>,
    /// The rules with their effects.
    pub rules: Vec<(Effect, RuleSpec)>,
}

words! {
    /// How strictly the gateway treats servers.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Posture {
        /// For one person on their own machine.
        #[default]
        Personal = "personal",
        /// Only approved servers and definitions are used, and every call is recorded before it is
        /// made.
        Governed = "governed",
    }
}

words! {
    /// The channel through which a call is approved.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum ApprovalChannel {
        /// The client asks by itself: a call that it sends counts as approved.
        Client = "client",
        /// The gateway asks the user through the client.
        Elicitation = "elicitation",
        /// The gateway asks its operator.
        Operator = "operator",
    }
}

/// The settings for approvals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalSettings {
    /// The channel for clients without a setting of their own.
    pub via: Option<ApprovalChannel>,
    /// The channels of single clients, by the name that the client reports.
    pub clients: BTreeMap<String, ApprovalChannel>,
    /// How long a call waits for an approval.
    pub wait: Duration,
    /// How long after the request a call may still be approved, and a one-time approval used.
    pub expiry: Duration,
    /// Whether a process that a client started may approve, where no passphrase is set.
    pub from_client_terminal: bool,
}

impl Default for ApprovalSettings {
    fn default() -> Self {
        Self {
            via: None,
            clients: BTreeMap::new(),
            // Below the 60 s after which most clients give up a call.
            wait: Duration::from_secs(45),
            expiry: Duration::from_secs(600),
            from_client_terminal: false,
        }
    }
}

/// Limits on what a server may ask of its callers' models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SamplingLimits {
    /// Completions per day (UTC).
    pub requests_per_day: u32,
    /// Tokens per day (UTC), counted by `maxTokens`.
    pub tokens_per_day: u64,
    /// Tokens per request.
    pub max_tokens: u64,
    /// Concurrent completions.
    pub concurrency: u32,
}

impl Default for SamplingLimits {
    fn default() -> Self {
        Self { requests_per_day: 200, tokens_per_day: 500_000, max_tokens: 16_384, concurrency: 1 }
    }
}

/// The declared governance of all files, merged.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GovernanceSettings {
    /// The rules, nearest file first.
    pub rules: Vec<RuleSet>,
    /// The posture, the strictest that any file sets.
    pub posture: Posture,
    /// The settings for approvals.
    pub approvals: ApprovalSettings,
    /// Whether content of untrusted servers makes calls of `egress` and `destructive` tools require
    /// approval; `None`: in the governed posture.
    pub taint: Option<bool>,
    /// Whether tainted destructive calls require approval even in the mode that asks no one.
    pub yolo_floor: bool,
    /// The maximum age of a definition list when one of its definitions is called; `None`: the
    /// default of the posture.
    pub recheck: Option<Duration>,
}

/// Returns true if one of an operator's tags has `word` as a part between dots.
pub fn has_tag_word(tags: &[String], word: &str) -> bool {
    tags.iter().any(|tag| tag.split('.').any(|part| part == word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_shown_with_all_it_says() {
        let when = vec![
            ArgumentCondition {
                pointer: "/path".into(),
                expected: ExpectedArgumentValue::Glob("/srv/*".into()),
            },
            ArgumentCondition {
                pointer: "/n".into(),
                expected: ExpectedArgumentValue::Value(ConfigValue::Integer(3)),
            },
        ];
        let rule = RuleSpec { client: Some("claude*".into()), when, ..RuleSpec::default() };
        let rule = RuleSpec { subject: "mcp:fs/*".into(), ..rule };
        assert_eq!(rule.to_string(), r#"mcp:fs/*, client "claude*", /path like "/srv/*", /n = 3"#);
    }

    #[test]
    fn a_tag_says_a_word_by_one_of_its_parts() {
        let tags = ["mcp.git.read-only".to_owned(), "egress".to_owned()];
        assert!(has_tag_word(&tags, "read-only") && has_tag_word(&tags, "egress"));
        assert!(!has_tag_word(&tags, "read") && !has_tag_word(&tags, "gress"));
    }
}
