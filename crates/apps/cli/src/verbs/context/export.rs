//! `context export`: writes every document with its passages as a line of JSON.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use toolgate_context::Library;

use super::document_json::DocumentJson;
use super::open_existing;
use crate::cli_context::CliContext;
use crate::exit::{CliError, ErrorCode, Exit, OrFail as _, Result};
use crate::out::{self, Spinner};

/// How many documents are looked up at once.
const PAGE: usize = 200;
/// How many bytes are buffered before they are written to stdout.
const CHUNK: usize = 64 << 10;
/// The file name of an export whose output is a folder.
const EXPORT_FILE: &str = "context.jsonl";

/// The arguments of `toolgate context export`.
#[derive(Debug, Args)]
#[command(
    after_help = "Each line is one document with its source, digest, time, trust and all its \
    passages. `toolgate context import` reads the file.\n\n\
    Examples:\n  toolgate context export > context.jsonl\n  \
    toolgate context export --output backup.jsonl"
)]
pub struct ContextExportArgs {
    /// Write to this file, or to context.jsonl in this folder, instead of stdout
    #[arg(short, long, value_name = "FILE|DIR")]
    output: Option<PathBuf>,
}

pub async fn run(context: &CliContext, options: &ContextExportArgs) -> Result<Exit> {
    let mut target = ContextExportOutput::open(options.output.as_deref())?;
    let mut count = 0;
    if let Some(library) = open_existing(context).await? {
        count = write(&library, &mut target).await?;
    }
    match target.finish()? {
        Some(file) if context.json => out::json(&json!({ "documents": count, "file": file }))?,
        Some(file) => {
            let many = out::count(count, "document");
            let file = out::escape_invisible(&file.display().to_string());
            out::note(&format!("wrote {many} to {file}"));
        }
        None if count == 0 => out::note("the local context is empty"),
        None => {}
    }
    Ok(Exit::Done)
}

/// Writes all documents in the order of their keys, and returns how many there are.
async fn write(library: &Library, target: &mut ContextExportOutput) -> Result<u64> {
    let spinner = Spinner::new("writing the local context");
    let (mut after, mut count) = (String::new(), 0);
    loop {
        let documents = library.documents(&after, PAGE).await?;
        let Some(last) = documents.last() else { return Ok(count) };
        after = last.key.clone();
        for document in documents {
            let hits = library.document_passages(&document.key).await?;
            // The document may have changed in between; uses its current state.
            let now = library.find_document(&document.key).await?;
            let Some(document) = now else { continue };
            let line = serde_json::to_string(&DocumentJson::of(document, hits))
                .or_fail(ErrorCode::CliInternal, "cannot write JSON")?;
            target.write(&line)?;
            count += 1;
        }
        spinner.set_text(&format!("writing the local context: {}", out::count(count, "document")));
    }
}

/// Where the lines are written. A file gets its final name only when it is complete, so that a
/// failed export does not damage an older one.
enum ContextExportOutput {
    Stdout(String),
    File { path: PathBuf, part: PathBuf, file: BufWriter<File> },
}

impl ContextExportOutput {
    fn open(output: Option<&Path>) -> Result<Self> {
        let Some(output) = output else { return Ok(Self::Stdout(String::new())) };
        let path = if output.is_dir() { output.join(EXPORT_FILE) } else { output.to_owned() };
        let mut part = path.clone().into_os_string();
        part.push(".part");
        let part = PathBuf::from(part);
        let file = File::create(&part).map_err(|error| write_error(&path, &error))?;
        Ok(Self::File { path, part, file: BufWriter::new(file) })
    }

    fn write(&mut self, line: &str) -> Result<()> {
        match self {
            Self::Stdout(waiting) => {
                waiting.push_str(line);
                waiting.push('\n');
                if waiting.len() >= CHUNK {
                    out::data(waiting.as_bytes())?;
                    waiting.clear();
                }
                Ok(())
            }
            Self::File { path, file, .. } => {
                writeln!(file, "{line}").map_err(|error| write_error(path, &error))
            }
        }
    }

    /// Writes what is buffered, and returns the path if the output is a file.
    fn finish(self) -> Result<Option<PathBuf>> {
        let (path, part, file) = match self {
            Self::Stdout(waiting) => return out::data(waiting.as_bytes()).map(|()| None),
            Self::File { path, part, file } => (path, part, file),
        };
        let whole = file.into_inner().map_err(|error| error.into_error());
        let kept = whole.and_then(|file| file.sync_all());
        kept.and_then(|()| std::fs::rename(&part, &path))
            .map_err(|error| write_error(&path, &error))?;
        Ok(Some(path))
    }
}

fn write_error(path: &Path, error: &std::io::Error) -> CliError {
    CliError::new(ErrorCode::CliWrite, format!("cannot write {}: {error}", path.display()))
}
