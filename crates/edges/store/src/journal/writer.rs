//! The one who writes: a thread of its own, because writing to a disk blocks.
//!
//! It takes what has come in, writes it with one write and one sync, and says how far it is. When
//! that fails it keeps what it has in its hands and tries again, ever less often, until it works or
//! the end is asked for.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::batch::Batch;
use super::disk::Disk;
use super::layout::Places;
use super::queue::{Shared, Work};
use super::recover::{self, Repair};
use super::tape::Tape;
use super::{Event, Record, body, json};

/// How long to wait after the first failure, and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Writes one chain.
#[derive(Debug)]
pub(super) struct Writer {
    pub(super) shared: Arc<Shared>,
    pub(super) places: Places,
    pub(super) disk: Arc<dyn Disk>,
    pub(super) segment_bytes: u64,
}

impl Writer {
    /// Works until the end is asked for.
    pub(super) fn run(self) {
        let (mut tape, mut used) = (None, Batch::default());
        loop {
            let due = tape.as_ref().and_then(Tape::checkpoint_due);
            match self.shared.next(due, &mut used) {
                Work::Write(batch, ticket) => {
                    let is_new = tape.is_none();
                    if !self.written(&mut tape, &batch, ticket) {
                        break;
                    }
                    used = batch;
                    used.clear();
                    if is_new {
                        self.repair(&tape);
                    }
                }
                Work::Checkpoint => self.checkpoint(&mut tape),
                Work::End => match self.shared.dropped() {
                    0 => {
                        self.end(&mut tape);
                        break;
                    }
                    dropped => self.recovered(None, 0, dropped),
                },
            }
        }
        self.shared.ended();
    }

    /// Brings a batch to the disk, however long it takes; `false` if it was given up.
    fn written(&self, tape: &mut Option<Tape>, batch: &Batch, ticket: u64) -> bool {
        let (mut pause, mut failure) = (FIRST_PAUSE, None::<(Instant, String)>);
        loop {
            match self.attempt(tape, batch) {
                Ok(()) => break,
                Err(error) => {
                    self.shared.failed(&error.to_string());
                    failure.get_or_insert_with(|| (Instant::now(), error.to_string()));
                }
            }
            if !self.shared.pause(pause) {
                // The last try: whoever asked for the end does not wait for a disk to come back.
                match self.attempt(tape, batch) {
                    Ok(()) => break,
                    Err(_) => return false,
                }
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        if let Some(dropped) = self.shared.synced(ticket) {
            self.recovered(failure, batch.len(), dropped);
        }
        true
    }

    fn attempt(&self, tape: &mut Option<Tape>, batch: &Batch) -> io::Result<()> {
        let tape = match tape {
            Some(tape) => tape,
            none => none.insert(Tape::begin(self.disk.clone(), &self.places, self.segment_bytes)?),
        };
        tape.commit(batch)
    }

    fn checkpoint(&self, tape: &mut Option<Tape>) {
        let Some(tape) = tape else { return };
        if let Err(error) = tape.checkpoint() {
            let mut detail = b"{\"error\":".to_vec();
            json::write_text(&error.to_string(), &mut detail);
            detail.push(b'}');
            self.note("checkpoint-failed", &detail);
        }
    }

    fn end(&self, tape: &mut Option<Tape>) {
        if let Some(tape) = tape
            && let Err(error) = tape.end(self.shared.now())
        {
            self.shared.failed(&error.to_string());
        }
    }

    /// Says that there was a time in which nothing could be written.
    fn recovered(&self, failure: Option<(Instant, String)>, waited: usize, dropped: u64) {
        let (millis, error) = match failure {
            Some((since, error)) => (since.elapsed().as_millis(), error),
            None => (0, "too much waited to be written".to_owned()),
        };
        let mut detail = b"{\"dropped\":".to_vec();
        json::whole(dropped, &mut detail);
        detail.extend_from_slice(b",\"error\":");
        json::write_text(&error, &mut detail);
        detail.extend_from_slice(b",\"millis\":");
        json::whole(u64::try_from(millis).unwrap_or(u64::MAX), &mut detail);
        detail.extend_from_slice(b",\"waited\":");
        json::whole(waited as u64, &mut detail);
        detail.push(b'}');
        self.note("journal-recovered", &detail);
    }

    /// Looks after chains whose process is gone, and says what was found.
    fn repair(&self, tape: &Option<Tape>) {
        let own = tape.as_ref().map(Tape::id).unwrap_or_default();
        for Repair { chain, segment, bytes, signed, failed } in recover::all(&self.places, own) {
            let mut detail = b"{\"bytes\":".to_vec();
            json::whole(bytes, &mut detail);
            detail.extend_from_slice(b",\"chain\":");
            json::write_text(&chain, &mut detail);
            if let Some(why) = &failed {
                detail.extend_from_slice(b",\"error\":");
                json::write_text(why, &mut detail);
            }
            detail.extend_from_slice(b",\"segment\":");
            json::write_text(&segment, &mut detail);
            detail.extend_from_slice(b",\"signed\":");
            json::whole(signed, &mut detail);
            detail.push(b'}');
            let kind = if failed.is_some() { "journal-damaged" } else { "journal-repaired" };
            self.note(kind, &detail);
        }
    }

    fn note(&self, kind: &str, detail: &[u8]) {
        let detail = String::from_utf8_lossy(detail);
        let event = Event::Noted { kind, detail: &detail };
        let record = Record { event, call: 0, caller: "", client: "", profile: "", about: None };
        let mut out = Vec::new();
        body::write(&record, &toolgate_model::Mask::default(), &mut out);
        self.shared.push_own(&out);
    }
}
