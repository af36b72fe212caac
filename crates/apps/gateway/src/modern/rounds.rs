//! The rounds of one modern call: what its client is told and asked in each.
//!
//! When a server asks the client something, the exchange ends with the questions, and continues with
//! the retry that brings the answers. Messages go to the current round. Between two rounds they are
//! dropped.

use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;
use toolgate_host::{Answer, Question, QuestionKind};
use toolgate_wire::view::{LogLevel, LogMessageParams};
use toolgate_wire::{Frame, OwnedRequestId, method, to_single_line};

use super::missing_capabilities::MissingCapabilities;
use super::questions::{InputResponses, QuestionSendTime, RoundQuestions};
use super::{ModernRequestContext, ParkedCalls, StatelessClient};
use crate::exchange::{ClientCapabilities, ResponseMode};
use crate::peer::{ConnectionPeer, PeerId};

/// One round of a call: what the client wants to receive, and what the response can carry.
#[derive(Debug, Clone)]
pub(crate) struct CallRound {
    progress_token: Option<OwnedRequestId>,
    pub(crate) log_level: Option<LogLevel>,
    response_mode: ResponseMode,
    capabilities: ClientCapabilities,
    /// The peer of the connection that the request came on.
    peer: Arc<ConnectionPeer>,
}

impl CallRound {
    pub(crate) fn new(request: &Frame, context: &ModernRequestContext) -> Self {
        Self {
            progress_token: request.progress_token().map(|token| token.to_owned()),
            log_level: context.envelope.level,
            response_mode: context.response_mode,
            capabilities: context.client.capabilities,
            peer: context.peer.clone(),
        }
    }

    /// Drops all further messages of this round.
    fn mute(&mut self) {
        self.progress_token = None;
        self.log_level = None;
        self.response_mode = ResponseMode::AnswerOnly;
    }

    /// Returns an event in the form that this round wants, or `None` if it does not want the event.
    fn adapt_event(&self, event: &Frame) -> Option<Bytes> {
        if self.response_mode == ResponseMode::AnswerOnly {
            return None;
        }
        if event.is(method::MESSAGE) {
            let log = LogMessageParams::of(event.params().unwrap_or_default());
            let level = log.and_then(|log| log.level).unwrap_or(LogLevel::Info);
            return self
                .log_level
                .is_some_and(|least| level >= least)
                .then(|| to_single_line(event.bytes()));
        }
        if event.is(method::PROGRESS) {
            return self.adapt_progress(event);
        }
        // 2026-07-28 has no such notification.
        (!event.is(method::ELICITATION_COMPLETE)).then(|| to_single_line(event.bytes()))
    }

    /// Returns a progress notification with the token of this round.
    fn adapt_progress(&self, event: &Frame) -> Option<Bytes> {
        let token = self.progress_token.as_ref()?;
        match event.progress_token() {
            Some(own) if *token == own => Some(to_single_line(event.bytes())),
            _ => {
                let at = event.progress_token_span()?;
                event
                    .edit()
                    .replace(at, token.raw())
                    .finish()
                    .ok()
                    .map(|event| to_single_line(&event))
            }
        }
    }
}

/// How a modern call tells and asks its client, round by round.
pub(crate) struct CallRounds {
    pub(crate) client: Arc<StatelessClient>,
    /// The request as the client first sent it.
    pub(crate) request: Frame,
    /// Where the call waits for its client's answers.
    pub(crate) parked_calls: Arc<ParkedCalls>,
    /// True if a request of this method may be answered with questions.
    may_ask: bool,
    pub(crate) missing_capabilities: MissingCapabilities,
    pub(crate) state: Mutex<CallRoundState>,
}

/// The current round and the questions that are open in it.
pub(crate) struct CallRoundState {
    pub(crate) round: CallRound,
    pub(crate) questions: RoundQuestions,
}

impl CallRounds {
    /// Creates the first round. `early_answers` are answers to questions that were not asked yet;
    /// `None` if the request may not be answered with questions.
    pub(crate) fn new(
        request: Frame,
        context: ModernRequestContext,
        parked_calls: Arc<ParkedCalls>,
        early_answers: Option<InputResponses>,
    ) -> Self {
        let (round, may_ask) = (CallRound::new(&request, &context), early_answers.is_some());
        let questions = RoundQuestions::new(early_answers.unwrap_or_default());
        Self {
            client: context.client,
            request,
            parked_calls,
            may_ask,
            missing_capabilities: MissingCapabilities::default(),
            state: Mutex::new(CallRoundState { round, questions }),
        }
    }

    /// Returns the peer whose quota this call uses.
    pub(crate) fn peer_id(&self) -> PeerId {
        let peer = self.state.lock().round.peer.clone();
        self.client.principal.peer_id(&peer)
    }

    /// Returns an event as the current round wants it, or `None` if it does not want the event.
    pub(crate) fn adapt_event(&self, event: &Frame) -> Option<Bytes> {
        self.state.lock().round.adapt_event(event)
    }

    /// Returns all open questions as `inputRequests` and ends the round.
    pub(crate) fn to_input_requests(&self) -> Vec<u8> {
        let mut state = self.state.lock();
        state.round.mute();
        state.questions.take_input_requests()
    }

    /// Starts the next round with the client's answers.
    pub(crate) fn resume(&self, round: CallRound, answers: InputResponses) {
        let mut state = self.state.lock();
        state.round = round;
        state.questions.apply_answers(answers);
    }

    /// Asks the client a question, if it can be asked.
    pub(crate) fn ask(
        &self,
        question: Question,
        timing: QuestionSendTime,
    ) -> impl Future<Output = Answer> + Send + use<> {
        let answer = match self.answer_without_asking(question.kind) {
            Some(answer) => Err(answer),
            None => Ok(self.state.lock().questions.add(question, timing)),
        };
        async move {
            match answer {
                // The channel closes only when the call is dropped, and then nobody reads this.
                Ok(asked) => asked.await.unwrap_or(Answer::Unsupported),
                Err(ready) => ready,
            }
        }
    }

    fn answer_without_asking(&self, kind: QuestionKind) -> Option<Answer> {
        if let (QuestionKind::Roots, Some(roots)) = (kind, &self.client.roots) {
            return Some(Answer::Result(roots.clone()));
        }
        let able = self.state.lock().round.capabilities.can_answer(kind);
        if !able {
            self.missing_capabilities.record(kind);
        }
        (!able || !self.may_ask).then_some(Answer::Unsupported)
    }
}
