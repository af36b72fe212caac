//! A handle to the library: opens the file on first use, and creates it only on request.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::OnceCell;
use toolgate_library::Library;
use toolgate_model::escape_invisible;
use toolgate_store::StoreError;

/// The default command for ingesting documents.
const COMMAND: &str = "toolgate context ingest";

/// A handle to the library of a home. Cheap to clone; all clones share one open library.
#[derive(Debug, Clone)]
pub struct LibraryHandle {
    path: Arc<Path>,
    command: Arc<str>,
    library: Arc<OnceCell<Library>>,
}

impl LibraryHandle {
    /// Returns a handle to the library in this file, which need not exist.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        let path: PathBuf = path.into();
        Self { path: path.into(), command: COMMAND.into(), library: Arc::default() }
    }

    /// Sets the command that ingests documents, without its path argument. Notices show it.
    #[must_use]
    pub fn command(self, command: &str) -> Self {
        Self { command: command.into(), ..self }
    }

    /// Opens the library if the file exists.
    pub async fn open_existing(&self) -> Result<Option<Library>, StoreError> {
        let exists = self.library.initialized()
            || tokio::fs::try_exists(&self.path).await.is_ok_and(|it| it);
        match exists {
            true => self.open_or_create().await.map(Some),
            false => Ok(None),
        }
    }

    /// Opens the library and creates it if necessary.
    pub async fn open_or_create(&self) -> Result<Library, StoreError> {
        let library = self.library.get_or_try_init(|| Library::open(self.path.to_path_buf()));
        library.await.cloned()
    }

    /// Returns true if the library holds at least one document.
    pub async fn has_documents(&self) -> Result<bool, StoreError> {
        match self.open_existing().await? {
            Some(library) => Ok(!library.keys("", 1).await?.is_empty()),
            None => Ok(false),
        }
    }

    /// Returns the command line that ingests `what`.
    pub(crate) fn ingest_command(&self, what: &str) -> String {
        format!("{} {what}", self.command)
    }
}

/// Quotes a path for a shell if necessary.
pub fn shell_word(path: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-:\\".contains(c);
    match !path.is_empty() && path.chars().all(plain) {
        true => path.to_owned(),
        false => format!("'{}'", escape_invisible(path).replace('\'', "'\\''")),
    }
}
