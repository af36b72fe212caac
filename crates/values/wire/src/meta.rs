//! The keys of `_meta` that the specification itself gives a meaning, and which of them belong to
//! one hop only.

use crate::{Frame, Span};

/// What the keys of the specification begin with.
pub(crate) const SPECIFIED: &str = "io.modelcontextprotocol/";

/// The revision a modern request speaks.
pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// What the client behind a modern request can do.
pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// What the client behind a modern request calls itself.
pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// The least level of log lines a modern request wants.
pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// What a modern server calls itself, on its results.
pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// The listen request a modern notification belongs to.
pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
/// The task an answer or a question belongs to (2025-11-25).
pub const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";
/// The tasks extension of 2026-07-28, as it is named among `extensions`.
pub const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";
/// What a server with sessions calls its question, for callers who are asked by keys and not by
/// requests. Our own: without it the gateway makes a key up.
pub const INPUT_KEY: &str = "dev.toolgate/inputKey";

/// What a modern request says of itself; a server of an older revision must not see it.
pub const ENVELOPE: [&str; 4] = [PROTOCOL_VERSION, CLIENT_CAPABILITIES, CLIENT_INFO, LOG_LEVEL];

/// What a request's `_meta` says of its sender: where the members of the envelope stand, whole or
/// not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Claim {
    /// The revision.
    pub version: Option<Span>,
    /// What the client can do.
    pub capabilities: Option<Span>,
    /// What the client calls itself.
    pub client: Option<Span>,
    /// The least level of log lines it wants.
    pub level: Option<Span>,
}

impl Claim {
    /// Notes a member by the rest of its key.
    ///
    /// `false` if it is none of the envelope's.
    pub(crate) fn note(&mut self, name: &[u8], value: Span) -> bool {
        let place = match name {
            b"protocolVersion" => &mut self.version,
            b"clientCapabilities" => &mut self.capabilities,
            b"clientInfo" => &mut self.client,
            b"logLevel" => &mut self.level,
            _ => return false,
        };
        *place = Some(value);
        true
    }

    /// The same, counted from where `outer` begins.
    pub(crate) fn from(self, outer: Span) -> Self {
        let inner = |at: Span| Span::new(at.start() - outer.start(), at.end() - outer.start());
        self.moved(inner)
    }

    /// The same, seen from outside `outer`.
    pub(crate) fn within(self, outer: Span) -> Self {
        self.moved(|at| at.within(outer))
    }

    fn moved(self, place: impl Fn(Span) -> Span) -> Self {
        Self {
            version: self.version.map(&place),
            capabilities: self.capabilities.map(&place),
            client: self.client.map(&place),
            level: self.level.map(&place),
        }
    }

    /// Whether there is any member of the envelope: then the sender means to be modern.
    pub fn is_made(&self) -> bool {
        *self != Self::default()
    }
}

/// Whether a message names its revision, and so claims to be modern, rightly or not.
pub fn is_enveloped(frame: &Frame) -> bool {
    frame.claim().version.is_some()
}
