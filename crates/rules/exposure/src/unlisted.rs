//! Visibility of what no list contains: unlisted resources, extension methods, and instructions.
//! The server's tags apply to them.

use toolgate_model::{DeclaredProfile, ExposureMode, ServerSpec};

use crate::profile::{ProfileFilter, ProfileFilterOutcome};
use crate::{ExposureOptions, NamingOptions, OwnToolCosts};

/// Returns true if a profile sees something of a server that no list contains. An empty name stands
/// for the server as a whole.
pub fn profile_sees(spec: &ServerSpec, name: &str, declared: &DeclaredProfile) -> bool {
    let style = NamingOptions::default();
    let terms = ExposureOptions {
        profile: "",
        declared,
        style: &style,
        expose: ExposureMode::All,
        own: OwnToolCosts::default(),
        unusable: &|_, _| None,
    };
    let path = format!("{}/{name}", spec.name);
    let outcome =
        ProfileFilter::of(&terms).evaluate(spec.name.as_str(), &path, &spec.server_tags());
    !matches!(outcome, ProfileFilterOutcome::Hidden(_))
}
