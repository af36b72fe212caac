//! Texts that are handed over: notes, and what comes through a pipe.

use toolgate_model::Digest;
use toolgate_reading::Format;
use toolgate_store::context::{Fresh, Origin, Trust};

use super::plan::{self, stamp};
use super::walk::Found;
use super::{Ingest, Report, off_the_runtime, work};
use crate::error::ContextError;

/// What the key of a note begins with.
const NOTE: &str = "note:";

impl Ingest {
    /// Takes in a text under a name, in place of what that name meant. The name's ending tells how it
    /// is written, as with a file; without one it is Markdown.
    pub async fn text(&self, name: &str, text: &str) -> Result<Report, ContextError> {
        self.bytes(name, text.as_bytes().to_vec()).await
    }

    /// The same for bytes that nobody has looked at yet.
    pub async fn bytes(&self, name: &str, bytes: Vec<u8>) -> Result<Report, ContextError> {
        let refused = |why: String| ContextError::Text { name: name.to_owned(), why };
        let most = self.options.most_text;
        if name.trim().is_empty() {
            return Err(refused("it needs a name".to_owned()));
        }
        if bytes.len() as u64 > most {
            return Err(refused(format!("it is larger than {} MiB", most >> 20)));
        }
        let format = format(name, &bytes);
        let format = format.ok_or_else(|| refused("it is no text".to_owned()))?;
        let key = format!("{NOTE}{name}");
        let digest = Digest::of(&bytes);
        let known = self.library.card(&key).await?;
        let mut report = Report::default();
        let trust = if self.options.trust_texts { Trust::Trusted } else { Trust::Untrusted };
        if known.as_ref().is_some_and(|card| (card.stamp.digest, card.trust) == (digest, trust)) {
            report.unchanged = 1;
            return Ok(report);
        }
        report.bytes = bytes.len() as u64;
        let now = plan::now();
        let found = Found { key: key.clone(), bytes: report.bytes, modified: now };
        let title = name.to_owned();
        let read = off_the_runtime(move || work::text(format, &title, bytes));
        let (document, notes) = read.await?;
        if document.passages.is_empty() {
            return Err(refused("there is nothing in it".to_owned()));
        }
        report.passages = document.passages.len() as u64;
        let stamp = stamp(&found, digest, i64::MAX);
        let fresh = Fresh { key, origin: Origin::Note, stamp, trust, document };
        self.library.keep(vec![fresh]).await?;
        notes.into_iter().for_each(|note| report.noted.add(name, note));
        *(if known.is_some() { &mut report.changed } else { &mut report.added }) = 1;
        Ok(report)
    }
}

/// A name without an ending says nothing of how the text is written; most notes are Markdown.
fn format(name: &str, bytes: &[u8]) -> Option<Format> {
    let head = &bytes[..bytes.len().min(8 << 10)];
    let told = work::format(name, head).filter(|format| *format != Format::Pdf)?;
    Some(if name.contains('.') { told } else { Format::Markdown })
}
