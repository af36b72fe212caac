//! Reads the configuration files. `file_locations` decides which files there are, and in which
//! order.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use toolgate_dialects::{Dialect, FileRef, ForeignFiles, ParsedFile, UNREADABLE_FILE_HINT};
use toolgate_model::{ConfigScope, Diagnostic, DiagnosticSeverity, ErrorCode, Origin};

use crate::file_locations::{self, FileRank};
use crate::strict_setting::project_limit;
use crate::{ConfigDocument, ConfigError, ConfigSources, stable_read};

/// The size limit of a configuration file: a project's file is untrusted.
pub(crate) const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// One file that was read.
pub(crate) struct ConfigLayer {
    pub file: ConfigDocument,
    pub rank: FileRank,
    pub parsed: ParsedFile,
    /// Whether the file was not being written while it was read.
    pub stable: bool,
}

impl ConfigLayer {
    pub fn scope(&self) -> ConfigScope {
        self.file.at.scope
    }

    /// Returns true for a project's file, which can only make settings stricter.
    pub fn is_project(&self) -> bool {
        self.scope() == ConfigScope::Project
    }

    /// Returns a position in the file.
    pub fn origin(&self, (line, column): (u32, u32)) -> Origin {
        self.file.at.origin(line, column)
    }
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
        .partition(|(file, _)| file.dialect.is_toolgate());
    let mut layers: Vec<_> = ours.into_iter().filter_map(read_found).collect();
    let read = foreign_setting(&mut layers);
    let foreign = foreign.into_iter().filter(|(file, _)| is_read(file, read));
    layers.extend(foreign.filter_map(read_found));
    layers.sort_by_key(|layer| layer.rank);
    Ok(layers)
}

/// Returns true if the file of another host is read under this setting.
fn is_read(file: &ConfigDocument, foreign: ForeignFiles) -> bool {
    match foreign {
        ForeignFiles::All => true,
        ForeignFiles::Project => file.at.scope == ConfigScope::Project,
        ForeignFiles::None => false,
    }
}

/// Returns which foreign files to read. A project cannot set this: it could include files, or
/// exclude the user's own.
fn foreign_setting(layers: &mut [ConfigLayer]) -> ForeignFiles {
    let mut setting = None;
    for layer in layers {
        let Some(foreign) = layer.parsed.settings.foreign else { continue };
        if layer.is_project() {
            layer.parsed.settings.foreign = None;
            let origin = layer.origin((0, 0));
            let message = "`foreign` has no effect in a project's file";
            let warning = project_limit(origin, message, "set it in your own config");
            layer.parsed.diagnostics.push(warning);
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
    Ok(layer(file, FileRank::only_file(), &text, steady))
}

fn read_found((file, rank): (ConfigDocument, FileRank)) -> Option<ConfigLayer> {
    match stable_read::read_text(file.path()) {
        Ok((text, steady)) => Some(layer(file, rank, &text, steady)),
        Err(error) if is_absent(&error) => None,
        Err(error) => {
            let message = format!("cannot read the file: {error}");
            let found =
                Diagnostic::warning(ErrorCode::ConfigUnreadable, file.at.origin(0, 0), message)
                    .severity(DiagnosticSeverity::Error)
                    .hint(UNREADABLE_FILE_HINT);
            let parsed = ParsedFile { diagnostics: vec![found], ..ParsedFile::default() };
            Some(ConfigLayer { file, rank, parsed, stable: true })
        }
    }
}

pub(crate) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn layer(mut file: ConfigDocument, rank: FileRank, text: &str, stable: bool) -> ConfigLayer {
    // Both versions of opencode's dialect use the same path.
    if file.dialect == Dialect::OpenCode {
        file.dialect = Dialect::detect(file.path(), text);
    }
    let mut parsed = file.read(text);
    // Detecting the dialect costs as much as reading, so only files without entries are checked.
    if parsed.servers.is_empty() && parsed.overrides.is_empty() {
        parsed.diagnostics.extend(check_dialect(&file, text));
    }
    tracing::debug!(
        file = %file.path().display(),
        dialect = file.dialect.as_str(),
        servers = parsed.servers.len(),
        diagnostics = parsed.diagnostics.len(),
        "configuration read"
    );
    ConfigLayer { file, rank, parsed, stable }
}

/// Warns if the content of a file looks like another dialect than its path.
fn check_dialect(file: &ConfigDocument, text: &str) -> Option<Diagnostic> {
    let (other, dialect) = (Dialect::mismatch(file.path(), text)?, file.dialect);
    let message = format!("the file is read as {dialect}, but it looks like {other}");
    let warning = Diagnostic::warning(ErrorCode::ConfigDialect, file.at.origin(1, 1), message);
    Some(warning.hint("move it to where that host looks for it, or name it with --config"))
}

/// Reads a whole file. Rejects anything but a regular file before opening it: reading a pipe
/// blocks, and a device may never end.
pub(crate) fn read_text(path: &Path) -> io::Result<String> {
    read_bounded(path, MAX_BYTES)
}

/// Like [`read_text`], with another size limit.
pub(crate) fn read_bounded(path: &Path, most: u64) -> io::Result<String> {
    read_open(&open(path)?, most)
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

/// Like [`read_text`], for an open file.
pub(crate) fn read_open(file: &File, most: u64) -> io::Result<String> {
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
