//! What holds for all servers, from the nearest file that says it.

use std::path::{Component, Path, PathBuf};

use toolgate_dialects::FileRef;
use toolgate_model::{
    ContextSettings, Diagnostic, Governance, Naming, Prefix, Profiles, Scope, Severity, Timeouts,
};

use crate::files::Layer;
use crate::layers::note;
use crate::strictest::OWN;
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
    /// How long things may take with servers that set no limits of their own.
    pub timeouts: Timeouts,
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
        naming: own(layers, "naming", |it| it.naming, diagnostics).unwrap_or_default(),
        profiles: profiles::settle(layers, diagnostics),
        governance: governance::settle(layers, diagnostics),
        timeouts: timeouts(layers, diagnostics),
        context: context::settle(layers, home, diagnostics),
        prefix: own(layers, "prefix", |it| it.prefix, diagnostics).unwrap_or_default(),
    }
}

/// A setting of the nearest file that is not a project's: it changes how all servers are seen, and a
/// project's file speaks only of its own.
fn own<T>(
    layers: &[Layer],
    name: &str,
    said: fn(&toolgate_dialects::Settings) -> Option<T>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<T> {
    let mut held = None;
    for layer in layers {
        let Some(value) = said(&layer.reading.settings) else { continue };
        if layer.file.scope == Scope::Project {
            let message = format!(
                "`{name}` does not count in a project's file: it would rename the tools of your servers"
            );
            diagnostics.push(note(layer.file.origin(0, 0), message, Some(OWN.to_owned())));
        } else {
            held = held.or(Some(value));
        }
    }
    held
}

/// The limits of servers that set none: for the user and the system to say, because they hold for
/// servers of other files too.
fn timeouts(layers: &[Layer], diagnostics: &mut Vec<Diagnostic>) -> Timeouts {
    let mut general = Timeouts::default();
    for layer in layers {
        let limits = layer.reading.settings.timeouts;
        if layer.file.scope != Scope::Project {
            general = general.or(limits);
        } else if limits != Timeouts::default() {
            let message = "`timeouts` for all servers have no effect in a project's file";
            let hint = "set them for its servers, or in your own config".to_owned();
            diagnostics.push(note(layer.file.origin(0, 0), message.to_owned(), Some(hint)));
        }
    }
    general
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
