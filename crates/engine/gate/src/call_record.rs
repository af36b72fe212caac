//! Steps: record the intent in the journal before a request is sent, and the outcome after.
//!
//! In the governed posture, a request that may change something is on disk before it is sent.
//! Otherwise records are written in batches, and only the first one after a pause waits for the
//! disk, because the journal may have become unwritable since. While the journal cannot be written,
//! only reads pass. Every request that was sent gets an outcome, also if its caller gave up. A
//! failure to record the outcome never turns a result into an error.

use std::time::Instant;

use memchr::memmem;
use toolgate_journal::{
    Journal, JournalError, JournalEvent, JournalOutcome, JournalPosition, JournalRecord,
    params_digest,
};
use toolgate_model::Effect;
use toolgate_policy::SCHEMA_MISMATCH;
use toolgate_wire::{Frame, MessageKind, code, scan};

use crate::Gate;
use crate::decide::{CallContext, CallTarget};
use crate::error::{CallError, Denial};
use crate::params::RequestParams;

const OFF_THE_RECORD: &str = "not sent: the journal could not be written in time";
const UNSENT: &str = "not sent: the server was replaced; the request is decided again";
/// The most bytes of a server's error that are recorded.
const MOST_DETAIL: usize = 512;

impl CallContext<'_> {
    fn record<'r>(&'r self, event: JournalEvent<'r>) -> JournalRecord<'r> {
        JournalRecord {
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
    /// Appends a decision to the journal; `None` if there is no journal.
    fn append_decision(
        &self,
        call: &CallTarget<'_>,
        effect: Effect,
        because: &str,
    ) -> Option<Result<JournalPosition, JournalError>> {
        let context = &call.context;
        tracing::debug!(
            target: "toolgate::gate", id = %context.id, effect = effect.as_str(), "decided: {because}"
        );
        let journal = self.journal()?;
        let (method, RequestParams { arguments, others }) =
            (context.request.method(), context.params);
        Some(journal.append(&context.record(JournalEvent::Decided {
            effect,
            because,
            method: method.as_deref().unwrap_or_default(),
            definition: call.definition.as_ref(),
            arguments_digest: Some(&params_digest(arguments, others)),
            arguments,
            other_params: others,
            read_only: call.attributes.read_only,
            tags: &call.attributes.tags,
        })))
    }

    /// Records a decision after which nothing is sent.
    pub(crate) fn record_decision(&self, call: &CallTarget<'_>, effect: Effect, because: &str) {
        if let Some(Err(error)) = self.append_decision(call, effect, because) {
            tracing::error!(target: "toolgate::gate", "cannot record a decision: {error}");
        }
    }

    /// Records that the arguments of a call do not fit its schema.
    pub(crate) fn record_misfit(&self, context: &CallContext<'_>) {
        if let Some(call) = context.target() {
            self.record_decision(&call, Effect::Deny, SCHEMA_MISMATCH);
        }
    }

    /// Records the outcome of a question.
    pub(crate) fn record_approval(
        &self,
        context: &CallContext<'_>,
        id: &str,
        choice: &str,
        by: &str,
    ) {
        let Some(journal) = self.journal() else { return };
        if let Err(error) =
            journal.append(&context.record(JournalEvent::Approved { id, choice, by }))
        {
            tracing::error!(target: "toolgate::gate", "cannot record an approval: {error}");
        }
    }

    /// Records that a request is about to be sent. A read-only request is sent even if that fails.
    pub(crate) async fn record_intent<'a>(
        &'a self,
        call: &'a CallTarget<'a>,
        because: &str,
    ) -> Result<CallRecordGuard<'a>, Denial> {
        let (context, read_only) = (&call.context, call.attributes.read_only);
        let taken = self.append_decision(call, Effect::Allow, because);
        let written = match (taken, self.journal()) {
            (Some(Ok(ticket)), Some(journal))
                if !read_only
                    && (context.view.governance.is_governed() || !journal.is_recently_synced()) =>
            {
                Box::pin(journal.wait_durable(ticket)).await
            }
            (Some(taken), _) => taken.map(drop),
            (None, _) => Ok(()),
        };
        match written {
            Err(error) if !read_only => {
                // The intent may still be written later. In that case so is this denial.
                self.record_decision(call, Effect::Deny, OFF_THE_RECORD);
                Err(Denial::journal_unavailable(&error))
            }
            _ => Ok(CallRecordGuard { journal: self.journal(), context, begun: Instant::now() }),
        }
    }
}

/// A request that was sent and whose outcome is not recorded yet.
pub(crate) struct CallRecordGuard<'a> {
    journal: Option<&'a Journal>,
    context: &'a CallContext<'a>,
    begun: Instant,
}

impl CallRecordGuard<'_> {
    /// Records the outcome.
    pub(crate) fn finish(mut self, answer: &Result<Frame, CallError>) {
        if let Some(journal) = self.journal.take() {
            let (outcome, detail, bytes) = classify_outcome(answer);
            self.write(journal, outcome, detail, bytes);
        }
    }

    fn write(&self, journal: &Journal, outcome: JournalOutcome, detail: &str, bytes: u64) {
        let micros = u64::try_from(self.begun.elapsed().as_micros()).unwrap_or(u64::MAX);
        let event = JournalEvent::Done { outcome, detail, micros, bytes };
        if let Err(error) = journal.append(&self.context.record(event)) {
            tracing::error!(target: "toolgate::gate", "cannot record an outcome: {error}");
        }
    }
}

impl Drop for CallRecordGuard<'_> {
    /// Records that the caller gave up.
    fn drop(&mut self) {
        if let Some(journal) = self.journal.take() {
            self.write(journal, JournalOutcome::Cancelled, "", 0);
        }
    }
}

/// Returns how a request ended, the error text, and the size of the answer.
fn classify_outcome(answer: &Result<Frame, CallError>) -> (JournalOutcome, &str, u64) {
    let answer = match answer {
        Ok(answer) => answer,
        Err(CallError::Denied(_) | CallError::Replaced(_)) => {
            return (JournalOutcome::Error, UNSENT, 0);
        }
        Err(CallError::Failed(refusal)) => {
            let outcome = match refusal.rpc_code {
                code::REQUEST_TIMEOUT => JournalOutcome::TimedOut,
                code::CONNECTION_CLOSED => JournalOutcome::Unknown,
                _ => JournalOutcome::Error,
            };
            return (outcome, shortened(&refusal.message), 0);
        }
    };
    let bytes = answer.bytes().len() as u64;
    let result = answer.result().unwrap_or_default();
    match answer.kind() {
        MessageKind::Failure => {
            let error = answer.error().and_then(|error| std::str::from_utf8(error).ok());
            (JournalOutcome::Error, shortened(error.unwrap_or_default()), bytes)
        }
        _ if says_error(result) => (JournalOutcome::ToolError, "", bytes),
        _ => (JournalOutcome::Ok, "", bytes),
    }
}

fn shortened(detail: &str) -> &str {
    &detail[..detail.floor_char_boundary(MOST_DETAIL)]
}

/// Returns true if a result is marked as an error. Few contain the key, and those are short.
fn says_error(result: &[u8]) -> bool {
    memmem::find(result, b"\"isError\"").is_some()
        && scan::member(result, "isError").is_some_and(|at| at.slice(result) == b"true")
}
