//! Profiles that are named on the command line.

use toolgate_host::Plan;
use toolgate_host::config::nearest;

use crate::exit::Failure;

/// Fails if the files, and what is built in, have no profile of this name.
pub fn known(plan: &Plan, name: &str) -> Result<(), Failure> {
    let profiles = &plan.settings.profiles;
    if profiles.get(name).is_some() {
        return Ok(());
    }
    let names = profiles.names();
    let hint = match nearest(name, &names) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are {}; a file declares more as [profiles.NAME]", names.join(", ")),
    };
    Err(Failure::usage(format!("use the profile `{name}`: there is none of this name")).hint(hint))
}
