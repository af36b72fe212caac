//! One record as it was written, read back: what `audit`, `policy replay`, `score` and `report`
//! work on.
//!
//! Reading proves nothing: whether somebody changed it is what [`super::verify()`] finds out.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use toolgate_model::{CapabilityKind, Digest, Effect};

use super::{Outcome, params_digest, time};

/// One record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The chain it stands in: one for each process that wrote.
    pub chain: Arc<str>,
    /// Its number in the chain, from 1.
    pub seq: u64,
    /// When, in milliseconds since 1970, by the clock of the system.
    pub ms: u64,
    /// When, in microseconds since the chain began, by a clock that never goes back.
    pub mono: u64,
    /// The call it belongs to, unique in its chain; 0 where it belongs to none.
    pub call: u64,
    /// Who; empty where nobody called.
    pub caller: String,
    /// With which client.
    pub client: String,
    /// With which profile.
    pub profile: String,
    /// The server it is about; empty where it is about none.
    pub server: String,
    /// What kind of capability it is about.
    pub kind: Option<CapabilityKind>,
    /// The server's own name of the capability; empty where it is about none.
    pub name: String,
    /// What happened.
    pub event: Happened,
    /// The line as it stands in the file; empty if the entry is concluded: see [`Entry::is_written`].
    pub line: String,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Happened {
    /// A call was decided.
    Decided(Decided),
    /// Somebody was asked, and chose.
    Approved {
        /// The approval's id.
        id: String,
        /// `once`, `tool`, `server`, `deny`, `expired`, `cancelled`.
        choice: String,
        /// Who chose.
        by: String,
    },
    /// A call is over.
    Done {
        /// How. [`Outcome::Unknown`] also where its process ended before it could say.
        outcome: Outcome,
        /// What was said, for errors.
        detail: String,
        /// How long it took at the server, in microseconds.
        micros: u64,
        /// The size of the result in bytes.
        bytes: u64,
    },
    /// Something else.
    Noted {
        /// What kind of thing, in one word.
        kind: String,
        /// What: JSON.
        detail: String,
    },
    /// The chain begins.
    Opened {
        /// The version of toolgate that wrote it.
        version: String,
    },
    /// A segment begins that is not the first.
    Continued {
        /// Its number.
        segment: u64,
    },
    /// A segment ends: because it is full, or because the process ended as it should.
    Closed {
        /// Whether the chain ends with it.
        end: bool,
        /// How many records it has, this one with it.
        records: u64,
    },
}

/// A decided call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    /// What became of it.
    pub effect: Effect,
    /// Because of what.
    pub because: String,
    /// The MCP method.
    pub method: String,
    /// The digest of the definition.
    pub definition: Option<Digest>,
    /// The digest of the arguments and of what stood beside them, as they were sent.
    pub arguments_digest: Option<Digest>,
    /// The arguments, redacted: JSON. None if they were too long, or there were none.
    pub arguments: Option<String>,
    /// What is left of arguments that were too long.
    pub oversize: Option<Oversize>,
    /// What stood beside the arguments and reached the server, redacted: JSON. None if that was too
    /// long, or there was nothing.
    pub other_params: Option<String>,
    /// What is left of it where it was too long.
    pub other_params_oversize: Option<Box<Oversize>>,
    /// Whether it only reads.
    pub read_only: bool,
    /// The tags of it.
    pub tags: Vec<String>,
}

impl Decided {
    /// Whether arguments and what stood beside them are on record as they were sent: nothing was too
    /// long or hidden.
    pub fn is_whole(&self) -> bool {
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

/// What is left of something too long to be kept.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Oversize {
    /// How long it was.
    pub bytes: u64,
    /// The digest of it.
    pub digest: String,
    /// How it began, redacted.
    pub head: String,
}

impl Entry {
    /// When, as RFC 3339 in UTC.
    pub fn time(&self) -> String {
        time::rfc3339(self.ms)
    }

    /// Whether it stands in the file. One that does not was concluded: the outcome of a call whose
    /// process ended before it wrote one.
    pub fn is_written(&self) -> bool {
        !self.line.is_empty()
    }

    /// Reads a line.
    pub(super) fn parse(chain: &Arc<str>, line: String) -> Result<Self, String> {
        let read: Line<'_> = serde_json::from_str(&line).map_err(|error| error.to_string())?;
        let event = event(read.event)?;
        let ms = time::parse_rfc3339(&read.ts).ok_or("its time is none")?;
        let about = read.about.unwrap_or_default();
        let kind = about.kind.as_deref().map(kind).transpose()?;
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

    /// The outcome of this decided call that nobody wrote down, at the end of its chain: number and
    /// times of the last record.
    pub(super) fn concluded(self, (seq, ms, mono): (u64, u64, u64)) -> Self {
        let event = Happened::Done {
            outcome: Outcome::Unknown,
            detail: "the process ended before it recorded an outcome".into(),
            micros: 0,
            bytes: 0,
        };
        Self { seq, ms, mono, event, line: String::new(), ..self }
    }
}

fn kind(word: &str) -> Result<CapabilityKind, String> {
    CapabilityKind::from_word(word).ok_or_else(|| format!("`{word}` is no kind of capability"))
}

fn event(raw: &RawValue) -> Result<Happened, String> {
    let told = |error: serde_json::Error| error.to_string();
    let raw = raw.get();
    let Typed { r#type } = serde_json::from_str(raw).map_err(told)?;
    match r#type.as_ref() {
        "decided" => decided(serde_json::from_str(raw).map_err(told)?),
        "approved" => {
            let read: Approved = serde_json::from_str(raw).map_err(told)?;
            Ok(Happened::Approved { id: read.id, choice: read.choice, by: read.by })
        }
        "done" => {
            let read: Done = serde_json::from_str(raw).map_err(told)?;
            let Done { outcome, detail, micros, bytes } = read;
            Ok(Happened::Done { outcome, detail, micros, bytes })
        }
        "noted" => {
            let read: Noted<'_> = serde_json::from_str(raw).map_err(told)?;
            Ok(Happened::Noted { kind: read.kind, detail: read.detail.get().to_owned() })
        }
        "opened" => {
            let read: Opened = serde_json::from_str(raw).map_err(told)?;
            Ok(Happened::Opened { version: read.toolgate })
        }
        "continued" => {
            let read: Continued = serde_json::from_str(raw).map_err(told)?;
            Ok(Happened::Continued { segment: read.segment })
        }
        "closed" => {
            let read: Closed = serde_json::from_str(raw).map_err(told)?;
            Ok(Happened::Closed { end: read.end, records: read.records })
        }
        other => Err(format!("`{other}` is no event this version knows")),
    }
}

fn decided(read: DecidedLine<'_>) -> Result<Happened, String> {
    let effect = Effect::ALL.into_iter().find(|effect| effect.as_str() == read.effect);
    let digest = |text: Option<Cow<'_, str>>| {
        let read = text.map(|text| text.parse::<Digest>()).transpose();
        read.map_err(|()| "a digest is none".to_owned())
    };
    Ok(Happened::Decided(Decided {
        effect: effect.ok_or("its effect is none")?,
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

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, default)]
    about: Option<AboutLine<'a>>,
    #[serde(borrow, default)]
    by: Option<ByLine<'a>>,
    call: u64,
    #[serde(borrow)]
    event: &'a RawValue,
    mono: u64,
    seq: u64,
    #[serde(borrow)]
    ts: Cow<'a, str>,
}

#[derive(Deserialize, Default)]
struct AboutLine<'a> {
    #[serde(borrow, default)]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    server: Cow<'a, str>,
}

#[derive(Deserialize, Default)]
struct ByLine<'a> {
    #[serde(borrow, default)]
    caller: Cow<'a, str>,
    #[serde(borrow, default)]
    client: Cow<'a, str>,
    #[serde(borrow, default)]
    profile: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Typed<'a> {
    #[serde(borrow)]
    r#type: Cow<'a, str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DecidedLine<'a> {
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
    oversize: Option<Oversize>,
    #[serde(borrow, default)]
    other_params: Option<&'a RawValue>,
    #[serde(default)]
    other_params_oversize: Option<Box<Oversize>>,
    read_only: bool,
    tags: Vec<String>,
}

#[derive(Deserialize)]
struct Approved {
    id: String,
    choice: String,
    by: String,
}

#[derive(Deserialize)]
struct Done {
    outcome: Outcome,
    detail: String,
    micros: u64,
    bytes: u64,
}

#[derive(Deserialize)]
struct Noted<'a> {
    kind: String,
    #[serde(borrow)]
    detail: &'a RawValue,
}

#[derive(Deserialize)]
struct Opened {
    toolgate: String,
}

#[derive(Deserialize)]
struct Continued {
    segment: u64,
}

#[derive(Deserialize)]
struct Closed {
    end: bool,
    records: u64,
}
