//! Detects the era of a server with `server/discover`, which no legacy server knows.
//!
//! Only an answer is evidence. On a pipe, silence means a legacy server that ignores unknown
//! requests. On HTTP, silence is an outage. A server known to be modern is probed, but never
//! initialized as a legacy one.
//!
//! After a request of the wrong era, a pipe is not used any more: [`SessionError::Reopen`] says in
//! which era to open a new one. A server that answers nothing at all times out instead.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use ::http::StatusCode;
use futures_util::FutureExt;
use toolgate_model::{Catalog, ServerTimeouts};
use toolgate_wire::view::RpcError;
use toolgate_wire::{Era, Frame, Revision, code, method, scan, string};

use super::envelope::{self, MODERN_REVISION};
use crate::core::{SessionCore, SessionTransport};
use crate::exchange::{self, SendOptions};
use crate::http::{self, HttpTransport};
use crate::{SessionError, SessionOptions, handshake};

/// How long to wait for the answer to the probe on a pipe.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

/// Error codes that drafts of 2026-07-28 used. Other servers use them with other meanings.
const DRAFT: [i64; 3] = [-32001, -32003, -32004];

/// What the answer to `server/discover` means.
#[derive(Debug)]
enum ProbeVerdict {
    Modern(Catalog),
    Legacy,
    /// The server did not answer in time and was initialized as a legacy one.
    Initialized(Catalog),
    /// The server speaks the revision but did not accept the request; the probe is sent again.
    Retry,
}

/// Detects the era of the server and performs the matching handshake.
pub(crate) async fn open(
    core: &Arc<SessionCore>,
    opening: &SessionOptions,
) -> Result<Catalog, SessionError> {
    if opening.era == Some(Era::Legacy) {
        return handshake::initialize(core, &opening.capabilities, core.timeouts.start()).await;
    }
    let known = opening.era.is_some();
    for _ in 0..2 {
        let verdict = match &core.link {
            SessionTransport::Line(_) if known => classify_response(&ask(core).await?)?,
            SessionTransport::Line(_) => probe_or_initialize(core, opening).await?,
            SessionTransport::Http(link) => post_probe(core, link).await?,
        };
        match verdict {
            ProbeVerdict::Modern(welcome) => {
                core.set_revision(welcome.protocol);
                return Ok(welcome);
            }
            ProbeVerdict::Initialized(welcome) => return Ok(welcome),
            ProbeVerdict::Legacy if known => {
                let changed = "the server was modern before and no longer answers like one";
                return Err(SessionError::Protocol(changed.into()));
            }
            ProbeVerdict::Legacy => {
                return initialize_legacy(core, opening, core.timeouts.start()).await;
            }
            ProbeVerdict::Retry => {}
        }
    }
    Err(SessionError::Protocol(format!(
        "the server refuses {MODERN_REVISION}, although it claims to support it"
    )))
}

/// Performs the legacy handshake.
async fn initialize_legacy(
    core: &Arc<SessionCore>,
    opening: &SessionOptions,
    patience: Duration,
) -> Result<Catalog, SessionError> {
    let welcome = handshake::initialize(core, &opening.capabilities, patience).await;
    match (&core.link, welcome) {
        // A new connection would take as long again.
        (_, Err(SessionError::TimedOut(_))) => Err(SessionError::TimedOut(core.timeouts.start())),
        // The probe may be the cause of the failure.
        (SessionTransport::Line(_), Err(error)) => Err(reopen(Era::Legacy, error)),
        (_, welcome) => welcome,
    }
}

fn reopen(era: Era, error: SessionError) -> SessionError {
    let source = match error {
        SessionError::Reopen { source, .. } => source,
        error => Box::new(error),
    };
    SessionError::Reopen { era, source }
}

/// Sends the probe on a pipe.
async fn ask(core: &Arc<SessionCore>) -> Result<Frame, SessionError> {
    let params =
        [b"{\"_meta\":", &envelope::meta(&core.default_interactor.capabilities(), None)[..], b"}"];
    let timeouts = ServerTimeouts::all(core.timeouts.start());
    let leg = SendOptions { cancel_on_drop: false, ..SendOptions::first(timeouts) };
    exchange::request(core, leg, method::SERVER_DISCOVER, Some(&params.concat())).await
}

/// Sends the probe on a pipe, and `initialize` if the server stays silent.
async fn probe_or_initialize(
    core: &Arc<SessionCore>,
    opening: &SessionOptions,
) -> Result<ProbeVerdict, SessionError> {
    let mut asked = pin!(ask(core).fuse());
    match tokio::time::timeout(PROBE_TIMEOUT, &mut asked).await {
        Ok(Ok(answer)) => return classify_response(&answer),
        // The answer is invalid, but the server is alive.
        Ok(Err(SessionError::Wire(_))) => return Ok(ProbeVerdict::Legacy),
        Ok(Err(SessionError::TimedOut(_))) | Err(_) => {}
        Ok(Err(error)) => return Err(reopen(Era::Legacy, error)),
    }
    let left = core.timeouts.start().saturating_sub(PROBE_TIMEOUT);
    let mut greeting = pin!(initialize_legacy(core, opening, left));
    let (greeted, is_modern) = tokio::select! {
        biased;
        greeted = &mut greeting => (greeted, asked.now_or_never().is_some_and(is_modern_answer)),
        late = &mut asked => match is_modern_answer(late) {
            // A modern server may refuse or ignore `initialize`.
            true => {
                let greeted = tokio::time::timeout(PROBE_TIMEOUT, greeting).await;
                (greeted.unwrap_or(Err(SessionError::TimedOut(PROBE_TIMEOUT))), true)
            }
            false => (greeting.await, false),
        },
    };
    match greeted {
        Ok(welcome) => Ok(ProbeVerdict::Initialized(welcome)),
        // The server was slow to start, and may exit because of `initialize`.
        Err(error) if is_modern => Err(reopen(Era::Modern, error)),
        Err(error) => Err(error),
    }
}

/// Returns true if a late answer is that of a modern server.
fn is_modern_answer(late: Result<Frame, SessionError>) -> bool {
    let verdict = late.and_then(|answer| classify_response(&answer));
    matches!(verdict, Ok(ProbeVerdict::Modern(_) | ProbeVerdict::Retry))
}

/// Sends the probe on HTTP.
async fn post_probe(
    core: &Arc<SessionCore>,
    link: &HttpTransport,
) -> Result<ProbeVerdict, SessionError> {
    let id = core.next_id();
    let capabilities = core.default_interactor.capabilities();
    let body = envelope::request(&id.to_string(), method::SERVER_DISCOVER, "", &capabilities);
    let start = core.timeouts.start();
    let answer = async {
        let reply = link.send(link.probe_headers(), body).await?;
        match is_evidence(reply.status) {
            true => http::read_answer(core, link, id, reply, Era::Modern).await,
            false => Err(link.status_error(reply).await),
        }
    };
    let answer = tokio::time::timeout(start, answer).await;
    match answer.map_err(|_| SessionError::TimedOut(start))? {
        Ok(answer) => classify_response(&answer),
        Err(SessionError::Status { status, .. })
            if StatusCode::from_u16(status).is_ok_and(is_evidence) =>
        {
            Ok(ProbeVerdict::Legacy)
        }
        Err(SessionError::Wire(_) | SessionError::Protocol(_)) => Ok(ProbeVerdict::Legacy),
        Err(error) => Err(error),
    }
}

/// Returns true if a status says what the server understands, rather than that it is overloaded or
/// broken.
fn is_evidence(status: StatusCode) -> bool {
    let busy = matches!(status, StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS);
    status.is_success() || (status.is_client_error() && !busy)
}

fn classify_response(answer: &Frame) -> Result<ProbeVerdict, SessionError> {
    if let Some(error) = answer.error().and_then(RpcError::of) {
        return classify_error(&error);
    }
    let result = answer.result().unwrap_or_default();
    let Some(versions) = texts(result, "supportedVersions") else {
        return Ok(ProbeVerdict::Legacy);
    };
    match newest_common_era(&versions)? {
        Era::Modern => Ok(ProbeVerdict::Modern(parse_handshake(result))),
        Era::Legacy => Ok(ProbeVerdict::Legacy),
    }
}

/// Returns true if only modern servers use this error code.
pub(crate) fn is_modern_code(code: i64) -> bool {
    let own = [
        code::HEADER_MISMATCH,
        code::MISSING_CLIENT_CAPABILITY,
        code::UNSUPPORTED_PROTOCOL_VERSION,
    ];
    own.into_iter().any(|own| i64::from(own) == code)
}

fn classify_error(error: &RpcError<'_>) -> Result<ProbeVerdict, SessionError> {
    let code = error.code.unwrap_or_default();
    let data = error.data.unwrap_or_default();
    let supported = texts(data, "supported");
    let shaped = supported.is_some() || scan::member(data, "requiredCapabilities").is_some();
    let modern = is_modern_code(code);
    let draft = DRAFT.contains(&code) && shaped;
    if !modern && !draft {
        return Ok(ProbeVerdict::Legacy);
    }
    match supported.map(|versions| newest_common_era(&versions)).transpose()? {
        Some(Era::Modern) => Ok(ProbeVerdict::Retry),
        Some(Era::Legacy) => Ok(ProbeVerdict::Legacy),
        None => {
            let message = error.message.as_deref().unwrap_or_default().to_owned();
            Err(SessionError::Refused { code, message })
        }
    }
}

/// Returns the era of the newest revision that both sides support.
fn newest_common_era(versions: &[String]) -> Result<Era, SessionError> {
    let known = versions.iter().filter_map(|version| version.parse::<Revision>().ok()).max();
    known.map(Revision::era).ok_or_else(|| {
        let versions = versions.join(", ");
        SessionError::Protocol(format!("the server supports only unknown revisions: {versions}"))
    })
}

fn texts(object: &[u8], key: &str) -> Option<Vec<String>> {
    let array = scan::member(object, key)?.slice(object);
    let texts = scan::elements(array).filter_map(|span| string::decode(span.slice(array)));
    array.starts_with(b"[").then(|| texts.map(|text| text.into_owned()).collect())
}

fn parse_handshake(result: &[u8]) -> Catalog {
    let at = |path: &[&str]| scan::pointer(result, path).map(|span| span.slice(result));
    let info = at(&["_meta", toolgate_wire::meta::SERVER_INFO]).or_else(|| at(&["serverInfo"]));
    let object = |raw: Option<&[u8]>| raw.unwrap_or(b"{}").to_vec().into();
    Catalog {
        capabilities: object(at(&["capabilities"])),
        server_info: object(info),
        instructions: scan::member_text(result, "instructions").map(|text| text.into_owned()),
        ..Catalog::empty(MODERN_REVISION)
    }
}
