//! One request and its answer, on whichever carrier.
//!
//! What is sent is the caller's message with our id, our progress token and the server's own name
//! spliced in, dressed for the revision the server speaks. Whether an answer is the last one, or
//! asks for more first, is not decided here.

use std::sync::Arc;

use bytes::Bytes;
use toolgate_model::Timeouts;
use toolgate_wire::{Era, Frame, Limits, build, meta, method};

use crate::core::{Core, Link};
use crate::modern::{self, envelope, rounds::Round};
use crate::{Outbound, SessionError, asks, http, large, timing};

/// How one request goes out.
pub(crate) struct Leg<'a> {
    pub(crate) timeouts: Timeouts,
    /// What a modern server asked for before, answered.
    pub(crate) round: Option<&'a Round>,
    /// Whether the server is told when nobody waits any more.
    pub(crate) cancels: bool,
}

impl Leg<'_> {
    /// The first time a request is sent.
    pub(crate) fn first(timeouts: Timeouts) -> Self {
        Self { timeouts, round: None, cancels: true }
    }

    /// A request of the gateway itself: it has a limit even where calls have none.
    pub(crate) fn own(timeouts: Timeouts) -> Self {
        Self::first(Timeouts { call: Some(timeouts.own_request()), ..timeouts })
    }
}

/// Sends a request of our own, with nobody behind it.
pub(crate) async fn request(
    core: &Arc<Core>,
    leg: Leg<'_>,
    method: &str,
    params: Option<&[u8]>,
) -> Result<Frame, SessionError> {
    let request = build::request("0", method, params);
    let frame = Frame::parse(request, &Limits::default())?;
    once(core, &Outbound { frame, rename: None, port: core.ambient.clone() }, leg).await
}

/// Sends a request and waits for its answer. Dropping the future cancels it at the server.
pub(crate) async fn once(
    core: &Arc<Core>,
    outbound: &Outbound,
    leg: Leg<'_>,
) -> Result<Frame, SessionError> {
    if core.flights.is_holding() {
        let max = leg.timeouts.max();
        let cleared = tokio::time::timeout(max, core.flights.clear()).await;
        cleared.map_err(|_| SessionError::TimedOut(max))?;
    }
    let id = core.next_id();
    let token = outbound.frame.progress_token().map(|token| token.raw().into());
    let kind = core.shares_questions().then(|| core.flights.kind(&outbound.frame)).flatten();
    let landed = core.flights.depart(id, outbound.port.clone(), token, kind)?;
    if outbound.frame.is(method::TASKS_RESULT)
        && let Some(task) = outbound.frame.name()
    {
        core.flights.awaits(id, &task);
    }
    let mut flight = InFlight { core, id, settled: !leg.cancels };
    let body = encode(core, outbound, id, leg.round)?;
    let answer = async {
        match &core.link {
            Link::Line(link) => {
                link.send(&body);
                landed.await.unwrap_or_else(|_| Err(SessionError::Ended("it is gone".into())))
            }
            Link::Http(link) => {
                let headers = link.modern().map(|templates| templates.of(&core.mirror, outbound));
                let post = async {
                    match headers {
                        Some(headers) => modern::post::call(core, link, id, headers, body).await,
                        None => http::call(core, link, id, body).await,
                    }
                };
                tokio::select! {
                    answer = post => answer,
                    Ok(answer) = landed => answer,
                }
            }
        }
    };
    let outcome = tokio::select! {
        biased;
        outcome = answer => outcome,
        late = timing::overdue(&core.flights, id, leg.timeouts) => {
            drop(flight);
            return Err(late);
        }
    };
    flight.settled = true;
    let answer = outcome?;
    match answer.aside() {
        None => Ok(answer),
        Some(_) => Box::pin(large::settled(&outbound.frame, answer)).await,
    }
}

/// A call that is cancelled at the server unless it landed.
struct InFlight<'a> {
    core: &'a Arc<Core>,
    id: u64,
    settled: bool,
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        if self.core.flights.forget(self.id, self.settled) && !self.settled {
            self.core.cancel(&self.id.to_string(), "the caller no longer waits");
        }
        self.core.asks.abort_of(self.id);
        asks::settle(self.core);
    }
}

/// The request as the server gets it.
fn encode(
    core: &Core,
    outbound: &Outbound,
    id: u64,
    round: Option<&Round>,
) -> Result<Bytes, SessionError> {
    let frame = &outbound.frame;
    let id = id.to_string();
    let mut edit = frame.edit().replace_id(&id);
    if let Some(token) = frame.progress_token_span() {
        edit = edit.replace(token, id.as_bytes());
    }
    if let Some((span, raw)) = &outbound.rename {
        edit = edit.replace(*span, raw);
    }
    // A message of the server's own era passes as it is, but for what its port does not offer.
    edit = match (core.era(), meta::is_enveloped(frame)) {
        (Some(Era::Modern), false) => envelope::dress(edit, frame, &*outbound.port),
        (Some(Era::Modern), true) => envelope::undeclare(edit, frame, &*outbound.port),
        (Some(Era::Legacy), true) => envelope::strip(edit, frame),
        _ => edit,
    };
    if let Some(round) = round {
        edit = round.enclose(edit, frame);
    }
    Ok(edit.finish()?)
}
