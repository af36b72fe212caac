//! Merges the settings for all servers, each from the nearest file that sets it.

use std::path::{Component, Path, PathBuf};

use toolgate_dialects::{FileRef, FileSettings};
use toolgate_model::{
    ConfigScope, ContextSettings, Diagnostic, GovernanceSettings, NamingStyle, PrefixMode,
    Profiles, ServerTimeouts,
};

use crate::files::ConfigLayer;
use crate::strict_setting::{OWN_CONFIG_HINT, project_limit};
use crate::{Home, context, governance, profiles};

/// The settings for all servers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MergedSettings {
    /// The absolute folders that `roots/list` returns.
    pub roots: Vec<PathBuf>,
    /// The naming style of exposed names.
    pub naming: NamingStyle,
    /// When exposed names include the name of their server.
    pub prefix: PrefixMode,
    /// The profiles, and the profile of each client.
    pub profiles: Profiles,
    /// The policy settings.
    pub governance: GovernanceSettings,
    /// The time limits for servers that set none of their own.
    pub timeouts: ServerTimeouts,
    /// The settings of the local context.
    pub context: ContextSettings,
}

/// Takes each setting from the nearest layer that sets it.
pub(crate) fn merge_settings(
    layers: &[ConfigLayer],
    home: &Home,
    diagnostics: &mut Vec<Diagnostic>,
) -> MergedSettings {
    let read =
        |layer: &ConfigLayer| Some((layer.file.at.clone(), layer.parsed.settings.roots.clone()?));
    let roots = layers.iter().find_map(read).map(|(file, roots)| {
        let places =
            roots.into_iter().filter_map(|root| resolve_root(&root, &file, home, diagnostics));
        places.collect()
    });
    MergedSettings {
        roots: roots.unwrap_or_default(),
        naming: rename_setting(layers, "naming", |it| it.naming, diagnostics).unwrap_or_default(),
        profiles: profiles::merge_profiles(layers, diagnostics),
        governance: governance::merge_governance(layers, diagnostics),
        timeouts: timeouts(layers, diagnostics),
        context: context::merge_context(layers, home, diagnostics),
        prefix: rename_setting(layers, "prefix", |it| it.prefix, diagnostics).unwrap_or_default(),
    }
}

/// Returns a setting that renames tools, from the nearest file that may set it.
fn rename_setting<T>(
    layers: &[ConfigLayer],
    name: &str,
    read: fn(&FileSettings) -> Option<T>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<T> {
    let message = format!(
        "`{name}` has no effect in a project's file: it would rename the tools of your servers"
    );
    user_settings(layers, read, (&message, OWN_CONFIG_HINT), diagnostics).into_iter().next()
}

/// Returns the time limits for servers that set none.
fn timeouts(layers: &[ConfigLayer], diagnostics: &mut Vec<Diagnostic>) -> ServerTimeouts {
    let read = |it: &FileSettings| Some(it.timeouts).filter(|it| *it != ServerTimeouts::default());
    let message = "`timeouts` for all servers have no effect in a project's file";
    let hint = "set them for its servers, or in your own config";
    let limits = user_settings(layers, read, (message, hint), diagnostics);
    limits.into_iter().fold(ServerTimeouts::default(), ServerTimeouts::or)
}

/// Returns a setting of all files that are not a project's, nearest first: it affects all servers,
/// and a project's file may only affect its own.
fn user_settings<T>(
    layers: &[ConfigLayer],
    read: fn(&FileSettings) -> Option<T>,
    (message, hint): (&str, &str),
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<T> {
    let mut values = Vec::new();
    for layer in layers {
        match read(&layer.parsed.settings) {
            Some(_) if layer.is_project() => {
                diagnostics.push(project_limit(layer.origin((0, 0)), message, hint));
            }
            value => values.extend(value),
        }
    }
    values
}

/// Returns the folder of a root. Servers take roots as permission to read and write there, so a
/// project's file can only name folders inside the project.
fn resolve_root(
    root: &Path,
    file: &FileRef,
    home: &Home,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<PathBuf> {
    let root = normalize_path(&file.project.join(home.expand(root)));
    if file.scope != ConfigScope::Project || is_inside(&root, &file.project) {
        return Some(root);
    }
    let shown = root.display().to_string();
    let message = format!("the root {shown:?} is outside the project and is ignored");
    let hint = "add it to `roots` in your own config, if servers may use it";
    diagnostics.push(project_limit(file.origin(0, 0), message, hint));
    None
}

/// Returns true if `path` is below `folder`, after resolving symbolic links as far as they exist.
fn is_inside(path: &Path, folder: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    path.starts_with(normalize_path(folder)) && real(path).starts_with(real(folder))
}

/// Removes `.` and `..` from the path.
pub(crate) fn normalize_path(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(normal.pop()),
            other => normal.push(other),
        }
    }
    normal
}
