//! Reaching a server over HTTP, by whichever of its transports it speaks.

use bytes::Bytes;
use toolgate_model::{HttpKind, HttpSpec, Phase};
use toolgate_session::{Opening, Session, SessionError};
use toolgate_transport::http::Endpoint;
use toolgate_transport::{TransportError, http_sse};
use toolgate_wire::{Era, Frame, Kind, Limits, build, code};

use crate::connect::Carrier;
use crate::report::Log;

/// Opens a session: Streamable HTTP first, and HTTP+SSE where that is asked for or all there is.
pub(crate) async fn open(
    http: &HttpSpec,
    opening: impl Fn() -> Opening,
    log: &mut Log,
) -> Result<(Session, Carrier), SessionError> {
    if http.kind == HttpKind::Sse {
        return Ok((old(http, opening()).await?, Carrier::HttpSse));
    }
    let opened = Session::on_http(endpoint(http)?, opening()).await;
    let refused = match opened {
        Ok(session) => return Ok((session, Carrier::StreamableHttp)),
        Err(error) => error,
    };
    let may_be_old = http.kind == HttpKind::Auto && opening().era != Some(Era::Modern);
    let status = match &refused {
        SessionError::Status { status: status @ (400 | 404 | 405), .. } if may_be_old => *status,
        _ => return Err(refused),
    };
    let note = format!("no Streamable HTTP here (HTTP {status}); HTTP+SSE is tried");
    log.done(Phase::Connect, Some(note));
    log.begin(Phase::Connect);
    match old(http, Opening { era: Some(Era::Legacy), ..opening() }).await {
        Ok(session) => Ok((session, Carrier::HttpSse)),
        // It speaks neither, so the newer is what is missed.
        Err(SessionError::Status { .. } | SessionError::Transport(_)) => Err(refused),
        Err(error) => Err(error),
    }
}

/// Opens a session on the transport of 2024-11-05.
async fn old(http: &HttpSpec, opening: Opening) -> Result<Session, SessionError> {
    let (endpoint, patience) = (endpoint(http)?, opening.timeouts.start());
    let carried = tokio::time::timeout(patience, http_sse::open(&endpoint, stand_in)).await;
    let (input, output) = match carried {
        Ok(carried) => carried.map_err(told)?,
        Err(_) => return Err(SessionError::TimedOut(patience)),
    };
    Session::on_lines(input, output, opening).await
}

fn endpoint(http: &HttpSpec) -> Result<Endpoint, TransportError> {
    let headers = http.headers.iter().map(|(name, value)| (&**name, value.expose().as_str()));
    Endpoint::new(&http.url, headers)
}

/// A stream that was not opened, in the words of sessions.
fn told(error: TransportError) -> SessionError {
    match error {
        TransportError::Refused { status: status @ (401 | 403), challenge, .. } => {
            SessionError::NeedsAuth { status, challenge }
        }
        TransportError::Refused { status, text, .. } => SessionError::Status { status, text },
        error => SessionError::Transport(error),
    }
}

/// The answer to a request the server did not take.
fn stand_in(message: &[u8], reason: &str) -> Option<Bytes> {
    let frame = Frame::parse(Bytes::copy_from_slice(message), &Limits::default()).ok()?;
    let id = frame.id().filter(|_| frame.kind() == Kind::Request)?;
    Some(build::failure(Some(id.raw()), code::INTERNAL_ERROR, reason, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_request_is_answered_for_the_server() {
        let request = br#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#;
        let answer = stand_in(request, "gone").unwrap();
        let answer = Frame::parse(answer, &Limits::default()).unwrap();
        assert_eq!((answer.kind(), answer.id().unwrap().raw()), (Kind::Failure, "\"a\""));
        assert_eq!(stand_in(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "gone"), None);
        assert_eq!(stand_in(br#"{"jsonrpc":"2.0","method":"x"}"#, "gone"), None);
    }
}
