//! Lays the files over each other: the same name twice, the same server twice, ourselves.
//!
//! Nearer wins over farther, and in one place ours over foreign; whatever loses is kept as a
//! shadow or reported, so that nobody has to guess which file spoke.

use toolgate_dialects::Declared;
use toolgate_model::{
    Diagnostic, Digest, Origin, Scope, ServerName, ServerSpec, Severity, StdioSpec, TransportSpec,
};

use crate::files::{self, Layer};
use crate::gateway::leads_back;
use crate::settings::settle;
use crate::{ConfigError, Entry, Home, Plan, Sources, Standing, resolve};

/// Reads all configuration and adds it up.
///
/// `consents` says whether the user agreed to an identity under a name, `env` is asked for the
/// variables entries name. Fails only for a file that was named and cannot be read.
pub fn load(
    sources: &Sources,
    consents: &dyn Fn(&ServerName, &Digest) -> bool,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Plan, ConfigError> {
    let mut layers = files::read_all(sources)?;
    let mut plan = Plan::default();
    plan.settings = settle(&layers, &sources.home, &mut plan.diagnostics);
    for layer in &mut layers {
        plan.diagnostics.append(&mut layer.reading.diagnostics);
    }
    for declared in layers.into_iter().flat_map(|layer: Layer| layer.reading.servers) {
        add(&mut plan, declared, sources);
    }
    for entry in &mut plan.entries {
        entry.standing = standing(entry, consents, env);
    }
    leave_out_repeated(&mut plan);
    Ok(plan)
}

/// Adds one entry, unless a nearer one has its name or it leads back to us.
fn add(plan: &mut Plan, declared: Declared, sources: &Sources) {
    let Declared { spec, origin, interpolation } = declared;
    if let Some(winner) = plan.entries.iter_mut().find(|entry| entry.spec.name == spec.name) {
        return winner.shadows.push(origin);
    }
    if let Some(why) = leads_back(&spec, &sources.own_endpoints) {
        let message = format!("server \"{}\" {why}; it is left out", spec.name);
        return plan.diagnostics.push(note(origin, message, None));
    }
    let spec = at_home(spec, &sources.home);
    let standing = Standing::Ready;
    plan.entries.push(Entry { spec, origin, shadows: Vec::new(), interpolation, standing });
}

fn at_home(mut spec: ServerSpec, home: &Home) -> ServerSpec {
    if let TransportSpec::Stdio(StdioSpec { cwd: Some(cwd), .. }) = &mut spec.transport {
        *cwd = home.expand(cwd);
    }
    spec
}

/// Expands variables only to find out whether it would work; the values are taken when the server
/// is reached.
fn standing(
    entry: &Entry,
    consents: &dyn Fn(&ServerName, &Digest) -> bool,
    env: &dyn Fn(&str) -> Option<String>,
) -> Standing {
    let spec = &entry.spec;
    if !spec.enabled {
        return Standing::Disabled;
    }
    if entry.origin.scope == Scope::Project && !consents(&spec.name, &spec.digest()) {
        return Standing::NeedsConsent;
    }
    match resolve(spec, entry.interpolation, env) {
        Ok(_) => Standing::Ready,
        Err(error) => Standing::Blocked(error.to_string()),
    }
}

/// Keeps one of several enabled entries for the same server: one that may start, else the nearest.
fn leave_out_repeated(plan: &mut Plan) {
    let rank = |entry: &Entry| usize::from(entry.standing != Standing::Ready);
    let mut order: Vec<usize> = (0..plan.entries.len()).collect();
    order.sort_by_key(|index| rank(&plan.entries[*index]));
    let mut kept: Vec<usize> = Vec::new();
    let mut repeated = Vec::new();
    for index in order {
        let entry = &plan.entries[index];
        let earlier = kept.iter().find(|kept| is_same(&plan.entries[**kept].spec, &entry.spec));
        match earlier {
            Some(earlier) => repeated.push((index, *earlier)),
            None => kept.push(index),
        }
    }
    for (index, earlier) in &repeated {
        let (entry, winner) = (&plan.entries[*index], &plan.entries[*earlier]);
        let (name, other) = (&entry.spec.name, &winner.spec.name);
        let message = format!("server \"{name}\" is the same as \"{other}\"; it is left out");
        let hint = format!("\"{other}\" is declared in {}", winner.origin);
        plan.diagnostics.push(note(entry.origin.clone(), message, Some(hint)));
    }
    let mut index = 0..;
    plan.entries.retain(|_| index.next().is_some_and(|at| kept.contains(&at)));
}

/// Whether two entries would reach the same server in the same way. Two accounts (other variables,
/// other headers) or two folders are two servers; an entry that leaves the folder open is not told
/// apart by it.
fn is_same(a: &ServerSpec, b: &ServerSpec) -> bool {
    if !(a.enabled && b.enabled) {
        return false;
    }
    match (&a.transport, &b.transport) {
        (TransportSpec::Stdio(a), TransportSpec::Stdio(b)) => {
            let folders_fit = a.cwd.is_none() || b.cwd.is_none() || a.cwd == b.cwd;
            folders_fit && (&a.command, &a.args, &a.env) == (&b.command, &b.args, &b.env)
        }
        (TransportSpec::Http(a), TransportSpec::Http(b)) => a == b,
        _ => false,
    }
}

fn note(origin: Origin, message: String, hint: Option<String>) -> Diagnostic {
    Diagnostic { severity: Severity::Warning, origin, message, hint }
}
