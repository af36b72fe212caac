//! `enable` and `disable`: enable or disable a server.
//!
//! The change is made in place in toolgate's own files and in a project's `.mcp.json`. For servers
//! in files of other programs, an entry in the user's own file overrides them.

use clap::Args;
use serde_json::json;
use toolgate_host::config::ConfigDocument;
use toolgate_host::{Plan, ServerName};

use super::declaration::{self, files, messages};
use super::get;
use crate::cli_context::CliContext;
use crate::complete::server_names;
use crate::exit::{Exit, Result, cli_error};
use crate::out;

/// The arguments of `toolgate enable` and `toolgate disable`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  toolgate disable filesystem\n  toolgate enable filesystem")]
pub struct SwitchArgs {
    /// Name of the server
    #[arg(add = server_names())]
    name: String,
}

pub async fn run(context: &CliContext, options: &SwitchArgs, on: bool) -> Result<Exit> {
    let plan = read_plan(context).await?;
    let entry = get::find_entry(&plan, &options.name)?;
    let name = entry.spec.name.clone();
    if files::is_enabled(entry) == on {
        return print_result(context, &name, on, None);
    }
    let mut changed = remove_override(context, &name)?;
    let plan = read_plan(context).await?;
    if !is_switched(&plan, &name, on) {
        changed = Some(switch(context, &plan, &name, on)?);
    }
    if !is_switched(&read_plan(context).await?, &name, on) {
        let word = verb_for(on);
        return Err(cli_error!(
            ConfigConflict,
            "cannot {word} `{name}`: another file overrides it"
        )
        .hint(format!("run `toolgate get {name}` to see which files declare it")));
    }
    print_result(context, &name, on, changed)?;
    declaration::reload_gateway(context).await;
    Ok(Exit::Done)
}

async fn read_plan(context: &CliContext) -> Result<Plan> {
    Ok(context.load_setup().await?.plan().clone())
}

fn verb_for(on: bool) -> &'static str {
    if on { "enable" } else { "disable" }
}

fn is_switched(plan: &Plan, name: &ServerName, on: bool) -> bool {
    plan.entry(name).is_some_and(|entry| files::is_enabled(entry) == on)
}

/// Removes an entry from the user's file that only enables or disables the server.
fn remove_override(context: &CliContext, name: &ServerName) -> Result<Option<ConfigDocument>> {
    if context.config.is_some() {
        return Ok(None);
    }
    let file = ConfigDocument::for_user(&context.home);
    let reading = file.read(&file.text()?);
    if !reading.overrides.iter().any(|amendment| amendment.name == *name) {
        return Ok(None);
    }
    file.change(|text| file.dialect.remove(text, name))?;
    Ok(Some(file))
}

/// Enables or disables the server in the file that declares it, or in the user's own file.
fn switch(
    context: &CliContext,
    plan: &Plan,
    name: &ServerName,
    on: bool,
) -> Result<ConfigDocument> {
    let declared = plan.entry(name).and_then(files::document_of);
    if let Some(file) = declared.filter(|file| files::is_ours(context, file)) {
        let edited = file.change(|text| file.dialect.set_enabled(text, name, on))?;
        if edited.changed {
            return Ok(file);
        }
        if context.config.is_some() {
            let path = messages::display_path(file.path());
            return Err(cli_error!(
                ConfigConflict,
                "cannot {} `{name}`: the format of {path} has no field for it",
                verb_for(on)
            )
            .hint("remove --config to change your own file instead"));
        }
    }
    context.ensure_config()?;
    let file = ConfigDocument::for_user(&context.home);
    file.change(|text| file.dialect.set_enabled(text, name, on))?;
    Ok(file)
}

fn print_result(
    context: &CliContext,
    name: &ServerName,
    enabled: bool,
    file: Option<ConfigDocument>,
) -> Result<Exit> {
    let path = file.as_ref().map(ConfigDocument::path);
    let value = json!({
        "name": name, "enabled": enabled, "changed": path.is_some(), "file": path,
    });
    let text = match path {
        Some(path) => format!("{}d {name} in {}", verb_for(enabled), messages::display_path(path)),
        None => format!("{name} is already {}d", verb_for(enabled)),
    };
    out::print_done(context, &value, &text)
}
