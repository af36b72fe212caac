//! Reads one file and turns it into a document with its terms. Runs on the worker threads.
//!
//! Every problem becomes an outcome of that file. A parser that panics costs only the file it
//! panicked on.

use std::io::{self, Read as _, Seek as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use toolgate_library::{DocumentOrigin, NewDocument, PreparedDocument, SourceStamp};
use toolgate_model::Digest;
use toolgate_reading::terms::TermIndexer;
use toolgate_reading::{DecodedText, DocumentFormat, ParsedDocument, decode};
use toolgate_store::open_regular_file;

use super::IngestOptions;
use super::plan::{self, FileToRead};
use super::refused_files::FileRefusal;
use super::walk::FileInfo;
use crate::pdf::PdfReader;

/// The number of bytes used to detect the format.
const HEAD: u64 = 8 << 10;

/// The bytes of files in memory at once. A parsed document takes several times the size of its
/// file.
pub(super) const BUDGET: u64 = 20 << 20;

/// The cost of a file beyond its bytes, so that many small files use up the budget, too.
const OVERHEAD: u64 = 4 << 10;

/// The outcome of reading a file.
#[derive(Debug)]
pub(super) enum FileOutcome {
    /// A document to store.
    Ingested(Box<IngestedDocument>),
    /// The content is unchanged; the stamp is new.
    Unchanged(SourceStamp),
    /// The file cannot be ingested until it changes.
    Refused(FileRefusal),
    /// The file could not be read this time.
    Failed(String),
}

/// A document that was read.
#[derive(Debug)]
pub(super) struct IngestedDocument {
    pub(super) prepared: PreparedDocument,
    pub(super) bytes: u64,
    pub(super) passages: u64,
    /// What was lost while reading.
    pub(super) notes: Vec<String>,
    /// The budget it holds until it is stored.
    pub(super) memory: OwnedSemaphorePermit,
}

/// Reads files one after the other.
pub(super) struct IngestWorker {
    pub(super) folder: Arc<str>,
    pub(super) options: Arc<IngestOptions>,
    pub(super) pdf: PdfReader,
    /// The KiB of documents that may be in memory between reading and storing. Without this limit,
    /// fast readers and a slow disk would accumulate a whole folder.
    pub(super) memory: Arc<Semaphore>,
    pub(super) runtime: Handle,
    /// Caches the terms of words it has seen.
    pub(super) indexer: TermIndexer,
}

impl From<io::Error> for FileOutcome {
    fn from(error: io::Error) -> Self {
        Self::Failed(error.kind().to_string())
    }
}

impl FileOutcome {
    fn refused(why: impl Into<String>) -> Self {
        Self::Refused(FileRefusal::Reason(why.into()))
    }
}

impl IngestWorker {
    /// Reads a file.
    pub(super) fn read(&mut self, task: &FileToRead) -> FileOutcome {
        match catch_unwind(AssertUnwindSafe(|| self.try_read_file(task))) {
            Ok(outcome) => outcome.unwrap_or_else(|failure| failure),
            Err(_) => {
                self.indexer = TermIndexer::new();
                FileOutcome::refused("its parser crashed; please report it")
            }
        }
    }

    /// Reads a file. An error is an outcome, too.
    fn try_read_file(&mut self, task: &FileToRead) -> Result<FileOutcome, FileOutcome> {
        let mut file = open_regular_file(Path::new(&task.file.key))?;
        // The stamp uses the metadata from before reading, so a change while reading is found
        // later.
        let found = FileInfo::new(task.file.key.clone(), &file.metadata()?);
        let now = plan::now();
        let mut bytes = Vec::new();
        (&mut file).take(HEAD).read_to_end(&mut bytes)?;
        let name = name_of(&task.file.key);
        let format = DocumentFormat::detect(name, &bytes)
            .ok_or(FileOutcome::Refused(FileRefusal::Binary))?;
        let most = match format {
            DocumentFormat::Pdf => self.options.most_pdf,
            _ => self.options.most_text,
        };
        let too_large = || FileOutcome::refused(format!("larger than {} MiB", most >> 20));
        if found.bytes > most {
            return Err(too_large());
        }
        let memory = self.reserve_memory(found.bytes + OVERHEAD)?;
        bytes.reserve_exact(usize::try_from(found.bytes).unwrap_or(0).saturating_sub(bytes.len()));
        (&mut file).take(most + 1 - bytes.len() as u64).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most {
            return Err(too_large());
        }
        let stamp = plan::stamp(&found, Digest::of(&bytes), now);
        if task.known_digest == Some(stamp.digest) {
            return Ok(FileOutcome::Unchanged(stamp));
        }
        let (document, notes) = if format == DocumentFormat::Pdf {
            drop(bytes);
            file.rewind()?;
            self.pdf.read_document(name, file).map_err(FileOutcome::refused)?
        } else {
            read_text(format, name, bytes)
        };
        let (bytes, passages) = (found.bytes, document.passages.len() as u64);
        let trust = self.options.trust(Path::new(&found.key));
        let origin = DocumentOrigin::File { folder: self.folder.to_string() };
        let fresh = NewDocument { key: found.key, origin, stamp, trust, document };
        let prepared = PreparedDocument::new(fresh, &mut self.indexer);
        let ingested = IngestedDocument { prepared, bytes, passages, notes, memory };
        Ok(FileOutcome::Ingested(Box::new(ingested)))
    }

    /// Waits until so many bytes may be in memory. A file larger than the budget gets all of it.
    fn reserve_memory(&self, bytes: u64) -> io::Result<OwnedSemaphorePermit> {
        let kib = u32::try_from(bytes.min(BUDGET) >> 10).unwrap_or(u32::MAX);
        let reserved = self.memory.clone().acquire_many_owned(kib);
        self.runtime.block_on(reserved).map_err(io::Error::other)
    }
}

/// Parses a text. Returns the document and notes on losses.
pub(crate) fn read_text(
    format: DocumentFormat,
    name: &str,
    bytes: Vec<u8>,
) -> (ParsedDocument, Vec<String>) {
    let DecodedText { text, note } = decode(bytes);
    let document = toolgate_reading::read(format, name, &text);
    let notes = note.into_iter().chain(document.truncation.clone()).collect();
    (document, notes)
}

/// Returns the last component of a path.
fn name_of(key: &str) -> &str {
    Path::new(key).file_name().and_then(|name| name.to_str()).unwrap_or(key)
}
