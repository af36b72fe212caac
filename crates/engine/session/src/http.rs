//! A session on Streamable HTTP: posts, their streams, and the standing stream.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, WWW_AUTHENTICATE};
use http::{Method, StatusCode};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use toolgate_transport::TransportError;
use toolgate_transport::http::{Endpoint, EventStream, Outgoing, Reply};
use toolgate_transport::spool::{Body, BodyLimits};
use toolgate_transport::sse::Event;
use toolgate_wire::view::RpcError;
use toolgate_wire::{Era, Frame, Id, Kind, Message, Revision, method};

use crate::SessionError;
use crate::core::Core;
use crate::inbound::{self, Came};
use crate::large;
use crate::modern::envelope::SPOKEN;
use crate::modern::headers::Templates;
use crate::modern::{post, probe};

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// How long to wait before a stream is opened again, unless the server says.
const DEFAULT_RETRY: Duration = Duration::from_secs(1);
/// How long a server may make us wait.
const MAX_RETRY: Duration = Duration::from_secs(30);
/// How often a standing stream is tried in a row before the server counts as gone.
const MAX_REOPEN: u32 = 5;
/// How much of an unexpected body is read.
pub(crate) const SMALL: BodyLimits = BodyLimits { memory: 1 << 20, total: 1 << 20 };
/// How much of an unexpected body is shown.
const SHOWN: usize = 300;

pub(crate) struct HttpLink {
    endpoint: Endpoint,
    session: OnceLock<HeaderValue>,
    version: OnceLock<HeaderValue>,
    /// The headers of a POST, once session and revision are known.
    posting: OnceLock<HeaderMap>,
    /// The same for a server that keeps no sessions.
    modern: OnceLock<Templates>,
    limits: BodyLimits,
}

impl HttpLink {
    pub(crate) fn new(endpoint: Endpoint) -> Self {
        let limits = BodyLimits::ANSWER;
        let (session, version, posting, modern) = Default::default();
        Self { endpoint, session, version, posting, modern, limits }
    }

    /// From now on every request names the revision both sides agreed on.
    pub(crate) fn agreed(&self, revision: Revision) {
        let _ = self.version.set(HeaderValue::from_static(revision.as_str()));
        let posting = self.post_headers();
        if revision.era() == Era::Modern {
            let _ = self.modern.set(Templates::new(&posting));
        }
        let _ = self.posting.set(posting);
    }

    /// The headers of modern requests, if that is what the server takes.
    pub(crate) fn modern(&self) -> Option<&Templates> {
        self.modern.get()
    }

    /// The headers of a modern request to a server that may not be one.
    pub(crate) fn probing(&self) -> HeaderMap {
        let mut headers = self.post_headers();
        headers.insert(VERSION, HeaderValue::from_static(SPOKEN.as_str()));
        Templates::new(&headers).plain(method::SERVER_DISCOVER)
    }

    pub(crate) fn limits(&self) -> BodyLimits {
        self.limits
    }

    fn headers(&self, accept: &'static str) -> HeaderMap {
        let mut headers = HeaderMap::with_capacity(8);
        headers.insert(ACCEPT, HeaderValue::from_static(accept));
        if let Some(session) = self.session.get() {
            headers.insert(SESSION, session.clone());
        }
        if let Some(version) = self.version.get() {
            headers.insert(VERSION, version.clone());
        }
        self.endpoint.headers(headers)
    }

    fn post_headers(&self) -> HeaderMap {
        let mut headers = self.headers("application/json, text/event-stream");
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers
    }

    /// Sends one request without regard to any session.
    pub(crate) async fn send(
        &self,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Reply, SessionError> {
        Ok(self.endpoint.send(Outgoing { method: Method::POST, headers, body }).await?)
    }

    async fn post(&self, body: Bytes) -> Result<Reply, SessionError> {
        let headers = self.posting.get().cloned().unwrap_or_else(|| self.post_headers());
        let reply = self.send(headers, body).await?;
        if let (None, Some(session)) = (self.session.get(), reply.headers.get(SESSION)) {
            let _ = self.session.set(session.clone());
        }
        Ok(reply)
    }

    /// Sends what has no answer.
    pub(crate) fn post_and_forget(link: &Arc<Self>, body: Bytes) {
        let link = link.clone();
        tokio::spawn(async move {
            let sent = async { link.post(body).await?.body(link.limits).await.map_err(Into::into) };
            let sent: Result<Body, SessionError> = sent.await;
            if let Err(error) = sent {
                let error = error.outline();
                tracing::debug!(target: "toolgate::session", error, "message not delivered");
            }
        });
    }

    /// Sends what has no answer and waits until it is taken.
    pub(crate) async fn deliver(&self, body: Bytes) -> Result<(), SessionError> {
        let reply = self.post(body).await?;
        if reply.status.is_success() {
            reply.body(self.limits).await?;
            return Ok(());
        }
        Err(self.refused(reply).await)
    }

    /// Opens the standing stream, or takes up a broken one.
    async fn open(&self, last: Option<&str>) -> Result<EventStream, SessionError> {
        let mut headers = self.headers("text/event-stream");
        if let Some(last) = last.and_then(|last| HeaderValue::from_str(last).ok()) {
            headers.insert(LAST_EVENT, last);
        }
        let outgoing = Outgoing { method: Method::GET, headers, body: Bytes::new() };
        let reply = self.endpoint.send(outgoing).await?;
        if reply.status.is_success() && reply.is_event_stream() {
            return Ok(reply.into_events(self.limits));
        }
        Err(self.refused(reply).await)
    }

    /// Tells the server that the session is over; it may not care.
    pub(crate) async fn delete(&self) {
        if self.session.get().is_none() {
            return;
        }
        let headers = self.headers("application/json");
        let outgoing = Outgoing { method: Method::DELETE, headers, body: Bytes::new() };
        if let Err(error) = self.endpoint.send(outgoing).await {
            tracing::debug!(target: "toolgate::session", %error, "session not deleted");
        }
    }

    /// What a status other than success means.
    pub(crate) async fn refused(&self, reply: Reply) -> SessionError {
        let status = reply.status;
        if status == StatusCode::NOT_FOUND && self.session.get().is_some() {
            return SessionError::Expired;
        }
        if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            let challenge = reply.headers.get(WWW_AUTHENTICATE);
            let challenge = challenge.and_then(|value| value.to_str().ok()).map(str::to_owned);
            return SessionError::NeedsAuth { status: status.as_u16(), challenge };
        }
        unexpected(status, &reply.bytes(SMALL).await.unwrap_or_default())
    }
}

/// An answer that is none, with the beginning of what it says.
pub(crate) fn unexpected(status: StatusCode, body: &[u8]) -> SessionError {
    let text: String = String::from_utf8_lossy(body).chars().take(SHOWN).collect();
    SessionError::Status { status: status.as_u16(), text }
}

/// Sends call `id` and follows its answer, over as many connections as that takes.
pub(crate) async fn call(
    core: &Arc<Core>,
    link: &HttpLink,
    id: u64,
    body: Bytes,
) -> Result<Frame, SessionError> {
    let reply = link.post(body).await?;
    if !reply.status.is_success() {
        return Box::pin(failed(core, link, id, reply)).await;
    }
    if reply.is_event_stream() {
        return Box::pin(follow(core, link, id, reply.into_events(link.limits))).await;
    }
    match large::read(core, reply.body(link.limits).await?).await? {
        Message::One(frame) => expected(frame, id),
        batch => among(core, id, batch).ok_or_else(another_id),
    }
}

fn expected(frame: Frame, id: u64) -> Result<Frame, SessionError> {
    if answers(&frame, id) { Ok(frame) } else { Err(another_id()) }
}

pub(crate) fn answers(frame: &Frame, id: u64) -> bool {
    let answers = matches!(frame.kind(), Kind::Response | Kind::Failure);
    answers && frame.id().and_then(Id::as_u64) == Some(id)
}

pub(crate) fn another_id() -> SessionError {
    SessionError::Protocol("its answer bears another id".into())
}

/// A refusal may still carry the JSON-RPC error that answers the call. One without an id answers it
/// only if no server but a modern one says such a thing: others say so wherever they were not
/// spoken to as they wish.
async fn failed(
    core: &Core,
    link: &HttpLink,
    id: u64,
    reply: Reply,
) -> Result<Frame, SessionError> {
    let status = reply.status;
    if matches!(status, StatusCode::NOT_FOUND | StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
        return Err(link.refused(reply).await);
    }
    let body = reply.bytes(SMALL).await?;
    let answer = Frame::parse(body.clone(), &core.limits).ok();
    let answer = answer.and_then(|frame| match answers(&frame, id) {
        true => Some(frame),
        false => is_modern_refusal(&frame).then(|| post::adopt(&frame, &id.to_string()))?,
    });
    answer.ok_or_else(|| unexpected(status, &body))
}

fn is_modern_refusal(frame: &Frame) -> bool {
    let code = frame.error().and_then(RpcError::of).and_then(|error| error.code);
    code.is_some_and(probe::is_modern_code)
}

/// Where a stream stands, so that it can be taken up again.
#[derive(Default)]
struct Place {
    last: Option<String>,
    retry: Option<Duration>,
}

impl Place {
    fn note(&mut self, event: &Event) {
        if let Some(id) = &event.id {
            self.last = Some(id.clone());
        }
        if let Some(retry) = event.retry {
            self.retry = Some(Duration::from_millis(retry).min(MAX_RETRY));
        }
    }

    fn wait(&self) -> Duration {
        self.retry.unwrap_or(DEFAULT_RETRY)
    }
}

/// Reads a call's stream to its answer; a stream that ends early is resumed after its last event.
async fn follow(
    core: &Arc<Core>,
    link: &HttpLink,
    id: u64,
    mut stream: EventStream,
) -> Result<Frame, SessionError> {
    let mut place = Place::default();
    loop {
        let broken = loop {
            match stream.next().await {
                Ok(Some(event)) => {
                    place.note(&event);
                    if let Some(frame) = answer(core, id, event).await? {
                        return Ok(frame);
                    }
                }
                Ok(None) => break "the stream ended".to_owned(),
                Err(error @ (TransportError::Oversize { .. } | TransportError::Unkept { .. })) => {
                    return Err(error.into());
                }
                Err(error) => break error.to_string(),
            }
        };
        if place.last.is_none() {
            return Err(SessionError::Ended(format!("{broken} before the answer came")));
        }
        tokio::time::sleep(place.wait()).await;
        stream = link.open(place.last.as_deref()).await?;
    }
}

/// The answer to call `id`, or `None` after passing on whatever else the event was.
async fn answer(core: &Arc<Core>, id: u64, event: Event) -> Result<Option<Frame>, SessionError> {
    if event.data.is_empty() {
        return Ok(None);
    }
    Ok(among(core, id, large::read(core, event.data).await?))
}

/// The answer to call `id`; everything else that arrived with it is passed on.
fn among(core: &Arc<Core>, id: u64, message: Message) -> Option<Frame> {
    let messages = match message {
        Message::One(frame) => return own(core, id, frame),
        Message::Batch(messages) => messages,
    };
    let mut answer = None;
    for message in messages {
        match message {
            Ok(frame) => answer = own(core, id, frame).or(answer),
            Err(error) => inbound::unreadable(core, error),
        }
    }
    answer
}

fn own(core: &Arc<Core>, id: u64, frame: Frame) -> Option<Frame> {
    if answers(&frame, id) {
        return Some(frame);
    }
    inbound::receive(core, frame, Came::With(id));
    None
}

/// Keeps the standing stream open for as long as the server offers one. The receiver hears when the
/// server has first taken or refused it.
pub(crate) fn listen(
    core: Arc<Core>,
    link: Arc<HttpLink>,
) -> (JoinHandle<()>, oneshot::Receiver<()>) {
    let (settled, opened) = oneshot::channel();
    let listening = tokio::spawn(async move {
        let first = link.open(None).await;
        let _ = settled.send(());
        stand(&core, &link, first).await;
    });
    (listening, opened)
}

async fn stand(core: &Arc<Core>, link: &HttpLink, first: Result<EventStream, SessionError>) {
    let mut place = Place::default();
    let mut failures = 0;
    let mut stream = first;
    loop {
        match stream {
            Ok(stream) => {
                failures = 0;
                pump(core, stream, &mut place).await;
            }
            Err(SessionError::Status { .. } | SessionError::NeedsAuth { .. }) => return,
            Err(SessionError::Expired) => return core.end("the server forgot the session"),
            Err(error) if failures == MAX_REOPEN => return core.end(&error.to_string()),
            Err(_) => failures += 1,
        }
        tokio::time::sleep(place.wait() * (failures + 1)).await;
        stream = link.open(place.last.as_deref()).await;
    }
}

async fn pump(core: &Arc<Core>, mut stream: EventStream, place: &mut Place) {
    while let Ok(Some(event)) = stream.next().await {
        place.note(&event);
        if event.data.is_empty() {
            continue;
        }
        match large::read(core, event.data).await {
            Ok(message) => inbound::arrived(core, message, Came::Anywhere),
            Err(SessionError::Wire(error)) => inbound::unreadable(core, error),
            Err(_) => return,
        }
    }
}
