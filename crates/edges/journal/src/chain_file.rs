//! Writes one chain to disk: its folder, its segments and its checkpoints.
//!
//! Synced bytes never change again. After a failed write, the next attempt first truncates the
//! file, so that no torn record precedes a whole one. Every function here blocks.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use toolgate_model::time;

use crate::batch::RecordBatch;
use crate::chain::{ChainHead, RecordTime};
use crate::checkpoint::CheckpointWriter;
use crate::disk::{AppendFile, JournalDisk};
use crate::key::CheckpointSigner;
use crate::layout::{self, JournalPaths, LOCK};
use crate::private_files;

/// A chain that is being written.
#[derive(Debug)]
pub(crate) struct ChainFile {
    disk: Arc<dyn JournalDisk>,
    folder: PathBuf,
    /// The length at which a segment is closed.
    segment_bytes: u64,
    head: ChainHead,
    id: String,
    /// The current segment, its number, and its length on disk.
    segment_file: Option<Box<dyn AppendFile>>,
    segment: u64,
    length: u64,
    records: u64,
    /// Whether the file may contain unsynced bytes after that length.
    dirty: bool,
    checkpoints: CheckpointWriter,
    /// The lock that shows other processes that this chain has a writer.
    _lock: File,
    lines: Vec<u8>,
}

impl ChainFile {
    /// Begins a chain in its own folder.
    pub(crate) fn begin(
        disk: Arc<dyn JournalDisk>,
        places: &JournalPaths,
        segment_bytes: u64,
    ) -> io::Result<Self> {
        disk.create_folder(&places.folder)?;
        let signer = CheckpointSigner::load_or_create(places)?;
        let id = layout::new_chain_id(time::to_millis(SystemTime::now()))?;
        let folder = places.folder.join(&id);
        disk.create_folder(&folder)?;
        let lock = create_lock(&folder)?;
        let checkpoints = CheckpointWriter::new(&id, places.checkpoint_path(&id), signer);
        Ok(Self {
            disk,
            folder,
            segment_bytes,
            head: ChainHead::start_of(&id),
            id,
            segment_file: None,
            segment: 0,
            length: 0,
            records: 0,
            dirty: false,
            checkpoints,
            _lock: lock,
            lines: Vec::new(),
        })
    }

    /// Returns the name of the chain.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Writes and syncs records: all of them, or none.
    pub(crate) fn commit(&mut self, batch: &RecordBatch) -> io::Result<()> {
        self.write(batch, None)
    }

    /// Writes the last record of the chain, signs a checkpoint, and releases the lock.
    pub(crate) fn end(&mut self, when: RecordTime) -> io::Result<()> {
        self.write(&RecordBatch::default(), Some(when))?;
        self.checkpoints.sign(&self.head, true, &*self.disk)?;
        std::fs::remove_file(self.folder.join(LOCK))
    }

    /// Returns when the next checkpoint is due, or `None` without new records.
    pub(crate) fn checkpoint_due(&self) -> Option<Instant> {
        self.checkpoints.due(&self.head)
    }

    /// Signs a checkpoint of the chain. Returns only the first of repeated errors.
    pub(crate) fn checkpoint(&mut self) -> io::Result<()> {
        let known = self.checkpoints.is_failing();
        let signed = self.checkpoints.sign(&self.head, false, &*self.disk);
        if known { Ok(()) } else { signed }
    }

    fn write(&mut self, batch: &RecordBatch, end: Option<RecordTime>) -> io::Result<()> {
        self.prepare_segment()?;
        let mut lines = std::mem::take(&mut self.lines);
        lines.clear();
        let (head, records, full) = self.compose_lines(batch, end, &mut lines);
        let written = self.append_and_sync(&lines);
        let length = lines.len() as u64;
        lines.shrink_to(512 << 10);
        self.lines = lines;
        written?;
        (self.head, self.records, self.length) = (head, records, self.length + length);
        if full {
            self.segment_file = None;
        }
        Ok(())
    }

    /// Opens a segment if there is none, and truncates unsynced bytes.
    fn prepare_segment(&mut self) -> io::Result<()> {
        match &mut self.segment_file {
            Some(sink) if self.dirty => sink.truncate(self.length)?,
            Some(_) => {}
            none => {
                *none =
                    Some(self.disk.create(&layout::segment_path(&self.folder, self.segment + 1))?);
                self.segment += 1;
                (self.length, self.records) = (0, 0);
            }
        }
        self.dirty = false;
        Ok(())
    }

    fn append_and_sync(&mut self, lines: &[u8]) -> io::Result<()> {
        let Some(sink) = &mut self.segment_file else { return Ok(()) };
        self.dirty = true;
        sink.append(lines)?;
        sink.sync()?;
        self.dirty = false;
        Ok(())
    }

    /// Writes the lines of these records, with the journal's own opening and closing records.
    /// Returns the new head, the number of records in the segment, and whether the segment ends.
    fn compose_lines(
        &self,
        batch: &RecordBatch,
        end: Option<RecordTime>,
        lines: &mut Vec<u8>,
    ) -> (ChainHead, u64, bool) {
        let mut head = self.head;
        let first = batch.iter().next().map(|(_, when)| when).or(end);
        if let (0, Some(when)) = (self.length, first) {
            head.push(self.opening_record().as_bytes(), when, lines);
        }
        let mut last = first;
        for (body, when) in batch.iter() {
            head.push(body, when, lines);
            last = Some(when);
        }
        let records = self.records + (head.seq - self.head.seq);
        let full = self.length + lines.len() as u64 >= self.segment_bytes;
        match last {
            Some(when) if full || end.is_some() => {
                let (end, records) = (end.is_some(), records + 1);
                let event = format!(r#"{{"end":{end},"records":{records},"type":"closed"}}"#);
                head.push(format!(r#"{{"call":0,"event":{event}"#).as_bytes(), when, lines);
                (head, records, true)
            }
            _ => (head, records, false),
        }
    }

    /// Returns the body of the first record of a segment.
    fn opening_record(&self) -> String {
        let (chain, toolgate) = (&self.id, env!("CARGO_PKG_VERSION"));
        let event = match self.segment {
            1 => format!(r#"{{"chain":"{chain}","toolgate":"{toolgate}","type":"opened"}}"#),
            number => format!(r#"{{"segment":{number},"type":"continued"}}"#),
        };
        format!(r#"{{"call":0,"event":{event}"#)
    }
}

/// Creates the lock file of a chain. The file gets its final name after it is locked, so that no
/// other process takes the chain for one without a writer.
fn create_lock(folder: &std::path::Path) -> io::Result<File> {
    let path = folder.join("lock.new");
    let file =
        private_files::open(&path, OpenOptions::new().write(true).create(true).truncate(true))?;
    file.try_lock()?;
    std::fs::rename(&path, folder.join(LOCK))?;
    Ok(file)
}
