//! Errors of using a server.

use toolgate_model::{ServerFailure, ServerName, ServerState};
use toolgate_session::SessionError;

/// An error of using one of the fleet's servers.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// No server has this name.
    #[error("no server named `{0}`")]
    Unknown(ServerName),
    /// The server must not be used: it is blocked, disabled, or requires authentication.
    #[error("server `{server}` is {}{}", state.as_str(), reason(state))]
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
    #[error(
        "all connections to server `{0}` are waiting for answers of other callers; try again later"
    )]
    Busy(ServerName),
    /// The server was removed or replaced during the operation.
    #[error("server `{0}` was removed or replaced; try again")]
    Gone(ServerName),
    /// The server was replaced before the call was sent. The code that decided about the call must
    /// decide whether its successor may be called.
    #[error("server `{0}` was replaced before the call was sent; try again")]
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

fn reason(state: &ServerState) -> String {
    state.reason().map(|reason| format!(": {reason}")).unwrap_or_default()
}

fn stderr_suffix(stderr: &str) -> String {
    match stderr.trim_end().lines().next_back() {
        Some(line) => format!("; last line on stderr: {line}"),
        None => String::new(),
    }
}
