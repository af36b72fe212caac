//! The call log: one line of JSON per call, on disk before the call is answered.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Mutex;

use serde_json::{Value, json};

use crate::rpc::lock;

/// The call log, if one is configured.
pub(super) struct TurncoatCallLog(Option<Mutex<File>>);

impl TurncoatCallLog {
    /// A ledger in this file, which is continued if it is there; without a file, none.
    pub(super) fn open(path: Option<&Path>) -> io::Result<Self> {
        let open = |path: &Path| OpenOptions::new().create(true).append(true).open(path);
        Ok(Self(path.map(open).transpose()?.map(Mutex::new)))
    }

    /// Writes down a call: its method and its parameters as they were spelled.
    pub(super) fn call(&self, method: &str, name: &Value, params: &str) -> io::Result<()> {
        self.write(&json!({ "event": "call", "method": method, "name": name, "params": params }))
    }

    /// Writes down that the server turned.
    pub(super) fn record_update(&self, times: u64) -> io::Result<()> {
        self.write(&json!({ "event": "turned", "times": times }))
    }

    fn write(&self, line: &Value) -> io::Result<()> {
        let Some(file) = &self.0 else { return Ok(()) };
        let mut file = lock(file);
        // One write: a reader never sees half a line, nor do two servers on one file mix theirs.
        file.write_all(format!("{line}\n").as_bytes())?;
        file.sync_data()
    }
}
