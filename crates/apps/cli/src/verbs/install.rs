//! `install`: writes Toolgate into a client's own config, as one more server of that client.
//!
//! The file is changed in place and a backup kept beside it; what was done is remembered, so that
//! `uninstall` takes out exactly that. `--move` also moves the client's own servers into our config.

pub(super) mod approve;
pub(super) mod entry;
mod list;
mod moving;
mod warm;

use std::path::PathBuf;

use clap::builder::StringValueParser;
use clap::{Args, ValueEnum};
use serde::Serialize;
use toolgate_host::config::clients::{self, Client, ClientFile, Reach};
use toolgate_host::config::{
    Access, Dialect, Editing, FileSettings, Sources, edit_file, read_file,
};
use toolgate_host::{Scope, ServerName, ServerSpec};

use crate::carry::change::Change;
use crate::carry::installed::{self, Installed, Moved, Register};
use crate::carry::report::{Lost, tell_lost};
use crate::carry::{agreed, sources, written_in};
use crate::context::Context;
use crate::exit::{Exit, Failure, chain};
use crate::offered::{Offered, offered};
use crate::out::{self, visible};
use crate::profiles;
use crate::verbs::import::{self, Report};
use approve::Approver;
use entry::Existing;
use moving::{Direct, Move};

#[derive(Debug, Args)]
#[command(after_help = "The client's file is changed in place, and what it held before is kept \
    beside it. `toolgate uninstall` takes out what was added.\n\n\
    Examples:\n  toolgate install --list\n  toolgate install claude-code --approve client\n  \
    toolgate install cursor vscode --http --approve elicitation\n  \
    toolgate install cursor --approve client --move\n  toolgate install codex --dry-run")]
pub struct Install {
    /// Into which clients
    #[arg(value_name = "CLIENT", required_unless_present = "list", value_parser = names())]
    clients: Vec<String>,
    /// Show the clients that are known, their files, and where Toolgate is installed
    #[arg(long, conflicts_with_all = ["clients", "dry_run"])]
    list: bool,
    /// The client starts Toolgate itself (the usual way)
    #[arg(long)]
    stdio: bool,
    /// The client connects to a gateway that is running: `toolgate serve`
    #[arg(long, conflicts_with = "stdio")]
    http: bool,
    /// Into your own file of that client, or into this project's
    #[arg(short, long, value_enum, default_value = "user")]
    scope: Whose,
    /// What to call it there; `toolgate` unless it is there under another name already
    #[arg(long)]
    name: Option<String>,
    /// Who approves calls
    #[arg(long, value_enum)]
    approve: Option<Approver>,
    /// Move the servers of that file into your own config, so that the client reaches them through
    /// Toolgate only
    #[arg(long = "move")]
    moves: bool,
    /// Move their literal credentials into the secret store, and leave ${secret:…} in their place
    #[arg(long, requires = "moves")]
    to_secrets: bool,
    /// Show what would change and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Write without being asked
    #[arg(long, short)]
    yes: bool,
    /// Do not start the servers once to learn what they offer
    #[arg(long)]
    no_start: bool,
}

/// Whose file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Whose {
    /// Yours.
    User,
    /// The project's.
    Project,
}

impl From<Whose> for Scope {
    fn from(whose: Whose) -> Self {
        match whose {
            Whose::User => Self::User,
            Whose::Project => Self::Project,
        }
    }
}

/// What became of one client.
#[derive(Debug, Serialize)]
struct Done {
    client: &'static str,
    file: PathBuf,
    name: String,
    transport: &'static str,
    changed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    approve: Option<Approver>,
    #[serde(skip_serializing_if = "Option::is_none")]
    backup: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
    losses: Vec<Lost>,
    /// What was moved behind Toolgate.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    moved: Vec<ServerName>,
    /// What the client still reaches without it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    direct: Vec<ServerName>,
    /// What the move changes in our file.
    #[serde(skip)]
    import: Option<Report>,
}

pub async fn run(context: &Context, options: &Install) -> Result<Exit, Failure> {
    let sources = sources(context)?;
    if options.list {
        return list::run(context, &sources);
    }
    if let Some(profile) = &context.profile {
        profiles::known(&context.options()?.read_files()?, profile)?;
    }
    let mut jobs = Vec::new();
    for name in &options.clients {
        jobs.push(Job::of(context, client(name)?, options, &sources).await?);
    }
    let approver = match options.dry_run {
        true => options.approve,
        false => Some(approve::chosen(options.approve, &options.clients, options.yes)?),
    };
    let mut done = Vec::new();
    for job in &jobs {
        done.push(match options.dry_run {
            true => job.preview(context, options)?,
            false => job.write(context, options, approver).await?,
        });
    }
    if !options.dry_run {
        approve::record(context, approver, &options.clients)?;
    }
    if context.json {
        out::json(&done)?;
    }
    done.iter().zip(&jobs).try_for_each(|(done, job)| job.tell(context, done, options))?;
    if !options.dry_run && !options.no_start {
        warm::learn(context).await;
    }
    Ok(Exit::Done)
}

/// Names of clients, offered from those that are known.
pub fn names() -> Offered<StringValueParser> {
    offered(StringValueParser::new(), || clients::ALL.map(|client| client.id).to_vec())
}

/// The client of this name.
pub fn client(name: &str) -> Result<&'static Client, Failure> {
    clients::named(name).ok_or_else(|| {
        let known = clients::ALL.map(|client| client.id).join(", ");
        Failure::usage(format!("find a client named `{name}`"))
            .hint(format!("known are {known}; `toolgate install --list` shows their files"))
    })
}

/// One client that is to be given an entry.
struct Job {
    client: &'static Client,
    file: ClientFile,
    dialect: Dialect,
    before: Option<String>,
    spec: ServerSpec,
    endpoint: Option<String>,
    direct: Direct,
}

impl Job {
    /// Finds the client's file and what to write into it.
    async fn of(
        context: &Context,
        client: &'static Client,
        options: &Install,
        sources: &Sources,
    ) -> Result<Self, Failure> {
        if options.http && client.reach == Reach::Stdio {
            let what = format!("install over HTTP into {}: it only starts servers", client.id);
            return Err(Failure::usage(what).hint("leave --http away"));
        }
        let file = client.file(options.scope.into(), sources).ok_or_else(|| {
            let what = format!("install into {}: it reads no file of that scope", client.id);
            Failure::usage(what).hint("`toolgate install --list` shows the files of every client")
        })?;
        let before = read_file(&file.at.path).map_err(|error| Failure::failed(chain(&error)))?;
        let text = before.as_deref().unwrap_or_default();
        let dialect = written_in(&file, text);
        let existing = Existing::of(context, dialect, text, &file.at);
        let (transport, endpoint) = entry::transport(context, options.http).await?;
        let spec = existing.spec(client, options.name.as_deref(), transport)?;
        let direct = Direct::of(context, client)?;
        Ok(Self { client, file, dialect, before, spec, endpoint, direct })
    }

    /// What is to be moved, if that was asked for.
    fn moving(&self, context: &Context, options: &Install) -> Result<Option<Move>, Failure> {
        let found = self.direct.in_file(&self.file.at.path);
        if !options.moves || found.is_empty() {
            return Ok(None);
        }
        let project = options.scope == Whose::Project;
        Move::plan(context, found, project, options.to_secrets).map(Some)
    }

    /// The file without these servers and with our entry.
    fn after(&self, moved: &[ServerName]) -> Result<(String, Vec<Lost>), Failure> {
        let mut before = self.before.clone().unwrap_or_default();
        for name in moved {
            let removed = self.dialect.remove(&before, name).map_err(|error| {
                let (id, path) = (self.client.id, self.file.at.path.display());
                Failure::failed(format!("move `{name}` out of {id}: {path}: failed to {error}"))
                    .hint("leave --move away, and take it out yourself")
            })?;
            before = removed.unwrap_or(before);
        }
        let before = before.as_str();
        let set = self.dialect.set(before, &self.spec, &self.file.at);
        let written = set.map_err(|error| self.unwritable(&format!("failed to {error}")))?;
        // What cannot be read back would be no entry at all.
        let Some(entry) = self.entry_in(&written.text) else {
            return Err(self.unwritable("its entry could not be read back"));
        };
        // What means the same already is left as it is written.
        if self.entry_in(before).as_ref() == Some(&entry) {
            return Ok((before.to_owned(), Vec::new()));
        }
        Ok((written.text, written.losses.iter().map(Lost::from).collect()))
    }

    fn entry_in(&self, text: &str) -> Option<ServerSpec> {
        let servers = self.dialect.read(text, &self.file.at).servers;
        let mut entries = servers.into_iter().filter(|it| it.only_in.is_none());
        entries.find(|it| it.spec.name == self.spec.name).map(|declared| declared.spec)
    }

    /// The file cannot be changed without touching the rest: the person can.
    fn unwritable(&self, why: &str) -> Failure {
        let path = self.file.at.path.display();
        let settings = FileSettings::default();
        let alone = self.dialect.write(std::slice::from_ref(&self.spec), &settings, &self.file.at);
        let hint = match alone {
            Ok(written) => format!("add this to it yourself:\n{}", written.text.trim_end()),
            Err(_) => format!("add a server that runs `{}`", entry::command_line(&self.spec)),
        };
        Failure::failed(format!("install into {}: {path}: {why}", self.client.id)).hint(hint)
    }

    fn done(&self, losses: Vec<Lost>) -> Done {
        Done {
            client: self.client.id,
            file: self.file.at.path.to_path_buf(),
            name: self.spec.name.to_string(),
            transport: self.spec.transport.as_str(),
            changed: false,
            approve: None,
            backup: None,
            diff: None,
            losses,
            moved: Vec::new(),
            direct: Vec::new(),
            import: None,
        }
    }

    fn preview(&self, context: &Context, options: &Install) -> Result<Done, Failure> {
        let moving = self.moving(context, options)?;
        let moved = moving.as_ref().map(|it| it.names.clone()).unwrap_or_default();
        let (after, losses) = self.after(&moved)?;
        let diff = self.diff(after);
        let import = moving.map(Move::preview).transpose()?;
        let direct = self.left(&moved);
        let changed = !diff.is_empty();
        Ok(Done { changed, diff: Some(diff), moved, direct, import, ..self.done(losses) })
    }

    /// What the client still reaches itself.
    fn left(&self, moved: &[ServerName]) -> Vec<ServerName> {
        let left = self.direct.without(&self.file.at.path, moved);
        left.into_iter().map(|found| found.spec.name.clone()).collect()
    }

    fn diff(&self, after: String) -> String {
        let path = self.file.at.path.to_path_buf();
        let before = self.before.clone().unwrap_or_default();
        let change = Change { path, dialect: self.dialect, before, after };
        change.diff(std::slice::from_ref(&self.spec), &self.file.at)
    }

    async fn write(
        &self,
        context: &Context,
        options: &Install,
        approve: Option<Approver>,
    ) -> Result<Done, Failure> {
        let moving = self.moving(context, options)?;
        let moved = moving.as_ref().map(|it| it.names.clone()).unwrap_or_default();
        let (after, losses) = self.after(&moved)?;
        let direct = self.left(&moved);
        let done = Done { approve, moved, direct, ..self.done(losses) };
        if self.before.as_deref() == Some(&after) {
            return Ok(done);
        }
        if out::can_ask() && !options.yes {
            out::note(out::visible_lines(&self.diff(after.clone())).trim_end());
            let question = format!("Write this into {}?", self.file.at.path.display());
            let nobody = || Failure::usage("ask you");
            if !agreed(&question, nobody)? {
                let what = format!("install into {}: you did not agree", self.client.id);
                return Err(Failure::failed(what));
            }
        }
        // What leaves the client's file is in ours first.
        let (moved, import) = match moving {
            Some(moving) => moving.write(context).await.map(|(moved, it)| (moved, Some(it)))?,
            None => Default::default(),
        };
        let backup = self.put(context, &after, moved)?;
        Ok(Done { changed: true, backup, import, ..done })
    }

    /// Writes the file, unless somebody else has changed it meanwhile, and remembers how to take
    /// it back.
    fn put(
        &self,
        context: &Context,
        after: &str,
        moved: Moved,
    ) -> Result<Option<PathBuf>, Failure> {
        let path = &*self.file.at.path;
        let folders = installed::missing_folders(path);
        let access = match self.file.at.scope {
            Scope::Project => Access::Shared,
            _ => Access::Private,
        };
        let before = self.before.as_deref();
        let edited = edit_file(path, Editing { access, backup: true }, |text| {
            Ok((text == before.unwrap_or_default()).then(|| after.to_owned()))
        });
        let edited = edited.map_err(|error| Failure::failed(chain(&error)))?;
        if !edited.changed {
            let what = format!("install into {}: {} changed", self.client.id, path.display());
            return Err(Failure::failed(what).hint("try again"));
        }
        let mut entry = Installed {
            client: self.client.id.to_owned(),
            file: path.to_owned(),
            name: self.spec.name.to_string(),
            endpoint: self.endpoint.clone(),
            backup: edited.backup.clone(),
            before: before.map(installed::digest),
            after: installed::digest(after),
            folders,
            moved,
        };
        // A second install changes the first: what was there before both is what comes back.
        let register = Register::of(&context.home);
        let earlier =
            register.entry(path).filter(|earlier| entry.before.as_ref() == Some(&earlier.after));
        if let Some(earlier) = earlier {
            let Installed { backup, before, folders, moved, .. } = earlier.clone();
            entry = Installed { backup, before, folders, ..entry };
            entry.moved.join(moved);
        }
        installed::remember(&context.home, path, Some(entry))?;
        Ok(edited.backup)
    }

    fn tell(&self, context: &Context, done: &Done, options: &Install) -> Result<(), Failure> {
        let dry_run = options.dry_run;
        let (client, file) = (self.client, done.file.display());
        let name = &done.name;
        let ours = done.import.as_ref().and_then(|it| it.diff.as_ref());
        for diff in done.diff.iter().chain(ours).filter(|_| !context.json) {
            out::text(diff)?;
        }
        if let Some(report) = &done.import {
            import::tell_servers(report);
        }
        out::note(&match (done.changed, dry_run) {
            (false, _) => format!("{}: installed already, as {name} in {file}", client.id),
            (true, true) => format!("{}: would install {name} into {file}", client.id),
            (true, false) => format!("{}: installed as {name} in {file}", client.id),
        });
        if let Some(backup) = &done.backup {
            out::note(&format!(
                "  what it held before is in {}",
                visible(&backup.display().to_string())
            ));
        }
        if done.changed && !dry_run {
            out::note(&format!("  start {} again to use it", client.title));
        }
        tell_lost(&done.losses);
        let direct = self.direct.without(&self.file.at.path, &done.moved);
        moving::warn(client, &direct, options.moves);
        if let Some(remark) = entry::remark(client) {
            out::note(&format!("{} {remark}", out::cyan("note:")));
        }
        Ok(())
    }
}
