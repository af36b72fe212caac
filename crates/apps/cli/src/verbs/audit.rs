//! `audit`: what was decided and done, and the proof that nobody changed it.
//!
//! All of it reads the files of the home and nothing else: no gateway is needed, and none is
//! disturbed.

mod export;
mod shown;
mod tail;
mod verify;

use clap::{Args, Subcommand};
use toolgate_host::audit::{AuditError, Places};

use crate::context::Context;
use crate::exit::{Exit, Failure, chain};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  toolgate audit tail -n 50\n  \
    toolgate audit export --since 2026-11-16 --server files --format csv -o calls.csv\n  \
    toolgate audit verify")]
pub struct Audit {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Show the last records, and those to come
    Tail(tail::Tail),
    /// Write records to a file or to stdout, as JSON lines or CSV
    Export(export::Export),
    /// Find what was changed, removed, moved, put in or cut off; ends with 1 if something was
    Verify(verify::Verify),
}

pub async fn run(context: &Context, options: &Audit) -> Result<Exit, Failure> {
    match &options.what {
        What::Tail(options) => tail::run(context, options).await,
        What::Export(options) => export::run(context, options).await,
        What::Verify(options) => verify::run(context, options).await,
    }
}

/// Where the journal of this home is.
fn places(context: &Context) -> Places {
    Places::beside(context.home.state_dir().join("journal"))
}

fn failed(error: &AuditError) -> Failure {
    let hint = "`toolgate audit verify` says what is wrong with the journal";
    Failure::failed(chain(error)).hint(hint)
}

/// Work that blocks, beside the spinner.
async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| Failure::failed(format!("read the journal: {error}")))?
}
