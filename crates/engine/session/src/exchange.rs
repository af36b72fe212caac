//! Sends one request and waits for its answer, on any transport.
//!
//! The request is the caller's message with the session's id, its progress token and the server's
//! own name inserted, adapted to the server's revision. This module does not decide whether an
//! answer is final or asks for more input.

use std::sync::Arc;

use bytes::Bytes;
use toolgate_model::ServerTimeouts;
use toolgate_wire::{Era, Frame, MessageLimits, build, meta, method};

use crate::core::{SessionCore, SessionTransport};
use crate::modern::{envelope, rounds::RoundInput};
use crate::{OutboundRequest, SessionError, http, large, open_questions, timing};

/// Options for sending one request.
pub(crate) struct SendOptions<'a> {
    pub(crate) timeouts: ServerTimeouts,
    /// The input that a modern server requested in its previous answer.
    pub(crate) round: Option<&'a RoundInput>,
    /// True if the request is cancelled at the server when the future is dropped.
    pub(crate) cancel_on_drop: bool,
}

impl SendOptions<'_> {
    /// Returns the options for sending a request the first time.
    pub(crate) fn first(timeouts: ServerTimeouts) -> Self {
        Self { timeouts, round: None, cancel_on_drop: true }
    }

    /// Returns the options for the gateway's own requests, which always have a time limit.
    pub(crate) fn for_own_request(timeouts: ServerTimeouts) -> Self {
        Self::first(ServerTimeouts { call: Some(timeouts.own_request()), ..timeouts })
    }
}

/// Sends a request of the gateway itself.
pub(crate) async fn request(
    core: &Arc<SessionCore>,
    leg: SendOptions<'_>,
    method: &str,
    params: Option<&[u8]>,
) -> Result<Frame, SessionError> {
    let request = build::request("0", method, params);
    let frame = Frame::parse(request, &MessageLimits::default())?;
    send_once(
        core,
        &OutboundRequest { frame, rename: None, interactor: core.default_interactor.clone() },
        leg,
    )
    .await
}

/// Sends a request and waits for its answer. Dropping the future cancels the request at the server.
pub(crate) async fn send_once(
    core: &Arc<SessionCore>,
    outbound: &OutboundRequest,
    leg: SendOptions<'_>,
) -> Result<Frame, SessionError> {
    if core.pending_requests.is_holding() {
        let max = leg.timeouts.max();
        let cleared = tokio::time::timeout(max, core.pending_requests.wait_until_clear()).await;
        cleared.map_err(|_| SessionError::TimedOut(max))?;
    }
    let id = core.next_id();
    let token = outbound.frame.progress_token().map(|token| token.raw().into());
    let kind =
        core.shares_questions().then(|| core.pending_requests.kind(&outbound.frame)).flatten();
    let landed = core.pending_requests.register(id, outbound.interactor.clone(), token, kind)?;
    if outbound.frame.is(method::TASKS_RESULT)
        && let Some(task) = outbound.frame.name()
    {
        core.pending_requests.set_awaited_task(id, &task);
    }
    let mut flight = PendingRequestGuard { core, id, settled: !leg.cancel_on_drop };
    let body = encode(core, outbound, id, leg.round)?;
    let answer = async {
        match &core.link {
            SessionTransport::Line(link) => {
                link.send(&body);
                landed
                    .await
                    .unwrap_or_else(|_| Err(SessionError::Ended("the request was dropped".into())))
            }
            SessionTransport::Http(link) => {
                let headers = link
                    .modern_headers
                    .get()
                    .map(|templates| templates.for_request(&core.argument_headers, outbound));
                tokio::select! {
                    answer = http::call(core, link, id, headers, body) => answer,
                    Ok(answer) = landed => answer,
                }
            }
        }
    };
    let outcome = tokio::select! {
        biased;
        outcome = answer => outcome,
        late = timing::wait_overdue(&core.pending_requests, id, leg.timeouts) => {
            drop(flight);
            return Err(late);
        }
    };
    flight.settled = true;
    let answer = outcome?;
    match answer.detached_values() {
        None => Ok(answer),
        Some(_) => Box::pin(large::load_if_needed(&outbound.frame, answer)).await,
    }
}

/// Cancels a request at the server when dropped, unless it was answered.
struct PendingRequestGuard<'a> {
    core: &'a Arc<SessionCore>,
    id: u64,
    settled: bool,
}

impl Drop for PendingRequestGuard<'_> {
    fn drop(&mut self) {
        if self.core.pending_requests.forget(self.id, self.settled) && !self.settled {
            self.core.cancel(&self.id.to_string(), "the caller stopped waiting");
        }
        self.core.open_questions.abort_of(self.id);
        open_questions::release_held(self.core);
    }
}

/// Encodes the request for the server.
fn encode(
    core: &SessionCore,
    outbound: &OutboundRequest,
    id: u64,
    round: Option<&RoundInput>,
) -> Result<Bytes, SessionError> {
    let frame = &outbound.frame;
    let id = id.to_string();
    let mut edit = frame.edit().replace_found(frame.id_span(), &id);
    if let Some(token) = frame.progress_token_span() {
        edit = edit.replace(token, id.as_bytes());
    }
    if let Some((span, raw)) = &outbound.rename {
        edit = edit.replace(*span, raw);
    }
    // A message of the server's own era passes unchanged, except for capabilities that the
    // interactor does not have.
    edit = match (core.era(), meta::has_protocol_version(frame)) {
        (Some(Era::Modern), false) => envelope::add_envelope(edit, frame, &*outbound.interactor),
        (Some(Era::Modern), true) => {
            envelope::restrict_envelope(edit, frame, &*outbound.interactor)
        }
        (Some(Era::Legacy), true) => envelope::remove_envelope(edit, frame),
        _ => edit,
    };
    if let Some(round) = round {
        edit = round.enclose(edit, frame);
    }
    Ok(edit.finish()?)
}
