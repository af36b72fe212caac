//! `enable` and `disable`: switch a server on or off.
//!
//! In place, where its file is ours or a project's `.mcp.json`; what another program's file declares
//! is switched by an entry in the user's own, and that file stays as it is.

use clap::Args;
use serde::Serialize;
use toolgate_host::config::Document;
use toolgate_host::{Plan, ServerName};

use super::change::{self, files, told, unwritable};
use super::get;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::out::{self, visible};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  toolgate disable filesystem\n  toolgate enable filesystem")]
pub struct Switch {
    /// Which server
    name: String,
}

/// What became of it.
#[derive(Debug, Serialize)]
struct Switched {
    name: String,
    enabled: bool,
    changed: bool,
    file: Option<String>,
}

pub async fn run(context: &Context, options: &Switch, on: bool) -> Result<Exit, Failure> {
    let read = async || Ok::<_, Failure>(context.setup().await?.plan().clone());
    let plan = read().await?;
    let entry = get::entry(&plan, &options.name)?;
    let name = entry.spec.name.clone();
    if files::is_enabled(entry) == on {
        return tell(context, &name, on, None);
    }
    let mut changed = take_back(context, &name)?;
    let plan = read().await?;
    if !stands(&plan, &name, on) {
        changed = Some(switch(context, &plan, &name, on)?);
    }
    if !stands(&read().await?, &name, on) {
        let word = word(on);
        return Err(Failure::failed(format!("{word} `{name}`: another file says otherwise"))
            .hint(format!("`toolgate get {name}` says which files speak of it")));
    }
    tell(context, &name, on, changed)?;
    change::reconsider(context, &name).await;
    Ok(Exit::Done)
}

fn word(on: bool) -> &'static str {
    if on { "enable" } else { "disable" }
}

fn stands(plan: &Plan, name: &ServerName, on: bool) -> bool {
    plan.entry(name).is_some_and(|entry| files::is_enabled(entry) == on)
}

/// An entry of the user's own that only switches is not needed any more once it is contradicted.
fn take_back(context: &Context, name: &ServerName) -> Result<Option<Document>, Failure> {
    if context.config.is_some() {
        return Ok(None);
    }
    let file = Document::of_user(&context.home);
    let reading = file.read(&file.text().map_err(unwritable)?);
    if !reading.amendments.iter().any(|amendment| amendment.name == *name) {
        return Ok(None);
    }
    file.change(|text| file.dialect.remove(text, name)).map_err(unwritable)?;
    Ok(Some(file))
}

/// Switches it where it is declared, or in the user's own file.
fn switch(
    context: &Context,
    plan: &Plan,
    name: &ServerName,
    on: bool,
) -> Result<Document, Failure> {
    let declared = plan.entry(name).and_then(files::document_of);
    if let Some(file) = declared.filter(|file| files::is_ours(context, file)) {
        let edited = file.change(|text| file.dialect.switch(text, name, on)).map_err(unwritable)?;
        if edited.changed {
            return Ok(file);
        }
        if context.config.is_some() {
            let path = told::shown(file.path());
            return Err(Failure::failed(format!(
                "{} `{name}`: {path} has no field for that",
                word(on)
            ))
            .hint("leave --config out to say it in your own file"));
        }
    }
    context.first_run()?;
    let file = Document::of_user(&context.home);
    file.change(|text| file.dialect.switch(text, name, on)).map_err(unwritable)?;
    Ok(file)
}

fn tell(
    context: &Context,
    name: &ServerName,
    enabled: bool,
    file: Option<Document>,
) -> Result<Exit, Failure> {
    let path = file.as_ref().map(Document::path);
    if context.json {
        let file = path.map(|path| path.display().to_string());
        let changed = file.is_some();
        out::json(&Switched { name: name.to_string(), enabled, changed, file })?;
        return Ok(Exit::Done);
    }
    let name = visible(name.as_str());
    out::note(&match path {
        Some(path) => format!("{}d {name} in {}", word(enabled), told::shown(path)),
        None => format!("{name} is {}d already", word(enabled)),
    });
    Ok(Exit::Done)
}
