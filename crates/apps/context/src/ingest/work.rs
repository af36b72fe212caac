//! Reading one file: its bytes become a document with its terms. What worker threads do.
//!
//! Whatever a file is like, the answer is an outcome for that file. A reader that panics over one
//! costs that file and no other.

use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use toolgate_model::Digest;
use toolgate_reading::terms::Indexer;
use toolgate_reading::{Document, Format};
use toolgate_store::context::{Fresh, Origin, Prepared, Stamp};
use toolgate_store::open_plain;

use super::Options;
use super::budget::{Budget, Share};
use super::decode::{Decoded, decode, is_utf16};
use super::plan::{self, Task};
use super::refused::Refusal;
use super::walk::Found;
use crate::pdf::PdfReader;

/// How much of a file tells what it is.
const HEAD: u64 = 8 << 10;

/// What a file costs beside its bytes, so that many small ones are not free.
const OVERHEAD: u64 = 4 << 10;

/// What became of a file.
#[derive(Debug)]
pub(super) enum Outcome {
    /// A document to keep.
    Taken(Box<Taken>),
    /// It says what it said, and looks so now.
    Same(Stamp),
    /// It is nothing to take in, as it is.
    Refused(Refusal),
    /// It could not be read this time.
    Failed(String),
}

/// A document that was read.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) prepared: Prepared,
    pub(super) bytes: u64,
    pub(super) passages: u64,
    /// What was lost on the way.
    pub(super) notes: Vec<String>,
    /// What it takes of the budget until it is kept.
    pub(super) share: Share,
}

/// Reads files, one after the other.
pub(super) struct Worker {
    pub(super) folder: Arc<str>,
    pub(super) options: Arc<Options>,
    pub(super) pdf: PdfReader,
    pub(super) budget: Budget,
    /// Knows the words it has seen.
    pub(super) indexer: Indexer,
}

/// Why a file gives no document: it is like this, or the system said so.
enum Unread {
    Refused(Refusal),
    Failed(io::Error),
}

impl From<io::Error> for Unread {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

impl Unread {
    fn because(why: impl Into<String>) -> Self {
        Self::Refused(Refusal::Because(why.into()))
    }
}

impl Worker {
    /// Reads a file.
    pub(super) fn read(&mut self, task: &Task) -> Outcome {
        match catch_unwind(AssertUnwindSafe(|| self.outcome(task))) {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(Unread::Refused(refusal))) => Outcome::Refused(refusal),
            Ok(Err(Unread::Failed(error))) => Outcome::Failed(error.kind().to_string()),
            Err(_) => {
                self.indexer = Indexer::new();
                let why = "its reader failed; please report it".to_owned();
                Outcome::Refused(Refusal::Because(why))
            }
        }
    }

    fn outcome(&mut self, task: &Task) -> Result<Outcome, Unread> {
        let mut file = open_plain(Path::new(&task.found.key))?;
        // As it is from here on: whatever is changed while it is read is changed again.
        let found = Found::new(task.found.key.clone(), &file.metadata()?);
        let now = plan::now();
        let mut bytes = Vec::new();
        (&mut file).take(HEAD).read_to_end(&mut bytes)?;
        let name = name_of(&found.key);
        let format = format(name, &bytes).ok_or(Unread::Refused(Refusal::Binary))?;
        let most = self.most(format);
        let too_large = || Unread::because(format!("larger than {} MiB", most >> 20));
        if found.bytes > most {
            return Err(too_large());
        }
        let share = self.budget.take(found.bytes + OVERHEAD);
        bytes.reserve_exact(usize::try_from(found.bytes).unwrap_or(0).saturating_sub(bytes.len()));
        (&mut file).take(most + 1 - bytes.len() as u64).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most {
            return Err(too_large());
        }
        let stamp = plan::stamp(&found, Digest::of(&bytes), now);
        if task.known == Some(stamp.digest) {
            return Ok(Outcome::Same(stamp));
        }
        let (document, notes) = if format == Format::Pdf {
            drop(bytes);
            self.pdf(name, file)?
        } else {
            text(format, name, bytes)
        };
        Ok(self.taken(found, stamp, (document, notes), share))
    }

    fn most(&self, format: Format) -> u64 {
        match format {
            Format::Pdf => self.options.most_pdf,
            _ => self.options.most_text,
        }
    }

    fn pdf(&self, name: &str, mut file: File) -> Result<(Document, Vec<String>), Unread> {
        file.rewind()?;
        let read = self.pdf.read(file).map_err(Unread::because)?;
        let mut document = toolgate_reading::pages(name, &read.pages);
        if !read.title.is_empty() {
            document.title = read.title;
        }
        let mut notes: Vec<_> = document.cut.iter().cloned().collect();
        if let [first, rest @ ..] = read.damaged.as_slice() {
            let more =
                if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
            notes.push(format!("page {first}{more} could not be read whole"));
        }
        Ok((document, notes))
    }

    fn taken(
        &mut self,
        found: Found,
        stamp: Stamp,
        (document, notes): (Document, Vec<String>),
        share: Share,
    ) -> Outcome {
        let passages = document.passages.len() as u64;
        let trust = self.options.trust(Path::new(&found.key));
        let origin = Origin::File { folder: self.folder.to_string() };
        let fresh = Fresh { key: found.key, origin, stamp, trust, document };
        let prepared = Prepared::new(fresh, &mut self.indexer);
        let bytes = found.bytes;
        Outcome::Taken(Box::new(Taken { prepared, bytes, passages, notes, share }))
    }
}

/// The document a text is, and what there is to say of it.
pub(crate) fn text(format: Format, name: &str, bytes: Vec<u8>) -> (Document, Vec<String>) {
    let Decoded { text, note } = decode(bytes);
    let document = toolgate_reading::read(format, name, &text);
    let notes = note.into_iter().chain(document.cut.clone()).collect();
    (document, notes)
}

/// How a file is written, by its name and its beginning.
pub(crate) fn format(name: &str, head: &[u8]) -> Option<Format> {
    if is_utf16(head) {
        let even = head.len() & !1;
        return Format::of(name, decode(head[..even].to_vec()).text.as_bytes());
    }
    Format::of(name, head)
}

/// The last part of a path.
fn name_of(key: &str) -> &str {
    Path::new(key).file_name().and_then(|name| name.to_str()).unwrap_or(key)
}
