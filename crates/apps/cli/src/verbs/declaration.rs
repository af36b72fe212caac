//! The shared part of `add` and `add-json`: chooses the file for a new server, writes the entry,
//! and records consent and trust.
//!
//! Adding a server gives consent to exactly what is written. Trust is never written into a
//! project's file: it is stored in the user's state, for the server as it is now.

pub mod files;
pub mod messages;
pub mod scope;

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use toolgate_host::config::{ConfigDocument, ParsedFile, project_document, project_root};
use toolgate_host::{ConfigScope, ServerName, ServerSpec, StdioSpec, TransportSpec};
use toolgate_model::{Diagnostic, DiagnosticSeverity};

use crate::cli_context::{CliContext, absolute, own_program};
use crate::control::ControlRequest;
use crate::exit::{CliError, Exit, Result, cli_error};
use crate::out;
use crate::server_access::RunningGateway;
use crate::transfer::file_change::diff;
use crate::transfer::literals::{LiteralReplacement, replace_literals};
use crate::transfer::losses::print_losses;
use scope::ScopeArg;

/// The options of `add` and `add-json` that say where and how to declare the server.
#[derive(Debug, Args)]
pub struct PlacementArgs {
    /// Declare the server for this project (the default), or for yourself everywhere
    #[arg(short, long, value_enum, value_name = "SCOPE")]
    pub scope: Option<ScopeArg>,
    /// Allow calls of its tools without approval
    #[arg(long)]
    pub trust: bool,
    /// Replace an existing server of this name
    #[arg(long)]
    pub force: bool,
    /// Show what would change without changing it
    #[arg(long)]
    pub dry_run: bool,
}

/// Parses a server name. Rejects names that look like options or URLs.
pub fn parse_server_name(text: &str) -> Result<ServerName> {
    let hint = "use letters, digits, `-`, `_` and `.`";
    let name = ServerName::new(text)?;
    if text.starts_with('-') || text.trim() != text || text.contains("://") {
        let shown = out::escape_invisible(&toolgate_model::redact_url(text));
        return Err(cli_error!(ConfigServerName, "`{shown}` is not a valid server name").hint(hint));
    }
    Ok(name)
}

/// Declares a server: writes it to its file, and records consent and trust.
pub async fn declare(
    context: &CliContext,
    mut spec: ServerSpec,
    placing: &PlacementArgs,
) -> Result<Exit> {
    let file = choose_file(context, &mut spec, placing)?;
    // Trust is written into the user's own files; for other files it is stored in the state.
    let says_trust = file.dialect.is_toolgate() && file.at.scope != ConfigScope::Project;
    spec.trust = placing.trust && says_trust;
    // The user's own file starts from the example if it is missing.
    let is_users = file.path() == context.home.config_file();
    let before = match is_users && !file.path().exists() {
        true => toolgate_host::config::example(&own_program()?),
        false => file.text()?,
    };
    let existed = check_existing(context, &file, &spec, placing)?;
    let written = file.with_server(&before, &spec)?;
    check_readable(&file, &file.read(&written.text), &spec.name)?;
    if placing.dry_run {
        print_losses(&written.losses);
        return show_diff(context, &file, &before, &spec);
    }
    if is_users && file.at.scope == ConfigScope::User {
        context.ensure_config()?;
    }
    file.change(|text| Ok(Some(file.dialect.set(text, &spec, &file.at)?.text)))?;
    print_losses(&written.losses);
    messages::print_added(context, &file, &spec.name, existed)?;
    messages::warn_about_literals(&file, &spec);
    record_consent(context, &file, &spec.name, placing.trust && !says_trust).await?;
    Ok(Exit::Done)
}

/// Returns the file for a new server, and adjusts the server's working directory to that file.
fn choose_file(
    context: &CliContext,
    spec: &mut ServerSpec,
    placing: &PlacementArgs,
) -> Result<ConfigDocument> {
    if context.config.is_some() && placing.scope.is_some() {
        return Err(cli_error!(CliUsage, "--scope cannot be combined with --config")
            .hint("remove --scope; --config names the file to write"));
    }
    let project = |root: &Path| {
        anchor_cwd(spec, Some(root))?;
        Ok(project_document(root, spec)?)
    };
    let file = files::own_document(context, placing.scope.unwrap_or_default().to_scope(), project)?;
    if file.at.scope != ConfigScope::Project {
        anchor_cwd(spec, None)?;
    }
    Ok(file)
}

/// Returns the root folder of the current project.
pub fn project_folder(context: &CliContext) -> Result<PathBuf> {
    project_root(&context.setup_options()?).ok_or_else(|| {
        cli_error!(ConfigNoProject, "no project found")
            .hint("use --scope user to declare it for yourself")
    })
}

/// Rewrites the working directory of a process: relative to the root inside a project, otherwise
/// absolute. The root itself is left out, because a project's servers run there anyway.
fn anchor_cwd(spec: &mut ServerSpec, root: Option<&Path>) -> Result<()> {
    let TransportSpec::Stdio(StdioSpec { cwd: slot, .. }) = &mut spec.transport else {
        return Ok(());
    };
    let Some(cwd) = slot.as_deref() else { return Ok(()) };
    if cwd.starts_with("~") || cwd.to_string_lossy().starts_with("${") {
        return Ok(());
    }
    let whole: PathBuf = absolute(cwd)?.components().collect();
    *slot = match root.and_then(|root| whole.strip_prefix(root).ok()) {
        Some(inside) if inside.as_os_str().is_empty() => None,
        Some(inside) => Some(inside.to_owned()),
        None => Some(whole),
    };
    Ok(())
}

/// Returns true if the scope already has a server of this name. Without `--force` that is an error.
fn check_existing(
    context: &CliContext,
    file: &ConfigDocument,
    spec: &ServerSpec,
    placing: &PlacementArgs,
) -> Result<bool> {
    let files = match file.at.scope {
        ConfigScope::Project => ConfigDocument::for_project(&project_folder(context)?).to_vec(),
        _ => vec![file.clone()],
    };
    for file in files {
        if !file.has(&spec.name)? {
            continue;
        }
        if placing.force {
            return Ok(true);
        }
        return Err(messages::already_declared_error(&file, &spec.name)?);
    }
    Ok(false)
}

/// Fails if the server cannot be read back from the changed file.
fn check_readable(file: &ConfigDocument, reading: &ParsedFile, name: &ServerName) -> Result<()> {
    if reading.servers.iter().any(|declared| declared.spec.name == *name) {
        return Ok(());
    }
    let is_fault = |it: &&Diagnostic| {
        it.severity == DiagnosticSeverity::Error && it.server.as_ref() == Some(name)
    };
    Err(match reading.diagnostics.iter().find(is_fault) {
        Some(fault) => CliError {
            code: fault.code,
            message: format!("cannot add `{name}`: {}", fault.message),
            hint: fault.hint.clone(),
        },
        None => {
            let path = messages::display_path(file.path());
            cli_error!(ConfigInvalid, "cannot add `{name}` to {path}")
                .hint("run `toolgate config check` to check the file")
        }
    })
}

/// Prints the change as a diff, with everything masked that may be a credential.
fn show_diff(
    context: &CliContext,
    file: &ConfigDocument,
    before: &str,
    spec: &ServerSpec,
) -> Result<Exit> {
    let hidden = |spec: &ServerSpec| {
        replace_literals(spec, &mut |_| LiteralReplacement::Text("***".to_owned()))
    };
    let new = hidden(spec);
    let servers = file.read(before).servers;
    let old = servers.iter().map(|it| &it.spec).find(|it| it.name == spec.name).map(hidden);
    let before = match &old {
        Some(old) => file.with_server(before, old)?.text,
        None => before.to_owned(),
    };
    let after = file.with_server(&before, &new)?.text;
    // The diff shows the old and the new server, but a list has only one server per name.
    let apart = old.and_then(|old| Some(ServerSpec { name: other_name(&old.name)?, ..old }));
    let open: Vec<_> = apart.into_iter().chain([new]).collect();
    let name = messages::display_path(file.path());
    let diff = diff(file, Path::new(&name), &before, &after, &open);
    out::print(context, &json!({ "file": file.path(), "diff": diff }), || diff.clone())
}

/// Returns a name different from this one.
fn other_name(name: &ServerName) -> Option<ServerName> {
    let other = if name.as_str() == "before" { "earlier" } else { "before" };
    ServerName::new(other).ok()
}

/// Records consent to a project's server, and trust that is not written into the file.
async fn record_consent(
    context: &CliContext,
    file: &ConfigDocument,
    name: &ServerName,
    trust: bool,
) -> Result<()> {
    let mut setup = context.load_setup().await?;
    let entry = setup.entry(name.as_str()).ok();
    if entry.and_then(|entry| entry.origin.file.as_deref()) != Some(&file.at.path) {
        messages::note_overriding(&setup, name);
        return Ok(());
    }
    setup.distrust(name.as_str()).await?;
    if trust {
        setup.trust(name.as_str()).await?;
    }
    if file.at.scope == ConfigScope::Project {
        setup.consent(name.as_str()).await?;
        super::consent::notify_gateway(context, name.as_str()).await;
    }
    messages::note_shadowed(&setup, name);
    Ok(())
}

/// Makes a running gateway reload the files now. It would notice the change itself, but later.
pub async fn reload_gateway(context: &CliContext) {
    let Some(gateway) = RunningGateway::find_compatible(context).await else { return };
    let question = ControlRequest::Reconsider { server: String::new() };
    if let Err(failure) = gateway.ask(&question).await {
        tracing::debug!(target: "toolgate::gateway", %failure, "the gateway did not reload");
    }
}
