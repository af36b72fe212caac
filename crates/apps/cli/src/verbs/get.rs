//! `get`: shows everything about one server and the files that declare it.
//!
//! Values of variables, headers and credentials are not shown, only their names.

mod details;

use clap::Args;
use toolgate_host::{Diagnostic, DiagnosticSeverity, Plan, PlanEntry};

use crate::cli_context::CliContext;
use crate::control::ConfigFinding;
use crate::exit::{CliError, Exit};
use crate::out;
use details::ServerDetailsJson;

/// The arguments of `toolgate get`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  toolgate get filesystem\n  toolgate get filesystem --json")]
pub struct GetArgs {
    /// Name of the server
    name: String,
}

pub async fn run(context: &CliContext, options: &GetArgs) -> Result<Exit, CliError> {
    let setup = context.load_setup().await?;
    let plan = setup.plan();
    let entry = find_entry(plan, &options.name)?;
    print_diagnostics(plan, &options.name, true);
    let details = ServerDetailsJson::of(entry);
    if context.json {
        out::json(&details)?;
    } else {
        out::data(details.text().as_bytes())?;
    }
    Ok(Exit::Done)
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
pub fn find_entry<'p>(plan: &'p Plan, name: &str) -> Result<&'p PlanEntry, CliError> {
    let names: Vec<_> = plan.entries.iter().map(|entry| entry.spec.name.as_str()).collect();
    let found = plan.entries.iter().find(|entry| entry.spec.name.as_str() == name);
    found.ok_or_else(|| {
        print_diagnostics(plan, name, false);
        unknown_server_error(name, &names)
    })
}

/// How many names are listed if none is similar.
const MAX_NAMES: usize = 8;

/// Returns the error for an unknown server, with similar or existing names as a hint.
pub fn unknown_server_error(name: &str, names: &[&str]) -> CliError {
    let mut near: Vec<_> = names.iter().map(|known| (distance(name, known), *known)).collect();
    near.sort();
    let close: Vec<_> = near
        .iter()
        .filter(|(edits, known)| *edits <= 1 + name.chars().count() / 4 || known.contains(name))
        .map(|(_, known)| format!("`{known}`"))
        .take(3)
        .collect();
    let hint = match (names, &close[..]) {
        ([], _) => "run `toolgate add NAME COMMAND` to declare a server".to_owned(),
        (names, []) if names.len() <= MAX_NAMES => {
            format!("declared servers are {}", names.join(", "))
        }
        (_, []) => "run `toolgate list` to list all servers".to_owned(),
        (_, close) => format!("did you mean {}?", close.join(" or ")),
    };
    CliError::failed(format!("no server named `{name}`")).hint(hint)
}

/// Returns the edit distance of two words, ignoring case.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.to_lowercase().chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_names_are_told() {
        let hint = |name: &str, names: &[&str]| unknown_server_error(name, names).hint.unwrap();
        assert_eq!(hint("gihtub", &["git", "github", "files"]), "did you mean `github`?");
        assert_eq!(hint("GIT", &["git"]), "did you mean `git`?");
        assert_eq!(hint("zzz", &["git", "files"]), "declared servers are git, files");
        assert!(hint("x", &[]).contains("toolgate add"));
    }
}
