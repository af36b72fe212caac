//! Going through a recording: every message that one side sent, how it was carried and what the
//! headers beside it say.
//!
//! It does NOT excuse anything: who lets a hostile upstream's words pass takes them out of the
//! violations by name.

use std::fmt;

use clap::ValueEnum;
use serde_json::Value;

use super::conversation::{Conversations, Heard};
use super::headers::Sent;
use super::judge::judge;
use super::log::{Carrier, Direction, Entry};
use super::mirrors::Mirrors;
use super::schemas::{Revision, Schemas};

/// Who is checked.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum Side {
    /// The one that serves.
    Server,
    /// The one that asks.
    Client,
}

impl Side {
    fn direction(self) -> Direction {
        match self {
            Side::Server => Direction::ToClient,
            Side::Client => Direction::ToServer,
        }
    }
}

/// What a check found.
#[derive(Debug)]
pub struct Checked {
    /// How many messages were checked: none is no proof.
    pub messages: usize,
    /// What was wrong.
    pub violations: Vec<Violation>,
}

/// A message that does not fit the protocol.
#[derive(Clone, Debug)]
pub struct Violation {
    /// The line of the log, from 1.
    pub line: usize,
    /// Where it was going.
    pub direction: Direction,
    /// The revision it was spoken in.
    pub revision: Revision,
    /// What it is, such as `result of tools/call`.
    pub about: String,
    /// What is wrong with it.
    pub problems: Vec<String>,
    /// The message, or the text that is none.
    pub message: Value,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Violation { line, revision, about, problems, message, .. } = self;
        write!(f, "line {line}, {about} ({revision}): {}\n    {message}", problems.join("; "))
    }
}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} messages, {} violations", self.messages, self.violations.len())?;
        self.violations.iter().try_for_each(|violation| write!(f, "\n{violation}"))
    }
}

/// Checks what `side` sent.
pub(super) fn check(entries: &[Entry], schemas: &Schemas, side: Side) -> Checked {
    let checked = Checked { messages: 0, violations: Vec::new() };
    let mut checker = Checker {
        schemas,
        side,
        known: Conversations::default(),
        mirrors: Mirrors::default(),
        checked,
    };
    for (index, entry) in entries.iter().enumerate() {
        checker.take(index + 1, entry);
    }
    checker.checked
}

struct Checker<'a> {
    schemas: &'a Schemas,
    side: Side,
    known: Conversations,
    mirrors: Mirrors,
    checked: Checked,
}

impl Checker<'_> {
    fn take(&mut self, line: usize, entry: &Entry) {
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
        let heard: Vec<Heard> =
            messages.iter().map(|message| self.known.hear(&place, entry, message)).collect();
        self.learn(messages, &heard);
        if entry.direction != self.side.direction() {
            return;
        }
        let revision = heard.first().map(|heard| heard.revision).or(agreed);
        let revision = revision.unwrap_or(Revision::V2025_11_25);
        let is_batch = matches!(&whole, Some(Value::Array(_)));
        let mut found = vec![Finding {
            about: "carrier".to_owned(),
            revision,
            problems: unreadable.into_iter().chain(carried(entry, revision, is_batch)).collect(),
        }];
        found.extend(messages.iter().zip(&heard).map(|(message, heard)| {
            let (about, problems) = judge(self.schemas, entry.direction, heard, message);
            Finding { about, revision: heard.revision, problems }
        }));
        if let (Some(head), Side::Client) = (&entry.http, self.side) {
            let (message, mirrors) = (messages.first(), &self.mirrors);
            let sent = Sent { head, place: &place, message, revision, agreed, mirrors };
            found.push(Finding {
                about: "headers".to_owned(),
                revision,
                problems: sent.problems(),
            });
        }
        self.checked.messages += messages.len();
        self.report(line, entry, found);
    }

    fn learn(&mut self, messages: &[Value], heard: &[Heard]) {
        for (message, heard) in messages.iter().zip(heard) {
            if heard.answers("tools/list") {
                self.mirrors.learn(&message["result"]);
            }
        }
    }

    fn report(&mut self, line: usize, entry: &Entry, found: Vec<Finding>) {
        let wrong = found.into_iter().filter(|finding| !finding.problems.is_empty());
        self.checked.violations.extend(wrong.map(|finding| Violation {
            line,
            direction: entry.direction,
            revision: finding.revision,
            about: finding.about,
            problems: finding.problems,
            message: shown(entry),
        }));
    }
}

struct Finding {
    about: String,
    revision: Revision,
    problems: Vec<String>,
}

/// What was sent, for a person to read.
fn shown(entry: &Entry) -> Value {
    let message = entry.message.as_ref().map(|raw| raw.get());
    let parsed = message.and_then(|raw| serde_json::from_str(raw).ok());
    parsed.unwrap_or_else(|| message.or(entry.text.as_deref()).into())
}

/// What is wrong with how it was sent.
fn carried(entry: &Entry, revision: Revision, is_batch: bool) -> Vec<String> {
    let header = |name: &str| entry.http.as_ref().and_then(|head| head.headers.get(name));
    let claims_json = header("content-type").is_some_and(|it| it.starts_with("application/json"));
    let is_message = entry.event.as_deref() == Some("message");
    let mut problems = Vec::new();
    if entry.text.is_some() && (entry.carrier == Carrier::Stdio || claims_json || is_message) {
        problems.push("not JSON".to_owned());
    }
    if is_batch && revision != Revision::V2025_03_26 {
        problems.push("batches belong to 2025-03-26 only".to_owned());
    }
    let mints = entry.direction == Direction::ToClient && header("mcp-session-id").is_some();
    if mints && revision.is_modern() {
        problems.push("mcp-session-id: there are no sessions".to_owned());
    }
    problems
}

#[cfg(test)]
mod tests;
