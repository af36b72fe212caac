//! What there is below a folder, as far as it counts: ignore files respected, hidden files left out,
//! links not followed.
//!
//! A walk looks at names and at what the system says of them. It opens no file.

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use ignore::{DirEntry, Error, WalkBuilder};

use super::{Options, Remarks};
use crate::error::ContextError;

/// Where version control keeps its own files: nobody's documents, even where hidden files count.
const REPOSITORIES: [&str; 4] = [".git", ".hg", ".svn", ".jj"];

/// After how many files the walk tells how far it is.
const TOLD_EVERY: u64 = 256;

/// A path that was named, made exact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Root {
    /// Absolute, with every link followed.
    pub(crate) path: PathBuf,
    /// The folder its documents are filed under: itself, or of a file its folder.
    pub(crate) folder: String,
    /// Whether it is a folder.
    pub(crate) is_folder: bool,
}

/// A file to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    /// Its path, absolute and with every link followed.
    pub(super) key: String,
    pub(super) bytes: u64,
    /// In milliseconds since 1970.
    pub(super) modified: i64,
}

/// What a walk found.
#[derive(Debug, Default)]
pub(super) struct Walked {
    pub(super) files: Vec<Found>,
    /// The folders it went into.
    pub(super) folders: Vec<PathBuf>,
    pub(super) skipped: Remarks,
    pub(super) noted: Remarks,
    /// What could not be looked at: of what is below, nothing is known.
    pub(super) unseen: Vec<PathBuf>,
}

impl Root {
    /// Finds out what a path leads to.
    pub(crate) fn find(named: &Path) -> Result<Self, ContextError> {
        let failed = |source| ContextError::Path { path: named.to_owned(), source };
        let path = named.canonicalize().map_err(failed)?;
        let metadata = fs::metadata(&path).map_err(failed)?;
        if !metadata.is_dir() && !metadata.is_file() {
            let why = "it is neither a file nor a folder";
            return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, why)));
        }
        let is_folder = metadata.is_dir();
        // Whether it can be read, while somebody can be told.
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

    /// The same as a key.
    pub(super) fn key(&self) -> &str {
        // It was found to be text when it was found.
        self.path.to_str().unwrap_or(&self.folder)
    }
}

impl Found {
    pub(super) fn new(key: String, metadata: &Metadata) -> Self {
        Self { key, bytes: metadata.len(), modified: modified(metadata) }
    }
}

/// When a file was changed last, in milliseconds since 1970; 0 where nobody knows.
pub(super) fn modified(metadata: &Metadata) -> i64 {
    let Ok(time) = metadata.modified() else { return 0 };
    let millis = |time: std::time::Duration| i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => millis(since),
        Err(before) => -millis(before.duration()),
    }
}

/// Walks a path, or of it only what lies at these places, their folders and what is below them.
/// Ends early if `told`, who hears how many files were seen, says so.
pub(super) fn walk(
    root: &Root,
    places: Option<&BTreeSet<PathBuf>>,
    options: &Options,
    told: &mut dyn FnMut(u64) -> bool,
) -> Walked {
    let mut walked = Walked::default();
    if !root.is_folder {
        walked.named_file(root);
        return walked;
    }
    for entry in builder(root, places, options).build() {
        match entry {
            Ok(entry) => walked.entry(&entry, root),
            Err(error) => walked.failed(&error, &root.path),
        }
        let seen = walked.files.len() as u64;
        if seen.is_multiple_of(TOLD_EVERY) && !told(seen) {
            break;
        }
    }
    walked
}

fn builder(root: &Root, places: Option<&BTreeSet<PathBuf>>, options: &Options) -> WalkBuilder {
    let mut builder = WalkBuilder::new(&root.path);
    builder
        .standard_filters(options.ignore_files)
        .hidden(!options.hidden)
        // A folder's `.gitignore` means the same whether somebody ran `git init` or not.
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

/// Whether a path is on the way to one of the places, or at or below it.
fn concerns(places: &BTreeSet<PathBuf>, path: &Path) -> bool {
    places.iter().any(|place| place.starts_with(path) || path.starts_with(place))
}

impl Walked {
    fn named_file(&mut self, root: &Root) {
        match fs::metadata(&root.path) {
            Ok(metadata) => self.files.push(Found::new(root.key().to_owned(), &metadata)),
            // It was there when it was named.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => self.failed_at(&root.path, error.kind().to_string()),
        }
    }

    fn entry(&mut self, entry: &DirEntry, root: &Root) {
        if let Some(error) = entry.error() {
            self.ignore_file(error);
        }
        let Some(kind) = entry.file_type() else { return };
        let path = entry.path();
        if kind.is_dir() {
            self.folders.push(path.to_owned());
        } else if kind.is_symlink() {
            self.link(path, root);
        } else if !kind.is_file() {
            self.skipped.add(path.to_string_lossy(), "no file: a pipe, a socket or a device");
        } else if let Some(key) = path.to_str() {
            match entry.metadata() {
                Ok(metadata) => self.files.push(Found::new(key.to_owned(), &metadata)),
                Err(error) => self.failed(&error, path),
            }
        } else {
            self.skipped.add(path.to_string_lossy(), "its name is not valid UTF-8");
        }
    }

    /// A link to something in the folder adds nothing: it is found where it stands.
    fn link(&mut self, path: &Path, root: &Root) {
        match path.canonicalize() {
            Ok(target) if target.starts_with(&root.path) => {}
            Ok(_) => {
                self.skipped.add(path.to_string_lossy(), "a link that leads out of the folder")
            }
            Err(_) => self.skipped.add(path.to_string_lossy(), "a link that leads nowhere"),
        }
    }

    /// A line of an ignore file that means nothing stops nothing, but somebody may rely on it.
    fn ignore_file(&mut self, error: &Error) {
        match error {
            Error::Partial(errors) => errors.iter().for_each(|error| self.ignore_file(error)),
            Error::WithPath { path, err } => {
                self.noted.add(path.to_string_lossy(), reason(err));
            }
            other => self.noted.add("", reason(other)),
        }
    }

    fn failed(&mut self, error: &Error, at: &Path) {
        match error {
            Error::Partial(errors) => errors.iter().for_each(|error| self.failed(error, at)),
            Error::WithPath { path, err } => self.failed(err, path),
            Error::WithDepth { err, .. } => self.failed(err, at),
            other => self.failed_at(at, reason(other)),
        }
    }

    fn failed_at(&mut self, path: &Path, why: String) {
        self.skipped.add(path.to_string_lossy(), why);
        self.unseen.push(path.to_owned());
    }
}

/// Without the path, which is said beside it.
fn reason(error: &Error) -> String {
    match error {
        Error::WithPath { err, .. } | Error::WithDepth { err, .. } => reason(err),
        Error::WithLineNumber { line, err } => format!("line {line}: {}", reason(err)),
        other => match other.io_error() {
            // Its own words repeat the path.
            Some(error) => error.kind().to_string(),
            None => other.to_string(),
        },
    }
}

/// The folders below a path that count, or those at and below these places.
pub(crate) fn folders(
    root: &Root,
    places: Option<&BTreeSet<PathBuf>>,
    options: &Options,
) -> Vec<PathBuf> {
    if !root.is_folder {
        return vec![PathBuf::from(&root.folder)];
    }
    let entries = builder(root, places, options).build().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_some_and(|kind| kind.is_dir()));
    folders.map(DirEntry::into_path).collect()
}
