//! Dispatches modern requests by method.

use std::sync::Arc;

use toolgate_model::CapabilityKind;
use toolgate_wire::{Frame, OwnedRequestId, code, method};

use super::call::{CallRound, ModernCall};
use super::questions::InputResponses;
use super::retry::{self, RetryParams};
use super::running_call::{InFlightGuard, ModernCallWork, ModernRunningCall};
use super::stateless_clients::StatelessClientError;
use super::{
    ModernExchange, ModernHandler, RequestEnvelope, RequestError, StatelessClient, discover,
    request_digest,
};
use crate::peer::ConnectionPeer;
use crate::principal::ClientIdentity;
use crate::session::{ResponseMode, RpcResponse, has_cursor, listed_kind};

/// The sender of a request and the form of its response.
pub(crate) struct ModernRequestContext {
    pub(crate) client: Arc<StatelessClient>,
    pub(crate) envelope: RequestEnvelope,
    pub(crate) response_mode: ResponseMode,
    /// The peer of the connection that the request came on.
    pub(crate) peer: Arc<ConnectionPeer>,
}

impl ModernHandler {
    /// Returns the client that sent a request.
    pub(crate) fn find_client(
        &self,
        identity: ClientIdentity,
        envelope: &RequestEnvelope,
        request: &Frame,
    ) -> Result<Arc<StatelessClient>, RequestError> {
        let id = || request.id().map(|id| id.to_owned());
        self.clients.find_or_create(identity, envelope).map_err(|error| match error {
            StatelessClientError::Full => {
                RequestError::invalid_request(id(), "too many different clients are active")
            }
            StatelessClientError::Refused(refusal) => RequestError::from_gate_error(id(), refusal),
        })
    }

    /// Starts to answer a request.
    pub(crate) fn handle_request(
        &self,
        request: Frame,
        context: ModernRequestContext,
    ) -> ModernExchange {
        let (Some(id), Some(name)) = (request.id().map(|id| id.to_owned()), request.method())
        else {
            let error =
                RequestError::invalid_request(None, "a request must have an id and a method");
            return ModernExchange::Answered(error.into_response());
        };
        if let Some(kind) = listed_kind(&name) {
            return self.start_list(request, id, kind, context);
        }
        match name.as_ref() {
            method::TOOLS_CALL | method::PROMPTS_GET | method::RESOURCES_READ => {
                self.start_interactive(request, id, context)
            }
            method::SERVER_DISCOVER => {
                let result = discover::discover_result(self.gate.as_ref(), &context.client.caller);
                ModernExchange::Answered(RpcResponse::result(&id, &result))
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
                ModernExchange::Answered(RpcResponse::failure(&id, code::METHOD_NOT_FOUND, &error))
            }
            _ => self.start_call(request, id, context, None),
        }
    }

    /// Starts a request that may be answered with questions, or resumes a call with their answers.
    fn start_interactive(
        &self,
        request: Frame,
        id: OwnedRequestId,
        context: ModernRequestContext,
    ) -> ModernExchange {
        let refused = |reason: &str| {
            ModernExchange::Answered(RpcResponse::failure(&id, code::INVALID_PARAMS, reason))
        };
        let retry = match RetryParams::parse(&request) {
            Ok(None) => return self.start_call(request, id, context, Some(InputResponses::new())),
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
            Err(error) => refused(&error.to_string()),
            Ok(Some(running)) => {
                let round = CallRound::new(&request, &context);
                let back = (answers, InFlightGuard::new(&self.in_flight_count));
                self.new_exchange(running.resume(id, round, back))
            }
            // No call waits for these answers: this is a new call with answers to expected
            // questions.
            Ok(None) => match retry::strip_retry_params(&request) {
                Ok(bare) => self.start_call(bare, id, context, Some(answers)),
                Err(_) => refused("cannot parse params"),
            },
        }
    }

    /// Passes a request to the gate. `early_answers` is `None` if the request may not be answered
    /// with questions.
    fn start_call(
        &self,
        request: Frame,
        id: OwnedRequestId,
        context: ModernRequestContext,
        early_answers: Option<InputResponses>,
    ) -> ModernExchange {
        let caller = context.client.caller.clone();
        let round = CallRound::new(&request, &context);
        let client = context.client;
        let may_ask = early_answers.is_some();
        let call =
            Arc::new(ModernCall::new(client, may_ask, round, early_answers.unwrap_or_default()));
        let pass = self.gate.clone().pass(request.clone(), caller, call.clone());
        self.start_exchange(request, id, call, ModernCallWork::Call(pass))
    }

    fn start_list(
        &self,
        request: Frame,
        id: OwnedRequestId,
        kind: CapabilityKind,
        context: ModernRequestContext,
    ) -> ModernExchange {
        if has_cursor(&request) {
            return ModernExchange::Answered(RpcResponse::failure(
                &id,
                code::INVALID_PARAMS,
                "unknown cursor",
            ));
        }
        let list = self.gate.clone().list(kind, context.client.caller.clone());
        let round = CallRound::new(&request, &context);
        let call = Arc::new(ModernCall::new(context.client, false, round, InputResponses::new()));
        self.start_exchange(request, id, call, ModernCallWork::List(list))
    }

    fn start_exchange(
        &self,
        request: Frame,
        id: OwnedRequestId,
        call: Arc<ModernCall>,
        work: ModernCallWork,
    ) -> ModernExchange {
        let in_flight = InFlightGuard::new(&self.in_flight_count);
        self.new_exchange(ModernRunningCall::new(request, id, call, work, in_flight))
    }

    fn new_exchange(&self, running: ModernRunningCall) -> ModernExchange {
        ModernExchange::Running(Box::new(running), self.parked_calls.clone())
    }
}
