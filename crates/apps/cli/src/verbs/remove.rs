//! `remove`: takes a server out of the file that declares it.
//!
//! Files of other programs are theirs: they are changed only if named with `--from`. What was
//! agreed to about the server is forgotten with it.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use toolgate_host::config::Document;
use toolgate_host::{Scope, ServerName};

use super::change::{self, files, scope::ScopeWord, told, unwritable};
use super::get;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::out::{self, visible};

#[derive(Debug, Args)]
#[command(
    visible_alias = "rm",
    after_help = "Without --scope the declaration that counts is removed, if it stands in one of \
    toolgate's own files or in a project's .mcp.json.\n\n\
    Examples:\n  toolgate remove filesystem\n  toolgate remove filesystem --scope user\n  \
    toolgate remove filesystem --from .vscode/mcp.json"
)]
pub struct Remove {
    /// Which server
    name: String,
    /// Whose: the project's, or yours
    #[arg(short, long, value_enum, value_name = "SCOPE")]
    scope: Option<ScopeWord>,
    /// The file to take it out of, whosever it is
    #[arg(long, value_name = "FILE", conflicts_with = "scope")]
    from: Option<PathBuf>,
}

/// What became of it.
#[derive(Debug, Serialize)]
struct Removed {
    name: String,
    file: String,
    scope: Scope,
}

pub async fn run(context: &Context, options: &Remove) -> Result<Exit, Failure> {
    let name = ServerName::new(&options.name).map_err(|error| Failure::usage(error.to_string()))?;
    let file = file(context, options, &name)?;
    let edited = file.change(|text| file.dialect.remove(text, &name)).map_err(unwritable)?;
    if !edited.changed {
        return Err(Failure::failed(format!(
            "remove `{name}`: {} does not declare it",
            told::shown(file.path())
        ))
        .hint(format!("`toolgate get {name}` says which file does")));
    }
    let removed = Removed {
        name: name.to_string(),
        file: file.path().display().to_string(),
        scope: file.at.scope,
    };
    if context.json {
        out::json(&removed)?;
    } else {
        out::note(&format!("removed {} from {}", visible(&removed.name), told::shown(file.path())));
    }
    forget(context, &name).await
}

/// The file it is taken out of.
fn file(context: &Context, options: &Remove, name: &ServerName) -> Result<Document, Failure> {
    if let Some(from) = &options.from {
        return Document::named(from, Scope::User).map_err(unwritable);
    }
    let plan = context.options()?.read_files()?;
    let scope = options.scope.map(ScopeWord::meant);
    let candidates = files::candidates(context, &plan, name.as_str(), scope)?;
    let winner = plan.entries.iter().find(|entry| entry.spec.name == *name);
    if let (Some(winner), None) = (winner, scope)
        && let Some(file) = files::document_of(winner)
        && !files::is_ours(context, &file)
    {
        return Err(not_ours(&file, name));
    }
    for file in candidates.into_iter().filter(|file| files::is_ours(context, file)) {
        if file.has(name).map_err(unwritable)? {
            return Ok(file);
        }
    }
    let names: Vec<_> = plan.entries.iter().map(|entry| entry.spec.name.as_str()).collect();
    Err(match (winner, scope) {
        (Some(winner), Some(scope)) => {
            Failure::failed(format!("remove `{name}`: no file of scope {scope} declares it"))
                .hint(format!("it is declared in {}", winner.origin))
        }
        _ => get::unknown(name.as_str(), &names),
    })
}

/// Another program's file is not changed on the way.
fn not_ours(file: &Document, name: &ServerName) -> Failure {
    let path = told::shown(file.path());
    let whose = match file.at.scope {
        Scope::System => "the administrator".to_owned(),
        _ => format!("another program ({})", file.dialect),
    };
    Failure::failed(format!("remove `{name}`: it is declared in {path}, which belongs to {whose}"))
        .hint(format!(
            "`toolgate disable {name}` switches it off here; `toolgate remove {name} --from \
             {path}` changes that file"
        ))
}

/// Forgets what was agreed to about it, and says who else declares it.
async fn forget(context: &Context, name: &ServerName) -> Result<Exit, Failure> {
    let mut setup = context.setup().await?;
    if setup.revoke(name.as_str()).await? {
        out::note("the consent to start it is taken back");
    }
    setup.distrust(name.as_str()).await?;
    if let Ok(entry) = setup.entry(name.as_str()) {
        let origin = visible(&entry.origin.to_string());
        out::note(&format!("{} {origin} declares it too, and counts now", out::cyan("note:")));
    }
    change::reconsider(context, name).await;
    Ok(Exit::Done)
}
