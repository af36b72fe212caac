//! How servers stand, and what failed when they do not.

use std::fmt;

/// The state of one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerState {
    /// Nobody asked for it yet.
    NotStarted,
    /// Being started or reached.
    Connecting,
    /// Ready for calls.
    Connected,
    /// It wants a login first.
    NeedsAuth(String),
    /// Not allowed to start, and why.
    Blocked(String),
    /// Switched off.
    Disabled,
    /// It could not be brought up.
    Failed(Failure),
    /// It was up and is gone; the next use brings it back.
    Disconnected(Failure),
}

impl ServerState {
    /// The stable word for it.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::NotStarted => "not-started",
            Self::Connecting => "connecting",
            Self::Connected => "connected",
            Self::NeedsAuth(_) => "needs-auth",
            Self::Blocked(_) => "blocked",
            Self::Disabled => "disabled",
            Self::Failed(_) => "failed",
            Self::Disconnected(_) => "disconnected",
        }
    }

    /// Why it is not connected, where there is something to say.
    pub fn reason(&self) -> Option<String> {
        match self {
            Self::NeedsAuth(reason) | Self::Blocked(reason) => Some(reason.clone()),
            Self::Failed(failure) | Self::Disconnected(failure) => Some(failure.to_string()),
            Self::NotStarted | Self::Connecting | Self::Connected | Self::Disabled => None,
        }
    }

    /// Whether nothing more will happen to it by itself.
    pub fn is_settled(&self) -> bool {
        !matches!(self, Self::NotStarted | Self::Connecting)
    }
}

/// How far the first look at all servers has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Discovery {
    /// Not begun.
    NotStarted,
    /// At least one server is still on its way.
    InProgress,
    /// Every server is settled, well or badly.
    Completed,
}

/// The step of bringing a server up, or using it, that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Reading its variables and headers.
    Resolve,
    /// Starting the process.
    Launch,
    /// Reaching the endpoint.
    Connect,
    /// `initialize`.
    Initialize,
    /// Listing what it offers.
    List,
    /// Using it.
    Call,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Resolve => "resolve",
            Self::Launch => "launch",
            Self::Connect => "connect",
            Self::Initialize => "initialize",
            Self::List => "list",
            Self::Call => "call",
        })
    }
}

/// What went wrong with a server: where, why, what it said, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The step that failed.
    pub phase: Phase,
    /// Why.
    pub cause: String,
    /// The end of what the process wrote to its standard error.
    pub stderr: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.phase, self.cause)
    }
}
