//! Lays the files over each other: the same name twice, the same server twice, ourselves.
//!
//! Nearer wins over farther, and in one place ours over foreign; where a dialect has a precedence
//! of its own, that one holds. Whatever loses is kept as a shadow or reported, so that nobody has
//! to guess which file spoke.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use toolgate_dialects::template::Source;
use toolgate_dialects::{Declared, Dialect, Input};
use toolgate_model::{
    Diagnostic, Digest, Origin, Scope, ServerName, ServerSpec, Severity, StdioSpec, TransportSpec,
};

use crate::files::{Layer, project_folders};
use crate::gateway::leads_back;
use crate::places::Rank;
use crate::settings::settle;
use crate::{
    ConfigError, Entry, Environment, Home, LastGood, Plan, PlanFile, Secrets, Shadow, Sources,
    Standing, Surroundings, amendments, file_contents, pending, proposed, repeated, standing,
    steady, variables,
};

/// Reads all configuration and adds it up.
///
/// `consents` says whether the user agreed to an identity under a name, `environment` is asked
/// for the variables entries name. Fails only for a file that was named and cannot be read.
pub fn load(
    sources: &Sources,
    consents: &dyn Fn(&ServerName, &Digest) -> bool,
    environment: &Environment,
) -> Result<Plan, ConfigError> {
    load_again(sources, consents, environment, &mut LastGood::default())
}

/// The same, after an earlier time: a file that was broken since then keeps what it said.
pub fn load_again(
    sources: &Sources,
    consents: &dyn Fn(&ServerName, &Digest) -> bool,
    environment: &Environment,
    last_good: &mut LastGood,
) -> Result<Plan, ConfigError> {
    let mut layers = steady::read_all(sources, last_good)?;
    last_good.settle(&mut layers);
    let mut plan = Plan::default();
    plan.settings = settle(&layers, &sources.home, &mut plan.diagnostics);
    plan.files = layers.iter().map(described).collect();
    plan.inputs = inputs(&layers);
    for layer in &mut layers {
        pending::tell(layer, &mut plan.diagnostics);
        plan.diagnostics.append(&mut layer.reading.diagnostics);
    }
    let mut winners = add_up(&mut plan, &mut layers, sources);
    amendments::apply(&mut plan, &mut winners, layers);
    plan.entries = winners.into_iter().map(|winner| winner.entry).collect();
    let posture = plan.settings.governance.posture;
    for entry in &mut plan.entries {
        file_contents::read(entry, environment, posture);
        entry.spec.timeouts = entry.spec.timeouts.or(plan.settings.timeouts);
        let declared_so = matches!(entry.standing, Standing::Blocked(_));
        entry.standing = standing::of(entry, consents, environment, &sources.own_endpoints);
        entry.unset = !declared_so && matches!(entry.standing, Standing::Blocked(_));
    }
    repeated::leave_out(&mut plan);
    proposed::tell_of_rules(&mut plan);
    let place = |found: &Diagnostic| {
        let Origin { file, line, column, .. } = &found.origin;
        (file.clone(), *line, *column)
    };
    plan.diagnostics.sort_by_cached_key(place);
    Ok(plan)
}

fn described(layer: &Layer) -> PlanFile {
    PlanFile {
        path: layer.file.path.to_path_buf(),
        dialect: layer.dialect,
        scope: layer.file.scope,
        servers: layer.reading.servers.len(),
        permissions: layer.reading.settings.permissions.clone(),
    }
}

/// Values people are asked for; the nearest file that speaks of one counts.
fn inputs(layers: &[Layer]) -> Vec<Input> {
    let mut found: Vec<Input> = Vec::new();
    for input in layers.iter().flat_map(|layer| &layer.reading.settings.inputs) {
        if !found.iter().any(|known| known.id == input.id) {
            found.push(input.clone());
        }
    }
    found
}

/// One declaration, and how near it is.
struct Candidate {
    rank: Rank,
    entry: Entry,
}

/// An entry, and how near the file is that declares it.
pub(crate) struct Winner {
    pub rank: Rank,
    pub entry: Entry,
}

/// Gives every name to its nearest declaration.
fn add_up(plan: &mut Plan, layers: &mut [Layer], sources: &Sources) -> Vec<Winner> {
    let mut candidates = Vec::new();
    let folders = project_folders(sources);
    for layer in layers {
        for declared in std::mem::take(&mut layer.reading.servers) {
            candidates.extend(candidate(plan, layer, declared, sources, &folders));
        }
    }
    // Stable: in one file its own order stays.
    candidates.sort_by_key(|candidate| candidate.rank);
    let mut by_name: HashMap<ServerName, usize> = HashMap::new();
    let mut groups: Vec<Vec<Candidate>> = Vec::new();
    for candidate in candidates {
        let name = candidate.entry.spec.name.clone();
        let index = *by_name.entry(name).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[index].push(candidate);
    }
    groups.into_iter().filter_map(won).collect()
}

/// A declaration that counts here: none that leads back to us, or is meant for another project.
fn candidate(
    plan: &mut Plan,
    layer: &Layer,
    declared: Declared,
    sources: &Sources,
    folders: &[PathBuf],
) -> Option<Candidate> {
    let Declared { spec, origin, only_in, blocked } = declared;
    let rank = match &only_in {
        None => layer.rank,
        Some(project) => match folders.iter().position(|folder| is_same_folder(folder, project)) {
            Some(folder) => Rank::local(folder),
            None => {
                // Other projects' entries are nobody's business here, unless their file was named.
                if sources.config.is_some() {
                    let name = &spec.name;
                    let message = format!("server \"{name}\" is meant for another project alone");
                    let hint = format!("it counts in {}", project.display());
                    plan.diagnostics.push(note(origin, message, Some(hint)));
                }
                return None;
            }
        },
    };
    if let Some(why) = leads_back(&spec, &sources.own_endpoints) {
        let message = format!("server \"{}\" {why}; it is left out", spec.name);
        // Whoever installed us into a client has such an entry, and is right to have it.
        let told = note(origin, message, None);
        plan.diagnostics.push(Diagnostic { severity: Severity::Note, ..told });
        return None;
    }
    let mut spec = at_home(spec, &sources.home, only_in.as_deref());
    if origin.scope == Scope::Project {
        plan.diagnostics.extend(proposed::tighten(&mut spec, &origin));
    }
    let own = (layer.file.scope == Scope::Project).then(|| layer.file.project.to_path_buf());
    let around = Surroundings {
        project: only_in.or(own).or_else(|| open_project(sources)),
        user: sources.home.user_dir().map(Path::to_owned),
        secrets: Some(Secrets::of(&sources.home)),
    };
    let entry = Entry {
        inputs: named_inputs(&spec, &layer.reading.settings.inputs),
        spec,
        origin,
        dialect: layer.dialect,
        shadows: Vec::new(),
        switched_by: None,
        around,
        standing: blocked.map_or(Standing::Ready, Standing::Blocked),
        unset: false,
    };
    Some(Candidate { rank, entry })
}

/// The project that is open for servers whose file belongs to none. Whoever names a file is in the
/// project he means, as its servers are.
fn open_project(sources: &Sources) -> Option<PathBuf> {
    let here = || sources.config.as_ref().and_then(|_| std::env::current_dir().ok());
    sources.project_dir.clone().or_else(here)
}

/// The first of several declarations of one name, the others being its shadows.
fn won(mut group: Vec<Candidate>) -> Option<Winner> {
    nyzhi_first(&mut group);
    let mut group = group.into_iter();
    let Candidate { rank, mut entry } = group.next()?;
    entry.shadows = group
        .map(|Candidate { entry, .. }| Shadow {
            origin: entry.origin,
            dialect: entry.dialect,
            spec: entry.spec,
        })
        .collect();
    Some(Winner { rank, entry })
}

/// Nyzhi merges its own files first, and lets them win over any `.mcp.json`: also its user's file
/// over the project's. What stands nearer than that `.mcp.json` is not touched by it.
fn nyzhi_first(group: &mut [Candidate]) {
    let first = |dialect| group.iter().position(|it| it.entry.dialect == dialect);
    if let (Some(shared), Some(nyzhi)) = (first(Dialect::McpJson), first(Dialect::Nyzhi))
        && shared < nyzhi
        && group[shared].entry.origin.scope == Scope::Project
        && group[shared].entry.origin.file.as_ref().is_some_and(|it| it.ends_with(".mcp.json"))
    {
        group[shared..=nyzhi].rotate_right(1);
    }
}

/// What a file says of the secrets that one of its servers names.
fn named_inputs(spec: &ServerSpec, inputs: &[Input]) -> Vec<Input> {
    if inputs.is_empty() {
        return Vec::new();
    }
    let named =
        variables::named(spec).into_iter().filter(|variable| variable.source == Source::Secret);
    let ids: Vec<_> = named.map(|variable| variable.name).collect();
    inputs.iter().filter(|input| ids.contains(&input.id)).cloned().collect()
}

/// The server with `~` in its paths replaced. One that is meant for a project alone runs in its
/// folder, as that project's own servers do.
fn at_home(mut spec: ServerSpec, home: &Home, only_in: Option<&Path>) -> ServerSpec {
    if let TransportSpec::Stdio(StdioSpec { cwd, env_file, .. }) = &mut spec.transport {
        for path in [&mut *cwd, env_file].into_iter().flatten() {
            *path = home.expand(path);
        }
        if cwd.is_none() {
            *cwd = only_in.map(Path::to_owned);
        }
    }
    spec
}

fn is_same_folder(folder: &Path, named: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    folder == named || real(folder).is_some_and(|folder| real(named) == Some(folder))
}

pub(crate) fn note(origin: Origin, message: String, hint: Option<String>) -> Diagnostic {
    Diagnostic { severity: Severity::Warning, origin, excerpt: None, message, hint }
}
