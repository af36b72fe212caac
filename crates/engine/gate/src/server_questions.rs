//! Filters the questions that servers ask callers, with an interactor around the caller's own.
//!
//! Sampling is off unless the server's declaration allows it, and then limited (`sampling`). Forms
//! that ask for secrets are refused, and every question names its server (`elicitation`). A URL to
//! visit is checked and shown with its host, and never fetched (`visit_url`). Hidden text is
//! removed. Questions about roots pass unchanged.
//!
//! A refused question does not end the call: the server learns the reason and may go on without an
//! answer.

mod declined_questions;
mod elicitation;
mod sampling;
mod visit_url;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use toolgate_fleet::Pool;
use toolgate_model::SamplingLimits;
use toolgate_session::{Answer, CallerId, Interactor, Question, QuestionKind, restrict_sampling};
use toolgate_store::StateStore;
use toolgate_wire::view::LogLevel;
use toolgate_wire::{Frame, code};

use crate::{Gate, sanitize};

use declined_questions::DeclinedQuestions;

pub(crate) use sampling::SamplingTracker;
pub(crate) use visit_url::reject_unsafe_urls;

/// The most questions one call may ask, not counting roots.
const MOST: u32 = 32;

/// A caller's interactor, as a server may use it during one request.
pub(crate) struct GuardedInteractor {
    port: Arc<dyn Interactor>,
    limits: Option<SamplingLimits>,
    samplings: Arc<SamplingTracker>,
    decisions: Option<Arc<StateStore>>,
    /// Whether the caller was answering a sampling request when this request arrived, which may be
    /// part of that answer.
    nested: bool,
    /// The most questions, and how many were asked. Roots do not count.
    most: u32,
    asked: AtomicU32,
    declared: OnceLock<Bytes>,
    /// The questions that the caller's client does not support.
    pub(crate) declined: DeclinedQuestions,
}

/// An admitted question, with the guard to release once it is answered.
type AdmittedQuestion = (Question, Option<sampling::SamplingGuard>);

impl Gate {
    /// Returns the interactor for a server that handles a request of the caller behind `port`.
    pub(crate) fn guard_interactor(
        &self,
        pool: &Pool,
        port: Arc<dyn Interactor>,
    ) -> Arc<GuardedInteractor> {
        let nested = self.samplings.is_answering(port.scope());
        Arc::new(GuardedInteractor {
            limits: pool.sampling(),
            decisions: self.stores.get().map(|stores| stores.decisions.clone()),
            nested,
            most: MOST,
            ..GuardedInteractor::new(port, self.samplings.clone())
        })
    }
}

/// Returns the interactor for a caller's own servers outside any call. It allows no sampling and
/// does not count questions.
pub(crate) fn guard_ambient(port: Arc<dyn Interactor>) -> Arc<dyn Interactor> {
    Arc::new(GuardedInteractor::new(port, Arc::default()))
}

impl GuardedInteractor {
    fn new(port: Arc<dyn Interactor>, samplings: Arc<SamplingTracker>) -> Self {
        Self {
            port,
            limits: None,
            samplings,
            decisions: None,
            nested: false,
            most: u32::MAX,
            asked: AtomicU32::new(0),
            declared: OnceLock::new(),
            declined: DeclinedQuestions::default(),
        }
    }

    /// Checks whether a question may be asked, and returns it as it may be asked.
    async fn admit(&self, question: Question) -> Result<AdmittedQuestion, Answer> {
        if question.kind == QuestionKind::Roots {
            return Ok((question, None));
        }
        let why = "a call may ask at most 32 questions";
        match self.asked.fetch_add(1, Ordering::Relaxed) {
            before if before < self.most => {}
            before if before == self.most => return Err(refuse_question(&question, why)),
            _ => return Err(refusal(why)), // logged only once, so that a server cannot fill the log
        }
        match question.kind {
            QuestionKind::Roots => Ok((question, None)),
            QuestionKind::Form => Ok((elicitation::form(question)?, None)),
            QuestionKind::Url => Ok((elicitation::visit(question)?, None)),
            QuestionKind::Sampling => {
                let (question, under_way) = self.sample(question).await?;
                Ok((question, Some(under_way)))
            }
        }
    }

    async fn ask_admitted(&self, questions: Vec<Question>) -> Vec<Answer> {
        let mut answers: Vec<Option<Answer>> = Vec::with_capacity(questions.len());
        let kinds: Vec<_> = questions.iter().map(|question| question.kind).collect();
        let (mut put, mut under_way) = (Vec::new(), Vec::new());
        for question in questions {
            answers.push(match self.admit(question).await {
                Ok((question, held)) => {
                    put.push(question);
                    under_way.extend(held);
                    None
                }
                Err(answer) => Some(answer),
            });
        }
        let mut given = match put.is_empty() {
            true => Vec::new(),
            false => self.port.ask_all(put).await, // all questions of a round together
        }
        .into_iter();
        let answered = |answer: Option<Answer>| answer.or_else(|| given.next());
        let answers = answers.into_iter().map(answered);
        let answers: Vec<_> = answers.map(|it| it.unwrap_or(Answer::Unsupported)).collect();
        kinds.into_iter().zip(&answers).for_each(|(kind, answer)| self.declined.note(kind, answer));
        answers
    }
}

impl Interactor for GuardedInteractor {
    fn scope(&self) -> CallerId {
        self.port.scope()
    }

    fn tell(&self, event: Frame) {
        self.port.tell(sanitize::notification(event));
    }

    fn ask(&self, question: Question) -> BoxFuture<'_, Answer> {
        Box::pin(async move {
            match self.admit(question).await {
                // The guard is released when the question is answered or the future is dropped.
                Ok((question, _under_way)) => {
                    let kind = question.kind;
                    let answer = self.port.ask(question).await;
                    self.declined.note(kind, &answer);
                    answer
                }
                Err(answer) => answer,
            }
        })
    }

    fn ask_all(&self, questions: Vec<Question>) -> BoxFuture<'_, Vec<Answer>> {
        Box::pin(self.ask_admitted(questions))
    }

    fn capabilities(&self) -> Bytes {
        let offered = || restrict_sampling(self.port.capabilities(), self.limits.is_some());
        self.declared.get_or_init(offered).clone()
    }

    fn level(&self) -> Option<LogLevel> {
        self.port.level()
    }
}

/// Logs a refused question and returns the answer for its server.
fn refuse_question(question: &Question, why: &str) -> Answer {
    let Question { server, kind, .. } = question;
    tracing::warn!(target: "toolgate::gate", %server, ?kind, "a question was refused: {why}");
    refusal(why)
}

fn refusal(why: &str) -> Answer {
    Answer::Failure { code: code::REFUSED, message: why.to_owned(), data: None }
}

/// Returns the question with other parameters. Without usable ones, it is refused.
fn with_params(question: Question, params: Option<Bytes>) -> Result<Question, Answer> {
    let frame = question
        .frame
        .params_span()
        .zip(params)
        .and_then(|(at, params)| question.frame.edit().replace(at, params).finish_frame().ok());
    match frame {
        Some(frame) => Ok(Question { frame, ..question }),
        None => Err(refuse_question(&question, "the question has no usable parameters")),
    }
}
