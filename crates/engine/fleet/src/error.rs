//! Why a server could not be used.

use toolgate_model::{Failure, ServerName, ServerState};
use toolgate_session::SessionError;

/// What can go wrong between the fleet and one of its servers.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// No such server.
    #[error("find a server named `{0}`")]
    Unknown(ServerName),
    /// It is not to be used: blocked, disabled, or waiting for a login.
    #[error("use server `{server}`: it is {}{}", state.as_str(), reason(state))]
    Unusable {
        /// Which server.
        server: ServerName,
        /// How it stands.
        state: ServerState,
    },
    /// It could not be brought up.
    #[error("bring up server `{server}` ({failure})")]
    Down {
        /// Which server.
        server: ServerName,
        /// Where and why.
        failure: Box<Failure>,
    },
    /// Every connection to it waits for somebody's answer.
    #[error("use server `{0}`: others are being asked on all its connections; try again later")]
    Busy(ServerName),
    /// It was taken out or replaced meanwhile.
    #[error("use server `{0}`: it was taken out or replaced meanwhile; try again")]
    Gone(ServerName),
    /// It was replaced before a call could be sent to it. Whether its successor may be called is for
    /// whoever decided about the call to say.
    #[error("use server `{0}`: it was replaced before it was called; try again")]
    Replaced(ServerName),
    /// It failed while it was used.
    #[error("use server `{server}`: failed to {source}{}", last_words(.stderr))]
    Session {
        /// Which server.
        server: ServerName,
        /// What happened.
        source: SessionError,
        /// The end of what it wrote to its standard error, where it died.
        stderr: String,
    },
}

fn reason(state: &ServerState) -> String {
    state.reason().map(|reason| format!(": {reason}")).unwrap_or_default()
}

fn last_words(stderr: &str) -> String {
    match stderr.trim_end().lines().next_back() {
        Some(line) => format!("; its last words: {line}"),
        None => String::new(),
    }
}
