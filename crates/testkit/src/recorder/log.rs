//! The recording on disk: one JSON object per line, in order of arrival.
//!
//! If the log cannot be written, the process ends, because an incomplete recording could pass
//! checks that it should fail.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::rpc::random_id;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The direction of a message.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageDirection {
    /// From the client.
    ToServer,
    /// From the server.
    ToClient,
}

impl MessageDirection {
    /// The way an answer takes.
    #[must_use]
    pub fn reverse(self) -> Self {
        match self {
            MessageDirection::ToServer => MessageDirection::ToClient,
            MessageDirection::ToClient => MessageDirection::ToServer,
        }
    }
}

/// The transport of a message.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordedTransportKind {
    /// A line on a pipe.
    Stdio,
    /// The body of a request or a response, or an event in one.
    Http,
}

/// The method, status and headers of an HTTP request or response.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct HttpHead {
    /// The method of a request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The path and query of a request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The status of a response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The headers that matter to MCP, names in lower case.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
}

/// One line of a recording.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct RecordingEntry {
    /// Where it was going.
    pub direction: MessageDirection,
    /// What carried it.
    pub carrier: RecordedTransportKind,
    /// The process or TCP connection, unique in the log.
    pub connection: String,
    /// The HTTP request it belongs to, unique in its connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchange: Option<u64>,
    /// The request's or response's head.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<HttpHead>,
    /// The name of the event that carried it, on an event stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// The message as it was spelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Box<RawValue>>,
    /// What was sent instead of JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

impl RecordingEntry {
    /// This entry with what was sent: JSON as a message, anything else as text.
    #[must_use]
    pub fn with_content(mut self, said: &[u8]) -> Self {
        let said = String::from_utf8_lossy(said);
        let said = said.trim();
        // A raw line break in JSON can only stand between tokens, and a log line has none.
        match serde_json::from_str::<&RawValue>(said)
            .map(|json| json.get().replace(['\r', '\n'], " "))
        {
            Ok(json) => self.message = RawValue::from_string(json).ok(),
            Err(_) if said.is_empty() => {}
            Err(_) => self.text = Some(said.to_owned()),
        }
        self
    }
}

/// A recording that is being written.
#[derive(Debug)]
pub struct RecordingWriter {
    file: Mutex<File>,
    process: String,
    connections: AtomicU64,
}

impl RecordingWriter {
    /// Opens a log to append to; several recorders may write into one.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().append(true).create(true).open(path)?;
        let process = random_id();
        Ok(RecordingWriter { file: Mutex::new(file), process, connections: AtomicU64::new(1) })
    }

    /// A name for a new connection, unlike those of other processes that share the file: each may
    /// have the same number in a PID namespace of its own.
    pub fn connection(&self) -> String {
        let number = self.connections.fetch_add(1, Ordering::Relaxed);
        format!("{}-{number}", self.process)
    }

    /// Writes one line.
    pub fn append(&self, entry: &RecordingEntry) {
        if let Err(error) = self.try_append(entry) {
            eprintln!("cannot write the recording: {error}");
            std::process::exit(1);
        }
    }

    fn try_append(&self, entry: &RecordingEntry) -> io::Result<()> {
        let line = format!("{}\n", serde_json::to_string(entry)?);
        // One write per line: the lines of several recorders do not mix.
        self.file.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes())
    }
}
