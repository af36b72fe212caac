//! Ingests given texts: notes, and text from stdin.

use toolgate_library::{DocumentOrigin, DocumentTrust, NewDocument};
use toolgate_model::Digest;
use toolgate_reading::DocumentFormat;

use super::plan::{self, stamp};
use super::walk::FileInfo;
use super::{IngestReport, Ingester, run_blocking, worker};
use crate::error::ContextError;

/// The prefix of a note's key.
const NOTE: &str = "note:";

impl Ingester {
    /// Ingests a text as a note and replaces an earlier note of that name. The file extension of
    /// the name decides the format; the default is Markdown.
    pub async fn ingest_text(&self, name: &str, text: &str) -> Result<IngestReport, ContextError> {
        self.ingest_bytes(name, text.as_bytes().to_vec()).await
    }

    /// Ingests bytes as a note, like [`ingest_text`](Self::ingest_text).
    pub async fn ingest_bytes(
        &self,
        name: &str,
        bytes: Vec<u8>,
    ) -> Result<IngestReport, ContextError> {
        let refused = |why: String| ContextError::Text { name: name.to_owned(), why };
        let most = self.options.most_text;
        if name.trim().is_empty() {
            return Err(refused("it needs a name".to_owned()));
        }
        if bytes.len() as u64 > most {
            return Err(refused(format!("it is larger than {} MiB", most >> 20)));
        }
        let format = format(name, &bytes);
        let format = format.ok_or_else(|| refused("it is not a text".to_owned()))?;
        let key = format!("{NOTE}{name}");
        let digest = Digest::of(&bytes);
        let known = self.library.find_document(&key).await?;
        let mut report = IngestReport::default();
        let trust = DocumentTrust::of(self.options.trust_texts);
        if known.as_ref().is_some_and(|card| (card.stamp.digest, card.trust) == (digest, trust)) {
            report.unchanged = 1;
            return Ok(report);
        }
        report.bytes = bytes.len() as u64;
        let now = plan::now();
        let found = FileInfo { key: key.clone(), bytes: report.bytes, modified: now };
        let title = name.to_owned();
        let read = run_blocking(move || worker::read_text(format, &title, bytes));
        let (document, notes) = read.await?;
        if document.passages.is_empty() {
            return Err(refused("there is nothing in it".to_owned()));
        }
        report.passages = document.passages.len() as u64;
        let stamp = stamp(&found, digest, i64::MAX);
        let fresh = NewDocument { key, origin: DocumentOrigin::Note, stamp, trust, document };
        self.library.keep(vec![fresh]).await?;
        notes.into_iter().for_each(|note| report.noted.add(name, note));
        *(if known.is_some() { &mut report.changed } else { &mut report.added }) = 1;
        Ok(report)
    }
}

/// Detects the format of a note. A name without extension means Markdown.
fn format(name: &str, bytes: &[u8]) -> Option<DocumentFormat> {
    let head = &bytes[..bytes.len().min(8 << 10)];
    let detected = DocumentFormat::detect(name, head).filter(|it| *it != DocumentFormat::Pdf)?;
    Some(if name.contains('.') { detected } else { DocumentFormat::Markdown })
}
