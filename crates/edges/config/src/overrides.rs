//! Applies entries that declare no server, but enable or disable a server of another file, or pass
//! variables to it.
//!
//! Such an override applies if its file is Toolgate's own, or at least as near as the file that
//! declares the server. If several apply, the nearest one does. A project's file can disable a
//! server of the user, but can neither enable it nor pass variables to it. An override that does
//! not apply, or names no server, is reported.

use std::collections::HashMap;

use toolgate_dialects::ServerOverride;
use toolgate_model::{ConfigScope, Diagnostic, ErrorCode, StdioSpec, TransportSpec};

use crate::files::ConfigLayer;
use crate::{Plan, PlanEntry};

/// Applies the overrides of these files, nearest first.
pub(crate) fn apply(plan: &mut Plan, layers: Vec<ConfigLayer>) {
    let by_name: HashMap<_, _> =
        plan.entries.iter().enumerate().map(|(at, it)| (it.spec.name.clone(), at)).collect();
    for layer in layers {
        let (rank, ours) = (layer.rank, layer.file.dialect.is_toolgate());
        for amendment in layer.parsed.overrides {
            let found = by_name.get(&amendment.name).and_then(|at| plan.entries.get_mut(*at));
            let problem = match found {
                Some(entry) => {
                    let not_inherited = inherit(entry, &amendment);
                    not_inherited.or_else(|| switch(entry, &amendment, ours || rank <= entry.rank))
                }
                None => Some((
                    "is not declared in any file, so there is nothing to change".to_owned(),
                    "give it `command` or `url`, or remove the entry".to_owned(),
                )),
            };
            if let Some((problem, hint)) = problem {
                let message = format!("server \"{}\" {problem}", amendment.name);
                let code = ErrorCode::ConfigOtherServer;
                let warning = Diagnostic::warning(code, amendment.origin, message);
                plan.diagnostics.push(warning.about(&amendment.name).hint(hint));
            }
        }
    }
}

/// Enables or disables a server. Returns the problem and a hint if it cannot.
fn switch(
    entry: &mut PlanEntry,
    amendment: &ServerOverride,
    counts: bool,
) -> Option<(String, String)> {
    let enabled = amendment.enabled?;
    if !counts {
        let problem =
            format!("is declared in a nearer file ({}), which takes precedence", entry.origin);
        return Some((problem, "enable or disable it there, or in your own config".to_owned()));
    }
    let proposed = amendment.origin.scope == ConfigScope::Project;
    if proposed && enabled && entry.origin.scope != ConfigScope::Project {
        let problem = "cannot be enabled by a project's file".to_owned();
        let hint = format!("run `toolgate enable {}`", amendment.name);
        return (!entry.spec.enabled).then_some((problem, hint));
    }
    if entry.switched_by.is_none() {
        entry.spec.enabled = enabled;
        entry.switched_by = Some(amendment.origin.clone());
    }
    None
}

/// Passes variables to a server, in addition to those that its entry names. Returns the problem and
/// a hint if it cannot.
fn inherit(entry: &mut PlanEntry, amendment: &ServerOverride) -> Option<(String, String)> {
    if amendment.env_inherit.is_empty() {
        return None;
    }
    if amendment.origin.scope == ConfigScope::Project {
        let problem = "cannot be given variables by a project's file".to_owned();
        return Some((problem, "set `env_inherit` in your own config".to_owned()));
    }
    let TransportSpec::Stdio(StdioSpec { env_inherit, .. }) = &mut entry.spec.transport else {
        let problem = "is not a process, so `env_inherit` has no effect".to_owned();
        return Some((problem, "remove it".to_owned()));
    };
    let new = amendment.env_inherit.iter().filter(|it| !env_inherit.contains(it));
    let new: Vec<_> = new.cloned().collect();
    env_inherit.extend(new);
    None
}
