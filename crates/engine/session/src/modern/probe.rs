//! Which era a server is of: asked with `server/discover`, which no legacy server knows.
//!
//! Only what a server says is evidence. On a pipe silence is taken for a legacy server that drops
//! what it does not know; on HTTP it is an outage. A server known to be modern is asked, but never
//! greeted as a legacy one.
//!
//! A pipe on which the wrong thing was said is not used any further: whoever opened it is told in
//! which era to open a new one. Silence to everything is no such case, however long it lasts.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use http::StatusCode;
use toolgate_model::Timeouts;
use toolgate_wire::view::RpcError;
use toolgate_wire::{Era, Frame, Revision, code, method, scan, string};

use super::envelope::{self, SPOKEN};
use super::post;
use crate::core::{Core, Link};
use crate::exchange::{self, Leg};
use crate::http::HttpLink;
use crate::{Opening, SessionError, Welcome, handshake};

/// How long a server on a pipe may think about what it does not know.
const SILENCE: Duration = Duration::from_secs(2);

/// Codes that drafts of 2026-07-28 used, and others use otherwise.
const DRAFT: [i64; 3] = [-32001, -32003, -32004];

/// What an answer to `server/discover` says.
#[derive(Debug)]
enum Verdict {
    Modern(Welcome),
    Legacy,
    /// It speaks our revision, but did not take the request for one of it.
    Again,
}

/// Finds out what the server speaks, and opens the connection accordingly.
pub(crate) async fn open(core: &Arc<Core>, opening: &Opening) -> Result<Welcome, SessionError> {
    if opening.era == Some(Era::Legacy) {
        return handshake::shake(core, &opening.capabilities, core.timeouts.start()).await;
    }
    let known = opening.era.is_some();
    for _ in 0..2 {
        let verdict = match &core.link {
            Link::Line(_) if known => judge(&ask(core).await?)?,
            Link::Line(_) => match listen(core, opening).await? {
                Heard::Verdict(verdict) => verdict,
                Heard::Welcome(welcome) => return Ok(welcome),
            },
            Link::Http(link) => post_probe(core, link).await?,
        };
        match verdict {
            Verdict::Modern(welcome) => {
                core.agreed(welcome.protocol);
                return Ok(welcome);
            }
            Verdict::Legacy if known => {
                let changed = "it no longer answers like the modern server it was";
                return Err(SessionError::Protocol(changed.into()));
            }
            Verdict::Legacy => return shake(core, opening, core.timeouts.start()).await,
            Verdict::Again => {}
        }
    }
    Err(SessionError::Protocol(format!("it refuses {SPOKEN}, which it says it speaks")))
}

/// Opens the connection as a legacy one.
async fn shake(
    core: &Arc<Core>,
    opening: &Opening,
    patience: Duration,
) -> Result<Welcome, SessionError> {
    let welcome = handshake::shake(core, &opening.capabilities, patience).await;
    match (&core.link, welcome) {
        // A new connection would be waited for as long again.
        (_, Err(SessionError::TimedOut(_))) => Err(SessionError::TimedOut(core.timeouts.start())),
        // What a process was asked before may be what it fails for.
        (Link::Line(_), Err(error)) => Err(reopen(Era::Legacy, error)),
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

/// Asks on a pipe.
async fn ask(core: &Arc<Core>) -> Result<Frame, SessionError> {
    let params = [b"{\"_meta\":", &envelope::meta(&core.ambient.capabilities(), None)[..], b"}"];
    let timeouts = Timeouts::all(core.timeouts.start());
    let leg = Leg { cancels: false, ..Leg::first(timeouts) };
    exchange::request(core, leg, method::SERVER_DISCOVER, Some(&params.concat())).await
}

enum Heard {
    Verdict(Verdict),
    Welcome(Welcome),
}

/// Asks on a pipe, and greets a server that stays silent.
async fn listen(core: &Arc<Core>, opening: &Opening) -> Result<Heard, SessionError> {
    let mut asked = pin!(ask(core).fuse());
    match tokio::time::timeout(SILENCE, &mut asked).await {
        Ok(Ok(answer)) => return judge(&answer).map(Heard::Verdict),
        // Its answer cannot be read, but it lives.
        Ok(Err(SessionError::Wire(_))) => return Ok(Heard::Verdict(Verdict::Legacy)),
        Ok(Err(SessionError::TimedOut(_))) | Err(_) => {}
        Ok(Err(error)) => return Err(reopen(Era::Legacy, error)),
    }
    let left = core.timeouts.start().saturating_sub(SILENCE);
    let mut greeting = pin!(shake(core, opening, left));
    let (greeted, is_modern) = tokio::select! {
        biased;
        greeted = &mut greeting => (greeted, asked.now_or_never().is_some_and(speaks_ours)),
        late = &mut asked => match speaks_ours(late) {
            // The greeting it may refuse, or ignore.
            true => {
                let greeted = tokio::time::timeout(SILENCE, greeting).await;
                (greeted.unwrap_or(Err(SessionError::TimedOut(SILENCE))), true)
            }
            false => (greeting.await, false),
        },
    };
    match greeted {
        Ok(welcome) => Ok(Heard::Welcome(welcome)),
        // It was just slow to start, and may not survive the greeting of another era.
        Err(error) if is_modern => Err(reopen(Era::Modern, error)),
        Err(error) => Err(error),
    }
}

/// Whether a late answer is that of a modern server.
fn speaks_ours(late: Result<Frame, SessionError>) -> bool {
    let verdict = late.and_then(|answer| judge(&answer));
    matches!(verdict, Ok(Verdict::Modern(_) | Verdict::Again))
}

/// Asks on HTTP.
async fn post_probe(core: &Arc<Core>, link: &HttpLink) -> Result<Verdict, SessionError> {
    let id = core.next_id();
    let capabilities = core.ambient.capabilities();
    let body = envelope::request(&id.to_string(), method::SERVER_DISCOVER, "", &capabilities);
    let start = core.timeouts.start();
    let answer = async {
        let reply = link.send(link.probing(), body).await?;
        match is_evidence(reply.status) {
            true => post::answer(core, link, id, reply).await,
            false => Err(link.refused(reply).await),
        }
    };
    let answer = tokio::time::timeout(start, answer).await;
    match answer.map_err(|_| SessionError::TimedOut(start))? {
        Ok(answer) => judge(&answer),
        Err(SessionError::Status { status, .. })
            if StatusCode::from_u16(status).is_ok_and(is_evidence) =>
        {
            Ok(Verdict::Legacy)
        }
        Err(SessionError::Wire(_) | SessionError::Protocol(_)) => Ok(Verdict::Legacy),
        Err(error) => Err(error),
    }
}

/// Whether a status says something of what the server understands, and not of how it fares.
fn is_evidence(status: StatusCode) -> bool {
    let busy = matches!(status, StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS);
    status.is_success() || (status.is_client_error() && !busy)
}

fn judge(answer: &Frame) -> Result<Verdict, SessionError> {
    if let Some(error) = answer.error().and_then(RpcError::of) {
        return judge_error(&error);
    }
    let result = answer.result().unwrap_or_default();
    let Some(versions) = texts(result, "supportedVersions") else { return Ok(Verdict::Legacy) };
    match common(&versions)? {
        Era::Modern => Ok(Verdict::Modern(welcome(result))),
        Era::Legacy => Ok(Verdict::Legacy),
    }
}

/// Whether only a modern server answers with this code.
pub(crate) fn is_modern_code(code: i64) -> bool {
    let own = [
        code::HEADER_MISMATCH,
        code::MISSING_CLIENT_CAPABILITY,
        code::UNSUPPORTED_PROTOCOL_VERSION,
    ];
    own.into_iter().any(|own| i64::from(own) == code)
}

fn judge_error(error: &RpcError<'_>) -> Result<Verdict, SessionError> {
    let code = error.code.unwrap_or_default();
    let data = error.data.unwrap_or_default();
    let supported = texts(data, "supported");
    let shaped = supported.is_some() || scan::member(data, "requiredCapabilities").is_some();
    let modern = is_modern_code(code);
    let draft = DRAFT.contains(&code) && shaped;
    if !modern && !draft {
        return Ok(Verdict::Legacy);
    }
    match supported.map(|versions| common(&versions)).transpose()? {
        Some(Era::Modern) => Ok(Verdict::Again),
        Some(Era::Legacy) => Ok(Verdict::Legacy),
        None => {
            let message = error.message.as_deref().unwrap_or_default().to_owned();
            Err(SessionError::Refused { code, message })
        }
    }
}

/// The era of a revision both sides know; the newest counts.
fn common(versions: &[String]) -> Result<Era, SessionError> {
    let known = versions.iter().filter_map(|version| version.parse::<Revision>().ok()).max();
    known.map(Revision::era).ok_or_else(|| {
        let versions = versions.join(", ");
        SessionError::Protocol(format!("it speaks only {versions}, which is unknown here"))
    })
}

fn texts(object: &[u8], key: &str) -> Option<Vec<String>> {
    let array = scan::member(object, key)?.of(object);
    let texts = scan::elements(array).filter_map(|span| string::decode(span.of(array)));
    array.starts_with(b"[").then(|| texts.map(|text| text.into_owned()).collect())
}

fn welcome(result: &[u8]) -> Welcome {
    let at = |path: &[&str]| scan::pointer(result, path).map(|span| span.of(result));
    let info = at(&["_meta", toolgate_wire::meta::SERVER_INFO]).or_else(|| at(&["serverInfo"]));
    let object = |raw: Option<&[u8]>| raw.unwrap_or(b"{}").to_vec().into();
    Welcome {
        protocol: SPOKEN,
        capabilities: object(at(&["capabilities"])),
        server_info: object(info),
        instructions: scan::text(result, "instructions").map(|text| text.into_owned()),
    }
}
