//! Reads a recording from disk. `conversation` and `check` interpret it.

use std::io;
use std::path::Path;

use serde_json::Value;

use super::check::{self, RecordedSide, RecordingReport};
use super::log::{MessageDirection, RecordingEntry};
use super::schemas::ProtocolSchemas;

/// All entries of one recording, in order.
#[derive(Debug)]
pub struct RecordedTraffic {
    /// The lines of the log.
    pub entries: Vec<RecordingEntry>,
}

impl RecordedTraffic {
    /// Reads a log. A log without entries is empty.
    pub fn read(log: &Path) -> io::Result<Self> {
        Self::parse(&std::fs::read_to_string(log)?)
    }

    /// Reads the text of a log.
    pub fn parse(text: &str) -> io::Result<Self> {
        let entries = text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
        Ok(RecordedTraffic { entries })
    }

    /// Holds everything that `side` sent against the schemas of the revisions it spoke.
    pub fn check(&self, schemas: &ProtocolSchemas, side: RecordedSide) -> RecordingReport {
        check::check(&self.entries, schemas, side)
    }

    /// The messages that went in one direction.
    pub fn messages(&self, direction: MessageDirection) -> impl Iterator<Item = Value> {
        let there = self.entries.iter().filter(move |entry| entry.direction == direction);
        there
            .filter_map(|entry| entry.message.as_ref())
            .filter_map(|message| serde_json::from_str(message.get()).ok())
    }
}
