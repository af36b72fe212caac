//! Connects to a server over HTTP, with whichever HTTP transport it speaks.

use bytes::Bytes;
use toolgate_model::{FailurePhase, HttpSpec, HttpTransportKind};
use toolgate_session::{Session, SessionError, SessionOptions};
use toolgate_transport::http::HttpEndpoint;
use toolgate_transport::{TransportError, http_sse};
use toolgate_wire::{Era, Frame, MessageKind, MessageLimits, build, code};

use crate::connect::{HTTP_SSE, STREAMABLE_HTTP};
use crate::report::ConnectLog;

/// Opens a session. Tries Streamable HTTP first, and HTTP+SSE if the declaration asks for it or the
/// server speaks nothing else.
pub(crate) async fn open(
    http: &HttpSpec,
    opening: impl Fn() -> SessionOptions,
    log: &mut ConnectLog,
) -> Result<(Session, &'static str), SessionError> {
    if http.kind == HttpTransportKind::Sse {
        return Ok((open_http_sse(http, opening()).await?, HTTP_SSE));
    }
    let opened = Session::on_http(endpoint(http)?, opening()).await;
    let refused = match opened {
        Ok(session) => return Ok((session, STREAMABLE_HTTP)),
        Err(error) => error,
    };
    let may_be_old = http.kind == HttpTransportKind::Auto && opening().era != Some(Era::Modern);
    let status = match &refused {
        SessionError::Status { status: status @ (400 | 404 | 405), .. } if may_be_old => *status,
        _ => return Err(refused),
    };
    let note =
        format!("the server does not speak Streamable HTTP (HTTP {status}); trying HTTP+SSE");
    log.done(FailurePhase::Connect, Some(note));
    log.begin(FailurePhase::Connect);
    match open_http_sse(http, SessionOptions { era: Some(Era::Legacy), ..opening() }).await {
        Ok(session) => Ok((session, HTTP_SSE)),
        // The server speaks neither; report the failure of the newer transport.
        Err(SessionError::Status { .. } | SessionError::Transport(_)) => Err(refused),
        Err(error) => Err(error),
    }
}

/// Opens a session on HTTP+SSE, the transport of 2024-11-05.
async fn open_http_sse(http: &HttpSpec, opening: SessionOptions) -> Result<Session, SessionError> {
    let (endpoint, patience) = (endpoint(http)?, opening.timeouts.start());
    let carried = tokio::time::timeout(patience, http_sse::open(&endpoint, failure_response)).await;
    let (input, output) = match carried {
        Ok(carried) => carried.map_err(session_error)?,
        Err(_) => return Err(SessionError::TimedOut(patience)),
    };
    Session::on_lines(input, output, opening).await
}

fn endpoint(http: &HttpSpec) -> Result<HttpEndpoint, TransportError> {
    let headers = http.headers.iter().map(|(name, value)| (&**name, value.expose().as_str()));
    HttpEndpoint::new(&http.url, headers)
}

/// Converts the error of a stream that could not be opened.
fn session_error(error: TransportError) -> SessionError {
    match error {
        TransportError::Refused { status: status @ (401 | 403), challenge, .. } => {
            SessionError::NeedsAuth { status, challenge }
        }
        TransportError::Refused { status, text, .. } => SessionError::Status { status, text },
        error => SessionError::Transport(error),
    }
}

/// Builds the error response to a request that could not be delivered. Returns `None` if the
/// message is not a request.
fn failure_response(message: &[u8], reason: &str) -> Option<Bytes> {
    let frame = Frame::parse(Bytes::copy_from_slice(message), &MessageLimits::default()).ok()?;
    let id = frame.id().filter(|_| frame.kind() == MessageKind::Request)?;
    Some(build::error_response(Some(id.raw()), code::INTERNAL_ERROR, reason, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_request_is_answered_for_the_server() {
        let request = br#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#;
        let answer = failure_response(request, "gone").unwrap();
        let answer = Frame::parse(answer, &MessageLimits::default()).unwrap();
        assert_eq!((answer.kind(), answer.id().unwrap().raw()), (MessageKind::Failure, "\"a\""));
        assert_eq!(failure_response(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "gone"), None);
        assert_eq!(failure_response(br#"{"jsonrpc":"2.0","method":"x"}"#, "gone"), None);
    }
}
