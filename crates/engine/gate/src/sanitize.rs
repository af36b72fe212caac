//! Removes hidden text from what a caller's model reads of servers.
//!
//! Definitions are sanitized when they are rendered, answers and notifications when they are
//! presented. Pins, comparisons and messages back to the server use the original. A large answer is
//! scanned where it is stored, and loaded into memory only if something must be removed.

mod json;

use std::borrow::Cow;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use toolgate_findings::strip_text;
use toolgate_findings::text::HiddenCharDetector;
use toolgate_session::parse_spooled;
use toolgate_transport::spool::{self, BodyLimits, BodySpool, ReceivedBody};
use toolgate_wire::large::{DetachedValue, DetachedValues};
use toolgate_wire::{Frame, MessageLimits, Span, code};

use crate::present::failure_instead;

pub(crate) use json::strip_json;

/// How much of a large answer is read at a time.
const CHUNK: usize = 64 << 10;

/// Removes hidden text from a definition.
pub(crate) fn definition(raw: Bytes) -> Bytes {
    match strip_json(&raw) {
        Cow::Borrowed(_) => raw,
        Cow::Owned(shown) => shown.into(),
    }
}

/// Removes hidden text from a server's instructions.
pub(crate) fn instructions(text: String) -> String {
    match strip_text(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(shown) => shown,
    }
}

/// Removes hidden text from a notification.
pub(crate) fn notification(event: Frame) -> Frame {
    let at = event.params_span();
    at.and_then(|at| without_hidden(&event, at)).unwrap_or(event)
}

/// Removes hidden text from an answer.
pub(crate) async fn answer(answer: Frame) -> Frame {
    let shown = small(answer);
    match shown.detached_values() {
        None => shown,
        // Boxed, so that the future of an ordinary call stays small.
        Some(_) => Box::pin(large(shown)).await,
    }
}

/// Removes hidden text from an answer, except from its detached values.
pub(crate) fn small(answer: Frame) -> Frame {
    let at = answer.result_span().or_else(|| answer.error_span());
    at.and_then(|at| without_hidden(&answer, at)).unwrap_or(answer)
}

/// Returns a new frame if something in this part must be removed.
fn without_hidden(frame: &Frame, at: Span) -> Option<Frame> {
    match strip_json(at.slice(frame.bytes())) {
        Cow::Borrowed(_) => None,
        Cow::Owned(shown) => frame.edit().replace(at, shown).finish_frame().ok(),
    }
}

/// Handles an answer whose long values are in a file.
async fn large(answer: Frame) -> Frame {
    let Some(aside) = answer.detached_values().cloned() else { return answer };
    let looked = tokio::task::spawn_blocking(move || has_hidden_text(&aside)).await;
    match looked.map_err(io::Error::other).and_then(|found| found) {
        Ok(false) => answer,
        Ok(true) => rewrite_large(answer).await,
        Err(error) => unreadable(&answer, &error.to_string()),
    }
}

/// Returns true if a detached value contains hidden text.
fn has_hidden_text(aside: &Arc<DetachedValues>) -> io::Result<bool> {
    for hole in aside.values() {
        let mut watch = HiddenCharDetector::default();
        let mut found = false;
        read_detached(aside, hole, |piece| {
            found = watch.push(piece);
            Ok(!found)
        })?;
        if found {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Reads a detached value piece by piece, as long as `take` returns true.
pub(crate) fn read_detached(
    aside: &DetachedValues,
    value: &DetachedValue,
    mut take: impl FnMut(&[u8]) -> io::Result<bool>,
) -> io::Result<()> {
    let mut chunk = vec![0; CHUNK];
    let (mut at, end) = (u64::from(value.start), u64::from(value.start + value.len));
    while at < end {
        let step = usize::try_from(end - at).unwrap_or(CHUNK).min(CHUNK);
        let piece = &mut chunk[..step];
        aside.source().read_at(at, piece)?;
        if !take(piece)? {
            break;
        }
        at += step as u64;
    }
    Ok(())
}

/// Writes a large answer without hidden text to a file of its own. One at a time is whole in
/// memory.
async fn rewrite_large(answer: Frame) -> Frame {
    let whole = match spool::load_frame(answer.clone()).await {
        Ok(whole) => whole,
        Err(error) => return unreadable(&answer, &error.to_string()),
    };
    let work = move || -> Result<Frame, String> {
        let mut spool = BodySpool::new(BodyLimits::ANSWER);
        let shown = strip_json(whole.bytes());
        shown.chunks(CHUNK).try_for_each(|piece| spool.push(piece)).map_err(|it| it.to_string())?;
        match spool.into_body() {
            ReceivedBody::Memory(bytes) => {
                Frame::parse(bytes, &MessageLimits::MAX).map_err(|error| error.to_string())
            }
            ReceivedBody::File(spooled) => match parse_spooled(&spooled, &MessageLimits::MAX) {
                Ok(Some(frame)) => Ok(frame),
                Ok(None) => Err("the rewritten result cannot be parsed".to_owned()),
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

/// Returns the error for an answer that could not be scanned. It says that the call was made.
fn unreadable(answer: &Frame, error: &str) -> Frame {
    tracing::warn!(target: "toolgate::gate", error, "cannot scan a large result for hidden text");
    let message = format!("the call was made, but its large result cannot be read: {error}");
    failure_instead(answer, code::INTERNAL_ERROR, &message)
}
