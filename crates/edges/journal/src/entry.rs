//! Parses the records of the journal, for `audit`, `policy replay`, `score` and `report`.
//!
//! Parsing does not verify a record: [`crate::verify()`] finds changes.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Deserialize;
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
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum EntryEvent {
    /// A call was decided.
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
    Noted {
        /// The kind of event, in one word.
        kind: String,
        /// The details, as JSON.
        detail: String,
    },
    /// The chain begins.
    Opened {
        /// The version of toolgate that wrote the chain.
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
#[derive(Debug, Clone, PartialEq, Eq)]
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
    pub arguments: Option<String>,
    /// The summary of arguments that were too long.
    pub oversize: Option<OversizeSummary>,
    /// The redacted other parameters that reached the server, as JSON. `None` if they were too long
    /// or there were none.
    pub other_params: Option<String>,
    /// The summary of other parameters that were too long.
    pub other_params_oversize: Option<Box<OversizeSummary>>,
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
pub struct OversizeSummary {
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
        let read: RecordJson<'_> =
            serde_json::from_str(&line).map_err(|error| error.to_string())?;
        let event = parse_event(read.event)?;
        let ms = time::parse_rfc3339(&read.ts).ok_or("`ts` is not a valid time")?;
        let about = read.about.unwrap_or_default();
        let kind = about.kind.as_deref().map(parse_kind).transpose()?;
        let by = read.by.unwrap_or_default();
        Ok(Self {
            chain: chain.clone(),
            seq: read.seq,
            ms,
            mono: read.mono,
            call: read.call,
            caller: by.caller.into_owned(),
            client: by.client.into_owned(),
            profile: by.profile.into_owned(),
            server: about.server.into_owned(),
            kind,
            name: about.name.into_owned(),
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

fn parse_kind(word: &str) -> Result<CapabilityKind, String> {
    CapabilityKind::from_word(word).ok_or_else(|| format!("`{word}` is not a kind of capability"))
}

fn parse_event(raw: &RawValue) -> Result<EntryEvent, String> {
    let to_text = |error: serde_json::Error| error.to_string();
    let raw = raw.get();
    let EventTypeJson { r#type } = serde_json::from_str(raw).map_err(to_text)?;
    match r#type.as_ref() {
        "decided" => parse_decided(serde_json::from_str(raw).map_err(to_text)?),
        "approved" => {
            let read: ApprovedEventJson = serde_json::from_str(raw).map_err(to_text)?;
            Ok(EntryEvent::Approved { id: read.id, choice: read.choice, by: read.by })
        }
        "done" => {
            let read: DoneEventJson = serde_json::from_str(raw).map_err(to_text)?;
            let DoneEventJson { outcome, detail, micros, bytes } = read;
            Ok(EntryEvent::Done { outcome, detail, micros, bytes })
        }
        "noted" => {
            let read: NotedEventJson<'_> = serde_json::from_str(raw).map_err(to_text)?;
            Ok(EntryEvent::Noted { kind: read.kind, detail: read.detail.get().to_owned() })
        }
        "opened" => {
            let read: OpenedEventJson = serde_json::from_str(raw).map_err(to_text)?;
            Ok(EntryEvent::Opened { version: read.toolgate })
        }
        "continued" => {
            let read: ContinuedEventJson = serde_json::from_str(raw).map_err(to_text)?;
            Ok(EntryEvent::Continued { segment: read.segment })
        }
        "closed" => {
            let read: ClosedEventJson = serde_json::from_str(raw).map_err(to_text)?;
            Ok(EntryEvent::Closed { end: read.end, records: read.records })
        }
        other => Err(format!("unknown event `{other}`")),
    }
}

fn parse_decided(read: DecidedEventJson<'_>) -> Result<EntryEvent, String> {
    let effect = Effect::ALL.into_iter().find(|effect| effect.as_str() == read.effect);
    let digest = |text: Option<Cow<'_, str>>| {
        let read = text.map(|text| text.parse::<Digest>()).transpose();
        read.map_err(|()| "a digest is not valid".to_owned())
    };
    Ok(EntryEvent::Decided(DecidedCall {
        effect: effect.ok_or("`effect` is not valid")?,
        because: read.because,
        method: read.method,
        definition: digest(read.definition)?,
        arguments_digest: digest(read.arguments_digest)?,
        arguments: read.arguments.map(|raw| raw.get().to_owned()),
        oversize: read.oversize,
        other_params: read.other_params.map(|raw| raw.get().to_owned()),
        other_params_oversize: read.other_params_oversize,
        read_only: read.read_only,
        tags: read.tags,
    }))
}

/// The JSON form of a record.
#[derive(Deserialize)]
struct RecordJson<'a> {
    #[serde(borrow, default)]
    about: Option<RecordSubjectJson<'a>>,
    #[serde(borrow, default)]
    by: Option<RecordCallerJson<'a>>,
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
struct RecordSubjectJson<'a> {
    #[serde(borrow, default)]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    server: Cow<'a, str>,
}

/// The JSON form of the caller in a record.
#[derive(Deserialize, Default)]
struct RecordCallerJson<'a> {
    #[serde(borrow, default)]
    caller: Cow<'a, str>,
    #[serde(borrow, default)]
    client: Cow<'a, str>,
    #[serde(borrow, default)]
    profile: Cow<'a, str>,
}

/// The JSON form of any event, with its type only.
#[derive(Deserialize)]
struct EventTypeJson<'a> {
    #[serde(borrow)]
    r#type: Cow<'a, str>,
}

/// The JSON form of [`EntryEvent::Decided`].
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DecidedEventJson<'a> {
    #[serde(borrow)]
    effect: Cow<'a, str>,
    because: String,
    method: String,
    #[serde(borrow, default)]
    definition: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    arguments_digest: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
    #[serde(default)]
    oversize: Option<OversizeSummary>,
    #[serde(borrow, default)]
    other_params: Option<&'a RawValue>,
    #[serde(default)]
    other_params_oversize: Option<Box<OversizeSummary>>,
    read_only: bool,
    tags: Vec<String>,
}

/// The JSON form of [`EntryEvent::Approved`].
#[derive(Deserialize)]
struct ApprovedEventJson {
    id: String,
    choice: String,
    by: String,
}

/// The JSON form of [`EntryEvent::Done`].
#[derive(Deserialize)]
struct DoneEventJson {
    outcome: JournalOutcome,
    detail: String,
    micros: u64,
    bytes: u64,
}

/// The JSON form of [`EntryEvent::Noted`].
#[derive(Deserialize)]
struct NotedEventJson<'a> {
    kind: String,
    #[serde(borrow)]
    detail: &'a RawValue,
}

/// The JSON form of [`EntryEvent::Opened`].
#[derive(Deserialize)]
struct OpenedEventJson {
    toolgate: String,
}

/// The JSON form of [`EntryEvent::Continued`].
#[derive(Deserialize)]
struct ContinuedEventJson {
    segment: u64,
}

/// The JSON form of [`EntryEvent::Closed`].
#[derive(Deserialize)]
struct ClosedEventJson {
    end: bool,
    records: u64,
}
