//! Decisions and their reasons, as values and as text.

use std::fmt;

use toolgate_model::{ApprovalMode, Effect, Origin, PolicyMode};

/// Texts that the journal stores and [`DecisionReasonKind::parse`] reads back. Changing one breaks
/// the reading of older journals.
const BUILT_IN: &str = "it is built in and only reads";
const TAINTED: &str = "content of an untrusted server was read before";
/// Precedes the reason if the call requires approval and no one can approve it.
pub const NO_APPROVER: &str = "nobody can be asked: ";
/// The recorded reason for a call whose arguments do not match its schema; no rule decided.
pub const SCHEMA_MISMATCH: &str = "its arguments do not fit its schema";
const UNASKED: &str = "no rule speaks of it, and only tools are asked about";

/// The decision about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision<'p> {
    /// The effect.
    pub effect: Effect,
    /// The reason.
    pub reason: DecisionReason<'p>,
}

/// The reason for a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DecisionReason<'p> {
    /// The call is blocked, whatever rules allow.
    Blocked(String),
    /// A rule in a file.
    Rule {
        /// The text as written.
        text: &'p str,
        /// Where it is declared.
        origin: &'p Origin,
    },
    /// A grant from an earlier approval.
    Granted(String),
    /// The server is trusted.
    Trusted(Origin),
    /// The `approval` setting of the server's entry.
    Entry(ApprovalMode, Origin),
    /// The tool is built in and read-only.
    BuiltIn,
    /// The caller has read untrusted content.
    Tainted,
    /// No rule matches: the mode, and where it is set, if it is.
    Mode(PolicyMode, Option<&'p Origin>),
    /// No rule matches, and only tools require approval by default.
    NotATool,
}

impl DecisionReason<'_> {
    /// Returns true if configuration states the reason. Only the default mode `ask`, which applies
    /// if no file sets a mode, is not explicit.
    pub fn is_explicit(&self) -> bool {
        match self {
            Self::Mode(_, origin) => origin.is_some(),
            _ => true,
        }
    }
}

impl fmt::Display for DecisionReason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blocked(why) | Self::Granted(why) => f.write_str(why),
            Self::Rule { text, origin } => write!(f, "rule `{text}` ({origin})"),
            Self::Trusted(origin) => write!(f, "its server is trusted ({origin})"),
            Self::Entry(approval, origin) => {
                write!(f, "`approval = \"{}\"` of its server ({origin})", approval.as_str())
            }
            Self::BuiltIn => f.write_str(BUILT_IN),
            Self::Tainted => f.write_str(TAINTED),
            Self::Mode(mode, Some(origin)) => write!(f, "mode `{}` ({origin})", mode.as_str()),
            Self::Mode(mode, None) => {
                write!(f, "mode `{}`, as no file says otherwise", mode.as_str())
            }
            Self::NotATool => f.write_str(UNASKED),
        }
    }
}

/// The kind of a reason, parsed from its recorded text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecisionReasonKind {
    /// A rule.
    Rule,
    /// The server is trusted.
    Trust,
    /// The `approval` setting of the server's entry.
    Entry,
    /// The tool is built in and read-only.
    BuiltIn,
    /// The caller has read untrusted content.
    Taint,
    /// The mode, or the default for capabilities other than tools.
    Mode,
    /// Something outside the policy: a grant or a block.
    Other,
}

impl DecisionReasonKind {
    /// Parses the displayed form of a [`DecisionReason`]. Also returns true if the call required
    /// approval and no one could approve it.
    pub fn parse(text: &str) -> (Self, bool) {
        let (text, headless) = match text.strip_prefix(NO_APPROVER) {
            Some(rest) => (rest, true),
            None => (text, false),
        };
        let begins = [
            ("rule `", Self::Rule),
            ("its server is trusted (", Self::Trust),
            ("`approval = ", Self::Entry),
            (BUILT_IN, Self::BuiltIn),
            (TAINTED, Self::Taint),
            ("mode `", Self::Mode),
            (UNASKED, Self::Mode),
        ];
        let found = begins.into_iter().find(|(begin, _)| text.starts_with(begin));
        (found.map_or(Self::Other, |(_, reason)| reason), headless)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_read_back_as_what_it_was() {
        let origin = Origin::built_in();
        let all = [
            (DecisionReason::Rule { text: "mcp:a", origin: &origin }, DecisionReasonKind::Rule),
            (DecisionReason::Trusted(origin.clone()), DecisionReasonKind::Trust),
            (
                DecisionReason::Entry(ApprovalMode::Always, origin.clone()),
                DecisionReasonKind::Entry,
            ),
            (DecisionReason::BuiltIn, DecisionReasonKind::BuiltIn),
            (DecisionReason::Tainted, DecisionReasonKind::Taint),
            (DecisionReason::Mode(PolicyMode::Ask, None), DecisionReasonKind::Mode),
            (DecisionReason::Mode(PolicyMode::Full, Some(&origin)), DecisionReasonKind::Mode),
            (DecisionReason::NotATool, DecisionReasonKind::Mode),
            (DecisionReason::Granted("grant x for this tool".into()), DecisionReasonKind::Other),
            (DecisionReason::Blocked("its definition changed".into()), DecisionReasonKind::Other),
        ];
        for (because, reason) in all {
            assert_eq!(
                DecisionReasonKind::parse(&because.to_string()),
                (reason, false),
                "{because}"
            );
            let headless = format!("{NO_APPROVER}{because}");
            assert_eq!(DecisionReasonKind::parse(&headless), (reason, true), "{headless}");
        }
    }
}
