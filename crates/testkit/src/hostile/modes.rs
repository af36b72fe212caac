//! The table of modes: name, what it does, where it makes sense, and its hooks.
//!
//! The letters and numbers of the threats are those of the project's threat catalogue. It does NOT
//! say what a gateway should do about any of them; the tests that use a mode do.

use std::fmt;

use clap::ValueEnum;

use super::act::Play;
use super::scene::Scene;
use super::{asks, changes, endings, floods, grammar, hangs, ids, leaks, paging, schemas, texts};

/// When a hook stands in for the ordinary behaviour.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum Phase {
    /// As the process starts.
    Start,
    /// At `initialize`.
    Initialize,
    /// At `tools/list`.
    List,
    /// At a `tools/call` of `trigger`.
    Call,
}

/// Where a mode makes sense.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Carrier {
    /// On a pipe only: what it does has no counterpart in HTTP.
    Stdio,
    /// On stdio and on HTTP.
    Both,
}

/// Gives the acts that replace the ordinary answer.
pub(super) type Hook = fn(&Scene) -> Play;

/// One way to misbehave.
#[derive(Clone, Copy, Debug)]
pub struct Mode {
    /// What the command line calls it.
    pub name: &'static str,
    /// One line on what it does.
    pub about: &'static str,
    /// Where it makes sense.
    pub carrier: Carrier,
    /// Whether `initialize` gets a correct answer.
    pub opens: bool,
    pub(super) hooks: &'static [(Phase, Hook)],
}

impl Mode {
    const fn both(
        name: &'static str,
        about: &'static str,
        hooks: &'static [(Phase, Hook)],
    ) -> Self {
        Mode { name, about, carrier: Carrier::Both, opens: true, hooks }
    }

    const fn on_stdio(self) -> Self {
        Mode { carrier: Carrier::Stdio, ..self }
    }

    const fn never_opens(self) -> Self {
        Mode { opens: false, ..self }
    }

    /// The phase of its first misbehaviour.
    pub fn starts(&self) -> Phase {
        self.hooks.first().map_or(Phase::Start, |(phase, _)| *phase)
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Phase::Start => "start",
            Phase::Initialize => "initialize",
            Phase::List => "list",
            Phase::Call => "call",
        })
    }
}

impl fmt::Display for Carrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Carrier::Stdio => "stdio",
            Carrier::Both => "both",
        })
    }
}

use Phase::{Call, Initialize, List, Start};

/// Every mode.
#[rustfmt::skip]
pub const MODES: &[Mode] = &[
    // T26 floods
    Mode::both("nonewline", "answers a call with bytes that never end a line", &[(Call, floods::no_newline)]),
    Mode::both("bigline", "answers a call with one message of --bytes bytes", &[(Call, floods::big_line)]),
    Mode::both("stderrflood", "writes to stderr without end, from the start", &[(Start, floods::stderr)]),
    Mode::both("stdoutnoise", "writes lines that are not JSON before and between its answers", &[(Start, floods::noise), (Initialize, floods::noise_around), (List, floods::noise_around), (Call, floods::noise_around)]).on_stdio(),
    Mode::both("progressflood", "answers a call with progress notifications without end", &[(Call, floods::progress)]),
    Mode::both("hugelist", "lists 20,000 tools in one answer of 25 MB", &[(List, floods::huge_list)]),
    Mode::both("b64bomb", "answers a call with an image of --bytes bytes of base64", &[(Call, floods::base64)]),
    // T35 time
    Mode::both("hang", "never answers a call", &[(Call, hangs::forever)]),
    Mode::both("hanginit", "never answers initialize", &[(Initialize, hangs::forever)]).never_opens(),
    Mode::both("slowdrip", "answers a call one byte every 100 ms", &[(Call, hangs::drip)]),
    Mode::both("slowprogress", "never answers a call, but reports progress every 100 ms", &[(Call, hangs::progress)]),
    // T27 processes
    Mode::both("daemonize", "leaves a grandchild in a session of its own; trigger returns its pid", &[(Start, endings::daemonize), (Call, endings::name_grandchild)]),
    Mode::both("ignoreterm", "ignores SIGTERM and the end of stdin", &[(Start, endings::stay)]),
    Mode::both("exitmid", "exits in the middle of the answer to a call", &[(Call, endings::exit_in_answer)]),
    Mode::both("exitstart", "exits with a line on stderr before it answers initialize", &[(Start, endings::exit_at_once), (Initialize, hangs::forever)]).never_opens(),
    // T29 ids
    Mode::both("wrongid", "answers a call under an id that nobody used", &[(Call, ids::wrong)]),
    Mode::both("stringid", "answers a call under its id spelled as another type", &[(Call, ids::other_type)]),
    Mode::both("nullid", "answers a call under the id null", &[(Call, ids::null)]),
    Mode::both("floatid", "answers a call under its id spelled with a fraction", &[(Call, ids::float)]),
    Mode::both("dupresp", "answers a call twice, the second time with another text", &[(Call, ids::twice)]),
    Mode::both("unsolicited", "sends answers to requests that were never made before a call's own", &[(Call, ids::unsolicited)]),
    // T30, T31 grammar
    Mode::both("deep", "answers a call with JSON nested 10,000 deep", &[(Call, grammar::deep)]),
    Mode::both("dupkey", "answers a call with the keys id and result twice", &[(Call, grammar::duplicate_keys)]),
    Mode::both("case", "answers a call with keys that differ from id and result by case only", &[(Call, grammar::case_variants)]),
    Mode::both("latin1", "answers a call with a byte that is not UTF-8", &[(Call, grammar::latin1)]),
    Mode::both("batch", "answers a call inside a batch", &[(Call, grammar::batch)]),
    Mode::both("crlf", "ends its lines with CR LF and puts empty lines between them", &[(Initialize, grammar::crlf), (List, grammar::crlf), (Call, grammar::crlf)]),
    // T31 schemas
    Mode::both("badschema", "lists tools whose input schemas are wrong in every way but JSON", &[(List, schemas::bad)]),
    Mode::both("redos", "lists a tool whose pattern takes exponential time to backtrack", &[(List, schemas::redos)]),
    Mode::both("refssrf", "lists a tool whose schema refers to an address on the local network", &[(List, schemas::remote_reference)]),
    // T32 pages
    Mode::both("loopcursor", "gives the same next cursor for ever", &[(List, paging::same_cursor)]),
    Mode::both("freshcursor", "gives a new next cursor for ever", &[(List, paging::fresh_cursor)]),
    Mode::both("emptycursor", "gives the legal cursor \"\" and then ends the list", &[(List, paging::empty_cursor)]),
    // T2 hidden characters
    Mode::both("ansi", "puts terminal escapes into names, descriptions and results", &[(List, texts::ansi), (Call, texts::ansi_result)]),
    Mode::both("tags", "hides text in Unicode tags", &[(List, texts::tags), (Call, texts::tags_result)]),
    Mode::both("bidi", "turns the direction of text", &[(List, texts::bidi), (Call, texts::bidi_result)]),
    Mode::both("zwsp", "puts zero-width characters into names, descriptions and results", &[(List, texts::zero_width), (Call, texts::zero_width_result)]),
    // T1, T4, T5 meaning
    Mode::both("poison", "hides orders to the model in its instructions and in every field of a tool", &[(Initialize, texts::poison_opening), (List, texts::poison)]),
    Mode::both("inject", "answers a call with orders to the model", &[(Call, texts::inject)]),
    Mode::both("shadow", "lists tools that pose as other servers' and one name twice", &[(List, texts::shadow)]),
    Mode::both("longname", "lists tools with names too long, too alike or empty", &[(List, texts::long_names)]),
    // T3 changes
    Mode::both("rugpull", "changes its tools after the first call of trigger, silently if it is called with quiet", &[(Call, changes::pull), (List, changes::pulled)]),
    Mode::both("listchanged", "announces --count changes of its list before it answers a call", &[(Call, changes::storm)]),
    // T25 leaks
    Mode::both("envdump", "answers a call with its environment", &[(Call, leaks::environment)]),
    Mode::both("fddump", "answers a call with the descriptors it was started with", &[(Call, leaks::descriptors)]),
    // T33, T34 questions
    Mode::both("elicit", "asks for a password --count times within a call, then answers with what it got", &[(Call, asks::elicit)]),
    Mode::both("elicit_url", "asks --count times to open a deceptive address within a call", &[(Call, asks::elicit_url)]),
    Mode::both("sampling", "asks --count times for a huge completion within a call", &[(Call, asks::sampling)]),
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
