//! What holds for all servers, from the nearest file that says it.

use std::path::{Component, Path, PathBuf};

use toolgate_dialects::FileRef;
use toolgate_model::{
    ContextSettings, Diagnostic, Governance, Naming, Prefix, Profiles, Scope, Severity,
};

use crate::files::Layer;
use crate::{Home, context, governance, profiles};

/// What holds for all servers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settings {
    /// What `roots/list` answers: absolute folders.
    pub roots: Vec<PathBuf>,
    /// How exposed names are made.
    pub naming: Naming,
    /// When exposed names carry their server's name.
    pub prefix: Prefix,
    /// What kinds of callers see, and who is of which kind.
    pub profiles: Profiles,
    /// What is said about decisions.
    pub governance: Governance,
    /// What is said of the local context.
    pub context: ContextSettings,
}

/// Takes each setting from the nearest layer that has it.
pub(crate) fn settle(layers: &[Layer], home: &Home, diagnostics: &mut Vec<Diagnostic>) -> Settings {
    let said = |layer: &Layer| Some((layer.file.clone(), layer.reading.settings.roots.clone()?));
    let roots = layers.iter().find_map(said).map(|(file, roots)| {
        let places = roots.into_iter().filter_map(|root| place(&root, &file, home, diagnostics));
        places.collect()
    });
    Settings {
        roots: roots.unwrap_or_default(),
        naming: layers.iter().find_map(|it| it.reading.settings.naming).unwrap_or_default(),
        profiles: profiles::settle(layers, diagnostics),
        governance: governance::settle(layers, diagnostics),
        context: context::settle(layers, home, diagnostics),
        prefix: layers.iter().find_map(|it| it.reading.settings.prefix).unwrap_or_default(),
    }
}

/// Where a root is. Servers take roots as leave to read and write there, so a project's file can
/// only name folders of the project.
fn place(
    root: &Path,
    file: &FileRef,
    home: &Home,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<PathBuf> {
    let root = normal(&file.project.join(home.expand(root)));
    if file.scope != Scope::Project || is_inside(&root, &file.project) {
        return Some(root);
    }
    diagnostics.push(Diagnostic {
        severity: Severity::Warning,
        origin: file.origin(0, 0),
        excerpt: None,
        message: format!(
            "the root {:?} lies outside the project and is left out",
            root.display().to_string()
        ),
        hint: Some("name it in your own config, if servers may use it".to_owned()),
    });
    None
}

/// Whether `path` is below `folder`, links followed as far as they exist.
fn is_inside(path: &Path, folder: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    path.starts_with(normal(folder)) && real(path).starts_with(real(folder))
}

/// The path without `.` and `..`.
pub(crate) fn normal(path: &Path) -> PathBuf {
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
