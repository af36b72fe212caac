//! `remove`: removes a server from the file that declares it.
//!
//! Files of other programs are changed only if named with `--from`. Consent and trust of the server
//! are removed with it.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use toolgate_host::config::ConfigDocument;
use toolgate_host::{ConfigScope, ServerName};

use super::declaration::{self, files, messages, scope::ScopeArg};
use crate::cli_context::CliContext;
use crate::complete::server_names;
use crate::exit::{CliError, Exit, Result, cli_error};
use crate::out;
use crate::suggest::unknown_server_error;

/// The arguments of `toolgate remove`.
#[derive(Debug, Args)]
#[command(
    visible_alias = "rm",
    after_help = "Without --scope, the declaration in effect is removed if it is in one of \
    toolgate's own files or in a project's .mcp.json.\n\n\
    Examples:\n  toolgate remove filesystem\n  toolgate remove filesystem --scope user\n  \
    toolgate remove filesystem --from .vscode/mcp.json"
)]
pub struct RemoveArgs {
    /// Name of the server
    #[arg(add = server_names())]
    name: String,
    /// Scope of the declaration to remove
    #[arg(short, long, value_enum, value_name = "SCOPE")]
    scope: Option<ScopeArg>,
    /// File to remove it from, even if another program owns it
    #[arg(long, value_name = "FILE", conflicts_with = "scope")]
    from: Option<PathBuf>,
}

pub async fn run(context: &CliContext, options: &RemoveArgs) -> Result<Exit> {
    let name = ServerName::new(&options.name)?;
    let file = find_file(context, options, &name)?;
    let edited = file.change(|text| file.dialect.remove(text, &name))?;
    if !edited.changed {
        return Err(cli_error!(
            ConfigConflict,
            "{} does not declare `{name}`",
            messages::display_path(file.path())
        )
        .hint(format!("run `toolgate get {name}` to see which file declares it")));
    }
    let value = json!({ "name": name, "file": file.path(), "scope": file.at.scope });
    let text = format!("removed {name} from {}", messages::display_path(file.path()));
    out::print_done(context, &value, &text)?;
    forget_consent(context, &name).await
}

/// Returns the file to remove the server from.
fn find_file(
    context: &CliContext,
    options: &RemoveArgs,
    name: &ServerName,
) -> Result<ConfigDocument> {
    if let Some(from) = &options.from {
        return Ok(ConfigDocument::from_path(from, ConfigScope::User)?);
    }
    let plan = toolgate_host::read_files(&context.setup_options()?)?;
    let scope = options.scope.map(ScopeArg::to_scope);
    let candidates = files::candidates(context, &plan, name.as_str(), scope)?;
    let winner = plan.entries.iter().find(|entry| entry.spec.name == *name);
    if let (Some(winner), None) = (winner, scope)
        && let Some(file) = files::document_of(winner)
        && !files::is_ours(context, &file)
    {
        return Err(foreign_file_error(&file, name));
    }
    for file in candidates.into_iter().filter(|file| files::is_ours(context, file)) {
        if file.has(name)? {
            return Ok(file);
        }
    }
    let names = plan.entries.iter().map(|entry| entry.spec.name.as_str());
    Err(match (winner, scope) {
        (Some(winner), Some(scope)) => {
            cli_error!(ConfigConflict, "no file of scope {scope} declares `{name}`")
                .hint(format!("it is declared in {}", winner.origin))
        }
        _ => unknown_server_error(name.as_str(), names),
    })
}

/// Returns the error for a server that another program's file declares.
fn foreign_file_error(file: &ConfigDocument, name: &ServerName) -> CliError {
    let path = messages::display_path(file.path());
    let whose = match file.at.scope {
        ConfigScope::System => "the administrator".to_owned(),
        _ => format!("another program ({})", file.dialect),
    };
    cli_error!(ConfigConflict, "`{name}` is declared in {path}, which belongs to {whose}").hint(
        format!(
            "run `toolgate disable {name}` to disable it here, or `toolgate remove {name} --from \
             {path}` to change that file"
        ),
    )
}

/// Revokes consent and trust of the server, and prints which other file declares it.
async fn forget_consent(context: &CliContext, name: &ServerName) -> Result<Exit> {
    let mut setup = context.load_setup().await?;
    if setup.revoke(name.as_str()).await? {
        out::note("revoked the consent to start it");
    }
    setup.distrust(name.as_str()).await?;
    if let Ok(entry) = setup.entry(name.as_str()) {
        out::remark(&format!("the entry in {} is in effect now", entry.origin));
    }
    declaration::reload_gateway(context).await;
    Ok(Exit::Done)
}
