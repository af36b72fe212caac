//! The JSON line format of `context export` and `context import`: all of a document except its row
//! ID and the time it was stored.

use std::path::Path;

use serde::{Deserialize, Serialize};
use toolgate_context::compile;
use toolgate_context::reading::{ParsedDocument, Passage, PassageLocation};
use toolgate_context::{
    Document, DocumentOrigin, DocumentTrust, NewDocument, PassageHit, SourceStamp,
};

/// The version of the format; other versions are rejected.
const VERSION: u32 = 1;

/// A document as one JSON line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentJson {
    version: u32,
    key: String,
    origin: DocumentOrigin,
    title: String,
    digest: String,
    bytes: u64,
    /// Milliseconds since 1970.
    modified: i64,
    trust: DocumentTrust,
    passages: Vec<Passage>,
}

impl DocumentJson {
    /// Creates the line of a document and its passages.
    pub fn of(document: Document, hits: Vec<PassageHit>) -> Self {
        let Document { key, origin, title, stamp, trust, .. } = document;
        let SourceStamp { digest, bytes, modified } = stamp;
        let passages = hits.into_iter();
        let passages =
            passages.map(|hit| Passage { heading: hit.heading, text: hit.text, place: hit.place });
        Self {
            version: VERSION,
            key,
            origin,
            title,
            digest: digest.to_string(),
            bytes,
            modified,
            trust,
            passages: passages.collect(),
        }
    }

    /// Parses a line, or returns what is wrong with it.
    pub fn parse(line: &str) -> Result<Self, String> {
        let record: Self = serde_json::from_str(line).map_err(|error| error.to_string())?;
        match record.version {
            VERSION => Ok(record),
            other => Err(format!("unsupported version {other}, expected version {VERSION}")),
        }
    }

    /// Returns the document to store, or what is wrong with it. Its trust is kept only if the file
    /// is `believed`; otherwise it becomes untrusted.
    pub fn into_new_document(self, believed: bool) -> Result<NewDocument, String> {
        self.check()?;
        let digest = self.digest.parse();
        let digest = digest.map_err(|()| format!("`{}` is not a digest", self.digest))?;
        Ok(NewDocument {
            key: self.key,
            origin: self.origin,
            stamp: SourceStamp { digest, bytes: self.bytes, modified: self.modified },
            trust: DocumentTrust::of(believed && self.trust == DocumentTrust::Trusted),
            document: ParsedDocument {
                title: self.title,
                passages: self.passages,
                truncation: None,
            },
        })
    }

    /// Returns true if the line marks the document as trusted.
    pub fn is_trusted(&self) -> bool {
        self.trust == DocumentTrust::Trusted
    }

    /// Checks that the key matches the origin, so that no document can pose as another, and that
    /// passages and times are valid.
    fn check(&self) -> Result<(), String> {
        let key = &self.key;
        let fits = match &self.origin {
            DocumentOrigin::File { folder } => {
                let (path, folder) = (Path::new(key), Path::new(folder));
                path.is_absolute() && folder.is_absolute() && path.starts_with(folder)
            }
            DocumentOrigin::Resource { server, uri } => *key == compile::resource_key(server, uri),
            DocumentOrigin::Note => key.strip_prefix("note:").is_some_and(|name| !name.is_empty()),
        };
        let empty = |passage: &Passage| passage.text.trim().is_empty();
        let backwards = |passage: &Passage| match passage.place {
            PassageLocation::Lines(first, last) => first == 0 || last < first,
            PassageLocation::Page(page) => page == 0,
        };
        if !fits {
            return Err(format!("key `{key}` does not match its origin"));
        }
        if let Some(at) =
            self.passages.iter().position(|passage| empty(passage) || backwards(passage))
        {
            return Err(format!("passage {} of `{key}` has no text or no valid location", at + 1));
        }
        if self.modified < 0 {
            return Err(format!("`{key}` has a modification time before 1970"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use toolgate_model::Digest;

    use super::*;

    fn record() -> DocumentJson {
        DocumentJson {
            version: VERSION,
            key: "/notes/a.md".into(),
            origin: DocumentOrigin::File { folder: "/notes".into() },
            title: "A".into(),
            digest: Digest::of(b"a").to_string(),
            bytes: 7,
            modified: 1_700_000_000_000,
            trust: DocumentTrust::Trusted,
            passages: vec![
                Passage {
                    heading: "A > B".into(),
                    text: "x\ny".into(),
                    place: PassageLocation::Lines(3, 4),
                },
                Passage {
                    heading: String::new(),
                    text: "z".into(),
                    place: PassageLocation::Page(2),
                },
            ],
        }
    }

    #[test]
    fn a_line_is_what_is_documented_and_reads_back() {
        let line = serde_json::to_string(&record()).unwrap();
        let digest = Digest::of(b"a");
        assert_eq!(
            line,
            format!(
                r#"{{"version":1,"key":"/notes/a.md","origin":{{"kind":"file","folder":"/notes"}},"title":"A","digest":"{digest}","bytes":7,"modified":1700000000000,"trust":"trusted","passages":[{{"heading":"A > B","text":"x\ny","lines":[3,4]}},{{"text":"z","page":2}}]}}"#
            )
        );
        assert_eq!(DocumentJson::parse(&line).unwrap(), record());
    }

    #[test]
    fn trust_counts_only_where_the_file_is_believed() {
        assert_eq!(record().into_new_document(false).unwrap().trust, DocumentTrust::Untrusted);
        assert_eq!(record().into_new_document(true).unwrap().trust, DocumentTrust::Trusted);
    }

    #[test]
    fn what_passes_for_something_else_is_refused() {
        let odd: [fn(&mut DocumentJson); 8] = [
            |it| it.key = "notes/a.md".into(),
            |it| it.key = "/elsewhere/a.md".into(),
            |it| it.origin = DocumentOrigin::Note,
            |it| it.origin = DocumentOrigin::Resource { server: "s".into(), uri: "x://y".into() },
            |it| it.digest = "sha256:00".into(),
            |it| it.modified = -1,
            |it| it.passages[0].text = " \n".into(),
            |it| it.passages[0].place = PassageLocation::Lines(4, 3),
        ];
        for (change, number) in odd.iter().zip(0..) {
            let mut record = record();
            change(&mut record);
            assert!(record.into_new_document(true).is_err(), "{number}");
        }
        let newer = serde_json::to_string(&DocumentJson { version: 2, ..record() }).unwrap();
        assert!(DocumentJson::parse(&newer).unwrap_err().contains("version 2"));
    }
}
