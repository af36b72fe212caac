//! A session on Streamable HTTP: POST requests with their event streams, and the GET stream.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, WWW_AUTHENTICATE};
use http::{Method, StatusCode};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use toolgate_transport::TransportError;
use toolgate_transport::http::{EventStream, HttpEndpoint, HttpResponse};
use toolgate_transport::spool::{BodyLimits, ReceivedBody};
use toolgate_transport::sse::SseEvent;
use toolgate_wire::view::RpcError;
use toolgate_wire::{Era, Frame, MessageKind, MessageOrBatch, Revision, method};

use crate::SessionError;
use crate::core::SessionCore;
use crate::inbound::{self, MessageSource};
use crate::large;
use crate::modern::envelope::MODERN_REVISION;
use crate::modern::headers::PrebuiltHeaders;
use crate::modern::{post, probe};

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// The delay before a stream is reopened, unless the server sets one.
const DEFAULT_RETRY: Duration = Duration::from_secs(1);
/// The longest delay a server can set.
const MAX_RETRY: Duration = Duration::from_secs(30);
/// After this many consecutive failures to reopen the GET stream, the connection ends.
const MAX_REOPEN: u32 = 5;
/// The limits for reading an unexpected body.
pub(crate) const ERROR_BODY_LIMITS: BodyLimits = BodyLimits { memory: 1 << 20, total: 1 << 20 };
/// How many characters of an unexpected body an error shows.
const SHOWN: usize = 300;

/// The HTTP transport of a session.
pub(crate) struct HttpTransport {
    endpoint: HttpEndpoint,
    session: OnceLock<HeaderValue>,
    version: OnceLock<HeaderValue>,
    /// The headers of a POST, once the session and the revision are known.
    cached_post_headers: OnceLock<HeaderMap>,
    /// The headers of requests to a modern server, which has no sessions.
    pub(crate) modern_headers: OnceLock<PrebuiltHeaders>,
}

impl HttpTransport {
    pub(crate) fn new(endpoint: HttpEndpoint) -> Self {
        Self {
            endpoint,
            session: OnceLock::new(),
            version: OnceLock::new(),
            cached_post_headers: OnceLock::new(),
            modern_headers: OnceLock::new(),
        }
    }

    /// Sets the negotiated revision, which every later request carries in a header.
    pub(crate) fn set_revision(&self, revision: Revision) {
        let _ = self.version.set(HeaderValue::from_static(revision.as_str()));
        let posting = self.post_headers();
        if revision.era() == Era::Modern {
            let _ = self.modern_headers.set(PrebuiltHeaders::new(&posting));
        }
        let _ = self.cached_post_headers.set(posting);
    }

    /// Returns the headers of the probe, a modern request to a server of unknown era.
    pub(crate) fn probe_headers(&self) -> HeaderMap {
        let mut headers = self.post_headers();
        headers.insert(VERSION, HeaderValue::from_static(MODERN_REVISION.as_str()));
        PrebuiltHeaders::new(&headers).plain(method::SERVER_DISCOVER)
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

    /// Sends one POST with the given headers, without adding a session.
    pub(crate) async fn send(
        &self,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<HttpResponse, SessionError> {
        Ok(self.endpoint.send(Method::POST, headers, body).await?)
    }

    async fn post(&self, body: Bytes) -> Result<HttpResponse, SessionError> {
        let headers =
            self.cached_post_headers.get().cloned().unwrap_or_else(|| self.post_headers());
        let reply = self.send(headers, body).await?;
        if let (None, Some(session)) = (self.session.get(), reply.headers.get(SESSION)) {
            let _ = self.session.set(session.clone());
        }
        Ok(reply)
    }

    /// Sends a message without an answer, in the background.
    pub(crate) fn post_and_forget(link: &Arc<Self>, body: Bytes) {
        let link = link.clone();
        tokio::spawn(async move {
            let sent = async {
                link.post(body).await?.read_body(BodyLimits::ANSWER).await.map_err(Into::into)
            };
            let sent: Result<ReceivedBody, SessionError> = sent.await;
            if let Err(error) = sent {
                let error = error.outline();
                tracing::debug!(target: "toolgate::session", error, "cannot deliver a message");
            }
        });
    }

    /// Sends a message without an answer and waits until the server accepts it.
    pub(crate) async fn deliver(&self, body: Bytes) -> Result<(), SessionError> {
        let reply = self.post(body).await?;
        if reply.status.is_success() {
            reply.read_body(BodyLimits::ANSWER).await?;
            return Ok(());
        }
        Err(self.status_error(reply).await)
    }

    /// Opens the GET stream, or resumes a stream after event `last`.
    async fn open(&self, last: Option<&str>) -> Result<EventStream, SessionError> {
        let mut headers = self.headers("text/event-stream");
        if let Some(last) = last.and_then(|last| HeaderValue::from_str(last).ok()) {
            headers.insert(LAST_EVENT, last);
        }
        let reply = self.endpoint.send(Method::GET, headers, Bytes::new()).await?;
        if reply.status.is_success() && reply.is_event_stream() {
            return Ok(reply.into_events(BodyLimits::ANSWER));
        }
        Err(self.status_error(reply).await)
    }

    /// Ends the session at the server. The server may ignore this.
    pub(crate) async fn delete(&self) {
        if self.session.get().is_none() {
            return;
        }
        let headers = self.headers("application/json");
        if let Err(error) = self.endpoint.send(Method::DELETE, headers, Bytes::new()).await {
            tracing::debug!(
                target: "toolgate::session", %error,
                "cannot end the session at the server"
            );
        }
    }

    /// Converts a response with a status other than success into an error.
    pub(crate) async fn status_error(&self, reply: HttpResponse) -> SessionError {
        let status = reply.status;
        if status == StatusCode::NOT_FOUND && self.session.get().is_some() {
            return SessionError::Expired;
        }
        if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            let challenge = reply.headers.get(WWW_AUTHENTICATE);
            let challenge = challenge.and_then(|value| value.to_str().ok()).map(str::to_owned);
            return SessionError::NeedsAuth { status: status.as_u16(), challenge };
        }
        unexpected(status, &reply.read_bytes(ERROR_BODY_LIMITS).await.unwrap_or_default())
    }
}

/// Returns the error for an unexpected status, with the beginning of the body.
pub(crate) fn unexpected(status: StatusCode, body: &[u8]) -> SessionError {
    let text: String = String::from_utf8_lossy(body).chars().take(SHOWN).collect();
    SessionError::Status { status: status.as_u16(), text }
}

/// Sends call `id` and reads its answer. `headers` are those of a modern request.
pub(crate) async fn call(
    core: &Arc<SessionCore>,
    link: &HttpTransport,
    id: u64,
    headers: Option<HeaderMap>,
    body: Bytes,
) -> Result<Frame, SessionError> {
    match headers {
        Some(headers) => {
            read_answer(core, link, id, link.send(headers, body).await?, Era::Modern).await
        }
        None => read_answer(core, link, id, link.post(body).await?, Era::Legacy).await,
    }
}

/// Reads the answer to call `id`. The event stream of a legacy server is resumed as often as needed.
/// That of a modern one cannot be resumed: the request is then lost, and it is unknown whether it
/// ran. Dropping the future closes the connection, which cancels a modern request.
pub(crate) async fn read_answer(
    core: &Arc<SessionCore>,
    link: &HttpTransport,
    id: u64,
    reply: HttpResponse,
    era: Era,
) -> Result<Frame, SessionError> {
    if !reply.status.is_success() {
        return match era {
            Era::Legacy => Box::pin(read_error_response(core, link, id, reply)).await,
            Era::Modern => {
                Box::pin(post::read_error_response(core, link, &id.to_string(), reply)).await
            }
        };
    }
    if reply.is_event_stream() {
        return Box::pin(follow(core, link, id, reply.into_events(BodyLimits::ANSWER), era)).await;
    }
    match large::read(core, reply.read_body(BodyLimits::ANSWER).await?).await? {
        MessageOrBatch::One(frame) if is_answer_to(&frame, id) => Ok(frame),
        MessageOrBatch::One(frame) if era == Era::Modern => {
            post::assign_id(&frame, &id.to_string()).ok_or_else(another_id)
        }
        MessageOrBatch::One(_) => Err(another_id()),
        batch => answer_in_message(core, id, batch).ok_or_else(another_id),
    }
}

pub(crate) fn is_answer_to(frame: &Frame, id: u64) -> bool {
    let answers = matches!(frame.kind(), MessageKind::Response | MessageKind::Failure);
    answers && frame.id().and_then(|id| id.as_u64()) == Some(id)
}

pub(crate) fn another_id() -> SessionError {
    SessionError::Protocol("the answer has another id than the request".into())
}

/// Reads a response with an error status, which may carry the JSON-RPC error that answers the call.
/// An error without an id counts as the answer only if its code is specific to modern servers;
/// legacy servers send such errors for any malformed request.
async fn read_error_response(
    core: &SessionCore,
    link: &HttpTransport,
    id: u64,
    reply: HttpResponse,
) -> Result<Frame, SessionError> {
    let status = reply.status;
    if matches!(status, StatusCode::NOT_FOUND | StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
        return Err(link.status_error(reply).await);
    }
    let body = reply.read_bytes(ERROR_BODY_LIMITS).await?;
    let answer = Frame::parse(body.clone(), &core.limits).ok();
    let answer = answer.and_then(|frame| match is_answer_to(&frame, id) {
        true => Some(frame),
        false => is_modern_refusal(&frame).then(|| post::assign_id(&frame, &id.to_string()))?,
    });
    answer.ok_or_else(|| unexpected(status, &body))
}

fn is_modern_refusal(frame: &Frame) -> bool {
    let code = frame.error().and_then(RpcError::of).and_then(|error| error.code);
    code.is_some_and(probe::is_modern_code)
}

/// The position in an event stream, used to resume it.
#[derive(Default)]
pub(crate) struct StreamPosition {
    last: Option<String>,
    retry: Option<Duration>,
}

impl StreamPosition {
    fn note(&mut self, event: &SseEvent) {
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

/// Reads the stream of a call until its answer. Resumes the stream of a legacy server that ends
/// early after its last event.
async fn follow(
    core: &Arc<SessionCore>,
    link: &HttpTransport,
    id: u64,
    mut stream: EventStream,
    era: Era,
) -> Result<Frame, SessionError> {
    let mut place = StreamPosition::default();
    loop {
        let broken = loop {
            match stream.next().await {
                Ok(Some(event)) => {
                    place.note(&event);
                    if event.data.is_empty() {
                        continue;
                    }
                    let message = large::read(core, event.data).await?;
                    if let Some(frame) = answer_in_message(core, id, message) {
                        return Ok(frame);
                    }
                }
                Ok(None) => break "the stream ended".to_owned(),
                Err(error @ (TransportError::Oversize { .. } | TransportError::NoRoom { .. })) => {
                    return Err(error.into());
                }
                Err(error) if era == Era::Modern => return Err(error.into()),
                Err(error) => break error.to_string(),
            }
        };
        if place.last.is_none() || era == Era::Modern {
            return Err(SessionError::Ended(format!("{broken} before the answer came")));
        }
        tokio::time::sleep(place.wait()).await;
        stream = link.open(place.last.as_deref()).await?;
    }
}

/// Returns the answer to call `id` and passes on all other messages.
fn answer_in_message(core: &Arc<SessionCore>, id: u64, message: MessageOrBatch) -> Option<Frame> {
    let messages = match message {
        MessageOrBatch::One(frame) => return take_answer(core, id, frame),
        MessageOrBatch::Batch(messages) => messages,
    };
    let mut answer = None;
    for message in messages {
        match message {
            Ok(frame) => answer = take_answer(core, id, frame).or(answer),
            Err(error) => inbound::handle_unreadable(core, error),
        }
    }
    answer
}

fn take_answer(core: &Arc<SessionCore>, id: u64, frame: Frame) -> Option<Frame> {
    if is_answer_to(&frame, id) {
        return Some(frame);
    }
    inbound::receive(core, frame, MessageSource::Call(id));
    None
}

/// Starts a task that keeps the GET stream open as long as the server offers one. The receiver
/// completes once the server has accepted or refused the first request.
pub(crate) fn listen(
    core: Arc<SessionCore>,
    link: Arc<HttpTransport>,
) -> (JoinHandle<()>, oneshot::Receiver<()>) {
    let (settled, opened) = oneshot::channel();
    let listening = tokio::spawn(async move {
        let first = link.open(None).await;
        let _ = settled.send(());
        keep_stream_open(&core, &link, first).await;
    });
    (listening, opened)
}

async fn keep_stream_open(
    core: &Arc<SessionCore>,
    link: &HttpTransport,
    first: Result<EventStream, SessionError>,
) {
    let mut place = StreamPosition::default();
    let mut failures = 0;
    let mut stream = first;
    loop {
        match stream {
            Ok(stream) => {
                failures = 0;
                // Whatever ends the stream, it is opened again.
                let _ = read_events(core, stream, MessageSource::Shared, &mut place).await;
            }
            Err(SessionError::Status { .. } | SessionError::NeedsAuth { .. }) => return,
            Err(SessionError::Expired) => {
                return core.end("the server no longer recognizes the session");
            }
            Err(error) if failures == MAX_REOPEN => return core.end(&error.to_string()),
            Err(_) => failures += 1,
        }
        tokio::time::sleep(place.wait() * (failures + 1)).await;
        stream = link.open(place.last.as_deref()).await;
    }
}

/// Dispatches the messages of a stream until it ends.
pub(crate) async fn read_events(
    core: &Arc<SessionCore>,
    mut stream: EventStream,
    source: MessageSource,
    place: &mut StreamPosition,
) -> Result<(), SessionError> {
    while let Some(event) = stream.next().await? {
        place.note(&event);
        if event.data.is_empty() {
            continue;
        }
        match large::read(core, event.data).await {
            Ok(message) => inbound::receive_message(core, message, source),
            Err(SessionError::Wire(error)) => inbound::handle_unreadable(core, error),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
