//! What tools, resources and prompts share: searching for passages, and the notices for an empty
//! library or an empty result.

use std::collections::HashMap;
use std::error::Error;
use std::path::Path;

use serde_json::{Value, json};
use toolgate_host::error_chain;
use toolgate_library::Library;
use toolgate_reading::terms;

use crate::Names;
use crate::library_handle::LibraryHandle;
use crate::passage::{NOTICE, QuotedPassage, format_passages};

/// The maximum number of keys searched for a document named by the end of its path.
const KEYS: usize = 200_000;
/// The number of keys read at a time.
const PAGE: usize = 1_000;

/// Answers all requests of a context server from its library.
#[derive(Debug, Clone)]
pub(crate) struct ContextService {
    pub library_handle: LibraryHandle,
    pub names: Names,
}

/// The result of a search.
#[derive(Debug, Clone, Default)]
pub(crate) struct PassageSearchResult {
    /// The passages, best first.
    pub passages: Vec<QuotedPassage>,
    /// A notice that replaces the usual one if nothing was found.
    pub remark: Option<String>,
}

impl ContextService {
    /// Searches for passages and records the query for completion.
    pub(crate) async fn search(
        &self,
        query: &str,
        limit: usize,
    ) -> Result<PassageSearchResult, String> {
        let Some(library) = self.library().await? else {
            return Ok(PassageSearchResult {
                remark: Some(self.empty_library_notice()),
                ..PassageSearchResult::default()
            });
        };
        let hits = library.search(query, limit).await.map_err(describe_error)?;
        record_query(library, query);
        let remark = match hits.is_empty() {
            true => Some(self.no_match_notice().await?),
            false => None,
        };
        Ok(PassageSearchResult {
            passages: hits.into_iter().map(QuotedPassage::from).collect(),
            remark,
        })
    }

    /// Returns the notice for a search without results.
    pub(crate) async fn no_match_notice(&self) -> Result<String, String> {
        Ok(match self.library_handle.has_documents().await.map_err(describe_error)? {
            true => "nothing in the library fits".to_owned(),
            false => self.empty_library_notice(),
        })
    }

    /// Returns all passages of the document that `source` names.
    pub(crate) async fn document_passages(
        &self,
        source: &str,
    ) -> Result<Vec<QuotedPassage>, String> {
        let Some(library) = self.library().await? else { return Err(self.empty_library_notice()) };
        let key = match library.document_passages(source).await.map_err(describe_error)? {
            hits if hits.is_empty() => resolve_document_key(&library, source).await?,
            hits => return Ok(hits.into_iter().map(QuotedPassage::from).collect()),
        };
        let hits = library.document_passages(&key).await.map_err(describe_error)?;
        Ok(hits.into_iter().map(QuotedPassage::from).collect())
    }

    /// Returns for each term of a question the share of passages that contain it.
    pub(crate) async fn term_frequencies(
        &self,
        question: &str,
    ) -> Result<HashMap<String, f64>, String> {
        match self.library().await? {
            Some(library) => library
                .term_shares(&terms::query_term_strings(question))
                .await
                .map_err(describe_error),
            None => Ok(HashMap::new()),
        }
    }

    /// Opens the library if it exists.
    pub(crate) async fn library(&self) -> Result<Option<Library>, String> {
        self.library_handle.open_existing().await.map_err(describe_error)
    }

    /// Returns the notice for an empty library.
    pub(crate) fn empty_library_notice(&self) -> String {
        let command = self.library_handle.ingest_command("FOLDER");
        format!(
            "nothing was ingested yet: the library is empty. `{command}` adds a file or a folder"
        )
    }
}

impl PassageSearchResult {
    /// Returns the notice to show before the passages.
    pub(crate) fn notice(&self) -> String {
        self.remark.clone().unwrap_or_else(|| NOTICE.to_owned())
    }

    /// Returns the notice and the passages as text.
    pub(crate) fn to_text(&self) -> String {
        match self.passages.len() {
            0 => self.notice(),
            _ => format!("{}\n\n{}", self.notice(), format_passages(&self.passages)),
        }
    }

    /// Returns the result as structured data.
    pub(crate) fn to_json(&self, query: &str) -> Value {
        json!({ "query": query, "passages": self.passages, "notice": self.notice() })
    }
}

/// Describes an error and its causes, for a model.
pub(crate) fn describe_error(error: impl Error) -> String {
    error_chain(&error)
}

/// Records a query for completion, in the background: the answer does not depend on it, and a
/// running ingest may hold the write lock.
pub(crate) fn record_query(library: Library, query: &str) {
    let query = query.to_owned();
    tokio::spawn(async move {
        if let Err(error) = library.remember_query(&query).await {
            tracing::debug!(target: "toolgate::context", %error, "cannot record a query");
        }
    });
}

/// Finds the one key that `source` names: a path relative to the current folder, or the end of a
/// path.
async fn resolve_document_key(library: &Library, source: &str) -> Result<String, String> {
    let here = std::path::absolute(source).ok().and_then(|path| path.to_str().map(str::to_owned));
    let mut found = Vec::new();
    let (mut after, mut seen) = (String::new(), 0);
    while seen < KEYS {
        let keys = library.keys(&after, PAGE).await.map_err(describe_error)?;
        let Some(last) = keys.last() else { break };
        (after, seen) = (last.clone(), seen + keys.len());
        if let Some(key) = keys.iter().find(|key| here.as_ref() == Some(*key)) {
            return Ok(key.clone());
        }
        found.extend(keys.into_iter().filter(|key| is_key_for_name(key, source)));
    }
    match &found[..] {
        [key] => Ok(key.clone()),
        [] => Err(format!("no document named `{source}`: use the `source` of a passage")),
        several => {
            let some: Vec<_> = several.iter().take(5).map(|key| format!("`{key}`")).collect();
            Err(format!("`{source}` is ambiguous: it can be {}", some.join(" or ")))
        }
    }
}

/// Returns true if the key ends with `name` in whole path components, or is the note `name`.
fn is_key_for_name(key: &str, name: &str) -> bool {
    key.strip_prefix("note:") == Some(name)
        || (!name.is_empty() && Path::new(key).ends_with(Path::new(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_named_by_whole_parts_of_their_path() {
        assert!(is_key_for_name("/notes/plans/a.md", "a.md"));
        assert!(is_key_for_name("/notes/plans/a.md", "plans/a.md"));
        assert!(!is_key_for_name("/notes/plans/a.md", "s/a.md"));
        assert!(!is_key_for_name("/notes/plans/a.md", ""));
        assert!(is_key_for_name("note:standup", "standup"));
    }
}
