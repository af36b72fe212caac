//! What came of it, and because of what, in values and in words.

use std::fmt;

use toolgate_model::{Approval, Effect, Mode, Origin};

/// Words that are read back, too.
const HEADLESS: &str = "nobody can be asked: ";
const BUILT_IN: &str = "it is built in and only reads";
const TAINTED: &str = "content of an untrusted server was read before";
/// What is put on record of a call whose arguments do not fit its schema: no rule decided.
pub const MISFIT: &str = "its arguments do not fit its schema";
const UNASKED: &str = "no rule speaks of it, and only tools are asked about";

/// What becomes of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision<'p> {
    /// Which.
    pub effect: Effect,
    /// Because of what.
    pub because: Because<'p>,
}

/// What decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Because<'p> {
    /// It cannot be done, whatever anybody allows.
    Blocked(String),
    /// A rule of a file.
    Rule {
        /// As it is written.
        text: &'p str,
        /// Where it stands.
        origin: &'p Origin,
    },
    /// Somebody approved it before.
    Granted(String),
    /// Its server is trusted.
    Trusted(Origin),
    /// The server's entry says when to ask.
    Entry(Approval, Origin),
    /// It belongs to this program and only reads.
    BuiltIn,
    /// The caller has read untrusted content.
    Tainted,
    /// No rule speaks of it: the mode decides, and where it was set, if it was.
    Mode(Mode, Option<&'p Origin>),
    /// No rule speaks of it, and only tools are asked about.
    Unasked,
    /// Somebody had to be asked and nobody can be.
    Headless(Box<Because<'p>>),
}

impl Because<'_> {
    /// Whether somebody wrote down what decided. What nobody wrote is the mode `ask` that holds
    /// where no file names a mode.
    pub fn is_written(&self) -> bool {
        match self {
            Self::Mode(_, origin) => origin.is_some(),
            Self::Headless(because) => because.is_written(),
            _ => true,
        }
    }
}

impl fmt::Display for Because<'_> {
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
            Self::Unasked => f.write_str(UNASKED),
            Self::Headless(because) => write!(f, "{HEADLESS}{because}"),
        }
    }
}

/// What kind of thing decided, as far as the words of a reason tell: for whoever reads them back
/// from where they were written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// A rule.
    Rule,
    /// The trust in its server.
    Trust,
    /// Its server's entry.
    Entry,
    /// It is built in and only reads.
    BuiltIn,
    /// Untrusted content was read before.
    Taint,
    /// The mode, or that only tools are asked about.
    Mode,
    /// Something that is no part of the policy: a grant, a block.
    Other,
}

impl Reason {
    /// Reads a reason as [`Because`] is shown; also, whether somebody had to be asked and nobody
    /// could be.
    pub fn read(text: &str) -> (Self, bool) {
        let (text, headless) = match text.strip_prefix(HEADLESS) {
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
            (Because::Rule { text: "mcp:a", origin: &origin }, Reason::Rule),
            (Because::Trusted(origin.clone()), Reason::Trust),
            (Because::Entry(Approval::Always, origin.clone()), Reason::Entry),
            (Because::BuiltIn, Reason::BuiltIn),
            (Because::Tainted, Reason::Taint),
            (Because::Mode(Mode::Ask, None), Reason::Mode),
            (Because::Mode(Mode::Full, Some(&origin)), Reason::Mode),
            (Because::Unasked, Reason::Mode),
            (Because::Granted("grant x for this tool".into()), Reason::Other),
            (Because::Blocked("its definition changed".into()), Reason::Other),
        ];
        for (because, reason) in all {
            assert_eq!(Reason::read(&because.to_string()), (reason, false), "{because}");
            let headless = Because::Headless(Box::new(because));
            assert_eq!(Reason::read(&headless.to_string()), (reason, true), "{headless}");
        }
    }
}
