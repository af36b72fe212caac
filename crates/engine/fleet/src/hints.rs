//! From what went wrong to what to do about it.

use toolgate_model::{Failure, Phase, ServerSpec, TransportSpec, shown_args};
use toolgate_session::SessionError;
use toolgate_transport::TransportError;

/// What is said when a server found modern behaves like an older one.
pub(crate) const DEMOTED: &str = "it spoke 2026-07-28 before and answers like an older server now; \
     if it was replaced by one, the next attempt will ask it anew";

/// Whether a failed handshake speaks against the era the server was thought to be of, and not just
/// against its being there.
pub(crate) fn belies_era(spec: &ServerSpec, error: &SessionError) -> bool {
    match error {
        SessionError::Refused { .. } | SessionError::Protocol(_) | SessionError::Wire(_) => true,
        SessionError::Status { status, .. } => (400..500).contains(status),
        // A process has no network to blame.
        SessionError::TimedOut(_) | SessionError::Ended(_) => {
            matches!(spec.transport, TransportSpec::Stdio(_))
        }
        SessionError::Reopen { source, .. } => belies_era(spec, source),
        _ => false,
    }
}

/// A failure in a phase, with its hint.
pub(crate) fn failure(
    spec: &ServerSpec,
    phase: Phase,
    error: &SessionError,
    stderr: String,
) -> Failure {
    Failure { phase, cause: format!("failed to {error}"), hint: hint(spec, phase, error), stderr }
}

/// A server that offers nothing anybody could use.
pub(crate) fn useless(cause: String) -> Failure {
    let hint = "it was closed; `toolgate doctor` looks again, and so does a reload".to_owned();
    Failure { phase: Phase::List, cause, stderr: String::new(), hint: Some(hint) }
}

fn hint(spec: &ServerSpec, phase: Phase, error: &SessionError) -> Option<String> {
    let name = &spec.name;
    Some(match error {
        SessionError::TimedOut(_) if phase == Phase::Initialize => format!(
            "it may still be installing; raise it with `timeouts = {{ start = \"120s\" }}` for `{name}`"
        ),
        SessionError::TimedOut(_) => {
            format!("raise it with `timeouts = {{ call = \"…\", max = \"…\" }}` for `{name}`")
        }
        SessionError::Ended(_) => match &spec.transport {
            TransportSpec::Stdio(stdio) => {
                let args = shown_args(&stdio.args).join(" ");
                format!("run it by hand to see why: {} {args}", stdio.command)
            }
            _ => "is the server still running?".into(),
        },
        SessionError::NeedsAuth { .. } => {
            "give its credential in `headers`, for example Authorization = \"Bearer ${env:TOKEN}\""
                .into()
        }
        SessionError::Reopen { source, .. } => return hint(spec, phase, source),
        SessionError::Status { status: 404 | 405, .. } => {
            "is this the path of its MCP endpoint? it often ends in /mcp".into()
        }
        SessionError::Transport(TransportError::Connect { .. }) => {
            "is it running, and is the address right?".into()
        }
        SessionError::Transport(TransportError::Http(_)) => {
            "does this address speak HTTP? try https instead of http, or the reverse".into()
        }
        _ => return None,
    })
}
