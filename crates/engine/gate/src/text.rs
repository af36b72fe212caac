//! What a caller's model reads of servers: without what nobody would see.
//!
//! Definitions when they are rendered, answers and reports when they are presented. What the server
//! said stays as it is where it is pinned, compared and sent back. A large answer is looked through
//! where it lies, and brought into memory only if something must go.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use toolgate_findings::text::Watch;
use toolgate_findings::{strip_json, stripped};
use toolgate_session::sifted;
use toolgate_transport::spool::{self, Body, BodyLimits, Spool};
use toolgate_wire::large::Aside;
use toolgate_wire::{Frame, Limits, Span};

/// How much of a large answer is read at a time.
const CHUNK: usize = 64 << 10;

/// A definition as a model may read it.
pub(crate) fn definition(raw: Bytes) -> Bytes {
    match strip_json(&raw) {
        Cow::Borrowed(_) => raw,
        Cow::Owned(shown) => shown.into(),
    }
}

/// A server's instructions as a model may read them.
pub(crate) fn instructions(text: String) -> String {
    match stripped(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(shown) => shown,
    }
}

/// A report of a server as it may be shown.
pub(crate) fn told(event: Frame) -> Frame {
    let at = event.params_span();
    at.and_then(|at| without_hidden(&event, at)).unwrap_or(event)
}

/// An answer of a server as a model may read it.
pub(crate) async fn answer(answer: Frame) -> Frame {
    let shown = small(answer);
    match shown.aside() {
        None => shown,
        // Boxed: what every call carries stays small.
        Some(_) => Box::pin(large(shown)).await,
    }
}

/// The same for one that is whole, and for what is whole of a large one.
pub(crate) fn small(answer: Frame) -> Frame {
    let at = answer.result_span().or_else(|| answer.error_span());
    at.and_then(|at| without_hidden(&answer, at)).unwrap_or(answer)
}

/// The frame anew, if something in this part of it must go.
fn without_hidden(frame: &Frame, at: Span) -> Option<Frame> {
    match strip_json(at.of(frame.bytes())) {
        Cow::Borrowed(_) => None,
        Cow::Owned(shown) => frame.edit().replace(at, shown).frame().ok(),
    }
}

/// An answer whose long values lie in a file.
async fn large(answer: Frame) -> Frame {
    let Some(aside) = answer.aside().cloned() else { return answer };
    let looked = tokio::task::spawn_blocking(move || hides(&aside)).await;
    match looked.map_err(io::Error::other).and_then(|found| found) {
        Ok(false) => answer,
        Ok(true) => rewritten(answer).await,
        Err(error) => unreadable(&answer, &error.to_string()),
    }
}

/// Whether anything that lies aside holds what nobody would see.
fn hides(aside: &Arc<Aside>) -> io::Result<bool> {
    let mut chunk = vec![0; CHUNK];
    for hole in aside.holes() {
        let mut watch = Watch::default();
        let (mut at, end) = (u64::from(hole.start), u64::from(hole.start + hole.len));
        while at < end {
            let step = usize::try_from(end - at).unwrap_or(CHUNK).min(CHUNK);
            let piece = &mut chunk[..step];
            aside.kept().read_at(at, piece)?;
            if watch.push(piece) {
                return Ok(true);
            }
            at += step as u64;
        }
    }
    Ok(false)
}

/// A large answer without what must go, in a file of its own. One at a time is whole in memory.
async fn rewritten(answer: Frame) -> Frame {
    let whole = match spool::whole(answer.clone()).await {
        Ok(whole) => whole,
        Err(error) => return unreadable(&answer, &error.to_string()),
    };
    let work = move || -> Result<Frame, String> {
        let mut spool = Spool::new(BodyLimits::ANSWER);
        let shown = strip_json(whole.bytes());
        shown.chunks(CHUNK).try_for_each(|piece| spool.push(piece)).map_err(|it| it.to_string())?;
        match spool.body() {
            Body::Memory(bytes) => {
                Frame::parse(bytes, &Limits::WIDEST).map_err(|error| error.to_string())
            }
            Body::File(spooled) => match sifted(&spooled, &Limits::WIDEST) {
                Ok(Some(frame)) => Ok(frame),
                Ok(None) => Err("it cannot be read again".to_owned()),
                Err(error) => Err(error.to_string()),
            },
        }
    };
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok(shown)) => shown,
        Ok(Err(error)) => unreadable(&answer, &error),
        Err(error) => unreadable(&answer, &error.to_string()),
    }
}

/// What is said in place of an answer that could not be looked at. The call was made: that is said.
fn unreadable(answer: &Frame, error: &str) -> Frame {
    tracing::warn!(target: "toolgate::gate", error, "a large result cannot be looked through");
    let message = format!("the call was made, but failed to read its large result: {error}");
    let id = answer.id().map(|id| id.raw().to_owned());
    let code = toolgate_wire::code::INTERNAL_ERROR;
    let failure = toolgate_wire::build::failure(id.as_deref(), code, &message, None);
    crate::present::own_frame(failure).unwrap_or_else(|_| answer.clone())
}
