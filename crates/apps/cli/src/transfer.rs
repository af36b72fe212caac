//! Transfer of servers between config files, shared by `import`, `export`, `install` and
//! `uninstall`: credentials, diffs, the registry of installed entries, and losses. The library
//! reads and writes the dialects.

pub mod file_change;
pub mod install_registry;
pub mod literals;
pub mod losses;
mod marked_text;

use toolgate_host::ConfigScope;
use toolgate_host::config::{
    ConfigDocument, ConfigSources, Dialect, EditError, EditOptions, EditOutcome, FileAccess,
    edit_file, read_file,
};

use crate::cli_context::{CliContext, current_folder};
use crate::exit::Result;

/// Returns where to look for clients' files: from the current folder, regardless of `--config`.
pub fn client_sources(context: &CliContext) -> Result<ConfigSources> {
    let here = current_folder()?;
    Ok(ConfigSources { config: None, project_dir: Some(here), ..context.setup_options()? })
}

/// Reads a client's file. Returns it with the dialect of its text, because OpenCode has two, and
/// the text, or `None` if it does not exist.
pub fn read_document(file: ConfigDocument) -> Result<(ConfigDocument, Option<String>)> {
    let text = read_file(file.path())?;
    let dialect = match file.dialect {
        Dialect::OpenCode => Dialect::detect(file.path(), text.as_deref().unwrap_or_default()),
        other => other,
    };
    Ok((ConfigDocument { dialect, ..file }, text))
}

/// Changes a file and keeps a backup of it. A new file of a project can be read by others.
pub fn edit_with_backup(
    file: &ConfigDocument,
    change: impl FnOnce(&str) -> Result<Option<String>, EditError>,
) -> Result<EditOutcome> {
    let access = match file.at.scope {
        ConfigScope::Project => FileAccess::Shared,
        _ => FileAccess::Private,
    };
    Ok(edit_file(file.path(), EditOptions { access, backup: true }, change)?)
}
