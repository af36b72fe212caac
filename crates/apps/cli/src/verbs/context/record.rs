//! A document as a line of JSON: everything that is kept of it but its number and the time it was
//! kept, so that it can be kept elsewhere.

use std::path::Path;

use serde::{Deserialize, Serialize};
use toolgate_context::compile;
use toolgate_context::reading::{Document, Passage, Place};
use toolgate_context::{Card, Fresh, Hit, Origin, Stamp, Trust};

use super::shown;

/// The form of the lines; another one is refused.
const VERSION: u32 = 1;

/// A document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    version: u32,
    key: String,
    origin: From,
    title: String,
    digest: String,
    bytes: u64,
    /// Milliseconds since 1970.
    modified: i64,
    trust: Word,
    passages: Vec<Leaf>,
}

/// Where it came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum From {
    File { folder: String },
    Resource { server: String, uri: String },
    Note,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Word {
    Trusted,
    Untrusted,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Leaf {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    heading: String,
    text: String,
    #[serde(flatten)]
    place: Spot,
}

/// Lines as a pair of the first and the last, or a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Spot {
    Lines(u32, u32),
    Page(u32),
}

impl Record {
    /// What is kept of a document.
    pub fn of(card: Card, hits: Vec<Hit>) -> Self {
        let leaf = |Hit { heading, text, place, .. }: Hit| {
            let place = match place {
                Place::Lines { first, last } => Spot::Lines(first, last),
                Place::Page(page) => Spot::Page(page),
            };
            Leaf { heading, text, place }
        };
        Self {
            version: VERSION,
            key: card.key,
            origin: match card.origin {
                Origin::File { folder } => From::File { folder },
                Origin::Resource { server, uri } => From::Resource { server, uri },
                Origin::Note => From::Note,
            },
            title: card.title,
            digest: card.stamp.digest.to_string(),
            bytes: card.stamp.bytes,
            modified: card.stamp.modified,
            trust: match card.trust {
                Trust::Trusted => Word::Trusted,
                Trust::Untrusted => Word::Untrusted,
            },
            passages: hits.into_iter().map(leaf).collect(),
        }
    }

    /// Reads a line; otherwise, what is wrong with it.
    pub fn parse(line: &str) -> Result<Self, String> {
        let record: Self = serde_json::from_str(line).map_err(|error| error.to_string())?;
        match record.version {
            VERSION => Ok(record),
            other => Err(format!("it is of version {other}; this program knows {VERSION}")),
        }
    }

    /// The document to keep; otherwise, why it cannot be one. What it says of its trust counts if
    /// the file is `believed`.
    pub fn fresh(self, believed: bool) -> Result<Fresh, String> {
        self.check()?;
        let digest = self.digest.parse();
        let digest = digest.map_err(|()| format!("`{}` is no digest", self.digest))?;
        let passage = |Leaf { heading, text, place }| {
            let place = match place {
                Spot::Lines(first, last) => Place::Lines { first, last },
                Spot::Page(page) => Place::Page(page),
            };
            Passage { heading, text, place }
        };
        let passages = self.passages.into_iter().map(passage).collect();
        Ok(Fresh {
            key: self.key,
            origin: match self.origin {
                From::File { folder } => Origin::File { folder },
                From::Resource { server, uri } => Origin::Resource { server, uri },
                From::Note => Origin::Note,
            },
            stamp: Stamp { digest, bytes: self.bytes, modified: self.modified },
            trust: match self.trust {
                Word::Trusted if believed => Trust::Trusted,
                _ => Trust::Untrusted,
            },
            document: Document { title: self.title, passages, cut: None },
        })
    }

    /// Whether it says that it is trusted.
    pub fn is_trusted(&self) -> bool {
        self.trust == Word::Trusted
    }

    /// A document must be known by what its origin makes of it: nothing may pass for something else.
    fn check(&self) -> Result<(), String> {
        let key = &self.key;
        let fits = match &self.origin {
            From::File { folder } => {
                let (path, folder) = (Path::new(key), Path::new(folder));
                path.is_absolute() && folder.is_absolute() && path.starts_with(folder)
            }
            From::Resource { server, uri } => *key == compile::key(server, uri),
            From::Note => key.strip_prefix("note:").is_some_and(|name| !name.is_empty()),
        };
        let empty = |leaf: &Leaf| leaf.text.trim().is_empty();
        let backwards = |leaf: &Leaf| match leaf.place {
            Spot::Lines(first, last) => first == 0 || last < first,
            Spot::Page(page) => page == 0,
        };
        if !fits {
            return Err(format!("`{key}` does not fit its origin"));
        }
        if let Some(at) = self.passages.iter().position(|leaf| empty(leaf) || backwards(leaf)) {
            return Err(format!("passage {} of `{key}` has no text or no place", at + 1));
        }
        if self.modified < 0 {
            return Err(format!("`{key}` was changed before 1970"));
        }
        Ok(())
    }
}

/// What a document is called where it is told of.
pub fn described(card: &Card) -> String {
    format!("{} ({})", shown::source(&card.key), shown::count(card.passages, "passage"))
}

#[cfg(test)]
mod tests {
    use toolgate_model::Digest;

    use super::*;

    fn record() -> Record {
        Record {
            version: VERSION,
            key: "/notes/a.md".into(),
            origin: From::File { folder: "/notes".into() },
            title: "A".into(),
            digest: Digest::of(b"a").to_string(),
            bytes: 7,
            modified: 1_700_000_000_000,
            trust: Word::Trusted,
            passages: vec![
                Leaf { heading: "A > B".into(), text: "x\ny".into(), place: Spot::Lines(3, 4) },
                Leaf { heading: String::new(), text: "z".into(), place: Spot::Page(2) },
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
        assert_eq!(Record::parse(&line).unwrap(), record());
    }

    #[test]
    fn trust_counts_only_where_the_file_is_believed() {
        assert_eq!(record().fresh(false).unwrap().trust, Trust::Untrusted);
        assert_eq!(record().fresh(true).unwrap().trust, Trust::Trusted);
    }

    #[test]
    fn what_passes_for_something_else_is_refused() {
        let odd: [fn(&mut Record); 8] = [
            |it| it.key = "notes/a.md".into(),
            |it| it.key = "/elsewhere/a.md".into(),
            |it| it.origin = From::Note,
            |it| it.origin = From::Resource { server: "s".into(), uri: "x://y".into() },
            |it| it.digest = "sha256:00".into(),
            |it| it.modified = -1,
            |it| it.passages[0].text = " \n".into(),
            |it| it.passages[0].place = Spot::Lines(4, 3),
        ];
        for (change, number) in odd.iter().zip(0..) {
            let mut record = record();
            change(&mut record);
            assert!(record.fresh(true).is_err(), "{number}");
        }
        let newer = serde_json::to_string(&Record { version: 2, ..record() }).unwrap();
        assert!(Record::parse(&newer).unwrap_err().contains("version 2"));
    }
}
