//! Finds the files that declare a server, and decides which of them toolgate may change.

use std::path::Path;

use toolgate_host::config::{ConfigDocument, Dialect, FileRef};
use toolgate_host::{ConfigScope, Origin, Plan, PlanEntry, StartStatus};

use super::project_folder;
use crate::cli_context::CliContext;
use crate::exit::Result;

/// Returns the file to change: the one given with `--config`, the user's own, or the one that
/// `project` chooses for the root of this project.
pub fn own_document(
    context: &CliContext,
    scope: ConfigScope,
    project: impl FnOnce(&Path) -> Result<ConfigDocument>,
) -> Result<ConfigDocument> {
    match (&context.config, scope) {
        (Some(named), _) => Ok(ConfigDocument::from_path(named, ConfigScope::User)?),
        (None, ConfigScope::Project) => project(&project_folder(context)?),
        (None, _) => Ok(ConfigDocument::for_user(&context.home)),
    }
}

/// Returns the file of an entry, or `None` for built-in servers.
pub fn document_of(entry: &PlanEntry) -> Option<ConfigDocument> {
    document(&entry.origin, entry.dialect)
}

fn document(origin: &Origin, dialect: Dialect) -> Option<ConfigDocument> {
    let path = origin.file.as_ref()?.to_path_buf();
    Some(ConfigDocument { dialect, at: FileRef::new(path, origin.scope) })
}

/// Returns the files that may declare a server of this name, the effective one first. Toolgate's
/// own files are always included, because they may contain an entry that could not be read.
pub fn candidates(
    context: &CliContext,
    plan: &Plan,
    name: &str,
    scope: Option<ConfigScope>,
) -> Result<Vec<ConfigDocument>> {
    if let Some(named) = &context.config {
        return Ok(vec![ConfigDocument::from_path(named, ConfigScope::User)?]);
    }
    let entry = plan.entries.iter().find(|entry| entry.spec.name.as_str() == name);
    let mut files: Vec<_> = entry.and_then(document_of).into_iter().collect();
    let shadows = entry.into_iter().flat_map(|entry| &entry.shadows);
    files.extend(shadows.filter_map(|shadow| document(&shadow.origin, shadow.dialect)));
    files.extend(ConfigDocument::for_project(&project_folder(context)?));
    files.push(ConfigDocument::for_user(&context.home));
    files.retain(|file| scope.is_none_or(|scope| file.at.scope == scope));
    Ok(files)
}

/// Returns true if toolgate may change the file even if the user does not name it.
pub fn is_ours(context: &CliContext, file: &ConfigDocument) -> bool {
    context.config.is_some() || file.is_managed()
}

/// Returns true if the server is enabled.
pub fn is_enabled(entry: &PlanEntry) -> bool {
    entry.start_status != StartStatus::Disabled
}
