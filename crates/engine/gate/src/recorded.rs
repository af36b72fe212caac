//! Steps: the intent in the journal before a request is sent, the outcome after.
//!
//! In the governed posture whatever may change something is on disk before it is sent. Elsewhere
//! records are written together, soon, and only who comes first after a pause waits for the disk:
//! nobody knows whether it can still be written. A journal that cannot be written stops everything but
//! reading. What was sent has an outcome: also one that its caller gave up, and also if that cannot
//! be written down any more, which never turns it into an error.

use std::time::Instant;

use memchr::memmem;
use toolgate_model::Effect;
use toolgate_policy::MISFIT;
use toolgate_store::journal::{Event, Outcome, Record, params_digest};
use toolgate_store::{Journal, StoreError};
use toolgate_wire::{Frame, Kind, code, scan};

use crate::Gate;
use crate::decide::{Matter, Ruling, Subject};
use crate::params::Params;
use crate::refusal::{Refused, Stop};

const OFF_THE_RECORD: &str = "the journal could not be written in time: it was not sent";
const UNSENT: &str = "not sent: its server was replaced meanwhile; decided anew";
/// How much of what a server says of an error is put on record.
const MOST_DETAIL: usize = 512;

impl Matter<'_> {
    fn record<'r>(&'r self, event: Event<'r>) -> Record<'r> {
        Record {
            event,
            call: self.number,
            caller: &self.caller.person,
            client: &self.caller.client.name,
            profile: &self.caller.profile,
            about: Some(self.id),
        }
    }
}

impl Gate {
    /// Puts a decision on record. `None` where no journal is kept.
    fn append_decision(
        &self,
        matter: &Matter<'_>,
        subject: &Subject<'_>,
        effect: Effect,
        because: &str,
    ) -> Option<Result<toolgate_store::journal::Ticket, StoreError>> {
        tracing::debug!(
            target: "toolgate::gate", id = %matter.id, effect = effect.as_str(), "decided: {because}"
        );
        let journal = self.journal()?;
        let (method, Params { arguments, others }) = (matter.request.method(), matter.params);
        Some(journal.append(&matter.record(Event::Decided {
            effect,
            because,
            method: method.as_deref().unwrap_or_default(),
            definition: subject.definition.as_ref(),
            arguments_digest: Some(&params_digest(arguments, others)),
            arguments,
            other_params: others,
            read_only: subject.marks.read_only,
            tags: &subject.marks.tags,
        })))
    }

    /// Puts a decision on record after which nothing is sent.
    pub(crate) fn record_decision(
        &self,
        matter: &Matter<'_>,
        subject: &Subject<'_>,
        effect: Effect,
        because: &str,
    ) {
        if let Some(Err(error)) = self.append_decision(matter, subject, effect, because) {
            tracing::error!(target: "toolgate::gate", "not on record: failed to {error}");
        }
    }

    /// Puts on record that the arguments of a call do not fit.
    pub(crate) fn record_misfit(&self, matter: &Matter<'_>) {
        if let Some(subject) = matter.subject() {
            self.record_decision(matter, &subject, Effect::Deny, MISFIT);
        }
    }

    /// Puts on record what came of a question.
    pub(crate) fn record_approval(&self, matter: &Matter<'_>, id: &str, choice: &str, by: &str) {
        let Some(journal) = self.journal() else { return };
        if let Err(error) = journal.append(&matter.record(Event::Approved { id, choice, by })) {
            tracing::error!(target: "toolgate::gate", "not on record: failed to {error}");
        }
    }

    /// Puts on record that a request is about to be sent. What only reads is sent even if that
    /// fails.
    pub(crate) async fn intended<'a>(
        &'a self,
        matter: &'a Matter<'a>,
        subject: &Subject<'_>,
        ruling: &Ruling,
    ) -> Result<UnderWay<'a>, Refused> {
        let read_only = subject.marks.read_only;
        let taken = self.append_decision(matter, subject, Effect::Allow, &ruling.because);
        let written = match (taken, self.journal()) {
            (Some(Ok(ticket)), Some(journal))
                if !read_only && (matter.view.governing.is_governed() || !journal.is_proven()) =>
            {
                Box::pin(journal.durable(ticket)).await
            }
            (Some(taken), _) => taken.map(drop),
            (None, _) => Ok(()),
        };
        match written {
            Err(error) if !read_only => {
                // The intent may be written later all the same; then this is, too.
                self.record_decision(matter, subject, Effect::Deny, OFF_THE_RECORD);
                Err(Refused::off_the_record(&error))
            }
            _ => Ok(UnderWay { journal: self.journal(), matter, begun: Instant::now() }),
        }
    }
}

/// A request that was sent, until its outcome is on record.
pub(crate) struct UnderWay<'a> {
    journal: Option<&'a Journal>,
    matter: &'a Matter<'a>,
    begun: Instant,
}

impl UnderWay<'_> {
    /// Puts the outcome on record.
    pub(crate) fn over(mut self, answer: &Result<Frame, Stop>) {
        if let Some(journal) = self.journal.take() {
            let (outcome, detail, bytes) = outcome(answer);
            self.write(journal, outcome, detail, bytes);
        }
    }

    fn write(&self, journal: &Journal, outcome: Outcome, detail: &str, bytes: u64) {
        let micros = u64::try_from(self.begun.elapsed().as_micros()).unwrap_or(u64::MAX);
        let event = Event::Done { outcome, detail, micros, bytes };
        if let Err(error) = journal.append(&self.matter.record(event)) {
            tracing::error!(target: "toolgate::gate", "not on record: failed to {error}");
        }
    }
}

impl Drop for UnderWay<'_> {
    /// Its caller gave it up.
    fn drop(&mut self) {
        if let Some(journal) = self.journal.take() {
            self.write(journal, Outcome::Cancelled, "", 0);
        }
    }
}

/// How a request ended, what was said, and how much came back.
fn outcome(answer: &Result<Frame, Stop>) -> (Outcome, &str, u64) {
    let answer = match answer {
        Ok(answer) => answer,
        Err(Stop::Refused(_) | Stop::Replaced(_)) => return (Outcome::Error, UNSENT, 0),
        Err(Stop::Failed(refusal)) => {
            let outcome = match refusal.code {
                code::REQUEST_TIMEOUT => Outcome::TimedOut,
                code::CONNECTION_CLOSED => Outcome::Unknown,
                _ => Outcome::Error,
            };
            return (outcome, shortened(&refusal.message), 0);
        }
    };
    let bytes = answer.bytes().len() as u64;
    let result = answer.result().unwrap_or_default();
    match answer.kind() {
        Kind::Failure => {
            let error = answer.error().and_then(|error| std::str::from_utf8(error).ok());
            (Outcome::Error, shortened(error.unwrap_or_default()), bytes)
        }
        _ if says_error(result) => (Outcome::ToolError, "", bytes),
        _ => (Outcome::Ok, "", bytes),
    }
}

fn shortened(detail: &str) -> &str {
    &detail[..detail.floor_char_boundary(MOST_DETAIL)]
}

/// Whether a result says that it is an error. Few do, and those are short.
fn says_error(result: &[u8]) -> bool {
    memmem::find(result, b"\"isError\"").is_some()
        && scan::member(result, "isError").is_some_and(|at| at.of(result) == b"true")
}
