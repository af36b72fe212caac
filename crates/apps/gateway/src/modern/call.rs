//! One modern request as the servers see it: who is told of progress and asked questions.
//!
//! A call may be answered in several rounds: each time its client is asked something, the exchange
//! ends with the questions, and goes on with the retry that brings the answers. What is told goes
//! to the round that is on; between two rounds there is nobody to tell.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Waker};

use bytes::Bytes;
use futures_util::future::{BoxFuture, join_all};
use tokio::sync::oneshot;
use toolgate_model::ServerName;
use toolgate_wire::view::{LogLevel, LogMessage};
use toolgate_wire::{Frame, OwnedId, line, method};

use super::asking::{Answers, Asking, Due};
use super::backlog::Backlog;
use super::lacking::Lacking;
use super::{Visit, Visitor};
use crate::peer::{Peer, PeerId};
use crate::session::{Abilities, Carriage};
use crate::upstreams::{Answer, AskKind, Interactor, Question, Scope};

/// What one exchange of a call wants and can carry.
#[derive(Debug, Clone)]
pub(crate) struct Round {
    token: Option<OwnedId>,
    level: Option<LogLevel>,
    carriage: Carriage,
    abilities: Abilities,
    /// The other end of the connection it came on.
    peer: Arc<Peer>,
}

impl Round {
    pub(crate) fn new(request: &Frame, visit: &Visit) -> Self {
        Self {
            token: request.progress_token().map(|token| token.to_owned()),
            level: visit.envelope.level,
            carriage: visit.carriage,
            abilities: visit.visitor.abilities,
            peer: visit.peer.clone(),
        }
    }

    /// Nobody waits for anything that is told.
    fn fall_silent(&mut self) {
        self.token = None;
        self.level = None;
        self.carriage = Carriage::AnswerOnly;
    }

    /// An event as this round wants to hear it, if it does.
    fn dress(&self, event: &Frame) -> Option<Bytes> {
        if self.carriage == Carriage::AnswerOnly {
            return None;
        }
        if event.is(method::MESSAGE) {
            let log = LogMessage::of(event.params().unwrap_or_default());
            let level = log.and_then(|log| log.level).unwrap_or(LogLevel::Info);
            return self.level.is_some_and(|least| level >= least).then(|| line(event.bytes()));
        }
        if event.is(method::PROGRESS) {
            return self.progress(event);
        }
        // There is no such notification any more.
        (!event.is(method::ELICITATION_COMPLETE)).then(|| line(event.bytes()))
    }

    /// Progress goes under the token of the round that is on.
    fn progress(&self, event: &Frame) -> Option<Bytes> {
        let token = self.token.as_ref()?;
        match event.progress_token() {
            Some(own) if *token == own => Some(line(event.bytes())),
            _ => {
                let at = event.progress_token_span()?;
                event.edit().replace(at, token.raw()).finish().ok().map(|event| line(&event))
            }
        }
    }
}

/// A request in flight, or parked.
pub(crate) struct Call {
    visitor: Arc<Visitor>,
    /// Whether a request of its method may be answered with questions.
    may_ask: bool,
    pub(crate) lacking: Lacking,
    state: Mutex<State>,
}

struct State {
    round: Round,
    messages: Backlog,
    asking: Asking,
    waker: Option<Waker>,
}

impl Call {
    /// A call with answers to questions that were not asked yet.
    pub(crate) fn new(visitor: Arc<Visitor>, may_ask: bool, round: Round, given: Answers) -> Self {
        let asking = Asking::new(given);
        let state = State { round, messages: Backlog::default(), asking, waker: None };
        Self { visitor, may_ask, lacking: Lacking::default(), state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whose call it is.
    pub(crate) fn visitor(&self) -> &Arc<Visitor> {
        &self.visitor
    }

    /// As whom it is counted.
    pub(crate) fn peer_id(&self) -> PeerId {
        let peer = self.state().round.peer.clone();
        self.visitor.principal.at(&peer)
    }

    /// Has the task woken when something is said or asked.
    pub(crate) fn watch(&self, context: &Context<'_>) {
        match &mut self.state().waker {
            Some(waker) => waker.clone_from(context.waker()),
            empty => *empty = Some(context.waker().clone()),
        }
    }

    /// The next message for the client, or when it must be asked something.
    pub(crate) fn next(&self) -> (Option<Bytes>, Option<Due>) {
        let mut state = self.state();
        match state.messages.pop() {
            Some(message) => (Some(message), None),
            None => (None, state.asking.due()),
        }
    }

    /// All open questions as `inputRequests`; the round is over with them.
    pub(crate) fn ask_open(&self) -> Vec<u8> {
        let mut state = self.state();
        state.round.fall_silent();
        state.asking.ask()
    }

    /// Who waits for the client's answers.
    pub(crate) fn asker(&self) -> Option<ServerName> {
        self.state().asking.server()
    }

    /// The client came back.
    pub(crate) fn resume(&self, round: Round, answers: Answers) {
        let mut state = self.state();
        state.round = round;
        state.asking.answer(answers);
    }

    /// The client cannot be asked now.
    pub(crate) fn give_up_asking(&self) {
        self.state().asking.give_up();
    }

    fn wake(&self) {
        let waker = self.state().waker.take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Puts a question to the client, if it can be asked.
    fn put(&self, question: Question, due: Due) -> Reaction {
        if let (AskKind::Roots, Some(roots)) = (question.kind, &self.visitor.roots) {
            return Reaction::Known(Answer::Result(roots.clone()));
        }
        let mut state = self.state();
        let able = state.round.abilities.answer(question.kind);
        if !able {
            self.lacking.note(question.kind);
        }
        if !able || !self.may_ask {
            return Reaction::Known(Answer::Unsupported);
        }
        Reaction::Coming(state.asking.add(question, due))
    }
}

/// What becomes of a question.
enum Reaction {
    Known(Answer),
    Coming(oneshot::Receiver<Answer>),
}

impl Reaction {
    async fn answer(self) -> Answer {
        match self {
            Self::Known(answer) => answer,
            // A call that is given up takes its questions along; nobody reads this then.
            Self::Coming(answer) => answer.await.unwrap_or(Answer::Unsupported),
        }
    }
}

impl Interactor for Call {
    fn scope(&self) -> Scope {
        self.visitor.caller.id.scope()
    }

    fn tell(&self, event: Frame) {
        {
            let mut state = self.state();
            let Some(message) = state.round.dress(&event) else { return };
            state.messages.push(message);
        }
        self.wake();
    }

    fn ask(&self, question: Question) -> BoxFuture<'_, Answer> {
        let reaction = self.put(question, Due::Soon);
        self.wake();
        Box::pin(reaction.answer())
    }

    fn ask_all(&self, questions: Vec<Question>) -> BoxFuture<'_, Vec<Answer>> {
        let put = |question| self.put(question, Due::Now);
        let reactions: Vec<_> = questions.into_iter().map(put).collect();
        self.wake();
        Box::pin(join_all(reactions.into_iter().map(Reaction::answer)))
    }

    fn capabilities(&self) -> Bytes {
        self.visitor.caller.capabilities.clone()
    }

    fn level(&self) -> Option<LogLevel> {
        self.state().round.level
    }
}
