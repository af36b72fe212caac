//! `context export`: writes every document with its passages as a line of JSON.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use toolgate_context::Library;

use super::document_json::DocumentJson;
use super::open_existing;
use crate::cli_context::CliContext;
use crate::exit::{ErrorCode, Exit, OrFail as _, Result};
use crate::out::{self, OutputFile, Spinner};

/// How many documents are looked up at once.
const PAGE: usize = 200;
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
    let is_dir = |path: &&PathBuf| path.is_dir();
    let in_folder = options.output.as_ref().filter(is_dir).map(|folder| folder.join(EXPORT_FILE));
    let file = in_folder.or_else(|| options.output.clone());
    let mut target = OutputFile::open(file.as_deref())?;
    let mut count = 0;
    if let Some(library) = open_existing(context).await? {
        count = write(&library, &mut target).await?;
    }
    target.finish()?;
    match file {
        Some(file) if context.json => out::json(&json!({ "documents": count, "file": file }))?,
        Some(file) => {
            let many = out::count(count, "document");
            out::note(&format!("wrote {many} to {}", file.display()));
        }
        None if count == 0 => out::note("the local context is empty"),
        None => {}
    }
    Ok(Exit::Done)
}

/// Writes all documents in the order of their keys, and returns how many there are.
async fn write(library: &Library, target: &mut OutputFile) -> Result<u64> {
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
            target.write(&(line + "\n"))?;
            count += 1;
        }
        spinner.set_text(&format!("writing the local context: {}", out::count(count, "document")));
    }
}
