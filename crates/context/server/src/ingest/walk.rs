//! Lists the files below a folder. A walk respects ignore files, skips hidden files and does not
//! follow links.
//!
//! It reads names and metadata; it opens no file.

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use ignore::{DirEntry, Error, WalkBuilder};

use super::{IngestOptions, IngestRemarks};
use crate::error::ContextError;

/// The folders of version control systems, which are skipped even if hidden files are ingested.
const REPOSITORIES: [&str; 4] = [".git", ".hg", ".svn", ".jj"];

/// The number of files between two progress reports.
const TOLD_EVERY: u64 = 256;

/// A path given by the user, resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IngestRoot {
    /// The absolute path with all links resolved.
    pub(crate) path: PathBuf,
    /// The folder of its documents: the path itself, or the parent of a file.
    pub(crate) folder: String,
    /// Whether the path is a folder.
    pub(crate) is_folder: bool,
}

/// A file and its metadata.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileInfo {
    /// The absolute path with all links resolved.
    pub(super) key: String,
    pub(super) bytes: u64,
    /// The modification time in milliseconds since 1970.
    pub(super) modified: i64,
}

/// The result of a walk.
#[derive(Debug, Default)]
pub(super) struct WalkResult {
    pub(super) files: Vec<FileInfo>,
    /// The folders that were entered.
    pub(super) folders: Vec<PathBuf>,
    pub(super) skipped: IngestRemarks,
    pub(super) noted: IngestRemarks,
    /// Paths that could not be read. Documents below them are kept.
    pub(super) unseen: Vec<PathBuf>,
}

impl IngestRoot {
    /// Resolves a path and checks that it can be read.
    pub(crate) fn resolve(named: &Path) -> Result<Self, ContextError> {
        let failed = |source| ContextError::Path { path: named.to_owned(), source };
        let path = named.canonicalize().map_err(failed)?;
        let metadata = fs::metadata(&path).map_err(failed)?;
        if !metadata.is_dir() && !metadata.is_file() {
            let why = "it is neither a file nor a folder";
            return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, why)));
        }
        let is_folder = metadata.is_dir();
        // Report an unreadable path now, not as a remark.
        match is_folder {
            true => fs::read_dir(&path).map(drop).map_err(failed)?,
            false => fs::File::open(&path).map(drop).map_err(failed)?,
        }
        let folder = if is_folder { path.as_path() } else { path.parent().unwrap_or(&path) };
        let unsayable = || ContextError::Name { path: named.to_owned() };
        let folder = folder.to_str().ok_or_else(unsayable)?.to_owned();
        path.to_str().ok_or_else(unsayable)?;
        Ok(Self { path, folder, is_folder })
    }

    /// Returns the path as a key.
    pub(super) fn key(&self) -> &str {
        // `resolve` checked that the path is valid UTF-8.
        self.path.to_str().unwrap_or(&self.folder)
    }
}

impl FileInfo {
    pub(super) fn new(key: String, metadata: &Metadata) -> Self {
        Self { key, bytes: metadata.len(), modified: modified(metadata) }
    }
}

/// Returns the modification time in milliseconds since 1970, or 0 if it is unknown.
pub(super) fn modified(metadata: &Metadata) -> i64 {
    let Ok(time) = metadata.modified() else { return 0 };
    let millis = |time: std::time::Duration| i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => millis(since),
        Err(before) => -millis(before.duration()),
    }
}

/// Walks a path, or only the given places below it. Passes the number of files seen to
/// `on_progress` and stops if it returns false.
pub(super) fn walk(
    root: &IngestRoot,
    places: Option<&BTreeSet<PathBuf>>,
    options: &IngestOptions,
    on_progress: &mut dyn FnMut(u64) -> bool,
) -> WalkResult {
    let mut walked = WalkResult::default();
    if !root.is_folder {
        walked.named_file(root);
        return walked;
    }
    for entry in builder(root, places, options).build() {
        match entry {
            Ok(entry) => walked.entry(&entry, root),
            Err(error) => walked.add_error(&error, &root.path),
        }
        let seen = walked.files.len() as u64;
        if seen.is_multiple_of(TOLD_EVERY) && !on_progress(seen) {
            break;
        }
    }
    walked
}

fn builder(
    root: &IngestRoot,
    places: Option<&BTreeSet<PathBuf>>,
    options: &IngestOptions,
) -> WalkBuilder {
    let mut builder = WalkBuilder::new(&root.path);
    builder
        .standard_filters(options.ignore_files)
        .hidden(!options.hidden)
        // Respect `.gitignore` outside Git repositories, too.
        .require_git(false)
        .follow_links(false)
        .sort_by_file_name(Ord::cmp);
    let places = places.cloned();
    builder.filter_entry(move |entry| {
        let of_repository =
            entry.file_name().to_str().is_some_and(|name| REPOSITORIES.contains(&name));
        !of_repository && places.as_ref().is_none_or(|places| concerns(places, entry.path()))
    });
    builder
}

/// Returns true if the path is above, at or below one of the places.
fn concerns(places: &BTreeSet<PathBuf>, path: &Path) -> bool {
    places.iter().any(|place| place.starts_with(path) || path.starts_with(place))
}

impl WalkResult {
    fn named_file(&mut self, root: &IngestRoot) {
        match fs::metadata(&root.path) {
            Ok(metadata) => self.files.push(FileInfo::new(root.key().to_owned(), &metadata)),
            // The file was removed after it was resolved.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => self.skip_unreadable(&root.path, error.kind().to_string()),
        }
    }

    fn entry(&mut self, entry: &DirEntry, root: &IngestRoot) {
        if let Some(error) = entry.error() {
            self.note_ignore_error(error);
        }
        let Some(kind) = entry.file_type() else { return };
        let path = entry.path();
        if kind.is_dir() {
            self.folders.push(path.to_owned());
        } else if kind.is_symlink() {
            self.link(path, root);
        } else if !kind.is_file() {
            self.skipped.add(path.to_string_lossy(), "not a regular file");
        } else if let Some(key) = path.to_str() {
            match entry.metadata() {
                Ok(metadata) => self.files.push(FileInfo::new(key.to_owned(), &metadata)),
                Err(error) => self.add_error(&error, path),
            }
        } else {
            self.skipped.add(path.to_string_lossy(), "its name is not valid UTF-8");
        }
    }

    /// Reports a link. A link into the folder is ignored, because the walk finds its target anyway.
    fn link(&mut self, path: &Path, root: &IngestRoot) {
        match path.canonicalize() {
            Ok(target) if target.starts_with(&root.path) => {}
            Ok(_) => {
                self.skipped.add(path.to_string_lossy(), "a link that leads out of the folder")
            }
            Err(_) => self.skipped.add(path.to_string_lossy(), "a link that leads nowhere"),
        }
    }

    /// Reports an invalid line of an ignore file.
    fn note_ignore_error(&mut self, error: &Error) {
        match error {
            Error::Partial(errors) => errors.iter().for_each(|error| self.note_ignore_error(error)),
            Error::WithPath { path, err } => {
                self.noted.add(path.to_string_lossy(), reason(err));
            }
            other => self.noted.add("", reason(other)),
        }
    }

    fn add_error(&mut self, error: &Error, at: &Path) {
        match error {
            Error::Partial(errors) => errors.iter().for_each(|error| self.add_error(error, at)),
            Error::WithPath { path, err } => self.add_error(err, path),
            Error::WithDepth { err, .. } => self.add_error(err, at),
            other => self.skip_unreadable(at, reason(other)),
        }
    }

    fn skip_unreadable(&mut self, path: &Path, why: String) {
        self.skipped.add(path.to_string_lossy(), why);
        self.unseen.push(path.to_owned());
    }
}

/// Returns the message of an error without the path, which the remark already contains.
fn reason(error: &Error) -> String {
    match error {
        Error::WithPath { err, .. } | Error::WithDepth { err, .. } => reason(err),
        Error::WithLineNumber { line, err } => format!("line {line}: {}", reason(err)),
        other => match other.io_error() {
            // The message of the I/O error repeats the path.
            Some(error) => error.kind().to_string(),
            None => other.to_string(),
        },
    }
}

/// Returns all folders of a path that an ingest would enter, or those at and below the places.
pub(crate) fn folders(
    root: &IngestRoot,
    places: Option<&BTreeSet<PathBuf>>,
    options: &IngestOptions,
) -> Vec<PathBuf> {
    if !root.is_folder {
        return vec![PathBuf::from(&root.folder)];
    }
    let entries = builder(root, places, options).build().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_some_and(|kind| kind.is_dir()));
    folders.map(DirEntry::into_path).collect()
}
