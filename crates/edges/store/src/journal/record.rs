//! What one record says.

use toolgate_model::{CapabilityId, Digest, Effect};

/// One thing that happened. Its number, its time and its hashes are added by the journal.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    /// What happened.
    pub event: Event<'a>,
    /// The call it belongs to: the same in all records of one call, and in no other of this process.
    /// 0 where it belongs to none.
    pub call: u64,
    /// Who, by a name that is the same after a restart; empty where nobody called.
    pub caller: &'a str,
    /// With which client.
    pub client: &'a str,
    /// With which profile.
    pub profile: &'a str,
    /// About what.
    pub about: Option<&'a CapabilityId>,
}

/// What happened.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// A call was decided: it is refused, asked about, or about to be made.
    Decided {
        /// Which.
        effect: Effect,
        /// Because of what: the rule with its place, the grant, the mode.
        because: &'a str,
        /// The MCP method.
        method: &'a str,
        /// The digest of the definition, where there is one.
        definition: Option<&'a Digest>,
        /// The digest of the arguments and of what stands beside them, by
        /// [`params_digest`](crate::journal::params_digest).
        arguments_digest: Option<&'a Digest>,
        /// The arguments, raw: redacted when they are written.
        arguments: &'a [u8],
        /// The members of `params` beside them that reach the server, as an object; empty if there
        /// are none.
        other_params: &'a [u8],
        /// Whether it only reads.
        read_only: bool,
        /// The tags of it: what a replay needs.
        tags: &'a [String],
    },
    /// Somebody was asked, and chose.
    Approved {
        /// The approval's id.
        id: &'a str,
        /// `once`, `tool`, `server`, `deny`, `expired`, `cancelled`.
        choice: &'a str,
        /// Who chose.
        by: &'a str,
    },
    /// A call is over.
    Done {
        /// How.
        outcome: Outcome,
        /// What was said, for errors.
        detail: &'a str,
        /// How long it took at the server, in microseconds.
        micros: u64,
        /// The size of the result in bytes.
        bytes: u64,
    },
    /// Something else that is to be remembered: a pin, a drift, a revoked grant, a finding.
    Noted {
        /// What kind of thing, in one word.
        kind: &'a str,
        /// What, as a JSON object, raw.
        detail: &'a str,
    },
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The server answered with a result.
    Ok,
    /// The server answered with a result that says it is an error.
    ToolError,
    /// The server answered with an error.
    Error,
    /// It took too long.
    TimedOut,
    /// The caller took it back.
    Cancelled,
    /// It is not known whether the server ran it.
    Unknown,
}

impl Outcome {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::ToolError => "tool-error",
            Self::Error => "error",
            Self::TimedOut => "timed-out",
            Self::Cancelled => "cancelled",
            Self::Unknown => "unknown",
        }
    }
}

/// The digest of a call's arguments as they are sent, and of what stands beside them in `params`.
pub fn params_digest(arguments: &[u8], other_params: &[u8]) -> Digest {
    match other_params {
        b"" => Digest::of(arguments),
        others => Digest::of_parts([b"params".as_slice(), arguments, others]),
    }
}
