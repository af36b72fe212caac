//! Merges profiles and the assignment of clients to profiles over all files.
//!
//! The nearest file takes precedence, except that a project's file only proposes: built-in
//! profiles, and profiles of the same name from the user or the system, take precedence over it. If
//! the user or the system declares the default profile, a project's file cannot assign another
//! profile to a client. The rules crates define what a profile means.

use std::collections::BTreeMap;

use toolgate_dialects::{ClientProfile, nearest};
use toolgate_model::{
    ConfigScope, DEFAULT_PROFILE, DeclaredProfile, Diagnostic, DiagnosticSeverity, ErrorCode,
    Origin, Profile, Profiles,
};

use crate::files::ConfigLayer;
use crate::strict_setting::project_limit;

/// Selects the declaration of every profile and client; `layers` are nearest first.
pub(crate) fn merge_profiles(
    layers: &[ConfigLayer],
    diagnostics: &mut Vec<Diagnostic>,
) -> Profiles {
    let profiles = layers.iter().flat_map(|layer| {
        let settings = &layer.parsed.settings;
        let declared = settings.profiles.iter().map(|(name, it)| (name.clone(), it.clone()));
        declared.chain(settings.invalid_profiles.iter().map(hidden_profile))
    });
    let (built_in, profiles): (Vec<_>, Vec<_>) = profiles.partition(|(name, it)| {
        it.origin.scope == ConfigScope::Project && Profiles::default().get(name).is_some()
    });
    for (name, it) in built_in {
        let message =
            format!("profile {name:?} is built in, and a project's file cannot change it");
        let hint = "give it another name, or declare it in your own config";
        diagnostics.push(project_limit(it.origin, message, hint));
    }
    let declared = merge_by_name("profile", profiles.into_iter(), |it| &it.origin, diagnostics);
    let clients = layers.iter().flat_map(|layer| layer.parsed.settings.clients.clone());
    let (wider, clients): (Vec<_>, Vec<_>) = clients.partition(|(_, it)| {
        it.origin.scope == ConfigScope::Project && declared.contains_key(DEFAULT_PROFILE)
    });
    for (client, it) in wider {
        let message =
            format!("client {client:?} keeps the profile \"default\", which your files declare");
        let hint = "set it in your own config, to give the client another profile";
        diagnostics.push(project_limit(it.origin, message, hint));
    }
    let clients = merge_by_name("client", clients.into_iter(), |it| &it.origin, diagnostics);
    let mut profiles = Profiles { declared, clients: BTreeMap::new() };
    for (client, assigned) in clients {
        if profiles.get(&assigned.profile).is_none() {
            diagnostics.push(unknown(&client, &assigned, &profiles));
        }
        // The assignment is kept: a client that should see less must not see everything because of
        // a typo.
        profiles.clients.insert(client, assigned.profile);
    }
    profiles
}

/// Returns a profile that shows nothing, for a profile that could not be parsed: what it should
/// hide is unknown.
fn hidden_profile((name, origin): (&String, &Origin)) -> (String, DeclaredProfile) {
    let profile = Profile { tags: Some(Vec::new()), ..Profile::default() };
    (name.clone(), DeclaredProfile { profile, origin: origin.clone() })
}

/// Selects one of all values declared under the same name.
fn merge_by_name<T>(
    what: &str,
    declared: impl Iterator<Item = (String, T)>,
    origin: impl Fn(&T) -> &Origin,
    diagnostics: &mut Vec<Diagnostic>,
) -> BTreeMap<String, T> {
    let proposed = |it: &T| origin(it).scope == ConfigScope::Project;
    let mut held: BTreeMap<String, T> = BTreeMap::new();
    for (name, it) in declared {
        let Some(nearer) = held.get(&name) else {
            held.insert(name, it);
            continue;
        };
        if proposed(nearer) && !proposed(&it) {
            let message =
                format!("{what} {name:?} is also set in {}, which takes precedence", origin(&it));
            let hint = "a project's file can add to your settings, but not change them";
            let warning = project_limit(origin(nearer).clone(), message, hint);
            diagnostics.push(warning.severity(DiagnosticSeverity::Note));
            held.insert(name, it);
        }
    }
    held
}

fn unknown(client: &str, assigned: &ClientProfile, profiles: &Profiles) -> Diagnostic {
    let (profile, known) = (&assigned.profile, profiles.names());
    let message = format!("client {client:?} has the unknown profile {profile:?}");
    let hint = match nearest(profile, &known) {
        Some(near) => format!("did you mean {near:?}?"),
        None => format!("known profiles: {}", known.join(", ")),
    };
    Diagnostic::warning(ErrorCode::ConfigProfile, assigned.origin.clone(), message)
        .severity(DiagnosticSeverity::Error)
        .hint(hint)
}
