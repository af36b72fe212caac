//! Merges the settings of the local context from all files.
//!
//! Only the user and the system decide which folders are indexed and trusted. Otherwise the author
//! of a project's file could read the user's folders, or mark the project's own text as trusted.

use std::path::PathBuf;

use toolgate_dialects::{FileContext, FileRef, LocatedValue};
use toolgate_model::{ConfigScope, ContextSettings, Diagnostic, ErrorCode};

use crate::Home;
use crate::files::ConfigLayer;
use crate::settings::normalize_path;
use crate::strict_setting::OWN_CONFIG_HINT;

/// Takes each setting from the nearest file that may set it, and reports settings that have no
/// effect.
pub(crate) fn merge_context(
    layers: &[ConfigLayer],
    home: &Home,
    diagnostics: &mut Vec<Diagnostic>,
) -> ContextSettings {
    for layer in layers.iter().filter(|layer| layer.file.scope == ConfigScope::Project) {
        diagnostics.extend(report_project_settings(layer));
    }
    let counts = |layer: &&ConfigLayer| layer.file.scope != ConfigScope::Project;
    let counting =
        || layers.iter().filter(counts).map(|it| (&it.file, &it.parsed.settings.context));
    let paths = |read: fn(&FileContext) -> &Option<LocatedValue<Vec<PathBuf>>>| {
        let nearest = counting().find_map(|(file, it)| Some((file, read(it).as_ref()?)));
        nearest.map(|(file, paths)| absolute(&paths.value, file, home)).unwrap_or_default()
    };
    ContextSettings {
        offer: counting().find_map(|(_, it)| it.offer).map(|it| it.value).unwrap_or_default(),
        names: counting().find_map(|(_, it)| it.names).map(|it| it.value).unwrap_or_default(),
        folders: paths(|it| &it.folders),
        trusted: paths(|it| &it.trusted),
    }
}

fn absolute(paths: &[PathBuf], file: &FileRef, home: &Home) -> Vec<PathBuf> {
    paths.iter().map(|path| normalize_path(&file.project.join(home.expand(path)))).collect()
}

/// Reports the settings of a project's file, which have no effect.
fn report_project_settings(layer: &ConfigLayer) -> Vec<Diagnostic> {
    let FileContext { offer, names, folders, trusted } = &layer.parsed.settings.context;
    let settings = [
        ("offer", offer.as_ref().map(|it| it.at)),
        ("names", names.as_ref().map(|it| it.at)),
        ("folders", folders.as_ref().map(|it| it.at)),
        ("trusted", trusted.as_ref().map(|it| it.at)),
    ];
    let tell = |(key, at): (&str, Option<(u32, u32)>)| {
        let (line, column) = at?;
        let message = format!("`context.{key}` has no effect in a project's file");
        let origin = layer.file.origin(line, column);
        let warning = Diagnostic::warning(ErrorCode::ConfigProjectLimit, origin, message);
        Some(warning.hint(OWN_CONFIG_HINT))
    };
    settings.into_iter().filter_map(tell).collect()
}
