//! One chain on its way to the disk: its folder, its segments, its checkpoints.
//!
//! What was brought to the disk is never touched again. What could not be is taken away before the
//! next try, so that no torn record stands in front of a whole one. Everything here blocks.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use super::batch::Batch;
use super::chain::{Head, When};
use super::checkpoint::Checkpoints;
use super::disk::{Disk, Sink};
use super::key::Signer;
use super::layout::{self, LOCK, Places};
use super::{json, time};
use crate::private;

/// A chain that can be written to.
#[derive(Debug)]
pub(super) struct Tape {
    disk: Arc<dyn Disk>,
    folder: PathBuf,
    /// A segment that has become this long is closed.
    segment_bytes: u64,
    head: Head,
    id: String,
    /// The current segment, its number, and how much of it is known to be on disk.
    sink: Option<Box<dyn Sink>>,
    segment: u64,
    length: u64,
    records: u64,
    /// Whether there may be something behind that length.
    dirty: bool,
    checkpoints: Checkpoints,
    /// Locked for as long as somebody writes here.
    _lock: File,
    lines: Vec<u8>,
}

impl Tape {
    /// Begins a chain in a folder of its own.
    pub(super) fn begin(
        disk: Arc<dyn Disk>,
        places: &Places,
        segment_bytes: u64,
    ) -> io::Result<Self> {
        disk.create_folder(&places.folder)?;
        let signer = Signer::find(places)?;
        let id = layout::new_id(time::now())?;
        let folder = places.folder.join(&id);
        disk.create_folder(&folder)?;
        let lock = lock(&folder)?;
        let checkpoints = Checkpoints::new(&id, places.checkpoints_of(&id), signer);
        Ok(Self {
            disk,
            folder,
            segment_bytes,
            head: Head::of(&id),
            id,
            sink: None,
            segment: 0,
            length: 0,
            records: 0,
            dirty: false,
            checkpoints,
            _lock: lock,
            lines: Vec::new(),
        })
    }

    /// Its name.
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// Writes records and brings them to the disk; all of them, or none as far as anybody will see.
    pub(super) fn commit(&mut self, batch: &Batch) -> io::Result<()> {
        self.write(batch, None)
    }

    /// Writes the last record there will be, signs it, and gives the chain up.
    pub(super) fn end(&mut self, when: When) -> io::Result<()> {
        self.write(&Batch::default(), Some(when))?;
        self.checkpoints.sign(&self.head, true, &*self.disk)?;
        std::fs::remove_file(self.folder.join(LOCK))
    }

    /// When the next checkpoint is due; `None` if nothing is new.
    pub(super) fn checkpoint_due(&self) -> Option<Instant> {
        self.checkpoints.due(&self.head)
    }

    /// Signs how far the chain goes. Why that fails is told once, not at every try.
    pub(super) fn checkpoint(&mut self) -> io::Result<()> {
        let known = self.checkpoints.is_failing();
        let signed = self.checkpoints.sign(&self.head, false, &*self.disk);
        if known { Ok(()) } else { signed }
    }

    fn write(&mut self, batch: &Batch, end: Option<When>) -> io::Result<()> {
        self.ready()?;
        let mut lines = std::mem::take(&mut self.lines);
        lines.clear();
        let (head, records, full) = self.composed(batch, end, &mut lines);
        let written = self.bring(&lines);
        let length = lines.len() as u64;
        lines.shrink_to(512 << 10);
        self.lines = lines;
        written?;
        (self.head, self.records, self.length) = (head, records, self.length + length);
        if full {
            self.sink = None;
        }
        Ok(())
    }

    /// Sees to it that there is a segment, and nothing in it that does not count.
    fn ready(&mut self) -> io::Result<()> {
        match &mut self.sink {
            Some(sink) if self.dirty => sink.cut(self.length)?,
            Some(_) => {}
            none => {
                *none = Some(self.disk.create(&layout::segment(&self.folder, self.segment + 1))?);
                self.segment += 1;
                (self.length, self.records) = (0, 0);
            }
        }
        self.dirty = false;
        Ok(())
    }

    fn bring(&mut self, lines: &[u8]) -> io::Result<()> {
        let Some(sink) = &mut self.sink else { return Ok(()) };
        self.dirty = true;
        sink.append(lines)?;
        sink.sync()?;
        self.dirty = false;
        Ok(())
    }

    /// The lines of these records, with what the journal itself says before and behind them; how
    /// far the chain then goes, how many records the segment then has, and whether it is at its end.
    fn composed(&self, batch: &Batch, end: Option<When>, lines: &mut Vec<u8>) -> (Head, u64, bool) {
        let (mut head, mut body) = (self.head, Vec::new());
        let first = batch.iter().next().map(|(_, when)| when).or(end);
        if let (0, Some(when)) = (self.length, first) {
            self.opening(&mut body);
            head.push(&body, when, lines);
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
                closing(end.is_some(), records + 1, &mut body);
                head.push(&body, when, lines);
                (head, records + 1, true)
            }
            _ => (head, records, false),
        }
    }

    /// What a segment begins with.
    fn opening(&self, body: &mut Vec<u8>) {
        body.clear();
        body.extend_from_slice(b"{\"call\":0,\"event\":{");
        match self.segment {
            1 => {
                body.extend_from_slice(b"\"chain\":");
                json::write_text(&self.id, body);
                body.extend_from_slice(b",\"toolgate\":");
                json::write_text(env!("CARGO_PKG_VERSION"), body);
                body.extend_from_slice(b",\"type\":\"opened\"}");
            }
            number => {
                body.extend_from_slice(b"\"segment\":");
                json::whole(number, body);
                body.extend_from_slice(b",\"type\":\"continued\"}");
            }
        }
    }
}

/// What a segment ends with.
fn closing(end: bool, records: u64, body: &mut Vec<u8>) {
    body.clear();
    body.extend_from_slice(b"{\"call\":0,\"event\":{\"end\":");
    body.extend_from_slice(if end { b"true" } else { b"false" });
    body.extend_from_slice(b",\"records\":");
    json::whole(records, body);
    body.extend_from_slice(b",\"type\":\"closed\"}");
}

/// The sign that somebody writes here. It gets its name once it is locked: nobody who looks for
/// chains without a writer can come between.
fn lock(folder: &std::path::Path) -> io::Result<File> {
    let path = folder.join("lock.new");
    let file = private::open(&path, OpenOptions::new().write(true).create(true).truncate(true))?;
    file.try_lock()?;
    std::fs::rename(&path, folder.join(LOCK))?;
    Ok(file)
}
