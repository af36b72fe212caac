//! What servers may ask of callers: a port around the caller's own, for every request that is sent.
//!
//! Sampling is off unless the server's entry allows it, and then bounded (`sampling`). Forms that
//! ask for secrets are refused, and every question says whose it is (`elicitation`); an address to
//! visit is judged and shown by its host, and nobody here ever fetches it (`address`). What passes
//! loses what nobody would see. Roots are the caller's own affair.
//!
//! A refused question is the server's loss, not the call's: it hears why, and may go on without.

mod address;
mod declined;
mod elicitation;
mod sampling;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use toolgate_fleet::Pool;
use toolgate_model::SamplingLimits;
use toolgate_session::{Answer, AskKind, Interactor, Question, Scope, declared};
use toolgate_store::Decisions;
use toolgate_wire::view::LogLevel;
use toolgate_wire::{Frame, code};

use crate::{Gate, text};

use declined::Declined;

pub(crate) use address::vetted;
pub(crate) use sampling::Samplings;

/// How many questions one call may ask, roots aside.
const MOST: u32 = 32;

/// A caller's port, as a server may use it during one request.
pub(crate) struct Asks {
    port: Arc<dyn Interactor>,
    limits: Option<SamplingLimits>,
    samplings: Arc<Samplings>,
    decisions: Option<Arc<dyn Decisions>>,
    /// Whether the caller was answering a completion when the request came: it may be part of that.
    nested: bool,
    asked: AtomicU32,
    declared: OnceLock<Bytes>,
    /// What the caller's client does not support.
    pub(crate) declined: Declined,
}

/// A question on its way, with what must be given back once it is answered.
type Admitted = (Question, Option<sampling::UnderWay>);

impl Gate {
    /// The port that a server gets for a request of the one behind `port`.
    pub(crate) fn guarded(&self, pool: &Pool, port: Arc<dyn Interactor>) -> Arc<Asks> {
        let samplings = self.samplings.clone();
        let decisions = self.books.get().map(|books| books.decisions.clone());
        let nested = samplings.is_answering(port.scope());
        let (limits, asked, declared) = (pool.sampling(), AtomicU32::new(0), OnceLock::new());
        let declined = Declined::default();
        Arc::new(Asks { port, limits, samplings, decisions, nested, asked, declared, declined })
    }
}

/// The port that servers of one caller get outside any call: no model is asked then.
pub(crate) fn outside(port: Arc<dyn Interactor>) -> Arc<dyn Interactor> {
    let (samplings, asked, declared) = (Arc::default(), AtomicU32::new(0), OnceLock::new());
    Arc::new(Ambient(Asks {
        port,
        limits: None,
        samplings,
        decisions: None,
        nested: false,
        asked,
        declared,
        declined: Declined::default(),
    }))
}

impl Asks {
    /// Whether a question may be put, and how it is put then.
    async fn admit(&self, question: Question) -> Result<Admitted, Answer> {
        if question.kind == AskKind::Roots {
            return Ok((question, None));
        }
        let why = "one call asks no more than 32 questions";
        match self.asked.fetch_add(1, Ordering::Relaxed) {
            before if before < MOST => {}
            MOST => return Err(refused(&question, why)),
            _ => return Err(refusal(why)), // logged once: whoever asks on must not fill a log
        }
        self.judge(question).await
    }

    async fn judge(&self, question: Question) -> Result<Admitted, Answer> {
        match question.kind {
            AskKind::Roots => Ok((question, None)),
            AskKind::Form => Ok((elicitation::form(question)?, None)),
            AskKind::Url => Ok((elicitation::visit(question)?, None)),
            AskKind::Sampling => {
                let (question, under_way) = self.sample(question).await?;
                Ok((question, Some(under_way)))
            }
        }
    }

    async fn put_all(&self, questions: Vec<Question>) -> Vec<Answer> {
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
            false => self.port.ask_all(put).await, // those of a round together
        }
        .into_iter();
        let answered = |answer: Option<Answer>| answer.or_else(|| given.next());
        let answers = answers.into_iter().map(answered);
        let answers: Vec<_> = answers.map(|it| it.unwrap_or(Answer::Unsupported)).collect();
        kinds.into_iter().zip(&answers).for_each(|(kind, answer)| self.declined.note(kind, answer));
        answers
    }
}

impl Interactor for Asks {
    fn scope(&self) -> Scope {
        self.port.scope()
    }

    fn tell(&self, event: Frame) {
        self.port.tell(text::told(event));
    }

    fn ask(&self, question: Question) -> BoxFuture<'_, Answer> {
        Box::pin(async move {
            match self.admit(question).await {
                // What is held goes back when it is answered, or nobody waits any more.
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
        Box::pin(self.put_all(questions))
    }

    fn capabilities(&self) -> Bytes {
        let offered = || declared(self.port.capabilities(), self.limits.is_some());
        self.declared.get_or_init(offered).clone()
    }

    fn level(&self) -> Option<LogLevel> {
        self.port.level()
    }
}

/// The same outside any call, where there is no end to count questions to.
struct Ambient(Asks);

impl Interactor for Ambient {
    fn scope(&self) -> Scope {
        self.0.scope()
    }

    fn tell(&self, event: Frame) {
        self.0.tell(event);
    }

    fn ask(&self, question: Question) -> BoxFuture<'_, Answer> {
        Box::pin(async move {
            match self.0.judge(question).await {
                Ok((question, _under_way)) => self.0.port.ask(question).await,
                Err(answer) => answer,
            }
        })
    }

    fn capabilities(&self) -> Bytes {
        self.0.capabilities()
    }

    fn level(&self) -> Option<LogLevel> {
        self.0.level()
    }
}

/// What a server is told whose question was not put.
fn refused(question: &Question, why: &str) -> Answer {
    let Question { server, kind, .. } = question;
    tracing::warn!(target: "toolgate::gate", %server, ?kind, "a question was refused: {why}");
    refusal(why)
}

fn refusal(why: &str) -> Answer {
    Answer::Failure { code: code::REFUSED, message: why.to_owned(), data: None }
}

/// A question with other parameters.
fn reworded(question: Question, params: &[u8]) -> Result<Question, Answer> {
    let at = question.frame.params_span();
    let frame = at.and_then(|at| question.frame.edit().replace(at, params).frame().ok());
    match frame {
        Some(frame) => Ok(Question { frame, ..question }),
        None => Err(refused(&question, "it asks for nothing")),
    }
}
