//! Entries that declare nothing: they switch another file's server on or off, or give it variables.
//!
//! Such an entry counts if its file is ours, or at least as near as the one that declares the
//! server; of several that count the nearest does. A project's file can switch off what the user
//! declares, but not on: it only proposes, and it gives no variables. One that does not count, or
//! names no server, is reported.

use std::collections::HashMap;

use toolgate_dialects::Amendment;
use toolgate_model::{Scope, StdioSpec, TransportSpec};

use crate::Plan;
use crate::files::Layer;
use crate::layers::{Winner, note};

/// Switches servers as the amendments of these files, nearest first, have it.
pub(crate) fn apply(plan: &mut Plan, winners: &mut [Winner], layers: Vec<Layer>) {
    let by_name: HashMap<_, _> =
        winners.iter().enumerate().map(|(at, it)| (it.entry.spec.name.clone(), at)).collect();
    for layer in layers {
        let (rank, ours) = (layer.rank, layer.dialect.is_ours());
        for amendment in layer.reading.amendments {
            let found = by_name.get(&amendment.name).and_then(|at| winners.get_mut(*at));
            let said = match found {
                Some(winner) => {
                    let told = inherit(winner, &amendment);
                    told.or_else(|| switch(winner, &amendment, ours || rank <= winner.rank))
                }
                None => Some((
                    "is declared nowhere, so there is nothing to change".to_owned(),
                    "give it `command` or `url`, or remove the entry".to_owned(),
                )),
            };
            if let Some((problem, hint)) = said {
                let message = format!("server \"{}\" {problem}", amendment.name);
                plan.diagnostics.push(note(amendment.origin, message, Some(hint)));
            }
        }
    }
}

/// Switches a server, or says why not and what to do.
fn switch(winner: &mut Winner, amendment: &Amendment, counts: bool) -> Option<(String, String)> {
    let entry = &mut winner.entry;
    let enabled = amendment.enabled?;
    if !counts {
        let problem = format!("is declared in a nearer file ({}), which holds", entry.origin);
        return Some((problem, "switch it there, or in your own config".to_owned()));
    }
    let proposed = amendment.origin.scope == Scope::Project;
    if proposed && enabled && entry.origin.scope != Scope::Project {
        let problem = "is not switched on by a project's file".to_owned();
        let hint = format!("`toolgate enable {}` switches it on", amendment.name);
        return (!entry.spec.enabled).then_some((problem, hint));
    }
    if entry.switched_by.is_none() {
        entry.spec.enabled = enabled;
        entry.switched_by = Some(amendment.origin.clone());
    }
    None
}

/// Gives a server variables, or says why not and what to do. It adds to what the entry itself names.
fn inherit(winner: &mut Winner, amendment: &Amendment) -> Option<(String, String)> {
    let entry = &mut winner.entry;
    if amendment.env_inherit.is_empty() {
        return None;
    }
    if amendment.origin.scope == Scope::Project {
        let problem = "is given no variables by a project's file".to_owned();
        return Some((problem, "say `env_inherit` in your own config".to_owned()));
    }
    let TransportSpec::Stdio(StdioSpec { env_inherit, .. }) = &mut entry.spec.transport else {
        let problem = "is no process, so `env_inherit` gives it nothing".to_owned();
        return Some((problem, "remove it".to_owned()));
    };
    let new = amendment.env_inherit.iter().filter(|it| !env_inherit.contains(it));
    let new: Vec<_> = new.cloned().collect();
    env_inherit.extend(new);
    None
}
