//! What `add` and `add-json` share: which file a new server goes into, what is asked of the file,
//! and what the user agrees to by adding it.
//!
//! Adding a server is consent to exactly what is written. Trust is never written into a project's
//! file: it is kept in the user's state, for this server as it is now.

pub mod files;
pub mod scope;
pub mod told;

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use toolgate_host::config::{ConfigError, Document, Reading, project_document, project_root};
use toolgate_host::{Scope, ServerName, ServerSpec, Setup, StdioSpec, TransportSpec};
use toolgate_model::Severity;

use crate::carry::change::Change;
use crate::carry::literals::{Instead, replaced};
use crate::carry::report::{Lost, tell_lost};
use crate::context::{Context, own_program};
use crate::control::Question;
use crate::exit::{Exit, Failure, chain};
use crate::out;
use crate::reach::Living;
use scope::ScopeWord;
use told::Added;

/// Where a server is declared, and under what terms.
#[derive(Debug, Args)]
pub struct Placing {
    /// Whose server it is: the project's (the default), or yours everywhere
    #[arg(short, long, value_enum, value_name = "SCOPE")]
    pub scope: Option<ScopeWord>,
    /// Never ask before a call of its tools
    #[arg(long)]
    pub trust: bool,
    /// Replace a server of this name
    #[arg(long)]
    pub force: bool,
    /// Show what would change, and change nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// A server to be declared.
pub struct Proposal<'p> {
    /// The server.
    pub spec: ServerSpec,
    /// Where.
    pub placing: &'p Placing,
}

/// A name that servers can have, and people can type.
pub fn name(text: &str) -> Result<ServerName, Failure> {
    let hint = "letters, digits, `-`, `_` and `.` make a good name";
    let name =
        ServerName::new(text).map_err(|error| Failure::usage(error.to_string()).hint(hint))?;
    if text.starts_with('-') || text.trim() != text || text.contains("://") {
        let shown = out::visible(&toolgate_model::shown_url(text));
        return Err(Failure::usage(format!("use `{shown}` as a name")).hint(hint));
    }
    Ok(name)
}

/// Declares a server.
pub async fn declare(context: &Context, proposal: Proposal<'_>) -> Result<Exit, Failure> {
    let Proposal { mut spec, placing } = proposal;
    let file = choose(context, &mut spec, placing)?;
    // In a file of the user's own his trust can be read by everybody whom it concerns.
    let says_trust = file.dialect.is_ours() && file.at.scope != Scope::Project;
    spec.trust = placing.trust && says_trust;
    let before = text_of(context, &file)?;
    let existed = existing(context, &file, &spec, placing)?;
    let written = file.with(&before, &spec).map_err(unwritable)?;
    let losses: Vec<_> = written.losses.iter().map(Lost::from).collect();
    check(&file, &file.read(&written.text), &spec.name)?;
    if placing.dry_run {
        tell_lost(&losses);
        return show(context, &file, &before, &spec);
    }
    if file.at.scope == Scope::User && file.path() == context.home.config_file() {
        context.first_run()?;
    }
    let again = |text: &str| file.dialect.set(text, &spec, &file.at).map(|it| Some(it.text));
    file.change(again).map_err(unwritable)?;
    tell_lost(&losses);
    let added = Added::new(&file, &spec, existed);
    added.tell(context)?;
    told::literals(&file, &spec);
    agree(context, &file, &spec.name, placing.trust && !says_trust).await?;
    Ok(Exit::Done)
}

/// The file a new server goes into; its folder is made to mean the same from there.
fn choose(
    context: &Context,
    spec: &mut ServerSpec,
    placing: &Placing,
) -> Result<Document, Failure> {
    if let Some(named) = &context.config {
        if placing.scope.is_some() {
            return Err(Failure::usage("use --scope beside --config")
                .hint("--config names the file to write; leave --scope out"));
        }
        anchor(spec, None)?;
        return Document::named(named, Scope::User).map_err(unwritable);
    }
    match placing.scope.unwrap_or_default().meant() {
        Scope::Project => {
            let root = root(context)?;
            anchor(spec, Some(&root))?;
            project_document(&root, spec).map_err(unwritable)
        }
        _ => {
            anchor(spec, None)?;
            Ok(Document::of_user(&context.home))
        }
    }
}

/// The folder of this project.
pub fn root(context: &Context) -> Result<PathBuf, Failure> {
    project_root(&context.options()?.sources()).ok_or_else(|| {
        Failure::usage("find the project").hint("say --scope user to declare it for yourself")
    })
}

/// The folder of a process as it is written: inside a project from its root, else whole. The root
/// itself is not written: a project's servers run there anyway.
fn anchor(spec: &mut ServerSpec, root: Option<&Path>) -> Result<(), Failure> {
    let TransportSpec::Stdio(StdioSpec { cwd: slot, .. }) = &mut spec.transport else {
        return Ok(());
    };
    let Some(cwd) = slot.as_deref() else { return Ok(()) };
    if cwd.starts_with("~") || cwd.to_string_lossy().starts_with("${") {
        return Ok(());
    }
    let failed = |error| Failure::usage(format!("find {}: {error}", cwd.display()));
    let whole: PathBuf = std::path::absolute(cwd).map_err(failed)?.components().collect();
    *slot = match root.and_then(|root| whole.strip_prefix(root).ok()) {
        Some(inside) if inside.as_os_str().is_empty() => None,
        Some(inside) => Some(inside.to_owned()),
        None => Some(whole),
    };
    Ok(())
}

/// What the file holds, or would hold after the first run.
fn text_of(context: &Context, file: &Document) -> Result<String, Failure> {
    let text = file.text().map_err(unwritable)?;
    let is_users = file.path() == context.home.config_file();
    Ok(match is_users && !file.path().exists() {
        true => toolgate_host::config::example(&own_program()?),
        false => text,
    })
}

/// Whether the scope has a server of this name already; an error unless it is to be replaced.
fn existing(
    context: &Context,
    file: &Document,
    spec: &ServerSpec,
    placing: &Placing,
) -> Result<bool, Failure> {
    let files = match file.at.scope {
        Scope::Project => Document::of_project(&root(context)?).to_vec(),
        _ => vec![file.clone()],
    };
    for file in files {
        if !file.has(&spec.name).map_err(unwritable)? {
            continue;
        }
        if placing.force {
            return Ok(true);
        }
        return Err(told::exists(&file, &spec.name)?);
    }
    Ok(false)
}

/// Fails if the file would not declare the server in a way that can be read back.
fn check(file: &Document, reading: &Reading, name: &ServerName) -> Result<(), Failure> {
    if reading.servers.iter().any(|declared| declared.spec.name == *name) {
        return Ok(());
    }
    let what = format!("server {:?}", name.as_str());
    let mut faults = reading.diagnostics.iter().filter(|it| it.severity == Severity::Error);
    let fault = faults.find(|fault| fault.message.contains(&what));
    Err(match fault {
        Some(fault) => Failure {
            hint: fault.hint.clone(),
            ..Failure::usage(format!("add it: {}", fault.message))
        },
        None => Failure::failed(format!("add `{name}` to {}", told::shown(file.path())))
            .hint("`toolgate config check` says what is wrong with the file"),
    })
}

/// What would change, with everything hidden that may be a credential.
fn show(
    context: &Context,
    file: &Document,
    before: &str,
    spec: &ServerSpec,
) -> Result<Exit, Failure> {
    let hidden = |spec: &ServerSpec| replaced(spec, &mut |_| Instead::Text("***".to_owned()));
    let new = hidden(spec);
    let servers = file.read(before).servers;
    let old = servers.iter().map(|it| &it.spec).find(|it| it.name == spec.name).map(hidden);
    let before = match &old {
        Some(old) => file.with(before, old).map_err(unwritable)?.text,
        None => before.to_owned(),
    };
    let after = file.with(&before, &new).map_err(unwritable)?.text;
    let change =
        Change { path: told::shown(file.path()).into(), dialect: file.dialect, before, after };
    // Both are to be shown, and one name means one server.
    let apart = old.and_then(|old| Some(ServerSpec { name: beside(&old.name)?, ..old }));
    let open: Vec<_> = apart.into_iter().chain([new]).collect();
    let diff = change.diff(&open, &file.at);
    match context.json {
        true => out::json(&json!({ "file": file.path(), "diff": diff }))?,
        false => out::data(diff.as_bytes())?,
    }
    Ok(Exit::Done)
}

/// Another name than this one.
fn beside(name: &ServerName) -> Option<ServerName> {
    let other = if name.as_str() == "before" { "earlier" } else { "before" };
    ServerName::new(other).ok()
}

/// Records what adding a server says beyond the file: consent to a project's, and trust.
async fn agree(
    context: &Context,
    file: &Document,
    name: &ServerName,
    trust: bool,
) -> Result<(), Failure> {
    let mut setup = Setup::load(context.options()?).await?;
    let counts = |setup: &Setup| match setup.entry(name.as_str()) {
        Ok(entry) => entry.origin.file.as_deref().is_some_and(|path| path == file.path()),
        Err(_) => false,
    };
    if !counts(&setup) {
        told::outdone(&setup, name);
        return Ok(());
    }
    setup.distrust(name.as_str()).await?;
    if trust {
        setup.trust(name.as_str()).await?;
    }
    if file.at.scope == Scope::Project {
        setup.consent(name.as_str()).await?;
        super::consent::tell_owner(context, name.as_str()).await;
    }
    told::shadows(&setup, name);
    Ok(())
}

/// A living gateway takes the server as it stands now, where it reads the file that changed.
pub async fn reconsider(context: &Context, name: &ServerName) {
    let Some(living) = Living::of(context).await else { return };
    let question = Question::Reconsider { server: name.to_string() };
    if let Err(failure) = living.ask(&question).await {
        tracing::debug!(target: "toolgate::gateway", %failure, "it does not take it up at once");
    }
}

/// A file that could not be read or changed.
pub fn unwritable(error: ConfigError) -> Failure {
    let what = chain(&error);
    let failure = match error {
        ConfigError::Edit { .. } => Failure::usage(what),
        _ => Failure::failed(what),
    };
    failure.hint("`toolgate config check` says what is wrong with the files")
}
