//! Which profiles there are, and which client gets which, over all files.
//!
//! The nearest file that says it holds, except that a project's file only proposes: what is built in,
//! and what the user or the system says under the same name, holds against it. Where the user or the
//! system says what whoever chose nothing sees, a project's file gives no client another profile. What
//! a profile means is for the rules.

use std::collections::BTreeMap;

use toolgate_dialects::{ClientProfile, nearest};
use toolgate_model::{
    DEFAULT_PROFILE, DeclaredProfile, Diagnostic, Origin, Profile, Profiles, Scope, Severity,
};

use crate::files::Layer;
use crate::layers::note;

/// Gives every name to the file that holds for it; `layers` are nearest first.
pub(crate) fn settle(layers: &[Layer], diagnostics: &mut Vec<Diagnostic>) -> Profiles {
    let profiles = layers.iter().flat_map(|layer| {
        let settings = &layer.reading.settings;
        let declared = settings.profiles.iter().map(|(name, it)| (name.clone(), it.clone()));
        declared.chain(settings.unread.iter().map(unread))
    });
    let (built_in, profiles): (Vec<_>, Vec<_>) = profiles.partition(|(name, it)| {
        it.origin.scope == Scope::Project && Profiles::default().get(name).is_some()
    });
    for (name, it) in built_in {
        let message =
            format!("profile {name:?} is built in, and a project's file cannot change it");
        let hint = "give it another name, or say it in your own config".to_owned();
        diagnostics.push(note(it.origin, message, Some(hint)));
    }
    let declared = hold("profile", profiles.into_iter(), |it| &it.origin, diagnostics);
    let clients = layers.iter().flat_map(|layer| layer.reading.settings.clients.clone());
    let (wider, clients): (Vec<_>, Vec<_>) = clients.partition(|(_, it)| {
        it.origin.scope == Scope::Project && declared.contains_key(DEFAULT_PROFILE)
    });
    for (client, it) in wider {
        let message =
            format!("client {client:?} keeps the profile \"default\", which holds in your files");
        let hint = "say it in your own config, if it is to see something else".to_owned();
        diagnostics.push(note(it.origin, message, Some(hint)));
    }
    let clients = hold("client", clients.into_iter(), |it| &it.origin, diagnostics);
    let mut profiles = Profiles { declared, clients: BTreeMap::new() };
    for (client, said) in clients {
        if profiles.get(&said.profile).is_none() {
            diagnostics.push(unknown(&client, &said, &profiles));
        }
        // Kept all the same: whoever is to see less must not see everything by a slip of the pen.
        profiles.clients.insert(client, said.profile);
    }
    profiles
}

/// A profile that could not be understood shows nothing: what it was to hide is not known.
fn unread((name, origin): (&String, &Origin)) -> (String, DeclaredProfile) {
    let profile = Profile { tags: Some(Vec::new()), ..Profile::default() };
    (name.clone(), DeclaredProfile { profile, origin: origin.clone() })
}

/// Of everything that is said under one name, what holds.
fn hold<T>(
    what: &str,
    said: impl Iterator<Item = (String, T)>,
    origin: impl Fn(&T) -> &Origin,
    diagnostics: &mut Vec<Diagnostic>,
) -> BTreeMap<String, T> {
    let proposed = |it: &T| origin(it).scope == Scope::Project;
    let mut held: BTreeMap<String, T> = BTreeMap::new();
    for (name, it) in said {
        let Some(nearer) = held.get(&name) else {
            held.insert(name, it);
            continue;
        };
        if proposed(nearer) && !proposed(&it) {
            let message = format!("{what} {name:?} is said in {}, which holds", origin(&it));
            let hint = "a project's file adds to yours, and changes nothing in them".to_owned();
            let told = note(origin(nearer).clone(), message, Some(hint));
            diagnostics.push(Diagnostic { severity: Severity::Note, ..told });
            held.insert(name, it);
        }
    }
    held
}

fn unknown(client: &str, said: &ClientProfile, profiles: &Profiles) -> Diagnostic {
    let (profile, known) = (&said.profile, profiles.names());
    let message = format!("client {client:?} is to have the profile {profile:?}, which is none");
    let hint = match nearest(profile, &known) {
        Some(near) => format!("did you mean {near:?}?"),
        None => format!("known are {}", known.join(", ")),
    };
    Diagnostic { severity: Severity::Error, ..note(said.origin.clone(), message, Some(hint)) }
}
