//! What tools, resources and prompts have in common: finding passages, and saying so when there is
//! nothing to find them in.

use std::collections::HashMap;
use std::path::Path;

use serde_json::{Value, json};
use toolgate_reading::terms;
use toolgate_store::StoreError;
use toolgate_store::context::Library;

use crate::Names;
use crate::passage::{NOTICE, Passage};
use crate::shelf::Shelf;

/// How many keys are looked through for a document that is named by the end of its path.
const KEYS: usize = 200_000;
/// How many of them at a time.
const PAGE: usize = 1_000;

/// Where everything is looked up.
#[derive(Debug, Clone)]
pub(crate) struct Desk {
    pub shelf: Shelf,
    pub names: Names,
}

/// What a search found.
#[derive(Debug, Clone, Default)]
pub(crate) struct Found {
    /// Best first.
    pub passages: Vec<Passage>,
    /// What there is to say beside, if nothing was found.
    pub remark: Option<String>,
}

impl Desk {
    /// The passages that fit best, and remembers that somebody asked.
    pub(crate) async fn find(&self, query: &str, limit: usize) -> Result<Found, String> {
        let Some(library) = self.library().await? else {
            return Ok(Found { remark: Some(self.ingest_first()), ..Found::default() });
        };
        let hits = library.search(query, limit).await.map_err(told)?;
        remember(library, query);
        let remark = match hits.is_empty() {
            true => Some(self.why_nothing().await?),
            false => None,
        };
        Ok(Found { passages: hits.into_iter().map(Passage::from).collect(), remark })
    }

    /// What is said where nothing fits.
    pub(crate) async fn why_nothing(&self) -> Result<String, String> {
        Ok(match self.shelf.holds().await.map_err(told)? {
            true => "nothing in the library fits".to_owned(),
            false => self.ingest_first(),
        })
    }

    /// All passages of the document that is meant.
    pub(crate) async fn document(&self, source: &str) -> Result<Vec<Passage>, String> {
        let Some(library) = self.library().await? else { return Err(self.ingest_first()) };
        let key = match library.document(source).await.map_err(told)? {
            hits if hits.is_empty() => meant(&library, source).await?,
            hits => return Ok(hits.into_iter().map(Passage::from).collect()),
        };
        let hits = library.document(&key).await.map_err(told)?;
        Ok(hits.into_iter().map(Passage::from).collect())
    }

    /// What part of all passages each word of a question stands in.
    pub(crate) async fn shares(&self, question: &str) -> Result<HashMap<String, f64>, String> {
        match self.library().await? {
            Some(library) => library.shares(&terms::query(question)).await.map_err(told),
            None => Ok(HashMap::new()),
        }
    }

    /// The library, if there is one.
    pub(crate) async fn library(&self) -> Result<Option<Library>, String> {
        self.shelf.look().await.map_err(told)
    }

    /// What is said where nothing was ever taken in.
    pub(crate) fn ingest_first(&self) -> String {
        let command = self.shelf.ingesting("FOLDER");
        format!(
            "nothing was ingested yet: the library is empty. `{command}` takes in a file or a folder"
        )
    }
}

impl Found {
    /// What is said about it before the passages.
    pub(crate) fn notice(&self) -> String {
        self.remark.clone().unwrap_or_else(|| NOTICE.to_owned())
    }

    /// It as data.
    pub(crate) fn data(&self, query: &str) -> Value {
        json!({ "query": query, "passages": self.passages, "notice": self.notice() })
    }
}

/// A failure of the store in words that stand by themselves.
pub(crate) fn told(error: StoreError) -> String {
    let mut text = format!("failed to {error}");
    let mut source = std::error::Error::source(&error);
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

/// Notes a query for completion. Nobody waits for it: somebody may be writing, and an answer does
/// not depend on it.
pub(crate) fn remember(library: Library, query: &str) {
    let query = query.to_owned();
    tokio::spawn(async move {
        if let Err(error) = library.note_query(&query).await {
            tracing::debug!(target: "toolgate::context", %error, "a query was not noted");
        }
    });
}

/// The one key that a document is meant by: a path from here, or the end of a path.
async fn meant(library: &Library, source: &str) -> Result<String, String> {
    let here = std::path::absolute(source).ok().and_then(|path| path.to_str().map(str::to_owned));
    let mut found = Vec::new();
    let (mut after, mut seen) = (String::new(), 0);
    while seen < KEYS {
        let keys = library.keys(&after, PAGE).await.map_err(told)?;
        let Some(last) = keys.last() else { break };
        (after, seen) = (last.clone(), seen + keys.len());
        if let Some(key) = keys.iter().find(|key| here.as_ref() == Some(*key)) {
            return Ok(key.clone());
        }
        found.extend(keys.into_iter().filter(|key| ends_with(key, source)));
    }
    match &found[..] {
        [key] => Ok(key.clone()),
        [] => Err(format!("there is no document `{source}`: `source` of a passage names one")),
        several => {
            let some: Vec<_> = several.iter().take(5).map(|key| format!("`{key}`")).collect();
            Err(format!("`{source}` may be {}: say which", some.join(" or ")))
        }
    }
}

/// Whether a key is this name, whole parts of a path at its end, or a note of it.
fn ends_with(key: &str, name: &str) -> bool {
    key.strip_prefix("note:") == Some(name)
        || (!name.is_empty() && Path::new(key).ends_with(Path::new(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_named_by_whole_parts_of_their_path() {
        assert!(ends_with("/notes/plans/a.md", "a.md"));
        assert!(ends_with("/notes/plans/a.md", "plans/a.md"));
        assert!(!ends_with("/notes/plans/a.md", "s/a.md"));
        assert!(!ends_with("/notes/plans/a.md", ""));
        assert!(ends_with("note:standup", "standup"));
    }
}
