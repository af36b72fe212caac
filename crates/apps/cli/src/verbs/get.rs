//! `get`: everything about one server, and which files speak of it.
//!
//! Values of variables, headers and logins are not shown, only that they are there.

mod details;

use clap::Args;
use toolgate_host::{Diagnostic, Entry, Plan, Severity};

use crate::context::Context;
use crate::control::Finding;
use crate::exit::{Exit, Failure};
use crate::out;
use details::Details;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  toolgate get filesystem\n  toolgate get filesystem --json")]
pub struct Get {
    /// Which server
    name: String,
}

pub async fn run(context: &Context, options: &Get) -> Result<Exit, Failure> {
    let setup = context.setup().await?;
    let plan = setup.plan();
    let entry = entry(plan, &options.name)?;
    about(plan, &options.name, true);
    let details = Details::of(entry);
    if context.json {
        out::json(&details)?;
    } else {
        out::data(details.text().as_bytes())?;
    }
    Ok(Exit::Done)
}

/// Says what was found about a server of this name; where there is none, it may be in what could
/// not be read.
fn about(plan: &Plan, name: &str, is_there: bool) {
    let about = format!("server \"{name}\"");
    let concerns = |found: &&Diagnostic| {
        found.message.contains(&about) || !is_there && found.severity == Severity::Error
    };
    let found = plan.diagnostics.iter().filter(concerns);
    out::findings(&found.map(Finding::from).collect::<Vec<_>>());
}

/// The entry of a server; an unknown name is told beside the nearest known ones, after why it may
/// have been left out.
pub fn entry<'p>(plan: &'p Plan, name: &str) -> Result<&'p Entry, Failure> {
    let names: Vec<_> = plan.entries.iter().map(|entry| entry.spec.name.as_str()).collect();
    let found = plan.entries.iter().find(|entry| entry.spec.name.as_str() == name);
    found.ok_or_else(|| {
        about(plan, name, false);
        unknown(name, &names)
    })
}

/// How many names are told where none is near.
const FEW: usize = 8;

/// There is no server of this name; which are near, or which there are.
pub fn unknown(name: &str, names: &[&str]) -> Failure {
    let mut near: Vec<_> = names.iter().map(|known| (distance(name, known), *known)).collect();
    near.sort();
    let close: Vec<_> = near
        .iter()
        .filter(|(edits, known)| *edits <= 1 + name.chars().count() / 4 || known.contains(name))
        .map(|(_, known)| format!("`{known}`"))
        .take(3)
        .collect();
    let hint = match (names, &close[..]) {
        ([], _) => "none is declared; `toolgate add NAME COMMAND` declares one".to_owned(),
        (names, []) if names.len() <= FEW => format!("there are {}", names.join(", ")),
        (_, []) => "`toolgate list` shows all of them".to_owned(),
        (_, close) => format!("did you mean {}?", close.join(" or ")),
    };
    Failure::failed(format!("find a server named `{name}`")).hint(hint)
}

/// Edits from one word to the other, letters of either case alike.
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
        let hint = |name: &str, names: &[&str]| unknown(name, names).hint.unwrap();
        assert_eq!(hint("gihtub", &["git", "github", "files"]), "did you mean `github`?");
        assert_eq!(hint("GIT", &["git"]), "did you mean `git`?");
        assert_eq!(hint("zzz", &["git", "files"]), "there are git, files");
        assert!(hint("x", &[]).contains("toolgate add"));
    }
}
