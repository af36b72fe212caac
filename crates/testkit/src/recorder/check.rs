//! Checks every message that one side sent in a recording, with its transport and headers.
//!
//! It makes no exceptions: a test that expects violations, such as those of a hostile server, must
//! remove them by name.

use std::fmt;

use clap::ValueEnum;
use serde_json::Value;

use super::conversation::{ClassifiedMessage, RecordedConversations};
use super::expected_headers::ExpectedHeaders;
use super::headers::ClientHeaderCheck;
use super::log::{MessageDirection, RecordedTransportKind, RecordingEntry};
use super::schemas::{ProtocolSchemas, SchemaRevision};
use super::validator::validate_message;

/// The side of a recording that is checked.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum RecordedSide {
    /// The one that serves.
    Server,
    /// The one that asks.
    Client,
}

impl RecordedSide {
    fn direction(self) -> MessageDirection {
        match self {
            RecordedSide::Server => MessageDirection::ToClient,
            RecordedSide::Client => MessageDirection::ToServer,
        }
    }
}

/// The result of a check.
#[derive(Debug)]
pub struct RecordingReport {
    /// How many messages were checked: none is no proof.
    pub messages: usize,
    /// What was wrong.
    pub violations: Vec<ProtocolViolation>,
}

/// A message that violates the protocol.
#[derive(Clone, Debug)]
pub struct ProtocolViolation {
    /// The line of the log, from 1.
    pub line: usize,
    /// Where it was going.
    pub direction: MessageDirection,
    /// The revision it was spoken in.
    pub revision: SchemaRevision,
    /// What it is, such as `result of tools/call`.
    pub about: String,
    /// What is wrong with it.
    pub problems: Vec<String>,
    /// The message, or the text that is none.
    pub message: Value,
}

impl fmt::Display for ProtocolViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ProtocolViolation { line, revision, about, problems, message, .. } = self;
        write!(f, "line {line}, {about} ({revision}): {}\n    {message}", problems.join("; "))
    }
}

impl fmt::Display for RecordingReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} messages, {} violations", self.messages, self.violations.len())?;
        self.violations.iter().try_for_each(|violation| write!(f, "\n{violation}"))
    }
}

/// Checks what `side` sent.
pub(super) fn check(
    entries: &[RecordingEntry],
    schemas: &ProtocolSchemas,
    side: RecordedSide,
) -> RecordingReport {
    let checked = RecordingReport { messages: 0, violations: Vec::new() };
    let mut checker = RecordingChecker {
        schemas,
        side,
        known: RecordedConversations::default(),
        mirrors: ExpectedHeaders::default(),
        checked,
    };
    for (index, entry) in entries.iter().enumerate() {
        checker.check_entry(index + 1, entry);
    }
    checker.checked
}

/// Checks the entries of one recording in order.
struct RecordingChecker<'a> {
    schemas: &'a ProtocolSchemas,
    side: RecordedSide,
    known: RecordedConversations,
    mirrors: ExpectedHeaders,
    checked: RecordingReport,
}

impl RecordingChecker<'_> {
    fn check_entry(&mut self, line: usize, entry: &RecordingEntry) {
        let parsed = entry.message.as_ref().map(|raw| serde_json::from_str::<Value>(raw.get()));
        let (whole, unreadable) = parsed.map_or((None, None), |parsed| match parsed {
            Ok(whole) => (Some(whole), None),
            Err(error) => (None, Some(error.to_string())),
        });
        let place = self.known.place(entry, whole.as_ref());
        // What was agreed before this message: the one that agrees does not repeat it yet.
        let agreed = self.known.agreed(&place);
        let messages = match &whole {
            Some(Value::Array(batch)) => batch.as_slice(),
            whole => whole.as_slice(),
        };
        let heard: Vec<ClassifiedMessage> =
            messages.iter().map(|message| self.known.classify(&place, entry, message)).collect();
        self.learn(messages, &heard);
        if entry.direction != self.side.direction() {
            return;
        }
        let revision = heard.first().map(|heard| heard.revision).or(agreed);
        let revision = revision.unwrap_or(SchemaRevision::V2025_11_25);
        let is_batch = matches!(&whole, Some(Value::Array(_)));
        let mut found = vec![MessageProblems {
            about: "carrier".to_owned(),
            revision,
            problems: unreadable
                .into_iter()
                .chain(transport_problems(entry, revision, is_batch))
                .collect(),
        }];
        found.extend(messages.iter().zip(&heard).map(|(message, heard)| {
            let (about, problems) = validate_message(self.schemas, entry.direction, heard, message);
            MessageProblems { about, revision: heard.revision, problems }
        }));
        if let (Some(head), RecordedSide::Client) = (&entry.http, self.side) {
            let (message, mirrors) = (messages.first(), &self.mirrors);
            let sent =
                ClientHeaderCheck { head, place: &place, message, revision, agreed, mirrors };
            found.push(MessageProblems {
                about: "headers".to_owned(),
                revision,
                problems: sent.problems(),
            });
        }
        self.checked.messages += messages.len();
        self.report(line, entry, found);
    }

    fn learn(&mut self, messages: &[Value], heard: &[ClassifiedMessage]) {
        for (message, heard) in messages.iter().zip(heard) {
            if heard.answers("tools/list") {
                self.mirrors.learn(&message["result"]);
            }
        }
    }

    fn report(&mut self, line: usize, entry: &RecordingEntry, found: Vec<MessageProblems>) {
        let wrong = found.into_iter().filter(|finding| !finding.problems.is_empty());
        self.checked.violations.extend(wrong.map(|finding| ProtocolViolation {
            line,
            direction: entry.direction,
            revision: finding.revision,
            about: finding.about,
            problems: finding.problems,
            message: shown(entry),
        }));
    }
}

/// The problems found in one message.
struct MessageProblems {
    about: String,
    revision: SchemaRevision,
    problems: Vec<String>,
}

/// What was sent, for a person to read.
fn shown(entry: &RecordingEntry) -> Value {
    let message = entry.message.as_ref().map(|raw| raw.get());
    let parsed = message.and_then(|raw| serde_json::from_str(raw).ok());
    parsed.unwrap_or_else(|| message.or(entry.text.as_deref()).into())
}

/// What is wrong with how it was sent.
fn transport_problems(
    entry: &RecordingEntry,
    revision: SchemaRevision,
    is_batch: bool,
) -> Vec<String> {
    let header = |name: &str| entry.http.as_ref().and_then(|head| head.headers.get(name));
    let claims_json = header("content-type").is_some_and(|it| it.starts_with("application/json"));
    let is_message = entry.event.as_deref() == Some("message");
    let mut problems = Vec::new();
    if entry.text.is_some()
        && (entry.carrier == RecordedTransportKind::Stdio || claims_json || is_message)
    {
        problems.push("not JSON".to_owned());
    }
    if is_batch && revision != SchemaRevision::V2025_03_26 {
        problems.push("batches belong to 2025-03-26 only".to_owned());
    }
    let mints = entry.direction == MessageDirection::ToClient && header("mcp-session-id").is_some();
    if mints && revision.is_modern() {
        problems.push("mcp-session-id: there are no sessions".to_owned());
    }
    problems
}

#[cfg(test)]
mod tests;
