//! Turns errors into failures with a hint for the user.

use toolgate_model::{FailurePhase, ServerFailure, ServerSpec, TransportSpec, redact_args};
use toolgate_session::SessionError;
use toolgate_transport::TransportError;

/// The hint for a server that was known to be modern and now behaves like an older one.
pub(crate) const DEMOTED: &str = "the server spoke 2026-07-28 before and answers like an older \
     server now; if it was replaced, the next attempt detects the revision again";

/// Returns true if a failed handshake contradicts the era the server was assumed to speak, rather
/// than showing that the server is unreachable.
pub(crate) fn contradicts_era(spec: &ServerSpec, error: &SessionError) -> bool {
    match error {
        SessionError::Refused { .. } | SessionError::Protocol(_) | SessionError::Wire(_) => true,
        SessionError::Status { status, .. } => (400..500).contains(status),
        // For a process, the network cannot be the cause.
        SessionError::TimedOut(_) | SessionError::Ended(_) => {
            matches!(spec.transport, TransportSpec::Stdio(_))
        }
        SessionError::Reopen { source, .. } => contradicts_era(spec, source),
        _ => false,
    }
}

/// Returns the failure of a phase, with its hint.
pub(crate) fn failure(
    spec: &ServerSpec,
    phase: FailurePhase,
    error: &SessionError,
    stderr: String,
) -> ServerFailure {
    ServerFailure { phase, cause: error.to_string(), hint: hint(spec, phase, error), stderr }
}

/// Returns the failure of a server that offers nothing usable.
pub(crate) fn unusable_failure(cause: String) -> ServerFailure {
    let hint =
        "the server was closed; run `toolgate doctor` or reload to check it again".to_owned();
    ServerFailure { phase: FailurePhase::List, cause, stderr: String::new(), hint: Some(hint) }
}

fn hint(spec: &ServerSpec, phase: FailurePhase, error: &SessionError) -> Option<String> {
    let name = &spec.name;
    Some(match error {
        SessionError::TimedOut(_) if phase == FailurePhase::Initialize => format!(
            "the server may still be installing; raise the limit with \
             `timeouts = {{ start = \"120s\" }}` for `{name}`"
        ),
        SessionError::TimedOut(_) => format!(
            "raise the limit with `timeouts = {{ call = \"…\", max = \"…\" }}` for `{name}`"
        ),
        SessionError::Ended(_) => match &spec.transport {
            TransportSpec::Stdio(stdio) => {
                let args = redact_args(&stdio.args).join(" ");
                format!("run it by hand to see why: {} {args}", stdio.command)
            }
            _ => "check that the server is still running".into(),
        },
        SessionError::NeedsAuth { .. } => {
            "set its credential in `headers`, for example Authorization = \"Bearer ${env:TOKEN}\""
                .into()
        }
        SessionError::Reopen { source, .. } => return hint(spec, phase, source),
        SessionError::Status { status: 404 | 405, .. } => {
            "check the path of the MCP endpoint; it often ends in /mcp".into()
        }
        SessionError::Transport(TransportError::Connect { .. }) => {
            "check that the server is running and that the address is right".into()
        }
        SessionError::Transport(TransportError::Http(_)) => {
            "check that this address speaks HTTP; try https instead of http, or the reverse".into()
        }
        _ => return None,
    })
}
