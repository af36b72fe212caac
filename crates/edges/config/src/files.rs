//! Reads the files that may speak. Which those are, and in which order, is in `places`.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use toolgate_dialects::{Dialect, FileRef, Foreign, Reading};
use toolgate_model::{Diagnostic, Scope, Severity};

use crate::places::{self, Place, Rank};
use crate::{ConfigError, Sources, steady};

/// The largest file read: a project's file is not ours, and may be anything.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// One file that was read.
pub(crate) struct Layer {
    pub file: FileRef,
    pub dialect: Dialect,
    pub rank: Rank,
    pub reading: Reading,
    /// Whether nobody was writing the file while it was read.
    pub steady: bool,
}

/// Reads every file that may speak, nearest first.
///
/// Only a file that was named must exist; another that cannot be read is reported, and the rest go
/// on. Which files of other hosts are read is the user's or the administrator's to say, so our own
/// files are read first.
pub(crate) fn read_all(sources: &Sources) -> Result<Vec<Layer>, ConfigError> {
    if let Some(named) = &sources.config {
        return Ok(vec![read_named(named)?]);
    }
    let (ours, foreign): (Vec<_>, Vec<_>) =
        places::all(sources).into_iter().partition(|place| place.dialect.is_ours());
    let mut layers: Vec<_> = ours.into_iter().filter_map(read_found).collect();
    let read = said_of_foreign(&mut layers);
    layers.extend(foreign.into_iter().filter(|place| place.is_read(read)).filter_map(read_found));
    layers.sort_by_key(|layer| layer.rank);
    Ok(layers)
}

/// Which files of other hosts are read. A project must not say it: it could bring files in, or
/// keep the user's own out.
fn said_of_foreign(layers: &mut [Layer]) -> Foreign {
    let mut said = None;
    for layer in layers {
        let Some(foreign) = layer.reading.settings.foreign else { continue };
        if layer.file.scope == Scope::Project {
            layer.reading.settings.foreign = None;
            layer.reading.diagnostics.push(Diagnostic {
                severity: Severity::Warning,
                origin: layer.file.origin(0, 0),
                excerpt: None,
                message: "`foreign` has no effect in a project's file".to_owned(),
                hint: Some("say it in your own config".to_owned()),
            });
        } else {
            said = said.or(Some(foreign));
        }
    }
    said.unwrap_or_default()
}

fn read_named(path: &Path) -> Result<Layer, ConfigError> {
    let failed = |source| ConfigError::Read { path: path.to_owned(), source };
    let absolute = std::path::absolute(path).map_err(failed)?;
    let (text, steady) = steady::read_text(&absolute).map_err(failed)?;
    let dialect = Dialect::of(&absolute, &text);
    let file = FileRef::new(absolute, Scope::User);
    Ok(layer(Place { file, dialect, rank: Rank::alone() }, &text, steady))
}

fn read_found(place: Place) -> Option<Layer> {
    match steady::read_text(&place.file.path) {
        Ok((text, steady)) => Some(layer(place, &text, steady)),
        Err(error) if is_absent(&error) => None,
        Err(error) => {
            let Place { file, dialect, rank } = place;
            let found = Diagnostic {
                severity: Severity::Error,
                origin: file.origin(0, 0),
                excerpt: None,
                message: format!("the file cannot be read: {error}"),
                hint: Some("nothing in it is used until it can be".to_owned()),
            };
            let reading = Reading { diagnostics: vec![found], ..Reading::default() };
            Some(Layer { file, dialect, rank, reading, steady: true })
        }
    }
}

pub(crate) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn layer(place: Place, text: &str, steady: bool) -> Layer {
    let Place { file, dialect, rank } = place;
    let dialect = version(dialect, &file, text);
    let mut reading = dialect.read(text, &file);
    // Looking a second time costs as much as the first, so only what said nothing is doubted.
    if reading.servers.is_empty() && reading.amendments.is_empty() {
        reading.diagnostics.extend(mistaken(dialect, &file, text));
    }
    tracing::debug!(
        file = %file.path.display(),
        dialect = dialect.as_str(),
        servers = reading.servers.len(),
        diagnostics = reading.diagnostics.len(),
        "read configuration"
    );
    Layer { file, dialect, rank, reading, steady }
}

/// What is said of a file that seems to be of another dialect than its place.
fn mistaken(dialect: Dialect, file: &FileRef, text: &str) -> Option<Diagnostic> {
    let other = Dialect::mismatch(&file.path, text)?;
    Some(Diagnostic {
        severity: Severity::Warning,
        origin: file.origin(1, 1),
        excerpt: None,
        message: format!("the file is read as {dialect}, but it looks like {other}"),
        hint: Some("move it to where that host looks for it, or name it with --config".to_owned()),
    })
}

/// Two versions of opencode keep their files in the same place.
fn version(dialect: Dialect, file: &FileRef, text: &str) -> Dialect {
    match dialect {
        Dialect::OpenCode if Dialect::of(&file.path, text) == Dialect::OpenCodeV2 => {
            Dialect::OpenCodeV2
        }
        dialect => dialect,
    }
}

/// Reads a whole file. Anything but a plain file is refused before it is opened: a pipe would block
/// and a device would never end.
pub(crate) fn read_text(path: &Path) -> io::Result<String> {
    read_bounded(path, MAX_BYTES)
}

/// The same, up to another size.
pub(crate) fn read_bounded(path: &Path, most: u64) -> io::Result<String> {
    read_up_to(&open(path)?, most)
}

/// The same, of a file that is open.
pub(crate) fn read_open(file: &File) -> io::Result<String> {
    read_up_to(file, MAX_BYTES)
}

/// Opens a plain file.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a plain file"));
    }
    File::open(path)
}

/// The bytes of a plain file, up to this size.
pub(crate) fn read_bytes(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    bytes_up_to(&open(path)?, most)
}

fn bytes_up_to(file: &File, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::other(format!("it is larger than {most} bytes")));
    }
    Ok(bytes)
}

fn read_up_to(file: &File, most: u64) -> io::Result<String> {
    let bytes = bytes_up_to(file, most)?;
    String::from_utf8(bytes).map_err(|_| io::Error::other("it is not UTF-8 text"))
}

/// The folders of a project, nearest first: up to the root of its repository or the user's own
/// folder. Outside both only the folder itself counts, because anybody may write above it.
pub(crate) fn project_folders(sources: &Sources) -> Vec<PathBuf> {
    let Some(start) = &sources.project_dir else { return Vec::new() };
    let start = std::path::absolute(start).unwrap_or_else(|_| start.clone());
    let mut folders = Vec::new();
    for folder in start.ancestors() {
        folders.push(folder.to_owned());
        let is_user_dir = sources.home.user_dir() == Some(folder);
        if is_user_dir || folder.join(".git").exists() {
            return folders;
        }
    }
    vec![start]
}
