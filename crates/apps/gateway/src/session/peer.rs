//! The client at the other end of a session: what it can be asked, what it wants to hear, what is
//! open between the two.
//!
//! It knows nothing of the servers: calls and the caller's own servers reach the client through
//! it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use toolgate_host::question_for;
use toolgate_transport::refill::Refill;
use toolgate_wire::view::{LogLevel, LogMessage};
use toolgate_wire::{Frame, Revision, line, method};

use super::abilities::Abilities;
use super::asks::Asks;
use super::flights::Flights;
use super::{Reply, Written};
use crate::upstreams::{Answer, AskKind, Interactor, Question, Scope};

/// Where messages to the client go. They are single lines.
pub(crate) trait Outlet: Send + Sync {
    /// Sends a message, or keeps it until it can be sent.
    fn send(&self, message: Bytes);

    /// Sends a large message; it is read as it is written.
    fn send_large(&self, message: Refill);

    /// Sends an answer.
    fn answer(&self, reply: Reply) {
        match reply.into_line() {
            Written::Small(line) => self.send(line),
            Written::Large(line) => self.send_large(line),
        }
    }
}

/// What a client hears before it has said what it wants: enough to know what goes on, without the
/// details only a developer asks for.
const DEFAULT_LEVEL: LogLevel = LogLevel::Info;

/// What a modern server is told of the client's abilities, raw.
struct Told {
    all: Bytes,
    /// Where nothing can be asked.
    unasked: Bytes,
}

/// The client of one session.
pub(crate) struct Peer {
    scope: Scope,
    revision: Revision,
    abilities: Abilities,
    told: Told,
    /// What is configured to answer `roots/list`, whatever the client would say.
    roots: Option<Bytes>,
    level: AtomicU8,
    outlet: Arc<dyn Outlet>,
    pub(crate) asks: Asks,
    pub(crate) flights: Flights,
}

impl Peer {
    pub(crate) fn new(
        scope: Scope,
        revision: Revision,
        capabilities: &[u8],
        roots: Option<Bytes>,
        outlet: Arc<dyn Outlet>,
    ) -> Self {
        let abilities = Abilities::of(capabilities);
        let with_roots = |abilities: Abilities| abilities.with_roots(roots.is_some());
        let told = Told {
            all: with_roots(abilities).told(capabilities),
            unasked: with_roots(Abilities::default()).told(capabilities),
        };
        Self {
            scope,
            revision,
            abilities,
            told,
            roots,
            level: AtomicU8::new(DEFAULT_LEVEL as u8),
            outlet,
            asks: Asks::default(),
            flights: Flights::default(),
        }
    }

    pub(crate) fn scope(&self) -> Scope {
        self.scope
    }

    /// Sends a message that belongs to no call.
    pub(crate) fn send(&self, message: Bytes) {
        self.outlet.send(message);
    }

    pub(crate) fn set_level(&self, level: LogLevel) {
        self.level.store(level as u8, Ordering::Relaxed);
    }

    /// The least level of log messages that is wanted.
    pub(crate) fn level(&self) -> LogLevel {
        let least = self.level.load(Ordering::Relaxed);
        LogLevel::ALL.into_iter().find(|level| *level as u8 == least).unwrap_or(DEFAULT_LEVEL)
    }

    /// What a modern server is told of the client, if there is a way to ask it or not.
    pub(crate) fn told(&self, askable: bool) -> Bytes {
        if askable { self.told.all.clone() } else { self.told.unasked.clone() }
    }

    /// Whether log messages of this level are wanted.
    pub(crate) fn admits(&self, level: LogLevel) -> bool {
        level as u8 >= self.level.load(Ordering::Relaxed)
    }

    /// Whether this notification is wanted: all are, but for log messages below the level.
    pub(crate) fn wants(&self, event: &Frame) -> bool {
        if !event.is(method::MESSAGE) {
            return true;
        }
        let level = LogMessage::of(event.params().unwrap_or_default()).and_then(|log| log.level);
        level.is_none_or(|level| self.admits(level))
    }

    /// Puts a question to the client, if there is a way to it and it declared that it can be
    /// asked this.
    pub(crate) fn put<'a>(
        &'a self,
        question: Question,
        way: Option<&'a dyn Outlet>,
    ) -> BoxFuture<'a, Answer> {
        match (&self.roots, way) {
            (Some(roots), _) if question.kind == AskKind::Roots => {
                answered(Answer::Result(roots.clone()))
            }
            (_, Some(way)) if self.abilities.answer(question.kind) => {
                let frame = question_for(question.frame, self.revision);
                Box::pin(self.asks.ask(Question { frame, ..question }, way))
            }
            _ => answered(Answer::Unsupported),
        }
    }
}

fn answered<'a>(answer: Answer) -> BoxFuture<'a, Answer> {
    Box::pin(std::future::ready(answer))
}

/// Speaks for the client outside any call.
impl Interactor for Peer {
    fn scope(&self) -> Scope {
        self.scope
    }

    fn tell(&self, event: Frame) {
        if self.wants(&event) {
            self.send(line(event.bytes()));
        }
    }

    fn ask(&self, question: Question) -> BoxFuture<'_, Answer> {
        self.put(question, Some(self.outlet.as_ref()))
    }

    fn capabilities(&self) -> Bytes {
        self.told(true)
    }

    fn level(&self) -> Option<LogLevel> {
        Some(self.level())
    }
}
