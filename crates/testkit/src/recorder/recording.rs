//! A recording that is read again.
//!
//! It does NOT understand the protocol; see `conversation` and `check`.

use std::io;
use std::path::Path;

use serde_json::Value;

use super::check::{self, Checked, Side};
use super::log::{Direction, Entry};
use super::schemas::Schemas;

/// Everything that one log holds, in its order.
#[derive(Debug)]
pub struct Recording {
    /// The lines of the log.
    pub entries: Vec<Entry>,
}

impl Recording {
    /// Reads a log; one that nobody wrote to is empty.
    pub fn read(log: &Path) -> io::Result<Self> {
        Self::parse(&std::fs::read_to_string(log)?)
    }

    /// Reads the text of a log.
    pub fn parse(text: &str) -> io::Result<Self> {
        let entries = text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
        Ok(Recording { entries })
    }

    /// Holds everything that `side` sent against the schemas of the revisions it spoke.
    pub fn check(&self, schemas: &Schemas, side: Side) -> Checked {
        check::check(&self.entries, schemas, side)
    }

    /// The messages that went in one direction.
    pub fn messages(&self, direction: Direction) -> impl Iterator<Item = Value> {
        let there = self.entries.iter().filter(move |entry| entry.direction == direction);
        there
            .filter_map(|entry| entry.message.as_ref())
            .filter_map(|message| serde_json::from_str(message.get()).ok())
    }
}
