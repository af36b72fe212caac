//! The table of modes: name, description, transports and hooks.
//!
//! Threat numbers refer to the project's threat catalogue. What a gateway should do about a mode is
//! defined by the tests that use it.

use std::fmt;

use clap::ValueEnum;

use super::action::HostileActionSequence;
use super::context::HookContext;
use super::{
    changes, floods, grammar, hangs, ids, leaks, paging, processes, questions, schemas, texts,
};

/// The phase in which a hook replaces the ordinary behaviour.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum HostilePhase {
    /// As the process starts.
    Start,
    /// At `initialize`.
    Initialize,
    /// At `tools/list`.
    List,
    /// At a `tools/call` of `trigger`.
    Call,
}

/// The transports that a mode supports.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ModeTransports {
    /// On a pipe only: what it does has no counterpart in HTTP.
    Stdio,
    /// On stdio and on HTTP.
    Both,
}

/// A function that returns the actions that replace the ordinary answer.
pub(super) type HostileHook = fn(&HookContext) -> HostileActionSequence;

/// One way to misbehave.
#[derive(Clone, Copy, Debug)]
pub struct HostileMode {
    /// What the command line calls it.
    pub name: &'static str,
    /// One line on what it does.
    pub about: &'static str,
    /// Where it makes sense.
    pub carrier: ModeTransports,
    /// Whether `initialize` gets a correct answer.
    pub opens: bool,
    pub(super) hooks: &'static [(HostilePhase, HostileHook)],
}

impl HostileMode {
    const fn both(
        name: &'static str,
        about: &'static str,
        hooks: &'static [(HostilePhase, HostileHook)],
    ) -> Self {
        HostileMode { name, about, carrier: ModeTransports::Both, opens: true, hooks }
    }

    const fn on_stdio(self) -> Self {
        HostileMode { carrier: ModeTransports::Stdio, ..self }
    }

    const fn never_opens(self) -> Self {
        HostileMode { opens: false, ..self }
    }

    /// The phase of its first misbehaviour.
    pub fn starts(&self) -> HostilePhase {
        self.hooks.first().map_or(HostilePhase::Start, |(phase, _)| *phase)
    }
}

impl fmt::Display for HostilePhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            HostilePhase::Start => "start",
            HostilePhase::Initialize => "initialize",
            HostilePhase::List => "list",
            HostilePhase::Call => "call",
        })
    }
}

impl fmt::Display for ModeTransports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ModeTransports::Stdio => "stdio",
            ModeTransports::Both => "both",
        })
    }
}

use HostilePhase::{Call, Initialize, List, Start};

/// Every mode.
#[rustfmt::skip]
pub const MODES: &[HostileMode] = &[
    // T26 floods
    HostileMode::both("nonewline", "answers a call with bytes that never end a line", &[(Call, floods::no_newline)]),
    HostileMode::both("bigline", "answers a call with one message of --bytes bytes", &[(Call, floods::big_line)]),
    HostileMode::both("stderrflood", "writes to stderr without end, from the start", &[(Start, floods::stderr)]),
    HostileMode::both("stdoutnoise", "writes lines that are not JSON before and between its answers", &[(Start, floods::noise), (Initialize, floods::noise_around), (List, floods::noise_around), (Call, floods::noise_around)]).on_stdio(),
    HostileMode::both("progressflood", "answers a call with progress notifications without end", &[(Call, floods::progress)]),
    HostileMode::both("hugelist", "lists 20,000 tools in one answer of 25 MB", &[(List, floods::huge_list)]),
    HostileMode::both("b64bomb", "answers a call with an image of --bytes bytes of base64", &[(Call, floods::base64)]),
    // T35 time
    HostileMode::both("hang", "never answers a call", &[(Call, hangs::forever)]),
    HostileMode::both("hanginit", "never answers initialize", &[(Initialize, hangs::forever)]).never_opens(),
    HostileMode::both("slowdrip", "answers a call one byte every 100 ms", &[(Call, hangs::drip)]),
    HostileMode::both("slowprogress", "never answers a call, but reports progress every 100 ms", &[(Call, hangs::progress)]),
    // T27 processes
    HostileMode::both("daemonize", "leaves a grandchild in a session of its own; trigger returns its pid", &[(Start, processes::daemonize), (Call, processes::name_grandchild)]),
    HostileMode::both("ignoreterm", "ignores SIGTERM and the end of stdin", &[(Start, processes::stay)]),
    HostileMode::both("exitmid", "exits in the middle of the answer to a call", &[(Call, processes::exit_in_answer)]),
    HostileMode::both("exitstart", "exits with a line on stderr before it answers initialize", &[(Start, processes::exit_at_once), (Initialize, hangs::forever)]).never_opens(),
    // T29 ids
    HostileMode::both("wrongid", "answers a call under an id that nobody used", &[(Call, ids::wrong)]),
    HostileMode::both("stringid", "answers a call under its id spelled as another type", &[(Call, ids::other_type)]),
    HostileMode::both("nullid", "answers a call under the id null", &[(Call, ids::null)]),
    HostileMode::both("floatid", "answers a call under its id spelled with a fraction", &[(Call, ids::float)]),
    HostileMode::both("dupresp", "answers a call twice, the second time with another text", &[(Call, ids::twice)]),
    HostileMode::both("unsolicited", "sends answers to requests that were never made before a call's own", &[(Call, ids::unsolicited)]),
    // T30, T31 grammar
    HostileMode::both("deep", "answers a call with JSON nested 10,000 deep", &[(Call, grammar::deep)]),
    HostileMode::both("dupkey", "answers a call with the keys id and result twice", &[(Call, grammar::duplicate_keys)]),
    HostileMode::both("case", "answers a call with keys that differ from id and result by case only", &[(Call, grammar::case_variants)]),
    HostileMode::both("latin1", "answers a call with a byte that is not UTF-8", &[(Call, grammar::latin1)]),
    HostileMode::both("batch", "answers a call inside a batch", &[(Call, grammar::batch)]),
    HostileMode::both("crlf", "ends its lines with CR LF and puts empty lines between them", &[(Initialize, grammar::crlf), (List, grammar::crlf), (Call, grammar::crlf)]),
    // T31 schemas
    HostileMode::both("badschema", "lists tools whose input schemas are wrong in every way but JSON", &[(List, schemas::bad)]),
    HostileMode::both("redos", "lists a tool whose pattern takes exponential time to backtrack", &[(List, schemas::redos)]),
    HostileMode::both("refssrf", "lists a tool whose schema refers to an address on the local network", &[(List, schemas::remote_reference)]),
    // T32 pages
    HostileMode::both("loopcursor", "gives the same next cursor for ever", &[(List, paging::same_cursor)]),
    HostileMode::both("freshcursor", "gives a new next cursor for ever", &[(List, paging::fresh_cursor)]),
    HostileMode::both("emptycursor", "gives the legal cursor \"\" and then ends the list", &[(List, paging::empty_cursor)]),
    // T2 hidden characters
    HostileMode::both("ansi", "puts terminal escapes into names, descriptions and results", &[(List, texts::ansi), (Call, texts::ansi_result)]),
    HostileMode::both("tags", "hides text in Unicode tags", &[(List, texts::tags), (Call, texts::tags_result)]),
    HostileMode::both("bidi", "turns the direction of text", &[(List, texts::bidi), (Call, texts::bidi_result)]),
    HostileMode::both("zwsp", "puts zero-width characters into names, descriptions and results", &[(List, texts::zero_width), (Call, texts::zero_width_result)]),
    // T1, T4, T5 meaning
    HostileMode::both("poison", "hides orders to the model in its instructions and in every field of a tool", &[(Initialize, texts::poison_opening), (List, texts::poison)]),
    HostileMode::both("inject", "answers a call with orders to the model", &[(Call, texts::inject)]),
    HostileMode::both("shadow", "lists tools that pose as other servers' and one name twice", &[(List, texts::shadow)]),
    HostileMode::both("longname", "lists tools with names too long, too alike or empty", &[(List, texts::long_names)]),
    // T3 changes
    HostileMode::both("rugpull", "changes its tools after the first call of trigger, silently if it is called with quiet", &[(Call, changes::announce_change), (List, changes::changed_list)]),
    HostileMode::both("listchanged", "announces --count changes of its list before it answers a call", &[(Call, changes::storm)]),
    // T25 leaks
    HostileMode::both("envdump", "answers a call with its environment", &[(Call, leaks::environment)]),
    HostileMode::both("fddump", "answers a call with the descriptors it was started with", &[(Call, leaks::descriptors)]),
    // T33, T34 questions
    HostileMode::both("elicit", "asks for a password --count times within a call, then answers with what it got", &[(Call, questions::elicit)]),
    HostileMode::both("elicit_url", "asks --count times to open a deceptive address within a call", &[(Call, questions::elicit_url)]),
    HostileMode::both("sampling", "asks --count times for a huge completion within a call", &[(Call, questions::sampling)]),
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_are_unique_and_every_mode_does_something() {
        let mut seen = HashSet::new();
        for mode in MODES {
            assert!(seen.insert(mode.name), "{} twice", mode.name);
            assert!(!mode.hooks.is_empty(), "{} has no hook", mode.name);
            assert!(!mode.about.is_empty() && !mode.about.contains('\n'), "{}", mode.name);
        }
    }
}
