//! Hints for names that do not exist: the nearest name, or all names.

use toolgate_host::Plan;
use toolgate_host::config::nearest;

use crate::exit::{CliError, Result, cli_error};

/// How many names are listed if none is similar.
const MAX_NAMES: usize = 8;

/// Returns the hint for an unknown name: the nearest known name, or else `otherwise`.
pub fn did_you_mean(name: &str, known: &[&str], otherwise: impl Into<String>) -> String {
    let containing = || known.iter().find(|it| name.len() > 1 && it.contains(name)).copied();
    match nearest(name, known).or_else(containing) {
        Some(near) => format!("did you mean `{near}`?"),
        None => otherwise.into(),
    }
}

/// Returns the error for an unknown server, with a similar name or all names as the hint.
pub fn unknown_server_error<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> CliError {
    let known: Vec<_> = known.into_iter().collect();
    let otherwise = match &known[..] {
        [] => "no servers are declared; run `toolgate add NAME COMMAND` to declare one".to_owned(),
        names if names.len() <= MAX_NAMES => format!("declared servers are {}", names.join(", ")),
        _ => "run `toolgate list` to list all servers".to_owned(),
    };
    cli_error!(ServerUnknown, "no server named `{name}`")
        .hint(did_you_mean(name, &known, otherwise))
}

/// Fails if no profile of this name is declared or built in.
pub fn check_profile(plan: &Plan, name: &str) -> Result<()> {
    let profiles = &plan.settings.profiles;
    if profiles.get(name).is_some() {
        return Ok(());
    }
    let names = profiles.names();
    let otherwise = format!("choose one of {}, or declare it as [profiles.NAME]", names.join(", "));
    Err(cli_error!(ConfigProfile, "no profile named `{name}`")
        .hint(did_you_mean(name, &names, otherwise)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_suggested_and_otherwise_all_names() {
        let hint = |name: &str, names: &[&str]| {
            unknown_server_error(name, names.iter().copied()).hint.unwrap()
        };
        assert_eq!(hint("gihtub", &["git", "github", "files"]), "did you mean `github`?");
        assert_eq!(hint("GIT", &["git"]), "did you mean `git`?");
        assert_eq!(hint("hub", &["files", "github"]), "did you mean `github`?");
        assert_eq!(hint("zzz", &["git", "files"]), "declared servers are git, files");
        assert!(hint("x", &[]).contains("toolgate add"));
    }
}
