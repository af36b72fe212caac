//! The parts of journal records that are counted.

use toolgate_model::Effect;

/// One record to be counted.
#[derive(Debug, Clone, Copy)]
pub struct UsageRecord<'a> {
    /// The time, in milliseconds since 1970.
    pub ms: u64,
    /// The server; empty if the record concerns none.
    pub server: &'a str,
    /// The capability; empty if the record concerns none.
    pub name: &'a str,
    /// The event.
    pub event: UsageEvent<'a>,
}

/// The event of a record.
#[derive(Debug, Clone, Copy)]
pub enum UsageEvent<'a> {
    /// A call was decided.
    Decided {
        /// The effect of the decision.
        effect: Effect,
        /// The reason.
        because: &'a str,
    },
    /// A call was refused, because its arguments do not match its schema.
    InvalidArguments,
    /// A pending call got this answer to its approval request.
    ApprovalAnswered(&'a str),
    /// An approval request got this answer after its call had ended.
    LateApproval(&'a str),
    /// A call has ended.
    Done {
        /// The outcome of the call.
        outcome: CallOutcome,
        /// The duration, in microseconds.
        micros: u64,
    },
    /// Another journal note, by its kind.
    Note(&'a str),
}

/// The outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallOutcome {
    /// The server returned a result.
    Ok,
    /// The server returned a result that is marked as an error.
    ToolError,
    /// The server returned a JSON-RPC error.
    Error,
    /// The server returned an error about invalid arguments, which is the caller's mistake.
    BadArguments,
    /// The call timed out.
    TimedOut,
    /// The caller cancelled the call.
    Cancelled,
    /// The outcome is unknown.
    Unknown,
}

/// The choices that approve a call. Every other choice refuses it.
pub(crate) const APPROVING: [&str; 3] = ["once", "tool", "server"];

/// The kind of the note that a definition changed since it was approved.
pub(crate) const DRIFT: &str = "drift";
