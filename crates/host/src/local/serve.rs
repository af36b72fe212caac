//! Serves a local server's parts on lines: the server's side of a legacy session, kept small.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt as _;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::AbortHandle;
use toolgate_transport::line::{LineReader, writer};
use toolgate_transport::spool::BodyLimits;
use toolgate_wire::{Frame, Kind, Limits, OwnedId, build, code, method};

use super::Parts;
use super::answer::answer;
use super::client::Link;

/// Calls under way, by the client's id.
type Running = Arc<Mutex<HashMap<OwnedId, AbortHandle>>>;

/// Serves until the input ends.
pub(super) async fn serve<R, W>(parts: Arc<Parts>, input: R, output: W)
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (out, work) = writer(output);
    let writing = tokio::spawn(work);
    let mut lines = LineReader::new(input, BodyLimits::INTERNAL);
    let (link, running) = (Link::new(out), Running::default());
    while let Ok(Some(line)) = lines.next().await {
        match Frame::parse(line, &Limits::default()) {
            Ok(frame) => take(&parts, &link, &running, frame),
            Err(error) => {
                let id = error.id().map(|id| id.raw().to_owned());
                link.send(build::failure(id.as_deref(), error.code(), &error.message(), None));
            }
        }
    }
    // What was called is still answered; what was asked is not.
    link.over();
    drop(link);
    let _ = writing.await;
}

fn take(parts: &Arc<Parts>, link: &Arc<Link>, running: &Running, frame: Frame) {
    match frame.kind() {
        Kind::Request => {
            let Some(id) = frame.id().map(|id| id.to_owned()) else { return };
            // Before the task can have ended: it takes itself out.
            let mut table = lock(running);
            let work = work(parts.clone(), link.clone(), running.clone(), frame, id.clone());
            table.insert(id, tokio::spawn(work).abort_handle());
        }
        Kind::Notification if frame.is(method::CANCELLED) => {
            let cancelled = frame.request_ref().map(|id| id.to_owned());
            if let Some(task) = cancelled.and_then(|id| lock(running).remove(&id)) {
                task.abort();
            }
        }
        Kind::Response | Kind::Failure => link.answered(&frame),
        Kind::Notification => {}
    }
}

async fn work(parts: Arc<Parts>, link: Arc<Link>, running: Running, frame: Frame, id: OwnedId) {
    let answer = AssertUnwindSafe(answer(&parts, &link, &frame)).catch_unwind().await;
    // A function that broke has been reported by the panic itself; its caller must not wait.
    let broken = |_| Err((code::INTERNAL_ERROR, "it broke while it was working".to_owned()));
    let message = match answer.unwrap_or_else(broken) {
        Ok(result) => build::response(id.raw(), result.to_string().as_bytes()),
        Err((code, message)) => build::failure(Some(id.raw()), code, &message, None),
    };
    lock(&running).remove(&id);
    link.send(message);
}

fn lock(running: &Running) -> MutexGuard<'_, HashMap<OwnedId, AbortHandle>> {
    running.lock().unwrap_or_else(PoisonError::into_inner)
}
