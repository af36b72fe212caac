//! Parses the records of the journal, for `audit`, `policy replay`, `score` and `report`.
//!
//! Parsing does not verify a record: [`crate::verify()`] finds changes.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use toolgate_model::{CapabilityKind, Digest, Effect, time};

use crate::{JournalOutcome, params_digest};

/// One record of the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalEntry {
    /// Its chain. Each writing process has one.
    pub chain: Arc<str>,
    /// Its number in the chain, from 1.
    pub seq: u64,
    /// Its time in milliseconds since 1970, by the system clock.
    pub ms: u64,
    /// Its time in microseconds since the chain began, by a monotonic clock.
    pub mono: u64,
    /// The number of its call, unique in the chain, or 0 for none.
    pub call: u64,
    /// The caller. Empty for events without a call.
    pub caller: String,
    /// The caller's client.
    pub client: String,
    /// The caller's profile.
    pub profile: String,
    /// The server. Empty for events without one.
    pub server: String,
    /// The kind of the capability, if any.
    pub kind: Option<CapabilityKind>,
    /// The server's own name of the capability. Empty for events without one.
    pub name: String,
    /// The event.
    pub event: EntryEvent,
    /// The line in the file. Empty if the record was inferred (see [`JournalEntry::is_written`]).
    pub line: String,
}

/// The event of a record.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
#[non_exhaustive]
pub enum EntryEvent {
    /// A call was decided.
    #[serde(skip_deserializing)]
    Decided(DecidedCall),
    /// A request for approval was answered or ended.
    Approved {
        /// The approval's id.
        id: String,
        /// `once`, `tool`, `server`, `deny`, `expired`, `cancelled`.
        choice: String,
        /// Who made the choice.
        by: String,
    },
    /// A call ended.
    Done {
        /// The outcome. It is [`JournalOutcome::Unknown`] if the process ended before it wrote one.
        outcome: JournalOutcome,
        /// The message of an error.
        detail: String,
        /// How long the server took, in microseconds.
        micros: u64,
        /// The size of the result in bytes.
        bytes: u64,
    },
    /// Another event.
    #[serde(skip_deserializing)]
    Noted {
        /// The kind of event, in one word.
        kind: String,
        /// The details, as JSON.
        detail: String,
    },
    /// The chain begins.
    Opened {
        /// The version of toolgate that wrote the chain.
        #[serde(rename = "toolgate")]
        version: String,
    },
    /// A further segment begins.
    Continued {
        /// The number of the segment.
        segment: u64,
    },
    /// A segment ends, because it is full or because the process shut down.
    Closed {
        /// Whether the chain ends with this segment.
        end: bool,
        /// The number of records in the segment, including this one.
        records: u64,
    },
}

/// A decision about a call, with the call's details.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DecidedCall {
    /// The effect of the decision.
    pub effect: Effect,
    /// The reason for the decision.
    pub because: String,
    /// The MCP method.
    pub method: String,
    /// The digest of the definition.
    pub definition: Option<Digest>,
    /// The digest of the arguments and the other parameters, as sent.
    pub arguments_digest: Option<Digest>,
    /// The redacted arguments, as JSON. `None` if they were too long or there were none.
    #[serde(default, deserialize_with = "raw_json")]
    pub arguments: Option<String>,
    /// The summary of arguments that were too long.
    pub oversize: Option<OversizeJournalValue>,
    /// The redacted other parameters that reached the server, as JSON. `None` if they were too long
    /// or there were none.
    #[serde(default, deserialize_with = "raw_json")]
    pub other_params: Option<String>,
    /// The summary of other parameters that were too long.
    pub other_params_oversize: Option<Box<OversizeJournalValue>>,
    /// Whether the call is read-only.
    pub read_only: bool,
    /// The tags of the capability.
    pub tags: Vec<String>,
}

impl DecidedCall {
    /// Returns true if the record contains the arguments and other parameters exactly as sent:
    /// nothing was too long or redacted.
    pub fn is_complete(&self) -> bool {
        let others = self.other_params.as_deref().unwrap_or_default();
        match (&self.arguments, &self.arguments_digest) {
            (Some(arguments), Some(digest)) => {
                params_digest(arguments.as_bytes(), others.as_bytes()) == *digest
            }
            (arguments, None) => arguments.is_some() && self.other_params_oversize.is_none(),
            (None, Some(_)) => false,
        }
    }
}

/// The summary of a value that is too long for the journal.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct OversizeJournalValue {
    /// Its length in bytes.
    pub bytes: u64,
    /// Its digest.
    pub digest: String,
    /// Its beginning, redacted.
    pub head: String,
}

impl JournalEntry {
    /// Returns the time as RFC 3339 in UTC.
    pub fn time(&self) -> String {
        time::rfc3339(self.ms)
    }

    /// Returns true if the record is in the file. Otherwise it was inferred: it is the outcome of a
    /// call whose process ended before it wrote one.
    pub fn is_written(&self) -> bool {
        !self.line.is_empty()
    }

    /// Parses a line.
    pub(crate) fn parse(chain: &Arc<str>, line: String) -> Result<Self, String> {
        let invalid = |error: serde_json::Error| error.to_string();
        let read: RecordJson<'_> = serde_json::from_str(&line).map_err(invalid)?;
        let event = parse_event(read.event.get()).map_err(invalid)?;
        let ms = time::parse_rfc3339(&read.ts).ok_or("`ts` is not a valid time")?;
        let (about, by) = (read.about, read.by);
        Ok(Self {
            chain: chain.clone(),
            seq: read.seq,
            ms,
            mono: read.mono,
            call: read.call,
            caller: by.caller,
            client: by.client,
            profile: by.profile,
            server: about.server,
            kind: about.kind,
            name: about.name,
            event,
            line,
        })
    }

    /// Returns the inferred outcome of this decided call, with the number and the times of the
    /// chain's last record.
    pub(crate) fn into_unknown_outcome(self, (seq, ms, mono): (u64, u64, u64)) -> Self {
        let event = EntryEvent::Done {
            outcome: JournalOutcome::Unknown,
            detail: "the process ended before it recorded an outcome".into(),
            micros: 0,
            bytes: 0,
        };
        Self { seq, ms, mono, event, line: String::new(), ..self }
    }
}

/// Parses an event. Events with raw JSON cannot be parsed as variants of the enum.
fn parse_event(raw: &str) -> serde_json::Result<EntryEvent> {
    let EventTypeJson { r#type } = serde_json::from_str(raw)?;
    match &*r#type {
        "decided" => serde_json::from_str(raw).map(EntryEvent::Decided),
        "noted" => {
            let JournalNoteJson { kind, detail } = serde_json::from_str(raw)?;
            Ok(EntryEvent::Noted { kind, detail: detail.get().to_owned() })
        }
        _ => serde_json::from_str(raw),
    }
}

/// Reads a JSON value as its text.
fn raw_json<'de, D: Deserializer<'de>>(value: D) -> Result<Option<String>, D::Error> {
    let raw = Option::<&RawValue>::deserialize(value)?;
    Ok(raw.map(|raw| raw.get().to_owned()))
}

/// The JSON form of a record.
#[derive(Deserialize)]
struct RecordJson<'a> {
    #[serde(default)]
    about: RecordSubjectJson,
    #[serde(default)]
    by: RecordCallerJson,
    call: u64,
    #[serde(borrow)]
    event: &'a RawValue,
    mono: u64,
    seq: u64,
    #[serde(borrow)]
    ts: Cow<'a, str>,
}

/// The JSON form of the capability in a record.
#[derive(Deserialize, Default)]
#[serde(default)]
struct RecordSubjectJson {
    kind: Option<CapabilityKind>,
    name: String,
    server: String,
}

/// The JSON form of the caller in a record.
#[derive(Deserialize, Default)]
#[serde(default)]
struct RecordCallerJson {
    caller: String,
    client: String,
    profile: String,
}

/// The JSON form of any event, with its type only.
#[derive(Deserialize)]
struct EventTypeJson<'a> {
    #[serde(borrow)]
    r#type: Cow<'a, str>,
}

/// The JSON form of [`EntryEvent::Noted`].
#[derive(Deserialize)]
struct JournalNoteJson<'a> {
    kind: String,
    #[serde(borrow)]
    detail: &'a RawValue,
}
