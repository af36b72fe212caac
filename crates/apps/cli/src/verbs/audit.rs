//! `audit`: shows, exports and verifies the journal.
//!
//! It only reads the files of the home: it needs no gateway and does not disturb a running one.

mod display;
mod export;
mod tail;
mod verify;

use clap::Subcommand;
use toolgate_host::audit::JournalPaths;

use crate::cli_context::CliContext;
use crate::exit::{Exit, Result};

/// A subcommand of `toolgate audit`.
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:\n  toolgate audit tail -n 50\n  \
    toolgate audit export --since 2026-11-16 --server files --format csv -o calls.csv\n  \
    toolgate audit verify")]
pub enum AuditCommand {
    /// Show the last records, and optionally follow new ones
    Tail(tail::AuditTailArgs),
    /// Write records to stdout or to a file, as JSON lines or CSV
    Export(export::AuditExportArgs),
    /// Check the journal for changed, removed, moved, inserted or truncated records; exit with 1 if
    /// there are any
    Verify(verify::AuditVerifyArgs),
}

pub async fn run(context: &CliContext, command: &AuditCommand) -> Result<Exit> {
    match command {
        AuditCommand::Tail(options) => tail::run(context, options).await,
        AuditCommand::Export(options) => export::run(context, options).await,
        AuditCommand::Verify(options) => verify::run(context, options).await,
    }
}

/// Returns the paths of this home's journal.
fn journal_paths(context: &CliContext) -> JournalPaths {
    JournalPaths::for_folder(context.home.state_dir().join("journal"))
}
