//! The keys of `_meta` that the specification defines, and which of them concern one hop only.

use crate::{Frame, Span};

/// The prefix of the specification's keys.
pub(crate) const SPEC_PREFIX: &str = "io.modelcontextprotocol/";

/// The revision of a modern request.
pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// The capabilities of the client of a modern request.
pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// The name and version of the client of a modern request.
pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// The minimum level of log messages for a modern request.
pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// The name and version of a modern server, in its results.
pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// The listen request that a modern notification belongs to.
pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
/// The task that a response or question belongs to (2025-11-25).
pub const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";
/// The key of the 2026-07-28 tasks extension in `extensions`.
pub const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";
/// The key that a legacy server gives its question, for modern callers, which identify questions by
/// key. This is the gateway's own extension; without it the gateway generates a key.
pub const INPUT_KEY: &str = "dev.toolgate/inputKey";

/// The keys in which a modern request describes its client. A server of an older revision must not
/// see them.
pub const CLIENT_KEYS: [&str; 4] = [PROTOCOL_VERSION, CLIENT_CAPABILITIES, CLIENT_INFO, LOG_LEVEL];

/// The spans of the `_meta` members that describe the sender of a request. Any of them may be
/// missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClientMetaSpans {
    /// The revision of the request.
    pub version: Option<Span>,
    /// The capabilities of the client.
    pub capabilities: Option<Span>,
    /// The name and version of the client.
    pub client: Option<Span>,
    /// The minimum level of log messages.
    pub level: Option<Span>,
}

impl ClientMetaSpans {
    /// Stores the span of a member, given its key without the prefix. Returns false if the key does
    /// not describe the sender.
    pub(crate) fn set_member(&mut self, name: &[u8], value: Span) -> bool {
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

    /// Makes the spans relative to the start of `outer`.
    pub(crate) fn relative_to(self, outer: Span) -> Self {
        let inner = |at: Span| Span::new(at.start() - outer.start(), at.end() - outer.start());
        self.map_spans(inner)
    }

    /// Makes spans relative to `outer` relative to the bytes around it.
    pub(crate) fn within(self, outer: Span) -> Self {
        self.map_spans(|at| at.within(outer))
    }

    fn map_spans(self, place: impl Fn(Span) -> Span) -> Self {
        Self {
            version: self.version.map(&place),
            capabilities: self.capabilities.map(&place),
            client: self.client.map(&place),
            level: self.level.map(&place),
        }
    }

    /// Returns true if any of these members is present, which marks the sender as modern.
    pub fn has_any(&self) -> bool {
        *self != Self::default()
    }
}

/// Returns true if a message names its revision and thereby claims to be modern, rightly or not.
pub fn has_protocol_version(frame: &Frame) -> bool {
    frame.client_meta_spans().version.is_some()
}
