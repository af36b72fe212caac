//! Whether an entry may be started, and why not.

use toolgate_model::{Digest, Scope, ServerName};

use crate::gateway::leads_back;
use crate::resolve::expand;
use crate::{Entry, Environment, Standing};

/// Expands variables only to find out whether it would work; the values are taken when the server
/// is reached. A project's entry is not looked at before the user has agreed to it: its variables
/// may name files.
pub(crate) fn of(
    entry: &Entry,
    consents: &dyn Fn(&ServerName, &Digest) -> bool,
    environment: &Environment,
    own_endpoints: &[String],
) -> Standing {
    let spec = &entry.spec;
    if !spec.enabled {
        return Standing::Disabled;
    }
    if let Standing::Blocked(reason) = &entry.standing {
        return Standing::Blocked(reason.clone());
    }
    if entry.origin.scope == Scope::Project && !consents(&spec.name, &spec.digest()) {
        return Standing::NeedsConsent;
    }
    match expand(spec, &entry.environment(environment)) {
        Ok((reached, _)) => match leads_back(&reached, own_endpoints) {
            Some(why) => Standing::Blocked(format!("it {why}")),
            None => Standing::Ready,
        },
        Err(error) => {
            let error = error.about(&entry.origin, &entry.inputs);
            Standing::Blocked(format!("failed to {error}"))
        }
    }
}
