//! What people decided, kept: approvals that are waited for, grants, pins, and what servers have
//! spent of their budgets.
//!
//! The trait every engine offers, and the values that go through it. Whatever it acknowledged is on
//! disk. Nothing here decides anything.

use std::time::SystemTime;

use bytes::Bytes;
use toolgate_model::{CapabilityId, CapabilityKind, Digest, ServerName};

use crate::{AccessKey, Answer};

/// Decisions that survive a restart.
pub trait Decisions: Send + Sync {
    /// Keeps a call that somebody is to approve, if there is room. Where the very same call waits
    /// already, that one is asked about instead, from now on as long as this one would be.
    fn keep_pending<'a>(&'a self, pending: &'a PendingCall, room: Room) -> Answer<'a, Kept>;

    /// The calls that nobody has decided about and that are not expired, oldest first.
    fn pending(&self) -> Answer<'_, Vec<PendingCall>>;

    /// Decides about a pending call, exactly once: `None` if it is not there, is expired or was
    /// decided before, by whomever. The grant that follows from the choice is kept in the same
    /// transaction and given back.
    fn settle<'a>(
        &'a self,
        id: &'a str,
        choice: Choice,
        by: &'a str,
    ) -> Answer<'a, Option<Settled>>;

    /// What was decided about a call, as long as that is remembered.
    fn verdict<'a>(&'a self, id: &'a str) -> Answer<'a, Option<Verdict>>;

    /// Takes a call back that nobody waits for any more and that is not to be approved later.
    fn withdraw<'a>(&'a self, id: &'a str) -> Answer<'a, bool>;

    /// Uses up a one-time grant for exactly this call, exactly once, and says which; `None` if there
    /// is none.
    fn spend<'a>(&'a self, bound: &'a Bound, arguments: &'a Digest) -> Answer<'a, Option<String>>;

    /// Every grant that is not used up, expired or revoked, newest first.
    fn grants(&self) -> Answer<'_, Vec<Grant>>;

    /// Takes grants back: by id, or all of a server. Says how many.
    fn revoke_grants<'a>(&'a self, which: &'a Which) -> Answer<'a, u64>;

    /// Every pin.
    fn pins(&self) -> Answer<'_, Vec<Pin>>;

    /// The same without the definitions: what is needed to judge by them.
    fn pinned(&self) -> Answer<'_, Vec<Pinned>>;

    /// Keeps pins, replacing those of the same capability of the same server identity.
    fn pin<'a>(&'a self, pins: &'a [Pin]) -> Answer<'a, ()>;

    /// Forgets the pins of a server, of one capability or of all.
    fn unpin<'a>(
        &'a self,
        server: &'a ServerName,
        which: Option<&'a CapabilityId>,
    ) -> Answer<'a, u64>;

    /// Counts a completion that a server asked for against its budget of a day, if that leaves it
    /// within the limits; `false` if not, and nothing is counted.
    fn charge<'a>(&'a self, charge: &'a Charge) -> Answer<'a, bool>;

    /// Keeps a key of a caller; `false` if the caller has one.
    fn add_key<'a>(&'a self, key: &'a AccessKey) -> Answer<'a, bool>;

    /// Forgets the key of a caller; says whether there was one.
    fn revoke_key<'a>(&'a self, name: &'a str) -> Answer<'a, bool>;

    /// Every key, by name.
    fn keys(&self) -> Answer<'_, Vec<AccessKey>>;

    /// A number that is another whenever somebody else may have changed something; what was written
    /// through this value need not change it.
    fn changes(&self) -> Answer<'_, u64>;
}

/// How many calls may wait to be approved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// Of one caller.
    pub per_caller: u32,
    /// In all.
    pub in_all: u32,
}

/// What became of a call that was to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kept {
    /// It is kept.
    New,
    /// The very same call waits already, as this one.
    Joined(Box<PendingCall>),
    /// Too many of this caller wait.
    CallerFull,
    /// Too many wait.
    Full,
}

/// What was decided about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// What was chosen.
    pub choice: Choice,
    /// Who chose it, and where.
    pub by: String,
}

/// A call that somebody is to approve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingCall {
    /// A short name for it that nobody can guess.
    pub id: String,
    /// What an approval of it is bound to.
    pub bound: Bound,
    /// The arguments, whole and raw.
    pub arguments: Bytes,
    /// The members of `params` beside them that would reach the server, as an object, raw; empty if
    /// there are none.
    pub other_params: Bytes,
    /// The digest of both as they would be sent.
    pub arguments_digest: Digest,
    /// Why it is asked about.
    pub because: String,
    /// When it was asked for.
    pub asked_at: SystemTime,
    /// Until when it can be approved.
    pub expires_at: SystemTime,
}

/// What an approval is bound to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Bound {
    /// Who calls: a name that is the same after a restart.
    pub caller: String,
    /// With which client.
    pub client: String,
    /// The tool.
    pub tool: CapabilityId,
    /// What is started or reached under the server's name.
    pub identity: Digest,
    /// The digest of the tool's definition.
    pub definition: Digest,
}

/// What somebody chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Choice {
    /// This call, and no other.
    Once,
    /// This tool, as it is defined now.
    Tool,
    /// Every tool of this server that is pinned now.
    Server,
    /// No.
    Deny,
}

impl Choice {
    /// All of them, in the order they are offered.
    pub const ALL: [Self; 4] = [Self::Once, Self::Tool, Self::Server, Self::Deny];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Tool => "tool",
            Self::Server => "server",
            Self::Deny => "deny",
        }
    }
}

/// What came of a choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    /// The call.
    pub call: PendingCall,
    /// What was chosen.
    pub choice: Choice,
    /// The grant that was kept, unless it was denied.
    pub grant: Option<Grant>,
}

/// A permission somebody gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// A short name for it.
    pub id: String,
    /// How far it goes.
    pub choice: Choice,
    /// What it is bound to. A grant for a whole server holds for every tool whose definition was
    /// pinned before it was given: what is changed or added later is not meant by it.
    pub bound: Bound,
    /// Of a one-time grant, the arguments.
    pub arguments_digest: Option<Digest>,
    /// Who gave it, and where.
    pub by: String,
    /// When.
    pub given_at: SystemTime,
    /// Until when, if not for good.
    pub expires_at: Option<SystemTime>,
}

/// Which grants are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    /// That of this id.
    Id(String),
    /// Those of a server.
    Server(ServerName),
    /// Those of one tool.
    Tool(CapabilityId),
}

/// A definition somebody approved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    /// The server.
    pub server: ServerName,
    /// What is started or reached under its name.
    pub identity: Digest,
    /// What is pinned; none for the server's instructions.
    pub capability: Option<(CapabilityKind, String)>,
    /// The digest of the definition.
    pub digest: Digest,
    /// The definition itself, to show what changed.
    pub definition: Bytes,
    /// Who approved it: `first listing`, or a person.
    pub by: String,
    /// When.
    pub pinned_at: SystemTime,
}

/// A pin without the definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pinned {
    /// The server.
    pub server: ServerName,
    /// What is started or reached under its name.
    pub identity: Digest,
    /// What is pinned; none for the server's instructions.
    pub capability: Option<(CapabilityKind, String)>,
    /// The digest of the definition.
    pub digest: Digest,
    /// How long the definition is.
    pub bytes: u64,
    /// When it was pinned.
    pub pinned_at: SystemTime,
}

impl From<&Pin> for Pinned {
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

/// What a completion costs, and what a server may spend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Charge {
    /// Who asks.
    pub server: ServerName,
    /// The day, as `YYYY-MM-DD` in UTC.
    pub day: String,
    /// The tokens asked for.
    pub tokens: u64,
    /// Completions allowed in a day.
    pub requests_limit: u32,
    /// Tokens allowed in a day.
    pub tokens_limit: u64,
}
