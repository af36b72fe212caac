//! Transfer of servers between config files, shared by `import`, `export`, `install` and
//! `uninstall`: credentials, diffs, the registry of installed entries, and losses. The library
//! reads and writes the dialects.

pub mod file_change;
pub mod install_registry;
pub mod literals;
pub mod losses;
mod marked_text;

use toolgate_host::config::ConfigDocument;
use toolgate_host::config::{ConfigSources, Dialect};

use crate::cli_context::CliContext;
use crate::exit::{CliError, ErrorCode, Result};

/// Returns where to look for clients' files: from the current folder, regardless of `--config`.
pub fn client_sources(context: &CliContext) -> Result<ConfigSources> {
    let here = std::env::current_dir().map_err(|error| {
        CliError::new(ErrorCode::CliRead, format!("cannot find the current folder: {error}"))
            .hint("change to an existing folder")
    })?;
    Ok(ConfigSources { config: None, project_dir: Some(here), ..context.setup_options()? })
}

/// Returns the dialect of a client's file. OpenCode has two dialects, which the text tells apart.
pub fn file_dialect(file: &ConfigDocument, text: &str) -> Dialect {
    match file.dialect {
        Dialect::OpenCode => Dialect::detect(&file.at.path, text),
        other => other,
    }
}
