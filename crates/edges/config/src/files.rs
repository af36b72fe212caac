//! Which files may speak, nearest first, and their text.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use toolgate_dialects::{Dialect, FileRef, Reading};
use toolgate_model::{Diagnostic, Scope, Severity};

use crate::{ConfigError, Sources};

/// The largest file read: a project's file is not ours, and may be anything.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// What a project may bring, ours before foreign.
const PROJECT_FILES: [(&str, Dialect); 2] =
    [("toolgate.toml", Dialect::Toolgate), (".mcp.json", Dialect::McpJson)];

/// One file that was read.
pub(crate) struct Layer {
    pub file: FileRef,
    pub reading: Reading,
}

/// Reads every file that may speak, nearest first.
///
/// Only a file that was named must exist; another that cannot be read is reported, and the rest go
/// on.
pub(crate) fn read_all(sources: &Sources) -> Result<Vec<Layer>, ConfigError> {
    if let Some(named) = &sources.config {
        return Ok(vec![read_named(named)?]);
    }
    let mut candidates = Vec::new();
    for folder in project_folders(sources) {
        let files = PROJECT_FILES.map(|(name, dialect)| (folder.join(name), dialect));
        candidates.extend(files.map(|(path, dialect)| (path, dialect, Scope::Project)));
    }
    candidates.push((sources.home.config_file(), Dialect::Toolgate, Scope::User));
    let system = sources.home.system_file();
    candidates.extend(system.map(|path| (path.to_owned(), Dialect::Toolgate, Scope::System)));
    let layers = candidates
        .into_iter()
        .filter_map(|(path, dialect, scope)| read_found(dialect, FileRef::new(path, scope)));
    Ok(layers.collect())
}

fn read_named(path: &Path) -> Result<Layer, ConfigError> {
    let failed = |source| ConfigError::Read { path: path.to_owned(), source };
    let absolute = std::path::absolute(path).map_err(failed)?;
    let text = read_text(&absolute).map_err(failed)?;
    let file = FileRef::new(absolute, Scope::User);
    Ok(layer(Dialect::of(path, &text), file, &text))
}

fn read_found(dialect: Dialect, file: FileRef) -> Option<Layer> {
    match read_text(&file.path) {
        Ok(text) => Some(layer(dialect, file, &text)),
        Err(error) if is_absent(&error) => None,
        Err(error) => {
            let found = Diagnostic {
                severity: Severity::Error,
                origin: file.origin(0, 0),
                message: format!("the file cannot be read: {error}"),
                hint: Some("nothing in it is used until it can be".to_owned()),
            };
            let reading = Reading { diagnostics: vec![found], ..Reading::default() };
            Some(Layer { file, reading })
        }
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn layer(dialect: Dialect, file: FileRef, text: &str) -> Layer {
    let reading = dialect.read(text, &file);
    tracing::debug!(
        file = %file.path.display(),
        dialect = dialect.as_str(),
        servers = reading.servers.len(),
        diagnostics = reading.diagnostics.len(),
        "read configuration"
    );
    Layer { file, reading }
}

/// Reads a whole file. Anything but a plain file is refused before it is opened: a pipe would block
/// and a device would never end.
fn read_text(path: &Path) -> io::Result<String> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a plain file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(io::Error::other(format!("it is larger than {MAX_BYTES} bytes")));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::other("it is not UTF-8 text"))
}

/// The folders of a project, nearest first: up to the root of its repository or the user's own
/// folder. Outside both only the folder itself counts, because anybody may write above it.
fn project_folders(sources: &Sources) -> Vec<PathBuf> {
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
