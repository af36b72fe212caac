//! Merges all files into a plan: resolves entries with the same name, duplicates, and entries that
//! lead back to this gateway.
//!
//! A nearer file takes precedence over a farther one, and in one folder Toolgate's file over
//! foreign files. Where a dialect defines its own precedence, that one applies. Entries that lose
//! are kept as shadows or reported, so that the user sees which file is in effect.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use toolgate_dialects::template::VariableSource;
use toolgate_dialects::{Declaration, InputSpec};
use toolgate_model::{
    ConfigScope, Diagnostic, DiagnosticSeverity, Digest, ErrorCode, ServerName, ServerSpec,
    StartBlock, StdioSpec, TransportSpec,
};

use crate::file_locations::FileRank;
use crate::files::{ConfigLayer, project_folders};
use crate::gateway_loop::gateway_loop_reason;
use crate::settings::merge_settings;
use crate::{
    ConfigError, ConfigSources, Environment, Home, LastGoodFiles, Plan, PlanEntry, PlanSourceFile,
    SecretStore, StartStatus, VariableContext, checks, duplicates, file_contents, overrides,
    project_restrictions, stable_read, start_status, unenforced, variables,
};

/// Reads all configuration and merges it.
///
/// `consents` returns true if the user has agreed to this identity under this name. `environment`
/// looks up the variables that entries name. Fails only if a file that the user named cannot be
/// read.
pub fn load(
    sources: &ConfigSources,
    consents: &dyn Fn(&ServerName, &Digest) -> bool,
    environment: &Environment,
) -> Result<Plan, ConfigError> {
    reload(sources, consents, environment, &mut LastGoodFiles::default())
}

/// Like [`load`], after an earlier load: a file that has broken since then keeps its last valid
/// content.
pub fn reload(
    sources: &ConfigSources,
    consents: &dyn Fn(&ServerName, &Digest) -> bool,
    environment: &Environment,
    last_good: &mut LastGoodFiles,
) -> Result<Plan, ConfigError> {
    let mut layers = stable_read::read_all(sources, last_good)?;
    last_good.restore_broken(&mut layers);
    let mut plan = Plan::default();
    plan.settings = merge_settings(&layers, &sources.home, &mut plan.diagnostics);
    plan.files = layers.iter().map(plan_file).collect();
    plan.inputs = inputs(&layers);
    for layer in &mut layers {
        unenforced::report_unenforced(layer, &mut plan.diagnostics);
        plan.diagnostics.append(&mut layer.parsed.diagnostics);
    }
    plan.entries = select_entries(&mut plan, &mut layers, sources);
    overrides::apply(&mut plan, layers);
    let posture = plan.settings.governance.posture;
    for entry in &mut plan.entries {
        file_contents::read(entry, environment, posture);
        entry.spec.timeouts = entry.spec.timeouts.or(plan.settings.timeouts);
        let declared_so = matches!(entry.start_status, StartStatus::Blocked(_));
        entry.start_status =
            start_status::determine(entry, consents, environment, &sources.own_endpoints);
        entry.has_unset_variable =
            !declared_so && matches!(entry.start_status, StartStatus::Blocked(_));
    }
    duplicates::remove_duplicates(&mut plan);
    project_restrictions::report_unused_rules(&mut plan);
    checks::sort_by_place(&mut plan.diagnostics);
    Ok(plan)
}

fn plan_file(layer: &ConfigLayer) -> PlanSourceFile {
    PlanSourceFile {
        path: layer.file.path().to_owned(),
        dialect: layer.file.dialect,
        scope: layer.scope(),
        servers: layer.parsed.servers.len(),
        permissions: layer.parsed.settings.permissions.clone(),
    }
}

/// Returns the values that the user is asked for; the nearest file that declares an input takes
/// precedence.
fn inputs(layers: &[ConfigLayer]) -> Vec<InputSpec> {
    let mut found: Vec<InputSpec> = Vec::new();
    for input in layers.iter().flat_map(|layer| &layer.parsed.settings.inputs) {
        if !found.iter().any(|known| known.id == input.id) {
            found.push(input.clone());
        }
    }
    found
}

/// Selects the nearest declaration of every name.
fn select_entries(
    plan: &mut Plan,
    layers: &mut [ConfigLayer],
    sources: &ConfigSources,
) -> Vec<PlanEntry> {
    let mut candidates = Vec::new();
    let folders = project_folders(sources);
    for layer in layers {
        for declared in std::mem::take(&mut layer.parsed.servers) {
            candidates.extend(candidate(plan, layer, declared, sources, &folders));
        }
    }
    // The sort is stable: entries of one file keep their order.
    candidates.sort_by_key(|candidate| candidate.rank);
    let mut by_name: HashMap<ServerName, usize> = HashMap::new();
    let mut groups: Vec<Vec<PlanEntry>> = Vec::new();
    for candidate in candidates {
        let name = candidate.spec.name.clone();
        let index = *by_name.entry(name).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[index].push(candidate);
    }
    groups.into_iter().filter_map(select_nearest).collect()
}

/// Returns the declaration as a candidate, unless it leads back to this gateway or belongs to
/// another project.
fn candidate(
    plan: &mut Plan,
    layer: &ConfigLayer,
    declared: Declaration,
    sources: &ConfigSources,
    folders: &[PathBuf],
) -> Option<PlanEntry> {
    let Declaration { spec, origin, only_in, blocked } = declared;
    let rank = match &only_in {
        None => layer.rank,
        Some(project) => match folders.iter().position(|folder| is_same_folder(folder, project)) {
            Some(folder) => FileRank::local(folder),
            None => {
                // Entries of other projects are ignored silently, unless the user named their file.
                if sources.config.is_some() {
                    let name = &spec.name;
                    let message = format!("server \"{name}\" applies only to another project");
                    let hint = format!("it applies in {}", project.display());
                    let code = ErrorCode::ConfigOtherServer;
                    let warning = Diagnostic::warning(code, origin, message).about(name);
                    plan.diagnostics.push(warning.hint(hint));
                }
                return None;
            }
        },
    };
    if let Some(why) = gateway_loop_reason(&spec, &sources.own_endpoints) {
        let message = format!("server \"{}\" {why}, so it is ignored", spec.name);
        // A client in which Toolgate is installed has such an entry, so this is only a note.
        let warning = Diagnostic::warning(ErrorCode::ConfigGatewayLoop, origin, message);
        plan.diagnostics.push(warning.about(&spec.name).severity(DiagnosticSeverity::Note));
        return None;
    }
    let mut spec = expand_home_paths(spec, &sources.home, only_in.as_deref());
    if origin.scope == ConfigScope::Project {
        plan.diagnostics.extend(project_restrictions::tighten(&mut spec, &origin));
    }
    let own = layer.is_project().then(|| layer.file.at.project.to_path_buf());
    let around = VariableContext {
        project: only_in.or(own).or_else(|| open_project(sources)),
        user: sources.home.user_dir().map(Path::to_owned),
        secrets: Some(SecretStore::of(&sources.home)),
    };
    Some(PlanEntry {
        inputs: named_inputs(&spec, &layer.parsed.settings.inputs),
        spec,
        origin,
        dialect: layer.file.dialect,
        rank,
        shadows: Vec::new(),
        switched_by: None,
        variable_context: around,
        start_status: blocked.map_or(StartStatus::Ready, |reason| {
            StartStatus::Blocked(StartBlock::new(ErrorCode::ConfigCannotStart, reason))
        }),
        has_unset_variable: false,
    })
}

/// Returns the project for servers whose file belongs to no project: the folder in which the search
/// begins, or the current folder if the user named a file.
fn open_project(sources: &ConfigSources) -> Option<PathBuf> {
    let here = || sources.config.as_ref().and_then(|_| std::env::current_dir().ok());
    sources.project_dir.clone().or_else(here)
}

/// Selects the first of several declarations of one name; the others become its shadows.
fn select_nearest(mut group: Vec<PlanEntry>) -> Option<PlanEntry> {
    apply_host_precedence(&mut group);
    let mut group = group.into_iter();
    let nearest = group.next()?;
    Some(PlanEntry { shadows: group.collect(), ..nearest })
}

/// Moves the first entry of a host before a nearer project file that the host itself ranks below
/// all of its own files. Entries nearer than that file keep their place.
fn apply_host_precedence(group: &mut [PlanEntry]) {
    for index in 1..group.len() {
        let dialect = group[index].dialect;
        let is_outranked = |nearer: &PlanEntry| dialect.outranks(&nearer.origin);
        if let Some(nearer) = group[..index].iter().position(is_outranked) {
            group[nearer..=index].rotate_right(1);
            return;
        }
    }
}

/// Returns the inputs of the file for the secrets that the server names.
fn named_inputs(spec: &ServerSpec, inputs: &[InputSpec]) -> Vec<InputSpec> {
    if inputs.is_empty() {
        return Vec::new();
    }
    let named = variables::server_variables(spec)
        .into_iter()
        .filter(|variable| variable.source == VariableSource::Secret);
    let ids: Vec<_> = named.map(|variable| variable.name).collect();
    inputs.iter().filter(|input| ids.contains(&input.id)).cloned().collect()
}

/// Expands `~` in the paths of a server. A server for one project only runs in the folder of that
/// project, like the project's own servers.
fn expand_home_paths(mut spec: ServerSpec, home: &Home, only_in: Option<&Path>) -> ServerSpec {
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
