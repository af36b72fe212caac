//! Checks profiles that are named on the command line.

use toolgate_host::Plan;
use toolgate_host::config::nearest;

use crate::exit::CliError;

/// Fails if no profile of this name is declared or built in.
pub fn check_profile(plan: &Plan, name: &str) -> Result<(), CliError> {
    let profiles = &plan.settings.profiles;
    if profiles.get(name).is_some() {
        return Ok(());
    }
    let names = profiles.names();
    let hint = match nearest(name, &names) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("choose one of {}, or declare it as [profiles.NAME]", names.join(", ")),
    };
    Err(CliError::usage(format!("no profile named `{name}`")).hint(hint))
}
