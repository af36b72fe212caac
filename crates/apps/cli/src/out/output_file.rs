//! Output of a verb that is written to standard output or to a file.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use super::data;
use crate::exit::{ErrorCode, OrFail as _, Result};

/// How many bytes are buffered before they are written to stdout.
const CHUNK: usize = 64 << 10;

/// Where the text of a verb is written. A file gets its name only when it is complete, so that a
/// failed run neither damages an older one nor leaves a part of a new one.
pub enum OutputFile {
    /// Standard output, with the text that waits to be written.
    Stdout(String),
    /// A file, with the name that it has until it is complete. A device or pipe has none.
    File { path: PathBuf, part: Option<UnfinishedFile>, file: BufWriter<File> },
}

/// The path of a file that is removed when this is dropped, unless it was renamed before.
pub struct UnfinishedFile(PathBuf);

impl Drop for UnfinishedFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

impl OutputFile {
    /// Opens the file, or standard output without one.
    pub fn open(path: Option<&Path>) -> Result<Self> {
        let Some(path) = path else { return Ok(Self::Stdout(String::new())) };
        // A device or pipe cannot be replaced, so it is written to directly.
        let is_special = path.metadata().is_ok_and(|it| !it.is_file());
        let mut part = path.as_os_str().to_owned();
        part.push(if is_special { "" } else { ".part" });
        let file = named(path, File::create(&part))?;
        let part = (!is_special).then(|| UnfinishedFile(part.into()));
        Ok(Self::File { path: path.to_owned(), part, file: BufWriter::new(file) })
    }

    /// Writes a whole text to the file, or to standard output without one.
    pub fn write_whole(path: Option<&Path>, text: &str) -> Result<()> {
        let mut output = Self::open(path)?;
        output.write(text)?;
        output.finish()
    }

    /// Writes text.
    pub fn write(&mut self, text: &str) -> Result<()> {
        match self {
            Self::Stdout(waiting) => {
                waiting.push_str(text);
                if waiting.len() >= CHUNK {
                    data(waiting.as_bytes())?;
                    waiting.clear();
                }
                Ok(())
            }
            Self::File { path, file, .. } => named(path, file.write_all(text.as_bytes())),
        }
    }

    /// Writes what is buffered and gives a file its name.
    pub fn finish(self) -> Result<()> {
        match self {
            Self::Stdout(waiting) => data(waiting.as_bytes()),
            Self::File { path, part, file } => {
                let whole = file.into_inner().map_err(|error| error.into_error());
                let kept = whole.and_then(|file| match &part {
                    Some(part) => file.sync_all().and_then(|()| std::fs::rename(&part.0, &path)),
                    None => Ok(()),
                });
                named(&path, kept)
            }
        }
    }
}

/// Adds the path to an error.
fn named<T>(path: &Path, outcome: io::Result<T>) -> Result<T> {
    outcome.or_fail(ErrorCode::CliWrite, format_args!("cannot write {}", path.display()))
}
