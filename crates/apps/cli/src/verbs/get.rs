//! `get`: shows everything about one server and the files that declare it.
//!
//! Values of variables, headers and credentials are not shown, only their names.

mod details;

use clap::Args;
use toolgate_host::{Diagnostic, DiagnosticSeverity, Plan, PlanEntry};

use crate::cli_context::CliContext;
use crate::complete::server_names;
use crate::control::ConfigFinding;
use crate::exit::{Exit, Result};
use crate::out;
use crate::suggest::unknown_server_error;
use details::ServerDetails;

/// The arguments of `toolgate get`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  toolgate get filesystem\n  toolgate get filesystem --json")]
pub struct GetArgs {
    /// Name of the server
    #[arg(add = server_names())]
    name: String,
}

pub async fn run(context: &CliContext, options: &GetArgs) -> Result<Exit> {
    let setup = context.load_setup().await?;
    let plan = setup.plan();
    let entry = find_entry(plan, &options.name)?;
    print_diagnostics(plan, &options.name, true);
    let details = ServerDetails::of(entry);
    out::print(context, &details.json(), || details.text())
}

/// Prints the diagnostics about a server. If the server is missing, prints all errors, because its
/// declaration may be in a file that could not be read.
fn print_diagnostics(plan: &Plan, name: &str, is_there: bool) {
    let concerns = |found: &&Diagnostic| {
        found.server.as_ref().is_some_and(|server| server.as_str() == name)
            || !is_there && found.severity == DiagnosticSeverity::Error
    };
    let found = plan.diagnostics.iter().filter(concerns);
    out::print_findings(&found.map(ConfigFinding::from).collect::<Vec<_>>());
}

/// Returns the entry of a server. For an unknown name, prints why it may be missing and returns an
/// error with similar names.
pub fn find_entry<'p>(plan: &'p Plan, name: &str) -> Result<&'p PlanEntry> {
    let names = plan.entries.iter().map(|entry| entry.spec.name.as_str());
    let found = plan.entries.iter().find(|entry| entry.spec.name.as_str() == name);
    found.ok_or_else(|| {
        print_diagnostics(plan, name, false);
        unknown_server_error(name, names)
    })
}
