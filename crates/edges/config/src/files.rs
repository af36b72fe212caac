//! Reads the configuration files. `file_locations` decides which files there are, and in which
//! order.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use toolgate_dialects::{Dialect, FileRef, ForeignFiles, ParsedFile, UNREADABLE_FILE_HINT};
use toolgate_model::{ConfigScope, Diagnostic, DiagnosticSeverity, ErrorCode};

use crate::file_locations::{self, CandidateFile, FileRank};
use crate::{ConfigDocument, ConfigError, ConfigSources, stable_read};

/// The size limit of a configuration file: a project's file is untrusted.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// One file that was read.
pub(crate) struct ConfigLayer {
    pub file: FileRef,
    pub dialect: Dialect,
    pub rank: FileRank,
    pub parsed: ParsedFile,
    /// Whether the file was not being written while it was read.
    pub stable: bool,
}

/// Reads every candidate file, nearest first.
///
/// Only a file that the user named must exist. Any other file that cannot be read is reported, and
/// the rest are read. Only the user and the administrator decide which foreign files are read, so
/// Toolgate's own files are read first.
pub(crate) fn read_all(sources: &ConfigSources) -> Result<Vec<ConfigLayer>, ConfigError> {
    if let Some(named) = &sources.config {
        return Ok(vec![read_named(named)?]);
    }
    let (ours, foreign): (Vec<_>, Vec<_>) = file_locations::candidate_files(sources)
        .into_iter()
        .partition(|place| place.file.dialect.is_toolgate());
    let mut layers: Vec<_> = ours.into_iter().filter_map(read_found).collect();
    let read = foreign_setting(&mut layers);
    layers.extend(foreign.into_iter().filter(|place| place.is_read(read)).filter_map(read_found));
    layers.sort_by_key(|layer| layer.rank);
    Ok(layers)
}

/// Returns which foreign files to read. A project cannot set this: it could include files, or
/// exclude the user's own.
fn foreign_setting(layers: &mut [ConfigLayer]) -> ForeignFiles {
    let mut setting = None;
    for layer in layers {
        let Some(foreign) = layer.parsed.settings.foreign else { continue };
        if layer.file.scope == ConfigScope::Project {
            layer.parsed.settings.foreign = None;
            let origin = layer.file.origin(0, 0);
            let message = "`foreign` has no effect in a project's file";
            let warning = Diagnostic::warning(ErrorCode::ConfigProjectLimit, origin, message);
            layer.parsed.diagnostics.push(warning.hint("set it in your own config"));
        } else {
            setting = setting.or(Some(foreign));
        }
    }
    setting.unwrap_or_default()
}

fn read_named(path: &Path) -> Result<ConfigLayer, ConfigError> {
    let failed = |source| ConfigError::Read { path: path.to_owned(), source };
    let absolute = std::path::absolute(path).map_err(failed)?;
    let (text, steady) = stable_read::read_text(&absolute).map_err(failed)?;
    let dialect = Dialect::detect(&absolute, &text);
    let file = ConfigDocument { dialect, at: FileRef::new(absolute, ConfigScope::User) };
    Ok(layer(CandidateFile { file, rank: FileRank::only_file() }, &text, steady))
}

fn read_found(place: CandidateFile) -> Option<ConfigLayer> {
    match stable_read::read_text(place.file.path()) {
        Ok((text, steady)) => Some(layer(place, &text, steady)),
        Err(error) if is_absent(&error) => None,
        Err(error) => {
            let CandidateFile { file: ConfigDocument { dialect, at: file }, rank } = place;
            let (origin, message) = (file.origin(0, 0), format!("cannot read the file: {error}"));
            let found = Diagnostic::warning(ErrorCode::ConfigUnreadable, origin, message)
                .severity(DiagnosticSeverity::Error)
                .hint(UNREADABLE_FILE_HINT);
            let reading = ParsedFile { diagnostics: vec![found], ..ParsedFile::default() };
            Some(ConfigLayer { file, dialect, rank, parsed: reading, stable: true })
        }
    }
}

pub(crate) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn layer(place: CandidateFile, text: &str, steady: bool) -> ConfigLayer {
    let CandidateFile { file: ConfigDocument { dialect, at: file }, rank } = place;
    let dialect = version(dialect, &file, text);
    let mut reading = dialect.read(text, &file);
    // Detecting the dialect costs as much as reading, so only files without entries are checked.
    if reading.servers.is_empty() && reading.overrides.is_empty() {
        reading.diagnostics.extend(check_dialect(dialect, &file, text));
    }
    tracing::debug!(
        file = %file.path.display(),
        dialect = dialect.as_str(),
        servers = reading.servers.len(),
        diagnostics = reading.diagnostics.len(),
        "configuration read"
    );
    ConfigLayer { file, dialect, rank, parsed: reading, stable: steady }
}

/// Warns if the content of a file looks like another dialect than its path.
fn check_dialect(dialect: Dialect, file: &FileRef, text: &str) -> Option<Diagnostic> {
    let other = Dialect::mismatch(&file.path, text)?;
    let message = format!("the file is read as {dialect}, but it looks like {other}");
    let warning = Diagnostic::warning(ErrorCode::ConfigDialect, file.origin(1, 1), message);
    Some(warning.hint("move it to where that host looks for it, or name it with --config"))
}

/// Returns the version of opencode's dialect: both versions use the same path.
fn version(dialect: Dialect, file: &FileRef, text: &str) -> Dialect {
    match dialect {
        Dialect::OpenCode if Dialect::detect(&file.path, text) == Dialect::OpenCodeV2 => {
            Dialect::OpenCodeV2
        }
        dialect => dialect,
    }
}

/// Reads a whole file. Rejects anything but a regular file before opening it: reading a pipe
/// blocks, and a device may never end.
pub(crate) fn read_text(path: &Path) -> io::Result<String> {
    read_bounded(path, MAX_BYTES)
}

/// Like [`read_text`], with another size limit.
pub(crate) fn read_bounded(path: &Path, most: u64) -> io::Result<String> {
    read_up_to(&open(path)?, most)
}

/// Like [`read_text`], for an open file.
pub(crate) fn read_open(file: &File) -> io::Result<String> {
    read_up_to(file, MAX_BYTES)
}

/// Opens a regular file.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    File::open(path)
}

/// Reads the bytes of a regular file, up to this size.
pub(crate) fn read_bytes(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    bytes_up_to(&open(path)?, most)
}

fn bytes_up_to(file: &File, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::other(format!("larger than {most} bytes")));
    }
    Ok(bytes)
}

fn read_up_to(file: &File, most: u64) -> io::Result<String> {
    let bytes = bytes_up_to(file, most)?;
    String::from_utf8(bytes).map_err(|_| io::Error::other("not valid UTF-8"))
}

/// Returns the folders of a project, nearest first, up to the root of its repository or the user's
/// home folder. Outside both, only the folder itself counts, because other users may write to
/// folders above it.
pub(crate) fn project_folders(sources: &ConfigSources) -> Vec<PathBuf> {
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
