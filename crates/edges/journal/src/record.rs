//! The content of a record.

use toolgate_model::{CapabilityId, Digest, Effect};
use toolgate_wire::words;

/// A record to write. The journal adds its number, time and hashes.
#[derive(Debug, Clone, Copy)]
pub struct JournalRecord<'a> {
    /// The event.
    pub event: JournalEvent<'a>,
    /// The number of its call: the same in all records of one call, and unique in this process. 0
    /// for no call.
    pub call: u64,
    /// The caller, by a name that stays the same after a restart. Empty for events without a call.
    pub caller: &'a str,
    /// The caller's client.
    pub client: &'a str,
    /// The caller's profile.
    pub profile: &'a str,
    /// The capability, if any.
    pub about: Option<&'a CapabilityId>,
}

impl<'a> JournalRecord<'a> {
    /// Returns a record of an event that is not part of a call. The details are a raw JSON object.
    pub fn note(kind: &'a str, detail: &'a str, about: Option<&'a CapabilityId>) -> Self {
        let event = JournalEvent::Noted { kind, detail };
        Self { event, call: 0, caller: "", client: "", profile: "", about }
    }
}

/// The event of a new record.
#[derive(Debug, Clone, Copy)]
pub enum JournalEvent<'a> {
    /// A call was decided: it is denied, needs approval, or is about to run.
    Decided {
        /// The effect of the decision.
        effect: Effect,
        /// The reason: the rule with its file and line, the grant, or the mode.
        because: &'a str,
        /// The MCP method.
        method: &'a str,
        /// The digest of the definition, if there is one.
        definition: Option<&'a Digest>,
        /// The digest of the arguments and the other parameters, by
        /// [`params_digest`](crate::params_digest).
        arguments_digest: Option<&'a Digest>,
        /// The raw arguments. The journal redacts them.
        arguments: &'a [u8],
        /// The other members of `params` that reach the server, as an object. Empty if there are
        /// none.
        other_params: &'a [u8],
        /// Whether the call is read-only.
        read_only: bool,
        /// The tags of the capability, which a replay needs.
        tags: &'a [String],
    },
    /// A request for approval was answered or ended.
    Approved {
        /// The approval's id.
        id: &'a str,
        /// `once`, `tool`, `server`, `deny`, `expired`, `cancelled`.
        choice: &'a str,
        /// Who made the choice.
        by: &'a str,
    },
    /// A call ended.
    Done {
        /// The outcome.
        outcome: JournalOutcome,
        /// The message of an error.
        detail: &'a str,
        /// How long the server took, in microseconds.
        micros: u64,
        /// The size of the result in bytes.
        bytes: u64,
    },
    /// Another event, such as a pin, a drift, a revoked grant or a finding.
    Noted {
        /// The kind of event, in one word.
        kind: &'a str,
        /// The details, as a raw JSON object.
        detail: &'a str,
    },
}

words! {
    /// The outcome of a call.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum JournalOutcome {
        /// The server answered with a result.
        Ok = "ok",
        /// The server answered with a result that is marked as an error.
        ToolError = "tool-error",
        /// The server answered with an error.
        Error = "error",
        /// The call timed out.
        TimedOut = "timed-out",
        /// The caller cancelled the call.
        Cancelled = "cancelled",
        /// It is unknown whether the server ran the call.
        Unknown = "unknown",
    }
}

/// Returns the digest of a call's arguments and its other parameters, as sent.
pub fn params_digest(arguments: &[u8], other_params: &[u8]) -> Digest {
    match other_params {
        b"" => Digest::of(arguments),
        others => Digest::of_parts([b"params".as_slice(), arguments, others]),
    }
}
