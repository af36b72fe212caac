//! Merges the settings of the local context from all files.
//!
//! Only the user and the system decide which folders are indexed and trusted. Otherwise the author
//! of a project's file could read the user's folders, or mark the project's own text as trusted.

use std::path::PathBuf;

use toolgate_dialects::{FileContextSettings, FileRef, LocatedValue};
use toolgate_model::{ContextSettings, Diagnostic};

use crate::Home;
use crate::files::ConfigLayer;
use crate::settings::normalize_path;
use crate::strict_setting::report_project_settings;

/// Takes each setting from the nearest file that may set it, and reports settings that have no
/// effect.
pub(crate) fn merge_context(
    layers: &[ConfigLayer],
    home: &Home,
    diagnostics: &mut Vec<Diagnostic>,
) -> ContextSettings {
    for layer in layers.iter().filter(|layer| layer.is_project()) {
        let FileContextSettings { offer, names, folders, trusted } = &layer.parsed.settings.context;
        let settings = [
            ("offer".to_owned(), offer.as_ref().map(|it| it.at)),
            ("names".to_owned(), names.as_ref().map(|it| it.at)),
            ("folders".to_owned(), folders.as_ref().map(|it| it.at)),
            ("trusted".to_owned(), trusted.as_ref().map(|it| it.at)),
        ];
        diagnostics.extend(report_project_settings(layer, "context", settings));
    }
    let counts = |layer: &&ConfigLayer| !layer.is_project();
    let counting =
        || layers.iter().filter(counts).map(|it| (&it.file.at, &it.parsed.settings.context));
    let paths = |read: fn(&FileContextSettings) -> &Option<LocatedValue<Vec<PathBuf>>>| {
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
