//! `context`: the local context of this home, from the command line.
//!
//! All of it works on the file the context lies in (`context.db`), which several processes may have
//! open at once: a living `serve` is neither needed nor disturbed.

mod export;
mod forget;
mod import;
mod ingest;
mod pack;
mod record;
mod search;
mod serve;
mod shown;
mod snippet;
mod status;

use std::error::Error;

use clap::{Args, Subcommand};
use toolgate_context::Library;

use crate::context::Context as Run;
use crate::exit::{Exit, Failure, chain};
use crate::out;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  toolgate context ingest ~/notes\n  \
    toolgate context search how do we rotate keys\n  \
    toolgate context pack write the release notes --budget 4000")]
pub struct Context {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Take files and folders in, or follow what became of them
    Ingest(ingest::Ingest),
    /// Find passages
    Search(search::Search),
    /// Put the best passages for a task together, within a budget
    Pack(pack::Pack),
    /// Show how much there is, and of what
    Status(status::Status),
    /// Take documents out again
    Forget(forget::Forget),
    /// Write every document as a line of JSON
    Export(export::Export),
    /// Take in what export wrote
    Import(import::Import),
    /// Be an MCP server of its own on stdin and stdout, with the context alone
    Serve(serve::Serve),
}

pub async fn run(context: &Run, options: &Context) -> Result<Exit, Failure> {
    match &options.what {
        What::Ingest(options) => ingest::run(context, options).await,
        What::Search(options) => search::run(context, options).await,
        What::Pack(options) => pack::run(context, options).await,
        What::Status(options) => status::run(context, options).await,
        What::Forget(options) => forget::run(context, options).await,
        What::Export(options) => export::run(context, options).await,
        What::Import(options) => import::run(context, options).await,
        What::Serve(options) => serve::run(context, options).await,
    }
}

/// The library of this home, made if there is none.
pub async fn library(context: &Run) -> Result<Library, Failure> {
    context.home.create().map_err(|error| failed(&error))?;
    Library::open(context.context_file()).await.map_err(|error| failed(&error))
}

/// The library of this home, if something was ever taken in: looking for it makes none.
async fn existing(context: &Run) -> Result<Option<Library>, Failure> {
    match context.context_file().try_exists() {
        Ok(false) => Ok(None),
        // What keeps it from being looked at is told by opening it.
        Ok(true) | Err(_) => library(context).await.map(Some),
    }
}

/// What went wrong with it.
pub fn failed(error: &dyn Error) -> Failure {
    Failure::failed(chain(error))
}

/// Says that there is nothing yet, and what to do about it.
fn tell_empty() {
    let hint = out::cyan("hint:");
    out::note(&format!(
        "the local context is empty\n{hint} `toolgate context ingest FOLDER` fills it"
    ));
}
