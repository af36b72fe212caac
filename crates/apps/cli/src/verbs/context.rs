//! `context`: searches and maintains the local context of this home.
//!
//! The subcommands work on its file (`context.db`), which several processes may have open at once.
//! They do not need a running gateway and do not disturb one.

mod display;
mod document_json;
mod export;
mod forget;
mod import;
mod ingest;
mod pack;
mod search;
mod serve;
mod snippet;
mod status;

use clap::Subcommand;
use toolgate_context::Library;

use crate::cli_context::CliContext as Run;
use crate::exit::{Exit, Result};
use crate::out;

/// A subcommand of `toolgate context`.
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:\n  toolgate context ingest ~/notes\n  \
    toolgate context search how do we rotate keys\n  \
    toolgate context pack write the release notes --budget 4000")]
pub enum ContextCommand {
    /// Add files and folders, or update them
    Ingest(ingest::ContextIngestArgs),
    /// Search for passages
    Search(search::ContextSearchArgs),
    /// Collect the best passages for a task within a token budget
    Pack(pack::ContextPackArgs),
    /// Show the size and the sources of the local context
    #[command(after_help = "Example: toolgate context status")]
    Status,
    /// Remove documents
    Forget(forget::ContextForgetArgs),
    /// Write all documents as JSON lines
    Export(export::ContextExportArgs),
    /// Add documents that `context export` wrote
    Import(import::ContextImportArgs),
    /// Run an MCP server on stdin and stdout that offers only the local context
    Serve(serve::ContextServeArgs),
}

pub async fn run(context: &Run, command: &ContextCommand) -> Result<Exit> {
    match command {
        ContextCommand::Ingest(options) => ingest::run(context, options).await,
        ContextCommand::Search(options) => search::run(context, options).await,
        ContextCommand::Pack(options) => pack::run(context, options).await,
        ContextCommand::Status => status::run(context).await,
        ContextCommand::Forget(options) => forget::run(context, options).await,
        ContextCommand::Export(options) => export::run(context, options).await,
        ContextCommand::Import(options) => import::run(context, options).await,
        ContextCommand::Serve(options) => serve::run(context, options).await,
    }
}

/// Opens the library of this home; creates it if it does not exist.
pub async fn open_library(context: &Run) -> Result<Library> {
    context.home.create()?;
    Ok(Library::open(context.context_file()).await?)
}

/// Opens the library of this home, or returns `None` if it does not exist.
async fn open_existing(context: &Run) -> Result<Option<Library>> {
    match context.context_file().try_exists() {
        Ok(false) => Ok(None),
        // If its existence cannot be checked, opening it reports the reason.
        Ok(true) | Err(_) => open_library(context).await.map(Some),
    }
}

/// Prints that the local context is empty, with a hint.
fn print_empty() {
    out::note("the local context is empty");
    out::hint("run `toolgate context ingest FOLDER` to add documents");
}
