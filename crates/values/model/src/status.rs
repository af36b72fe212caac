//! The states of servers, and their failures.

use std::fmt;

use toolgate_wire::words;

use crate::{CodedError, ErrorCode};

/// The state of one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerState {
    /// Not needed yet.
    NotStarted,
    /// Starting or connecting.
    Connecting,
    /// Ready for calls.
    Connected,
    /// Requires a login first.
    NeedsAuth(String),
    /// Not allowed to start.
    Blocked(StartBlock),
    /// Disabled.
    Disabled,
    /// Could not be started or reached.
    Failed(ServerFailure),
    /// Was connected and is lost; the next use reconnects.
    Disconnected(ServerFailure),
}

impl ServerState {
    /// Returns the state as a stable word.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::NotStarted => "not_started",
            Self::Connecting => "connecting",
            Self::Connected => "connected",
            Self::NeedsAuth(_) => "needs_auth",
            Self::Blocked(_) => "blocked",
            Self::Disabled => "disabled",
            Self::Failed(_) => "failed",
            Self::Disconnected(_) => "disconnected",
        }
    }

    /// Returns the reason why the server is not connected, if there is one.
    pub fn reason(&self) -> Option<String> {
        match self {
            Self::NeedsAuth(reason) => Some(reason.clone()),
            Self::Blocked(block) => Some(block.to_string()),
            Self::Failed(failure) | Self::Disconnected(failure) => Some(failure.to_string()),
            Self::NotStarted | Self::Connecting | Self::Connected | Self::Disabled => None,
        }
    }

    /// Returns true if the state will not change by itself.
    pub fn is_settled(&self) -> bool {
        !matches!(self, Self::NotStarted | Self::Connecting)
    }
}

/// Why a server may not start, and how the operator can change that. Clients see the reason only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartBlock {
    /// What kind of problem it is.
    pub code: ErrorCode,
    /// Why it may not start.
    pub reason: String,
    /// What the operator can do about it.
    pub hint: Option<String>,
}

impl StartBlock {
    /// Returns a block without a hint.
    pub fn new(code: ErrorCode, reason: impl Into<String>) -> Self {
        Self { code, reason: reason.into(), hint: None }
    }
}

impl fmt::Display for StartBlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, "; {hint}"))
    }
}

/// The progress of the first discovery of all servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DiscoveryStatus {
    /// Not started.
    NotStarted,
    /// At least one server is still connecting.
    InProgress,
    /// Every server is settled, successfully or not.
    Completed,
}

words! {
    /// The step of connecting to a server, or using it, that failed.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum FailurePhase {
        /// Expanding its variables and headers.
        Resolve = "resolve",
        /// Starting the process.
        Launch = "launch",
        /// Reaching the endpoint.
        Connect = "connect",
        /// `initialize`.
        Initialize = "initialize",
        /// Listing what it offers.
        List = "list",
        /// Calling it.
        Call = "call",
    }
}

/// A failure of a server: the step, the cause, its error output, and a hint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerFailure {
    /// The step that failed.
    pub phase: FailurePhase,
    /// What kind of failure it is.
    pub code: ErrorCode,
    /// The cause, as a complete message.
    pub cause: String,
    /// The end of the process's standard error output.
    pub stderr: String,
    /// How to fix it.
    pub hint: Option<String>,
}

impl ServerFailure {
    /// Returns the failure of a step because of an error.
    pub fn new(phase: FailurePhase, error: &impl CodedError) -> Self {
        let (code, cause, hint) = (error.code(), error.to_string(), error.hint());
        Self { phase, code, cause, stderr: String::new(), hint }
    }
}

impl fmt::Display for ServerFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.phase, self.cause)
    }
}
