//! Dispatches modern requests by method.

use std::sync::Arc;

use toolgate_model::CapabilityKind;
use toolgate_wire::{Frame, OwnedRequestId, code, method};

use super::questions::InputResponses;
use super::retry::{self, RetryParams};
use super::rounds::{CallRound, CallRounds};
use super::{ClientMeta, ModernHandler, StatelessClient, discover, request_digest};
use crate::exchange::{
    self, Call, Exchange, InFlightGuard, QuestionDelivery, ResponseMode, RpcResponse, RunningCall,
};
use crate::peer::ConnectionPeer;

/// The sender of a request and the form of its response.
pub(crate) struct ModernRequestContext {
    pub(crate) client: Arc<StatelessClient>,
    pub(crate) envelope: ClientMeta,
    pub(crate) response_mode: ResponseMode,
    /// The peer of the connection that the request came on.
    pub(crate) peer: Arc<ConnectionPeer>,
}

impl ModernHandler {
    /// Starts to answer a request.
    pub(crate) fn handle_request(&self, request: Frame, context: ModernRequestContext) -> Exchange {
        let (id, name, listed) = match exchange::parse_request(&request) {
            Ok(parsed) => parsed,
            Err(reply) => return Exchange::Answered(reply),
        };
        if listed.is_some() {
            return self.start_call(request, id, context, listed, None);
        }
        match name.as_ref() {
            method::TOOLS_CALL | method::PROMPTS_GET | method::RESOURCES_READ => {
                self.start_interactive(request, id, context)
            }
            method::SERVER_DISCOVER => {
                let result = discover::discover_result(&self.gate, &context.client.caller);
                Exchange::Answered(RpcResponse::result(&id, &result))
            }
            method::SUBSCRIPTIONS_LISTEN => self.listen(&request, id, context),
            // 2026-07-28 has removed these methods, even if servers still support them.
            method::INITIALIZE
            | method::PING
            | method::LOGGING_SET_LEVEL
            | method::RESOURCES_SUBSCRIBE
            | method::RESOURCES_UNSUBSCRIBE
            | method::TASKS_LIST
            | method::TASKS_RESULT => {
                let error = format!("Method not found: {name}");
                Exchange::failed(&id, code::METHOD_NOT_FOUND, &error)
            }
            _ => self.start_call(request, id, context, None, None),
        }
    }

    /// Starts a request that may be answered with questions, or resumes a call with their answers.
    fn start_interactive(
        &self,
        request: Frame,
        id: OwnedRequestId,
        context: ModernRequestContext,
    ) -> Exchange {
        let refused = |reason: &str| Exchange::failed(&id, code::INVALID_PARAMS, reason);
        let retry = match RetryParams::parse(&request) {
            Ok(None) => {
                return self.start_call(request, id, context, None, Some(InputResponses::new()));
            }
            Ok(Some(retry)) => retry,
            Err(reason) => return refused(reason),
        };
        let (digest, client) = (request_digest::digest(&request), &context.client);
        let waiting = match &retry.state {
            Some(state) => self.parked_calls.claim(state, client, &digest).map(Some),
            None => Ok(self.parked_calls.claim_by_request(client.caller.id, &digest)),
        };
        let answers = retry.answers;
        match waiting {
            Err(reason) => refused(reason),
            Ok(Some(mut running)) => {
                if let Some(rounds) = running.call.rounds() {
                    rounds.resume(CallRound::new(&request, &context), answers);
                }
                running.id = id;
                running.in_flight = Some(InFlightGuard::new(&self.in_flight_count));
                Exchange::Running(*running)
            }
            // No call waits for these answers: this is a new call with answers to expected
            // questions.
            Ok(None) => match retry::strip_retry_params(&request) {
                Ok(bare) => self.start_call(bare, id, context, None, Some(answers)),
                Err(_) => refused("cannot parse params"),
            },
        }
    }

    /// Passes a request to the gate. `listed` is the kind that a list request lists; `early_answers` is
    /// `None` if the request may not be answered with questions.
    fn start_call(
        &self,
        request: Frame,
        id: OwnedRequestId,
        context: ModernRequestContext,
        listed: Option<CapabilityKind>,
        early_answers: Option<InputResponses>,
    ) -> Exchange {
        let (caller, parked_calls) = (context.client.caller.clone(), self.parked_calls.clone());
        let rounds = CallRounds::new(request.clone(), context, parked_calls, early_answers);
        let call = Call::new(QuestionDelivery::Rounds(rounds), listed.is_some());
        let work = match listed {
            Some(kind) => exchange::list(&self.gate, kind, &caller),
            None => exchange::pass(&self.gate, request, &caller, &call),
        };
        let in_flight = InFlightGuard::new(&self.in_flight_count);
        Exchange::Running(RunningCall::new(call, id, work, Some(in_flight)))
    }
}
