//! Errors of using a server.

use toolgate_model::{CodedError, ErrorCode, ServerFailure, ServerName, ServerState};
use toolgate_session::SessionError;

/// An error of using one of the fleet's servers.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// No server has this name.
    #[error("no server named `{0}`")]
    Unknown(ServerName),
    /// The server must not be used: it is blocked, disabled, or requires authentication.
    #[error("server `{server}` is {}{}", state.as_str(), suffix(state))]
    Unusable {
        /// The server.
        server: ServerName,
        /// Its state.
        state: ServerState,
    },
    /// The server could not be started or reached.
    #[error("server `{server}` is unavailable: {failure}")]
    Down {
        /// The server.
        server: ServerName,
        /// The phase that failed, and why.
        failure: Box<ServerFailure>,
    },
    /// Every connection to the server waits for another caller to answer a question.
    #[error("all connections to server `{0}` are waiting for answers of other callers")]
    Busy(ServerName),
    /// The server was removed or replaced during the operation.
    #[error("server `{0}` was removed or replaced")]
    Gone(ServerName),
    /// The server was replaced before the call was sent. The code that decided about the call must
    /// decide whether its successor may be called.
    #[error("server `{0}` was replaced before the call was sent")]
    Replaced(ServerName),
    /// The session with the server failed.
    #[error("server `{server}`: {source}{}", stderr_suffix(.stderr))]
    Session {
        /// The server.
        server: ServerName,
        /// What failed.
        source: SessionError,
        /// The end of the process's standard error, if the process died.
        stderr: String,
    },
}

impl CodedError for FleetError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Unknown(_) => ErrorCode::ServerUnknown,
            Self::Unusable { state, .. } => match state {
                ServerState::Blocked(block) => block.code,
                ServerState::Disabled => ErrorCode::ServerDisabled,
                ServerState::NeedsAuth(_) => ErrorCode::ConnectAuth,
                _ => ErrorCode::ServerFailed,
            },
            Self::Down { failure, .. } => failure.code,
            Self::Busy(_) => ErrorCode::ServerBusy,
            Self::Gone(_) | Self::Replaced(_) => ErrorCode::ServerReplaced,
            Self::Session { source, .. } => source.code(),
        }
    }

    /// A hint how to allow a blocked server is for the operator alone, and callers may be models.
    fn hint(&self) -> Option<String> {
        match self {
            Self::Down { failure, .. } => failure.hint.clone(),
            Self::Busy(_) | Self::Gone(_) | Self::Replaced(_) => Some("try again later".to_owned()),
            Self::Session { source, .. } => source.hint(),
            Self::Unknown(_) | Self::Unusable { .. } => None,
        }
    }
}

fn suffix(state: &ServerState) -> String {
    let reason = match state {
        ServerState::Blocked(block) => Some(block.reason.clone()),
        state => state.reason(),
    };
    reason.map(|reason| format!(": {reason}")).unwrap_or_default()
}

fn stderr_suffix(stderr: &str) -> String {
    match stderr.trim_end().lines().next_back() {
        Some(line) => format!("; last line on stderr: {line}"),
        None => String::new(),
    }
}
