//! What all files together say of the local context.
//!
//! Which folders are read into it, and whose word they are, is for the user or the system to say: a
//! project's file would let whoever wrote it read the user's folders, or vouch for his own text.

use std::path::PathBuf;

use toolgate_dialects::{FileContext, FileRef, Said};
use toolgate_model::{ContextSettings, Diagnostic, Scope};

use crate::Home;
use crate::files::Layer;
use crate::layers::note;
use crate::settings::normal;
use crate::strictest::OWN;

/// Takes each word from the nearest file that may say it. Whatever does not count is told.
pub(crate) fn settle(
    layers: &[Layer],
    home: &Home,
    diagnostics: &mut Vec<Diagnostic>,
) -> ContextSettings {
    for layer in layers.iter().filter(|layer| layer.file.scope == Scope::Project) {
        diagnostics.extend(told(layer));
    }
    let counts = |layer: &&Layer| layer.file.scope != Scope::Project;
    let counting =
        || layers.iter().filter(counts).map(|it| (&it.file, &it.reading.settings.context));
    let paths = |said: fn(&FileContext) -> &Option<Said<Vec<PathBuf>>>| {
        let nearest = counting().find_map(|(file, it)| Some((file, said(it).as_ref()?)));
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
    paths.iter().map(|path| normal(&file.project.join(home.expand(path)))).collect()
}

/// What a project's file says, and has no say in.
fn told(layer: &Layer) -> Vec<Diagnostic> {
    let FileContext { offer, names, folders, trusted } = &layer.reading.settings.context;
    let said = [
        ("offer", offer.as_ref().map(|it| it.at)),
        ("names", names.as_ref().map(|it| it.at)),
        ("folders", folders.as_ref().map(|it| it.at)),
        ("trusted", trusted.as_ref().map(|it| it.at)),
    ];
    let tell = |(key, at): (&str, Option<(u32, u32)>)| {
        let (line, column) = at?;
        let message = format!("`context.{key}` does not count in a project's file");
        Some(note(layer.file.origin(line, column), message, Some(OWN.to_owned())))
    };
    said.into_iter().filter_map(tell).collect()
}
