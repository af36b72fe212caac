//! Messages too large for memory: an answer stays where it lies, anything else is brought back.
//!
//! What lies beside an answer is kept only for requests whose results are passed on as they are.
//! Whoever looks into a result (lists, tasks, questions) gets it whole.

use std::io;
use std::sync::Arc;

use toolgate_transport::TransportError;
use toolgate_transport::spool::{self, Body, Spooled};
use toolgate_wire::large::{Aside, Kept as _, Sieve, Stop, Token};
use toolgate_wire::{Frame, Kind, Limits, Message, method, scan};

use crate::SessionError;
use crate::core::Core;

/// How much is read at a time.
const CHUNK: usize = 64 << 10;
/// How much of a refused message is looked at for its id.
const HEAD: usize = 4096;
/// The results nobody here looks into.
const PASSED_ON: [&str; 3] = [method::TOOLS_CALL, method::RESOURCES_READ, method::PROMPTS_GET];

/// Reads what arrived in one piece, wherever it lies.
pub(crate) async fn read(core: &Core, body: Body) -> Result<Message, SessionError> {
    match body {
        Body::Memory(bytes) => Ok(core.read(bytes)?),
        // Boxed: what every call carries stays small.
        Body::File(spooled) => Box::pin(from_file(core, spooled)).await,
    }
}

async fn from_file(core: &Core, spooled: Spooled) -> Result<Message, SessionError> {
    let (limits, kept) = (core.limits, spooled.clone());
    let sifted = tokio::task::spawn_blocking(move || sifted(&kept, &limits)).await;
    match sifted.map_err(|error| TransportError::Io(io::Error::other(error)))?? {
        Some(frame) => Ok(Message::One(frame)),
        None => Ok(core.read(spooled.whole().await?)?),
    }
}

/// The skeleton of a large answer; `None` if the message must be read as a whole.
pub fn sifted(spooled: &Spooled, limits: &Limits) -> Result<Option<Frame>, SessionError> {
    let mut random = [0; 12];
    getrandom::fill(&mut random).map_err(|error| TransportError::Io(io::Error::other(error)))?;
    let token = Token::new(random);
    let mut sieve = Sieve::new(limits, token.clone());
    let mut chunk = vec![0; CHUNK];
    let mut at = 0;
    while at < spooled.len() {
        let left = usize::try_from(spooled.len() - at).unwrap_or(usize::MAX).min(CHUNK);
        let piece = &mut chunk[..left];
        spooled.read_at(at, piece).map_err(TransportError::Io)?;
        if let Err(stop) = sieve.push(piece) {
            return stopped(spooled, stop);
        }
        at += left as u64;
    }
    let sifted = match sieve.finish() {
        Ok(sifted) => sifted,
        Err(stop) => return stopped(spooled, stop),
    };
    let frame = Frame::parse(sifted.skeleton, limits)?;
    if sifted.holes.is_empty() {
        return Ok(Some(frame));
    }
    let aside = Aside::new(token, sifted.holes, Arc::new(spooled.clone()));
    Ok(Some(frame.beside(Some(Arc::new(aside)))))
}

fn stopped(spooled: &Spooled, stop: Stop) -> Result<Option<Frame>, SessionError> {
    let mut head = vec![0; usize::try_from(spooled.len()).unwrap_or(HEAD).min(HEAD)];
    spooled.read_at(0, &mut head).map_err(TransportError::Io)?;
    match stop.refusal(&head) {
        Some(error) => Err(error.into()),
        None => Ok(None),
    }
}

/// The answer to a request: as it lies if it is one of those that are passed on, else whole.
pub(crate) async fn settled(request: &Frame, answer: Frame) -> Result<Frame, SessionError> {
    if answer.aside().is_none() || is_passed_on(request, &answer) {
        return Ok(answer);
    }
    Ok(spool::whole(answer).await?)
}

fn is_passed_on(request: &Frame, answer: &Frame) -> bool {
    let complete = matches!(answer.result_type().as_deref(), None | Some("complete"));
    let result = answer.result().unwrap_or_default();
    answer.kind() == Kind::Response
        && complete
        && scan::member(result, "task").is_none()
        && PASSED_ON.into_iter().any(|method| request.is(method))
}
