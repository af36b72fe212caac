//! Options and limits of an ingest.

use std::path::{Path, PathBuf};

use toolgate_library::DocumentTrust;

/// The maximum size of a text file in bytes. A larger file is a dump or a log, and would take most
/// of the memory of an ingest.
pub const MOST_TEXT: u64 = 32 << 20;

/// The maximum size of a PDF in bytes. The helper reads it from the file, so the limit is higher
/// than for texts.
pub const MOST_PDF: u64 = 64 << 20;

/// Options of an ingest: which files to read, and whose text to trust.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IngestOptions {
    /// Whether to ingest hidden files.
    pub hidden: bool,
    /// Whether to respect `.gitignore`, `.ignore` and similar files.
    pub ignore_files: bool,
    /// Folders and files whose text the user trusts.
    pub trusted: Vec<PathBuf>,
    /// Whether the user trusts texts that are given directly.
    pub trust_texts: bool,
    /// The maximum size of a text file in bytes.
    pub most_text: u64,
    /// The maximum size of a PDF in bytes.
    pub most_pdf: u64,
}

impl Default for IngestOptions {
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

impl IngestOptions {
    /// Replaces the trusted paths by their canonical forms. A path that does not exist is dropped,
    /// because anything could appear there later.
    pub(super) fn canonicalize_trusted(self) -> Self {
        let exact = |path: &PathBuf| path.canonicalize().ok();
        Self { trusted: self.trusted.iter().filter_map(exact).collect(), ..self }
    }

    /// Returns the trust of a file by its canonical path.
    pub(super) fn trust(&self, path: &Path) -> DocumentTrust {
        DocumentTrust::of(self.trusted.iter().any(|trusted| path.starts_with(trusted)))
    }
}
