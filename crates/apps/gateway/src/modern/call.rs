//! One modern request from the servers' point of view: it receives their progress and questions.
//!
//! A call may take several rounds. When a server asks the client something, the exchange ends with
//! the questions, and continues with the retry that brings the answers. Messages go to the current
//! round. Between two rounds they are dropped.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Waker};

use bytes::Bytes;
use futures_util::future::{BoxFuture, join_all};
use tokio::sync::oneshot;
use toolgate_model::ServerName;
use toolgate_wire::view::{LogLevel, LogMessageParams};
use toolgate_wire::{Frame, OwnedRequestId, method, to_single_line};

use super::message_backlog::MessageBacklog;
use super::missing_capabilities::MissingCapabilities;
use super::questions::{InputResponses, ModernQuestions, QuestionTiming};
use super::{ModernRequestContext, StatelessClient};
use crate::gate_service::{Answer, CallerScope, Interactor, Question, QuestionKind};
use crate::peer::{ConnectionPeer, PeerId};
use crate::session::{ClientCapabilities, ResponseMode};

/// One round of a call: what the client wants to receive, and what the response can carry.
#[derive(Debug, Clone)]
pub(crate) struct CallRound {
    progress_token: Option<OwnedRequestId>,
    log_level: Option<LogLevel>,
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

/// A modern request that is in flight or parked.
pub(crate) struct ModernCall {
    client: Arc<StatelessClient>,
    /// True if a request of this method may be answered with questions.
    may_ask: bool,
    pub(crate) missing_capabilities: MissingCapabilities,
    state: Mutex<ModernCallState>,
}

/// The mutable state of a call.
struct ModernCallState {
    round: CallRound,
    messages: MessageBacklog,
    questions: ModernQuestions,
    waker: Option<Waker>,
}

impl ModernCall {
    /// Creates a call. `early_answers` are answers to questions that were not asked yet.
    pub(crate) fn new(
        client: Arc<StatelessClient>,
        may_ask: bool,
        round: CallRound,
        early_answers: InputResponses,
    ) -> Self {
        let questions = ModernQuestions::new(early_answers);
        let state =
            ModernCallState { round, messages: MessageBacklog::default(), questions, waker: None };
        Self {
            client,
            may_ask,
            missing_capabilities: MissingCapabilities::default(),
            state: Mutex::new(state),
        }
    }

    fn state(&self) -> MutexGuard<'_, ModernCallState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the client of this call.
    pub(crate) fn client(&self) -> &Arc<StatelessClient> {
        &self.client
    }

    /// Returns the peer whose quota this call uses.
    pub(crate) fn peer_id(&self) -> PeerId {
        let peer = self.state().round.peer.clone();
        self.client.principal.peer_id(&peer)
    }

    /// Registers the task that a new message or question wakes.
    pub(crate) fn register_waker(&self, context: &Context<'_>) {
        match &mut self.state().waker {
            Some(waker) => waker.clone_from(context.waker()),
            empty => *empty = Some(context.waker().clone()),
        }
    }

    /// Returns the next message for the client. If there is none, returns how urgent the open
    /// questions are.
    pub(crate) fn next_output(&self) -> (Option<Bytes>, Option<QuestionTiming>) {
        let mut state = self.state();
        match state.messages.pop() {
            Some(message) => (Some(message), None),
            None => (None, state.questions.urgency()),
        }
    }

    /// Returns all open questions as `inputRequests` and ends the round.
    pub(crate) fn to_input_requests(&self) -> Vec<u8> {
        let mut state = self.state();
        state.round.mute();
        state.questions.take_input_requests()
    }

    /// Returns the server that waits for the client's answers.
    pub(crate) fn asking_server(&self) -> Option<ServerName> {
        self.state().questions.asking_server()
    }

    /// Starts the next round with the client's answers.
    pub(crate) fn resume(&self, round: CallRound, answers: InputResponses) {
        let mut state = self.state();
        state.round = round;
        state.questions.apply_answers(answers);
    }

    /// Answers all open questions as unsupported, because the client cannot be asked now.
    pub(crate) fn reject_questions(&self) {
        self.state().questions.reject_all();
    }

    fn wake(&self) {
        let waker = self.state().waker.take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Asks the client a question, if it can be asked.
    fn add_question(&self, question: Question, urgency: QuestionTiming) -> PendingAnswer {
        if let (QuestionKind::Roots, Some(roots)) = (question.kind, &self.client.roots) {
            return PendingAnswer::Ready(Answer::Result(roots.clone()));
        }
        let mut state = self.state();
        let able = state.round.capabilities.can_answer(question.kind);
        if !able {
            self.missing_capabilities.record(question.kind);
        }
        if !able || !self.may_ask {
            return PendingAnswer::Ready(Answer::Unsupported);
        }
        PendingAnswer::Waiting(state.questions.add(question, urgency))
    }
}

/// The answer to a question, now or later.
enum PendingAnswer {
    Ready(Answer),
    Waiting(oneshot::Receiver<Answer>),
}

impl PendingAnswer {
    async fn answer(self) -> Answer {
        match self {
            Self::Ready(answer) => answer,
            // The channel closes only when the call is dropped, and then this answer is not read.
            Self::Waiting(answer) => answer.await.unwrap_or(Answer::Unsupported),
        }
    }
}

impl Interactor for ModernCall {
    fn scope(&self) -> CallerScope {
        self.client.caller.id.scope()
    }

    fn tell(&self, event: Frame) {
        {
            let mut state = self.state();
            let Some(message) = state.round.adapt_event(&event) else { return };
            state.messages.push(message);
        }
        self.wake();
    }

    fn ask(&self, question: Question) -> BoxFuture<'_, Answer> {
        let pending = self.add_question(question, QuestionTiming::Soon);
        self.wake();
        Box::pin(pending.answer())
    }

    fn ask_all(&self, questions: Vec<Question>) -> BoxFuture<'_, Vec<Answer>> {
        let put = |question| self.add_question(question, QuestionTiming::Now);
        let pending: Vec<_> = questions.into_iter().map(put).collect();
        self.wake();
        Box::pin(join_all(pending.into_iter().map(PendingAnswer::answer)))
    }

    fn capabilities(&self) -> Bytes {
        self.client.caller.capabilities.clone()
    }

    fn level(&self) -> Option<LogLevel> {
        self.state().round.log_level
    }
}
