//! `uninstall`: takes Toolgate out of a client's own config again.
//!
//! A file that is still as `install` left it becomes what it was before, to the byte. From one that
//! was changed since, only the entry is taken. What `install --move` took out of it comes back.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use toolgate_host::config::clients::{Client, ClientFile};
use toolgate_host::config::{
    Access, Dialect, Document, Editing, Secrets, Sources, edit_file, read_file,
};
use toolgate_host::{Scope, ServerName, ServerSpec};

use super::install::{Whose, approve, client, entry::Existing, names};
use crate::carry::change::Change;
use crate::carry::installed::{self, Installed, Moved, Register};
use crate::carry::{sources, written_in};
use crate::context::Context;
use crate::exit::{Exit, Failure, chain};
use crate::out;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  toolgate uninstall claude-code\n  \
    toolgate uninstall cursor vscode --scope project\n  toolgate uninstall codex --dry-run")]
pub struct Uninstall {
    /// Out of which clients
    #[arg(value_name = "CLIENT", required = true, value_parser = names())]
    clients: Vec<String>,
    /// Out of your own file of that client, or this project's; without it, out of both
    #[arg(short, long, value_enum)]
    scope: Option<Whose>,
    /// Show what would change and change nothing
    #[arg(long)]
    dry_run: bool,
}

/// What became of one file.
#[derive(Debug, Serialize)]
struct Done {
    client: &'static str,
    file: PathBuf,
    /// Whether the file is gone, because it was not there before.
    removed: bool,
    /// Servers that are its own again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    returned: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    backup: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
}

pub async fn run(context: &Context, options: &Uninstall) -> Result<Exit, Failure> {
    let sources = sources(context)?;
    let clients: Vec<_> =
        options.clients.iter().map(|name| client(name)).collect::<Result<_, _>>()?;
    let mut done = Vec::new();
    for client in clients {
        let found = places(client, options, &sources)
            .into_iter()
            .filter_map(|file| Place::of(context, client, file).transpose())
            .collect::<Result<Vec<_>, _>>()?;
        if found.is_empty() {
            let what = format!("uninstall from {}: toolgate is not installed there", client.id);
            return Err(Failure::failed(what).hint("`toolgate install --list` shows where it is"));
        }
        for place in found {
            done.push(match options.dry_run {
                true => place.preview()?,
                false => place.clear(context)?,
            });
        }
        if !options.dry_run && !Register::of(&context.home).has_client(client.id) {
            approve::record(context, None, &[client.id.to_owned()])?;
        }
    }
    tell(context, &done, options.dry_run)?;
    Ok(Exit::Done)
}

fn places(client: &Client, options: &Uninstall, sources: &Sources) -> Vec<ClientFile> {
    let scopes = match options.scope {
        Some(scope) => vec![scope.into()],
        None => vec![Scope::User, Scope::Project],
    };
    scopes.into_iter().filter_map(|scope| client.file(scope, sources)).collect()
}

/// A file that has an entry of ours.
struct Place {
    client: &'static Client,
    file: ClientFile,
    text: String,
    /// The entry.
    spec: ServerSpec,
    /// What the file is to hold; none: it is to be gone.
    after: Option<String>,
    known: Option<Installed>,
}

impl Place {
    /// Finds the entry; none if there is none.
    fn of(
        context: &Context,
        client: &'static Client,
        file: ClientFile,
    ) -> Result<Option<Self>, Failure> {
        let failed = |error| Failure::failed(chain(&error));
        let Some(text) = read_file(&file.at.path).map_err(failed)? else { return Ok(None) };
        let dialect = written_in(&file, &text);
        let existing = Existing::of(context, dialect, &text, &file.at);
        let Some(spec) = existing.gateway() else { return Ok(None) };
        let known = Register::of(&context.home).entry(&file.at.path).cloned();
        let unchanged = known.as_ref().filter(|known| known.after == installed::digest(&text));
        let after = match unchanged {
            Some(Installed { before: None, .. }) => None,
            unchanged => Some(match unchanged.and_then(kept) {
                Some(before) => before,
                None => {
                    let removed = dialect.remove(&text, &spec.name).map_err(|error| {
                        let (id, path) = (client.id, file.at.path.display());
                        Failure::failed(format!("uninstall from {id}: {path}: failed to {error}"))
                            .hint(format!("take `{}` out of it yourself", spec.name))
                    })?;
                    let text = removed.unwrap_or_else(|| text.clone());
                    with_moved(text, known.as_ref(), dialect, &file)
                }
            }),
        };
        Ok(Some(Self { client, file, text, spec, after, known }))
    }

    /// The servers that were moved and are the client's own again.
    fn returned(&self) -> Vec<String> {
        let Some((known, after)) = self.known.as_ref().zip(self.after.as_deref()) else {
            return Vec::new();
        };
        let servers = written_in(&self.file, after).read(after, &self.file.at).servers;
        let is_there = |name: &&String| servers.iter().any(|it| it.spec.name.as_str() == **name);
        known.moved.names.iter().filter(is_there).cloned().collect()
    }

    fn done(&self) -> Done {
        Done {
            client: self.client.id,
            file: self.file.at.path.to_path_buf(),
            removed: self.after.is_none(),
            returned: self.returned(),
            backup: None,
            diff: None,
        }
    }

    fn preview(&self) -> Result<Done, Failure> {
        let change = Change {
            path: self.file.at.path.to_path_buf(),
            dialect: written_in(&self.file, &self.text),
            before: self.text.clone(),
            after: self.after.clone().unwrap_or_default(),
        };
        let diff = change.diff(std::slice::from_ref(&self.spec), &self.file.at);
        Ok(Done { diff: Some(diff), ..self.done() })
    }

    fn clear(&self, context: &Context) -> Result<Done, Failure> {
        let path = &*self.file.at.path;
        let mut done = self.done();
        match &self.after {
            None => {
                std::fs::remove_file(path).map_err(|error| {
                    Failure::failed(format!("remove {}: {error}", path.display()))
                })?;
                let folders = self.known.as_ref().map(|known| known.folders.as_slice());
                installed::remove_folders(folders.unwrap_or_default());
            }
            Some(after) => {
                // What comes back is kept already; anything else is not.
                let restored = self.known.as_ref().and_then(kept).as_ref() == Some(after);
                let editing = Editing { access: Access::Private, backup: !restored };
                let edited =
                    edit_file(path, editing, |text| Ok((text == self.text).then(|| after.clone())));
                let edited = edited.map_err(|error| Failure::failed(chain(&error)))?;
                done.backup = edited.backup;
                if let Some(backup) =
                    self.known.as_ref().filter(|_| restored).and_then(|it| it.backup.as_ref())
                {
                    // It holds what the file holds.
                    let _ = std::fs::remove_file(backup);
                }
            }
        }
        if let Some(known) = &self.known {
            take_back(context, path, &known.moved, &done.returned)?;
        }
        installed::remember(&context.home, path, None)?;
        Ok(done)
    }
}

/// The text before the entry, if it is still what was kept.
fn kept(known: &Installed) -> Option<String> {
    let text = read_file(known.backup.as_deref()?).ok().flatten()?;
    (Some(installed::digest(&text)) == known.before).then_some(text)
}

/// The text with what was moved out of it, as the backup has it.
fn with_moved(
    mut text: String,
    known: Option<&Installed>,
    dialect: Dialect,
    file: &ClientFile,
) -> String {
    let Some((known, before)) = known.and_then(|known| Some((known, kept(known)?))) else {
        return text;
    };
    for declared in dialect.read(&before, &file.at).servers {
        let is_moved = declared.only_in.is_none()
            && known.moved.names.iter().any(|name| declared.spec.name.as_str() == name);
        if is_moved && let Ok(written) = dialect.set(&text, &declared.spec, &file.at) {
            text = written.text;
        }
    }
    text
}

/// Takes servers out of our file that are a client's own again, unless another client's went there
/// too.
fn take_back(
    context: &Context,
    file: &Path,
    moved: &Moved,
    returned: &[String],
) -> Result<(), Failure> {
    let register = Register::of(&context.home);
    let is_free =
        |name: &&String| returned.contains(name) && !register.is_moved_elsewhere(file, name);
    let names = moved.written.iter().filter(is_free).filter_map(|name| ServerName::new(name).ok());
    let names: Vec<_> = names.collect();
    if names.is_empty() {
        return Ok(());
    }
    let failed = |error| Failure::failed(chain(&error));
    let editing = Editing { access: Access::Private, backup: true };
    let edited = edit_file(&moved.into, editing, |text| {
        let ours = Document::of_user(&context.home);
        let dialect = match ours.path() == moved.into {
            true => ours.dialect,
            false => Dialect::of(&moved.into, text),
        };
        let mut text = text.to_owned();
        for name in &names {
            text = dialect.remove(&text, name)?.unwrap_or(text);
        }
        Ok(Some(text))
    });
    edited.map_err(failed)?;
    let secrets = Secrets::of(&context.home);
    let of_them = moved.secrets.iter().filter(|secret| {
        names
            .iter()
            .any(|name| secret.strip_prefix(name.as_str()).is_some_and(|it| it.starts_with('.')))
    });
    of_them.into_iter().try_for_each(|name| secrets.remove(name).map(drop)).map_err(failed)
}

fn tell(context: &Context, done: &[Done], dry_run: bool) -> Result<(), Failure> {
    if context.json {
        out::json(&done)?;
    }
    for Done { client, file, removed, returned, backup, diff } in done {
        if let Some(diff) = diff.as_ref().filter(|_| !context.json) {
            out::text(diff)?;
        }
        let verb = if dry_run { "would take toolgate" } else { "took toolgate" };
        let how = if *removed { ", which held nothing else" } else { "" };
        out::note(&format!("{client}: {verb} out of {}{how}", file.display()));
        for name in returned {
            let verb = if dry_run { "would be" } else { "is" };
            out::note(&format!("  {name} {verb} its own again"));
        }
        if let Some(backup) = backup {
            out::note(&format!("  what it held before is in {}", backup.display()));
        }
    }
    Ok(())
}
