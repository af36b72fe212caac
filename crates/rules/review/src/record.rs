//! What happened, as far as it is counted.

use toolgate_model::Effect;

/// One record.
#[derive(Debug, Clone, Copy)]
pub struct Item<'a> {
    /// When, in milliseconds since 1970.
    pub ms: u64,
    /// The server; empty where it is about none.
    pub server: &'a str,
    /// The capability; empty where it is about none.
    pub name: &'a str,
    /// What.
    pub happened: Happened<'a>,
}

/// What happened.
#[derive(Debug, Clone, Copy)]
pub enum Happened<'a> {
    /// A call was decided.
    Decided {
        /// Which way.
        effect: Effect,
        /// Because of what.
        because: &'a str,
    },
    /// A call was not made, because its arguments do not fit its schema.
    Misfit,
    /// Somebody was asked about a call that waited, and this came of it.
    Chosen(&'a str),
    /// Somebody decided about a call that no longer waited: it had ended before.
    Settled(&'a str),
    /// A call that was made is over.
    Done {
        /// How.
        ended: Ended,
        /// How long it took, in microseconds.
        micros: u64,
    },
    /// Something else, by its kind.
    Noted(&'a str),
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// With a result.
    Ok,
    /// With a result that says it is an error.
    ToolError,
    /// With an error.
    Error,
    /// With an error that says its arguments were bad: the caller's mistake.
    BadArguments,
    /// It took too long.
    TimedOut,
    /// Its caller gave it up.
    Cancelled,
    /// Nobody knows.
    Unknown,
}

/// The choices after which a call goes on. After every other one it is refused.
pub(crate) const APPROVING: [&str; 3] = ["once", "tool", "server"];

/// The kind of a note that says a definition changed since it was approved.
pub(crate) const DRIFT: &str = "drift";
