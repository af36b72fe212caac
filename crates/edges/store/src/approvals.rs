//! The value types of approvals: pending calls, choices and grants.

use std::time::SystemTime;

use bytes::Bytes;
use toolgate_model::{CapabilityId, Digest, ServerName};
use toolgate_wire::words;

/// The maximum number of pending calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PendingLimits {
    /// The limit for one caller.
    pub per_caller: u32,
    /// The limit for all callers.
    pub in_all: u32,
}

/// The outcome of storing a pending call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeepPendingOutcome {
    /// The call was stored.
    New,
    /// The same call already waits. This is the stored one.
    Joined(Box<PendingCall>),
    /// Too many calls of this caller wait.
    CallerFull,
    /// Too many calls wait.
    Full,
}

/// A person's decision about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalDecision {
    /// The choice.
    pub choice: ApprovalChoice,
    /// Who made the choice, and where.
    pub by: String,
}

/// A call that waits for approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingCall {
    /// A short id that cannot be guessed.
    pub id: String,
    /// What an approval of the call is bound to.
    pub binding: ApprovalBinding,
    /// The complete raw arguments.
    pub arguments: Bytes,
    /// The other members of `params` that would reach the server, as a raw object. Empty if there
    /// are none.
    pub other_params: Bytes,
    /// The digest of both as they would be sent.
    pub arguments_digest: Digest,
    /// Why the call needs approval.
    pub because: String,
    /// When approval was requested.
    pub asked_at: SystemTime,
    /// When the request for approval expires.
    pub expires_at: SystemTime,
}

/// The call to which an approval applies.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ApprovalBinding {
    /// The caller's name, which stays the same after a restart.
    pub caller: String,
    /// The caller's client.
    pub client: String,
    /// The tool.
    pub tool: CapabilityId,
    /// The identity of the server: the digest of its command or address.
    pub identity: Digest,
    /// The digest of the tool's definition.
    pub definition: Digest,
}

words! {
    /// A person's choice about a pending call.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum ApprovalChoice {
        /// Allows this call only.
        Once = "once",
        /// Allows this tool with its current definition.
        Tool = "tool",
        /// Allows every tool of this server that is pinned now.
        Server = "server",
        /// Denies the call.
        Deny = "deny",
    }
}

/// A decided call, with its grant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettledCall {
    /// The call.
    pub call: PendingCall,
    /// The choice.
    pub choice: ApprovalChoice,
    /// The stored grant, unless the call was denied.
    pub grant: Option<Grant>,
}

/// A stored permission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// A short id.
    pub id: String,
    /// What the grant covers.
    pub choice: ApprovalChoice,
    /// What the grant is bound to. A grant for a whole server covers every tool whose definition
    /// was pinned before the grant. It does not cover later changes and additions.
    pub binding: ApprovalBinding,
    /// The digest of the arguments, for a one-time grant.
    pub arguments_digest: Option<Digest>,
    /// Who gave it, and where.
    pub by: String,
    /// When it was given.
    pub given_at: SystemTime,
    /// When it expires, if ever.
    pub expires_at: Option<SystemTime>,
}

/// A selection of grants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GrantSelector {
    /// The grant with this id.
    Id(String),
    /// The grants of a server.
    Server(ServerName),
    /// The grants of one tool.
    Tool(CapabilityId),
}
