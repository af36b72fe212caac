//! The writer of a chain: a separate thread, because writing to a disk blocks.
//!
//! It takes the waiting records, writes them with one write and one sync, and publishes its
//! progress. After a failure it keeps the records and retries at growing intervals, until a write
//! succeeds or the end is requested.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolgate_model::Mask;

use crate::batch::RecordBatch;
use crate::chain_file::ChainFile;
use crate::disk::JournalDisk;
use crate::layout::JournalPaths;
use crate::queue::{RecordQueue, WriterJob};
use crate::recover;
use crate::{JournalRecord, body};

/// The pause after the first failure, and the maximum pause.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// The writer of one chain.
#[derive(Debug)]
pub(crate) struct JournalWriter {
    pub(crate) queue: Arc<RecordQueue>,
    pub(crate) paths: JournalPaths,
    pub(crate) disk: Arc<dyn JournalDisk>,
    pub(crate) segment_bytes: u64,
}

impl JournalWriter {
    /// Writes until the end is requested.
    pub(crate) fn run(self) {
        let (mut file, mut used) = (None, RecordBatch::default());
        loop {
            let due = file.as_ref().and_then(ChainFile::checkpoint_due);
            match self.queue.next_job(due, &mut used) {
                WriterJob::Write(batch, ticket) => {
                    let is_new = file.is_none();
                    if !self.write_until_synced(&mut file, &batch, ticket) {
                        break;
                    }
                    used = batch;
                    used.clear();
                    if is_new {
                        self.repair_other_chains(&file);
                    }
                }
                WriterJob::Checkpoint => self.sign_checkpoint(&mut file),
                WriterJob::End => match self.queue.take_dropped() {
                    0 => {
                        self.close_chain(&mut file);
                        break;
                    }
                    dropped => self.note_recovery(None, 0, dropped),
                },
            }
        }
        self.queue.mark_ended();
    }

    /// Writes a batch to disk, and retries until that succeeds. Returns false if the end was
    /// requested first.
    fn write_until_synced(
        &self,
        file: &mut Option<ChainFile>,
        batch: &RecordBatch,
        ticket: u64,
    ) -> bool {
        let (mut pause, mut failure) = (FIRST_PAUSE, None::<(Instant, String)>);
        loop {
            match self.try_write(file, batch) {
                Ok(()) => break,
                Err(error) => {
                    self.queue.mark_failing(&error.to_string());
                    failure.get_or_insert_with(|| (Instant::now(), error.to_string()));
                }
            }
            if !self.queue.wait_before_retry(pause) {
                // Last attempt: a caller that closes the journal does not wait for the disk to
                // recover.
                match self.try_write(file, batch) {
                    Ok(()) => break,
                    Err(_) => return false,
                }
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        if let Some(dropped) = self.queue.mark_synced(ticket) {
            self.note_recovery(failure, batch.len(), dropped);
        }
        true
    }

    fn try_write(&self, file: &mut Option<ChainFile>, batch: &RecordBatch) -> io::Result<()> {
        let file = match file {
            Some(file) => file,
            none => {
                none.insert(ChainFile::begin(self.disk.clone(), &self.paths, self.segment_bytes)?)
            }
        };
        file.commit(batch)
    }

    fn sign_checkpoint(&self, file: &mut Option<ChainFile>) {
        let Some(file) = file else { return };
        if let Err(error) = file.checkpoint() {
            self.append_note("checkpoint-failed", &json!({ "error": error.to_string() }));
        }
    }

    fn close_chain(&self, file: &mut Option<ChainFile>) {
        if let Some(file) = file
            && let Err(error) = file.end(self.queue.now())
        {
            self.queue.mark_failing(&error.to_string());
        }
    }

    /// Records that writing had failed for some time.
    fn note_recovery(&self, failure: Option<(Instant, String)>, waited: usize, dropped: u64) {
        let (millis, error) = match failure {
            Some((since, error)) => (since.elapsed().as_millis(), error),
            None => (0, "too many records waited to be written".to_owned()),
        };
        let millis = u64::try_from(millis).unwrap_or(u64::MAX);
        let detail =
            json!({ "dropped": dropped, "error": error, "millis": millis, "waited": waited });
        self.append_note("journal-recovered", &detail);
    }

    /// Repairs chains whose process has ended, and records the result.
    fn repair_other_chains(&self, file: &Option<ChainFile>) {
        let own = file.as_ref().map(ChainFile::id).unwrap_or_default();
        for repair in recover::recover_chains(&self.paths, own) {
            let is_damaged = repair.failed.is_some();
            let kind = if is_damaged { "journal-damaged" } else { "journal-repaired" };
            self.append_note(kind, &json!(repair));
        }
    }

    fn append_note(&self, kind: &str, detail: &Value) {
        let (mut out, detail) = (Vec::new(), detail.to_string());
        body::write(&JournalRecord::note(kind, &detail, None), &Mask::default(), &mut out);
        self.queue.push_internal(&out);
    }
}
