//! What is taken in, and how far one goes for it.

use std::path::{Path, PathBuf};

use toolgate_store::context::Trust;

/// A text larger than this is a dump or a log, not a document; whole, it would be most of the memory
/// an ingest may use.
pub const MOST_TEXT: u64 = 32 << 20;

/// A PDF larger than this is refused. Its helper reads it from the file, so it may be larger than a
/// text.
pub const MOST_PDF: u64 = 64 << 20;

/// What is taken in, and how far one goes for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Whether hidden files count.
    pub hidden: bool,
    /// Whether `.gitignore`, `.ignore` and their like count.
    pub ignore_files: bool,
    /// Folders and files whose text the user trusts.
    pub trusted: Vec<PathBuf>,
    /// Whether the user trusts texts that are handed over.
    pub trust_texts: bool,
    /// The most bytes a text may have.
    pub most_text: u64,
    /// The most bytes a PDF may have.
    pub most_pdf: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            hidden: false,
            ignore_files: true,
            trusted: Vec::new(),
            trust_texts: false,
            most_text: MOST_TEXT,
            most_pdf: MOST_PDF,
        }
    }
}

impl Options {
    /// With the places that are trusted as they really are. One that is not there is none: it may
    /// become anything.
    pub(super) fn exact(self) -> Self {
        let exact = |path: &PathBuf| path.canonicalize().ok();
        Self { trusted: self.trusted.iter().filter_map(exact).collect(), ..self }
    }

    /// Whose word a file is, by its canonical path.
    pub(super) fn trust(&self, path: &Path) -> Trust {
        let trusted = self.trusted.iter().any(|trusted| path.starts_with(trusted));
        if trusted { Trust::Trusted } else { Trust::Untrusted }
    }
}
