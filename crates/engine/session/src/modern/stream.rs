//! One open listen on either carrier: a POST whose stream does not end, or a request on a pipe that
//! is not answered until it ends.

use std::sync::Arc;

use bytes::Bytes;
use tokio::task::JoinHandle;
use toolgate_wire::method;

use super::listen::{Loss, PREFIX, Signal};
use super::{envelope, post};
use crate::SessionError;
use crate::core::{Core, Link};
use crate::http::HttpLink;
use crate::inbound::{self, Came};

/// A listen that was asked for. Dropping it ends it.
pub(super) struct Open {
    core: Arc<Core>,
    pub(super) number: u64,
    /// Whether the server has ended it already.
    pub(super) over: bool,
    reading: Option<JoinHandle<()>>,
}

impl Open {
    /// Asks for a listen; `tasks` if the filter names some.
    pub(super) fn new(core: &Arc<Core>, number: u64, filter: &str, tasks: bool) -> Self {
        let mut capabilities = core.ambient.capabilities();
        if tasks {
            capabilities = envelope::with_tasks(&capabilities);
        }
        let members = format!("\"notifications\":{filter}");
        let listen = method::SUBSCRIPTIONS_LISTEN;
        let request = envelope::request(&id(number), listen, &members, &capabilities);
        let reading = match &core.link {
            Link::Line(link) => {
                link.send(&request);
                None
            }
            Link::Http(link) => {
                Some(tokio::spawn(read(core.clone(), link.clone(), number, request)))
            }
        };
        Self { core: core.clone(), number, over: false, reading }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        match &self.reading {
            Some(reading) => reading.abort(),
            None if self.over => {}
            None => self.core.cancel(&id(self.number), "no longer listened to"),
        }
    }
}

/// The id of a listen, raw.
fn id(number: u64) -> String {
    format!("\"{PREFIX}{number}\"")
}

/// Reads the stream to its end, and reports that.
async fn read(core: Arc<Core>, link: Arc<HttpLink>, number: u64, request: Bytes) {
    let loss = match converse(&core, &link, &id(number), request).await {
        Ok(()) => Loss::Ended("the stream ended".into()),
        Err(SessionError::Status { status: 500.., text }) => Loss::Ended(text),
        Err(error @ (SessionError::Transport(_) | SessionError::Wire(_))) => {
            Loss::Unreachable(error)
        }
        Err(error) => Loss::Refused(error),
    };
    core.listener.signal(Signal::Over(number, loss));
}

async fn converse(
    core: &Arc<Core>,
    link: &HttpLink,
    id: &str,
    request: Bytes,
) -> Result<(), SessionError> {
    let headers = link.modern().map(|templates| templates.plain(method::SUBSCRIPTIONS_LISTEN));
    let reply = link.send(headers.unwrap_or_default(), request).await?;
    if !reply.status.is_success() {
        core.listener.answered(post::refused(core, link, id, reply).await?);
        return Ok(());
    }
    if !reply.is_event_stream() {
        let frame = post::one(core, reply.body(link.limits()).await?).await?;
        inbound::receive(core, frame, Came::Listening);
        return Ok(());
    }
    let mut stream = reply.into_events(link.limits());
    while let Some(event) = stream.next().await? {
        if event.data.is_empty() {
            continue;
        }
        match post::one(core, event.data).await {
            Ok(frame) => inbound::receive(core, frame, Came::Listening),
            Err(SessionError::Wire(error)) => inbound::unreadable(core, error),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
