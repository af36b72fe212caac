//! Handles messages that are too large for memory.
//!
//! Large values of an answer stay in a file if the result is passed on unchanged. Results that the
//! gateway inspects (lists, tasks, questions) are loaded completely.

use std::io;
use std::sync::Arc;

use toolgate_transport::TransportError;
use toolgate_transport::spool::{self, BodyFile, ReceivedBody};
use toolgate_wire::large::{
    DetachedValues, LargeResponseReader as _, PlaceholderToken, SkeletonError, SkeletonParser,
};
use toolgate_wire::{Frame, MessageKind, MessageLimits, MessageOrBatch, method, scan};

use crate::SessionError;
use crate::core::SessionCore;

/// The size of one read, in bytes.
const CHUNK: usize = 64 << 10;
/// How many bytes of a rejected message are searched for its id.
const HEAD: usize = 4096;
/// The methods whose results are passed on without inspection.
const PASSED_ON: [&str; 3] = [method::TOOLS_CALL, method::RESOURCES_READ, method::PROMPTS_GET];

/// Parses a received body, from memory or from its file.
pub(crate) async fn read(
    core: &SessionCore,
    body: ReceivedBody,
) -> Result<MessageOrBatch, SessionError> {
    match body {
        ReceivedBody::Memory(bytes) => Ok(core.read(bytes)?),
        // Boxed, to keep the future of every call small.
        ReceivedBody::File(spooled) => Box::pin(from_file(core, spooled)).await,
    }
}

async fn from_file(core: &SessionCore, spooled: BodyFile) -> Result<MessageOrBatch, SessionError> {
    let (limits, kept) = (core.limits, spooled.clone());
    let sifted = tokio::task::spawn_blocking(move || parse_spooled(&kept, &limits)).await;
    match sifted.map_err(|error| TransportError::Io(io::Error::other(error)))?? {
        Some(frame) => Ok(MessageOrBatch::One(frame)),
        None => Ok(core.read(spooled.into_bytes().await?)?),
    }
}

/// Parses the skeleton of a large answer from its file. Returns `None` if the message must be read
/// completely.
pub fn parse_spooled(
    spooled: &BodyFile,
    limits: &MessageLimits,
) -> Result<Option<Frame>, SessionError> {
    let mut random = [0; 12];
    getrandom::fill(&mut random).map_err(|error| TransportError::Io(io::Error::other(error)))?;
    let token = PlaceholderToken::new(random);
    let mut sieve = SkeletonParser::new(limits, token.clone());
    let mut chunk = vec![0; CHUNK];
    let mut at = 0;
    while at < spooled.size() {
        let left = usize::try_from(spooled.size() - at).unwrap_or(usize::MAX).min(CHUNK);
        let piece = &mut chunk[..left];
        spooled.read_at(at, piece).map_err(TransportError::Io)?;
        if let Err(stop) = sieve.push(piece) {
            return handle_stop(spooled, stop);
        }
        at += left as u64;
    }
    let sifted = match sieve.finish() {
        Ok(sifted) => sifted,
        Err(stop) => return handle_stop(spooled, stop),
    };
    let frame = Frame::parse(sifted.skeleton, limits)?;
    if sifted.detached.is_empty() {
        return Ok(Some(frame));
    }
    let aside = DetachedValues::new(token, sifted.detached, Arc::new(spooled.clone()));
    Ok(Some(frame.with_detached(Some(Arc::new(aside)))))
}

fn handle_stop(spooled: &BodyFile, stop: SkeletonError) -> Result<Option<Frame>, SessionError> {
    let mut head = vec![0; usize::try_from(spooled.size()).unwrap_or(HEAD).min(HEAD)];
    spooled.read_at(0, &mut head).map_err(TransportError::Io)?;
    match stop.into_wire_error(&head) {
        Some(error) => Err(error.into()),
        None => Ok(None),
    }
}

/// Loads the detached values of an answer, unless its result is passed on unchanged.
pub(crate) async fn load_if_needed(request: &Frame, answer: Frame) -> Result<Frame, SessionError> {
    if answer.detached_values().is_none() || is_passed_on(request, &answer) {
        return Ok(answer);
    }
    Ok(spool::load_frame(answer).await?)
}

fn is_passed_on(request: &Frame, answer: &Frame) -> bool {
    let complete = matches!(answer.result_type().as_deref(), None | Some("complete"));
    let result = answer.result().unwrap_or_default();
    answer.kind() == MessageKind::Response
        && complete
        && scan::member(result, "task").is_none()
        && PASSED_ON.into_iter().any(|method| request.is(method))
}
