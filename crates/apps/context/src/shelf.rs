//! Where the library stands: opened when it is first needed, and not made by looking for it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::OnceCell;
use toolgate_model::visible;
use toolgate_store::StoreError;
use toolgate_store::context::Library;

/// The command that takes documents in, where nobody says how this home is named.
const COMMAND: &str = "toolgate context ingest";

/// The place of a home's library. Cheap to clone; all clones share one opening.
#[derive(Debug, Clone)]
pub struct Shelf {
    path: Arc<Path>,
    command: Arc<str>,
    library: Arc<OnceCell<Library>>,
}

impl Shelf {
    /// The library in this file, which need not exist.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        let path: PathBuf = path.into();
        Self { path: path.into(), command: COMMAND.into(), library: Arc::default() }
    }

    /// Says which command takes documents into it, without the documents.
    #[must_use]
    pub fn command(self, command: &str) -> Self {
        Self { command: command.into(), ..self }
    }

    /// The library, if there is one.
    pub async fn look(&self) -> Result<Option<Library>, StoreError> {
        let exists = self.library.initialized()
            || tokio::fs::try_exists(&self.path).await.is_ok_and(|it| it);
        match exists {
            true => self.open().await.map(Some),
            false => Ok(None),
        }
    }

    /// The library, made if there is none.
    pub async fn open(&self) -> Result<Library, StoreError> {
        let library = self.library.get_or_try_init(|| Library::open(self.path.to_path_buf()));
        library.await.cloned()
    }

    /// Whether it holds a document.
    pub async fn holds(&self) -> Result<bool, StoreError> {
        match self.look().await? {
            Some(library) => Ok(!library.keys("", 1).await?.is_empty()),
            None => Ok(false),
        }
    }

    /// What a user types to take in `what`.
    pub(crate) fn ingesting(&self, what: &str) -> String {
        format!("{} {what}", self.command)
    }
}

/// A path as a shell takes it.
pub fn shell_word(path: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-:\\".contains(c);
    match !path.is_empty() && path.chars().all(plain) {
        true => path.to_owned(),
        false => format!("'{}'", visible(path).replace('\'', "'\\''")),
    }
}
