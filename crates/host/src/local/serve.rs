//! Serves a local server on a line-based connection: the server side of a legacy session.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::AbortHandle;
use toolgate_transport::line::{LineReader, writer};
use toolgate_transport::spool::BodyLimits;
use toolgate_wire::{Frame, MessageKind, MessageLimits, OwnedRequestId, build, code, method};

use super::InProcessServerParts;
use super::client::InProcessConnection;
use super::methods::answer;

/// The running calls, by the client's request id.
type RunningCalls = Arc<Mutex<HashMap<OwnedRequestId, AbortHandle>>>;

/// Serves one client until the input ends.
pub(super) async fn serve<R, W>(parts: Arc<InProcessServerParts>, input: R, output: W)
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (out, work) = writer(output);
    let writing = tokio::spawn(work);
    let mut lines = LineReader::new(input, BodyLimits::INTERNAL);
    let (link, running) = (InProcessConnection::new(out), RunningCalls::default());
    while let Ok(Some(line)) = lines.next().await {
        match Frame::parse(line, &MessageLimits::default()) {
            Ok(frame) => handle_frame(&parts, &link, &running, frame),
            Err(error) => {
                let (id, text) = (error.id().map(|id| id.raw().to_owned()), error.to_string());
                link.send(build::error_response(id.as_deref(), error.code(), &text, None));
            }
        }
    }
    // Running calls are still answered, but pending requests to the client fail.
    link.close();
    drop(link);
    let _ = writing.await;
}

fn handle_frame(
    parts: &Arc<InProcessServerParts>,
    link: &Arc<InProcessConnection>,
    running: &RunningCalls,
    frame: Frame,
) {
    match frame.kind() {
        MessageKind::Request => {
            let Some(id) = frame.id().map(|id| id.to_owned()) else { return };
            // Lock first: the task removes itself from the table when it ends.
            let mut table = running.lock();
            let work = work(parts.clone(), link.clone(), running.clone(), frame, id.clone());
            table.insert(id, tokio::spawn(work).abort_handle());
        }
        MessageKind::Notification if frame.is(method::CANCELLED) => {
            let cancelled = frame.request_ref().map(|id| id.to_owned());
            if let Some(task) = cancelled.and_then(|id| running.lock().remove(&id)) {
                task.abort();
            }
        }
        MessageKind::Response | MessageKind::Failure => link.deliver_answer(&frame),
        MessageKind::Notification => {}
    }
}

async fn work(
    parts: Arc<InProcessServerParts>,
    link: Arc<InProcessConnection>,
    running: RunningCalls,
    frame: Frame,
    id: OwnedRequestId,
) {
    let answer = AssertUnwindSafe(answer(&parts, &link, &frame)).catch_unwind().await;
    // The panic itself was already reported; answer, so that the caller does not wait.
    let panicked = |_| Err((code::INTERNAL_ERROR, "the handler panicked".to_owned()));
    let message = match answer.unwrap_or_else(panicked) {
        Ok(result) => build::response(id.raw(), result.to_string().as_bytes()),
        Err((code, message)) => build::error_response(Some(id.raw()), code, &message, None),
    };
    running.lock().remove(&id);
    link.send(message);
}
