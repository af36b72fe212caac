//! Turns errors into failures with a hint for the user.

use toolgate_model::{
    ErrorCode, FailurePhase, ServerFailure, ServerSpec, TransportSpec, redact_args,
};
use toolgate_session::SessionError;

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
    let failure = ServerFailure::new(phase, error);
    let hint = hint(spec, phase, error).or(failure.hint);
    ServerFailure { hint, stderr, ..failure }
}

/// Returns the failure of a server that offers nothing usable.
pub(crate) fn unusable_failure(cause: String) -> ServerFailure {
    let hint =
        "the server was closed; run `toolgate doctor` or reload to check it again".to_owned();
    let (phase, code, stderr) = (FailurePhase::List, ErrorCode::SessionProtocol, String::new());
    ServerFailure { phase, code, cause, stderr, hint: Some(hint) }
}

/// Returns advice that depends on the server and the phase.
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
        SessionError::Reopen { source, .. } => return hint(spec, phase, source),
        _ => return None,
    })
}
