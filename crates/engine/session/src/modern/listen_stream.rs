//! One open listen request: a POST with an endless stream on HTTP, or an unanswered request on a
//! pipe.

use std::sync::Arc;

use bytes::Bytes;
use tokio::task::JoinHandle;
use toolgate_bridge::tasks;
use toolgate_transport::spool::BodyLimits;
use toolgate_wire::method;

use super::listen_state::{ListenEnd, ListenSignal, PREFIX};
use super::{envelope, post};
use crate::SessionError;
use crate::core::{SessionCore, SessionTransport};
use crate::http::{self, HttpTransport, StreamPosition};
use crate::inbound::{self, MessageSource};
use crate::large;

/// One listen request. Dropping it ends the request.
pub(super) struct ListenGuard {
    core: Arc<SessionCore>,
    pub(super) number: u64,
    /// True if the server has already ended it.
    pub(super) ended: bool,
    reading: Option<JoinHandle<()>>,
}

impl ListenGuard {
    /// Sends a listen request. `tasks` is true if the filter contains tasks.
    pub(super) fn new(core: &Arc<SessionCore>, number: u64, filter: &str, tasks: bool) -> Self {
        let mut capabilities = core.default_interactor.capabilities();
        if tasks {
            capabilities = tasks::declare_extension(&capabilities);
        }
        let members = format!("\"notifications\":{filter}");
        let listen = method::SUBSCRIPTIONS_LISTEN;
        let request = envelope::request(&id(number), listen, &members, &capabilities);
        let reading = match &core.link {
            SessionTransport::Line(link) => {
                link.send(&request);
                None
            }
            SessionTransport::Http(link) => {
                Some(tokio::spawn(read(core.clone(), link.clone(), number, request)))
            }
        };
        Self { core: core.clone(), number, ended: false, reading }
    }
}

impl Drop for ListenGuard {
    fn drop(&mut self) {
        match &self.reading {
            Some(reading) => reading.abort(),
            None if self.ended => {}
            None => self.core.cancel(&id(self.number), "no longer listened to"),
        }
    }
}

/// Returns the id of a listen request, as raw JSON.
fn id(number: u64) -> String {
    format!("\"{PREFIX}{number}\"")
}

/// Reads the stream until it ends and signals the end.
async fn read(core: Arc<SessionCore>, link: Arc<HttpTransport>, number: u64, request: Bytes) {
    let loss = match read_stream(&core, &link, &id(number), request).await {
        Ok(()) => ListenEnd::Ended("the stream ended".into()),
        Err(SessionError::Status { status: 500.., text }) => ListenEnd::Ended(text),
        Err(error @ (SessionError::Transport(_) | SessionError::Wire(_))) => {
            ListenEnd::Unreachable(error)
        }
        Err(error) => ListenEnd::Refused(error),
    };
    core.listen_state.signal(ListenSignal::ListenEnded(number, loss));
}

async fn read_stream(
    core: &Arc<SessionCore>,
    link: &HttpTransport,
    id: &str,
    request: Bytes,
) -> Result<(), SessionError> {
    let templates = link.modern_headers.get();
    let headers = templates.map(|templates| templates.plain(method::SUBSCRIPTIONS_LISTEN));
    let reply = link.send(headers.unwrap_or_default(), request).await?;
    if !reply.status.is_success() {
        core.listen_state.handle_response(post::read_error_response(core, link, id, reply).await?);
        return Ok(());
    }
    if !reply.is_event_stream() {
        let message = large::read(core, reply.read_body(BodyLimits::ANSWER).await?).await?;
        inbound::receive_message(core, message, MessageSource::Listen);
        return Ok(());
    }
    let stream = reply.into_events(BodyLimits::ANSWER);
    http::read_events(core, stream, MessageSource::Listen, &mut StreamPosition::default()).await
}
