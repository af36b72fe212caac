//! Which profiles there are, and which client gets which, over all files.
//!
//! The nearest file that says it holds, except that a project's file only proposes: what the user or
//! the system says under the same name holds against it. What a profile means is for the rules.

use std::collections::BTreeMap;

use toolgate_dialects::{ClientProfile, nearest};
use toolgate_model::{DeclaredProfile, Diagnostic, Origin, Profile, Profiles, Scope, Severity};

use crate::files::Layer;
use crate::layers::note;

/// Gives every name to the file that holds for it; `layers` are nearest first.
pub(crate) fn settle(layers: &[Layer], diagnostics: &mut Vec<Diagnostic>) -> Profiles {
    let profiles = layers.iter().flat_map(|layer| {
        let settings = &layer.reading.settings;
        let declared = settings.profiles.iter().map(|(name, it)| (name.clone(), it.clone()));
        declared.chain(settings.unread.iter().map(unread))
    });
    let declared = hold("profile", profiles, |it| &it.origin, diagnostics);
    let clients = layers.iter().flat_map(|layer| layer.reading.settings.clients.clone());
    let clients = hold("client", clients, |it| &it.origin, diagnostics);
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
