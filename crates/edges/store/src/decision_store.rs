//! The trait for stored decisions, and its value types: pending calls, grants, pins, access keys
//! and the sampling budgets of servers.
//!
//! An acknowledged write is on disk. This module makes no decisions.

use std::time::SystemTime;

use bytes::Bytes;
use toolgate_model::{CapabilityId, CapabilityKind, Digest, ServerName};

use crate::{AccessKey, StoreFuture};

/// A store of decisions that survive a restart.
pub trait DecisionStore: Send + Sync {
    /// Stores a call that needs approval, within the limits. If the same call already waits, this
    /// extends the expiry of that one instead.
    fn keep_pending<'a>(
        &'a self,
        pending: &'a PendingCall,
        room: PendingLimits,
    ) -> StoreFuture<'a, KeepPendingOutcome>;

    /// Returns the undecided calls that have not expired, oldest first.
    fn pending_calls(&self) -> StoreFuture<'_, Vec<PendingCall>>;

    /// Decides a pending call exactly once. Returns `None` if the call does not exist, has expired
    /// or was already decided. Stores and returns the resulting grant in the same transaction.
    fn decide_pending<'a>(
        &'a self,
        id: &'a str,
        choice: ApprovalChoice,
        by: &'a str,
    ) -> StoreFuture<'a, Option<SettledCall>>;

    /// Returns the decision about a call, as long as it is stored.
    fn approval_decision<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Option<ApprovalDecision>>;

    /// Withdraws a call that no longer needs approval. Returns true if it was pending.
    fn withdraw_pending<'a>(&'a self, id: &'a str) -> StoreFuture<'a, bool>;

    /// Consumes a one-time grant for exactly this call and returns its id, or `None` if there is no
    /// such grant.
    fn consume_once_grant<'a>(
        &'a self,
        bound: &'a ApprovalBinding,
        arguments: &'a Digest,
    ) -> StoreFuture<'a, Option<String>>;

    /// Returns every grant that is not consumed, expired or revoked, newest first.
    fn grants(&self) -> StoreFuture<'_, Vec<Grant>>;

    /// Revokes grants. Returns how many.
    fn revoke_grants<'a>(&'a self, which: &'a GrantSelector) -> StoreFuture<'a, u64>;

    /// Returns every pin.
    fn pins(&self) -> StoreFuture<'_, Vec<Pin>>;

    /// Returns every pin without its definition, which is enough to check definitions.
    fn pin_summaries(&self) -> StoreFuture<'_, Vec<PinSummary>>;

    /// Stores pins. Replaces those of the same capability and server identity.
    fn pin<'a>(&'a self, pins: &'a [Pin]) -> StoreFuture<'a, ()>;

    /// Deletes the pins of a server, of one capability or of all. Returns how many.
    fn unpin<'a>(
        &'a self,
        server: &'a ServerName,
        which: Option<&'a CapabilityId>,
    ) -> StoreFuture<'a, u64>;

    /// Counts a completion for a server against its daily budget. Returns false, and counts
    /// nothing, if that would exceed a limit.
    fn charge_sampling<'a>(&'a self, charge: &'a SamplingCharge) -> StoreFuture<'a, bool>;

    /// Stores the key of a caller. Returns false if the caller already has one.
    fn add_key<'a>(&'a self, key: &'a AccessKey) -> StoreFuture<'a, bool>;

    /// Deletes the key of a caller. Returns true if there was one.
    fn revoke_key<'a>(&'a self, name: &'a str) -> StoreFuture<'a, bool>;

    /// Returns every key, by name.
    fn keys(&self) -> StoreFuture<'_, Vec<AccessKey>>;

    /// Returns a number that changes when another process may have changed the store. Writes
    /// through this value need not change it.
    fn change_counter(&self) -> StoreFuture<'_, u64>;
}

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

/// A person's choice about a pending call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalChoice {
    /// Allows this call only.
    Once,
    /// Allows this tool with its current definition.
    Tool,
    /// Allows every tool of this server that is pinned now.
    Server,
    /// Denies the call.
    Deny,
}

impl ApprovalChoice {
    /// All choices, in the order in which they are offered.
    pub const ALL: [Self; 4] = [Self::Once, Self::Tool, Self::Server, Self::Deny];

    /// Returns the name of the choice.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Tool => "tool",
            Self::Server => "server",
            Self::Deny => "deny",
        }
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

/// An approved definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    /// The server.
    pub server: ServerName,
    /// The identity of the server: the digest of its command or address.
    pub identity: Digest,
    /// The pinned capability, or `None` for the server's instructions.
    pub capability: Option<(CapabilityKind, String)>,
    /// The digest of the definition.
    pub digest: Digest,
    /// The definition itself, to show what changed.
    pub definition: Bytes,
    /// Who approved it: `first listing`, or a person.
    pub by: String,
    /// When it was pinned.
    pub pinned_at: SystemTime,
}

/// A pin without its definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PinSummary {
    /// The server.
    pub server: ServerName,
    /// The identity of the server: the digest of its command or address.
    pub identity: Digest,
    /// The pinned capability, or `None` for the server's instructions.
    pub capability: Option<(CapabilityKind, String)>,
    /// The digest of the definition.
    pub digest: Digest,
    /// The length of the definition in bytes.
    pub bytes: u64,
    /// When it was pinned.
    pub pinned_at: SystemTime,
}

impl From<&Pin> for PinSummary {
    fn from(pin: &Pin) -> Self {
        Self {
            server: pin.server.clone(),
            identity: pin.identity,
            capability: pin.capability.clone(),
            digest: pin.digest,
            bytes: pin.definition.len() as u64,
            pinned_at: pin.pinned_at,
        }
    }
}

/// The cost of one completion, and the server's daily limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SamplingCharge {
    /// The server that requests the completion.
    pub server: ServerName,
    /// The day, as `YYYY-MM-DD` in UTC.
    pub day: String,
    /// The requested tokens.
    pub tokens: u64,
    /// The maximum number of completions per day.
    pub requests_limit: u32,
    /// The maximum number of tokens per day.
    pub tokens_limit: u64,
}
