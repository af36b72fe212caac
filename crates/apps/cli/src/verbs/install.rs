//! `install`: writes Toolgate into a client's own config, as one more server of that client.
//!
//! The file is edited in place, with a backup next to it. The change is recorded, so that
//! `uninstall` can undo exactly that. `--move` also moves the client's own servers into toolgate's
//! config.

pub(super) mod approve;
pub(super) mod entry;
mod list;
mod server_move;
mod warm_up;

use std::path::PathBuf;

use clap::Args;
use clap::builder::StringValueParser;
use serde::Serialize;
use toolgate_host::config::clients::{self, ClientTransports, KnownClient};
use toolgate_host::config::{ConfigDocument, ConfigSources, ConversionLoss, FileSettings};
use toolgate_host::{ConfigScope, ServerName, ServerSpec};

use crate::cli_context::CliContext;
use crate::exit::{CliError, Exit, Result, cli_error};
use crate::out;
use crate::prompt::confirm;
use crate::suggest::{check_profile, did_you_mean};
use crate::suggesting_parser::{SuggestingParser, with_suggestions};
use crate::transfer::file_change::diff;
use crate::transfer::install_registry::{self, InstallRegistry, InstalledEntry, MovedServers};
use crate::transfer::losses::{self, print_losses};
use crate::transfer::{client_sources, edit_with_backup, read_document};
use crate::verbs::declaration::scope::ScopeArg;
use crate::verbs::import::server_search::{FoundServer, ImportSearchResult};
use crate::verbs::import::{self, ImportReport};
use approve::ApproverArg;
use entry::ExistingEntries;
use server_move::ServerMove;

/// The arguments of `toolgate install`.
#[derive(Debug, Args)]
#[command(after_help = "The client's file is edited in place, with a backup next to it. \
    `toolgate uninstall` undoes the change.\n\n\
    Examples:\n  toolgate install --list\n  toolgate install claude-code --approve client\n  \
    toolgate install cursor vscode --http --approve elicitation\n  \
    toolgate install cursor --approve client --move\n  toolgate install codex --dry-run")]
pub struct InstallArgs {
    /// Clients to install into
    #[arg(value_name = "CLIENT", required_unless_present = "list", value_parser = client_name_parser())]
    clients: Vec<String>,
    /// List known clients, their files, and where Toolgate is installed
    #[arg(long, conflicts_with_all = ["clients", "dry_run"])]
    list: bool,
    /// Let the client start Toolgate (the default)
    #[arg(long)]
    stdio: bool,
    /// Let the client connect to a running gateway (`toolgate serve`)
    #[arg(long, conflicts_with = "stdio")]
    http: bool,
    /// Install into your own config of the client or into this project's
    #[arg(short, long, value_enum, default_value = "user")]
    scope: ScopeArg,
    /// Name of the entry [default: the existing name, or toolgate]
    #[arg(long)]
    name: Option<String>,
    /// Who approves calls
    #[arg(long, value_enum)]
    approve: Option<ApproverArg>,
    /// Move the servers in that file to your own config, so that the client reaches them only
    /// through Toolgate
    #[arg(long = "move")]
    moves: bool,
    /// Move literal credentials to the secret store and replace them with ${secret:…}
    #[arg(long, requires = "moves")]
    to_secrets: bool,
    /// Show what would change without changing it
    #[arg(long)]
    dry_run: bool,
    /// Write without a prompt
    #[arg(long, short)]
    yes: bool,
    /// Do not start the servers once to discover their tools
    #[arg(long)]
    no_start: bool,
}

/// The JSON output of `install` for one client.
#[derive(Debug, Serialize)]
struct InstallReport {
    client: &'static str,
    file: PathBuf,
    name: String,
    transport: &'static str,
    changed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    approve: Option<ApproverArg>,
    #[serde(skip_serializing_if = "Option::is_none")]
    backup: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
    #[serde(serialize_with = "losses::serialize")]
    losses: Vec<ConversionLoss>,
    /// The servers that were moved behind Toolgate.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    moved: Vec<ServerName>,
    /// The servers that the client still reaches directly.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    direct: Vec<ServerName>,
    /// What the move changes in toolgate's config.
    #[serde(skip)]
    import: Option<ImportReport>,
}

pub async fn run(context: &CliContext, options: &InstallArgs) -> Result<Exit> {
    let sources = client_sources(context)?;
    if options.list {
        return list::run(context, &sources);
    }
    if let Some(profile) = &context.profile {
        check_profile(&toolgate_host::read_files(&context.setup_options()?)?, profile)?;
    }
    let scope = options.scope.to_scope();
    let mut jobs = Vec::new();
    for name in &options.clients {
        let client = find_client(name)?;
        jobs.push(ClientInstallation::of(context, client, scope, options, &sources).await?);
    }
    let approver = match options.dry_run {
        true => options.approve,
        false => Some(approve::choose_approver(options.approve, &options.clients, options.yes)?),
    };
    let mut done = Vec::new();
    for job in &jobs {
        done.push(job.install(context, options, approver).await?);
    }
    if !options.dry_run {
        approve::record_approver(context, approver, &options.clients)?;
    }
    if context.json {
        out::json(&done)?;
    }
    done.iter().zip(&jobs).try_for_each(|(done, job)| job.print_report(context, done, options))?;
    if !options.dry_run && !options.no_start {
        warm_up::start_servers_once(context).await;
    }
    Ok(Exit::Done)
}

/// Returns a parser for client names that suggests the known clients.
pub fn client_name_parser() -> SuggestingParser<StringValueParser> {
    with_suggestions(StringValueParser::new(), || clients::ALL.map(|client| client.id).to_vec())
}

/// Returns the client of this name.
pub fn find_client(name: &str) -> Result<&'static KnownClient> {
    clients::find_client(name).ok_or_else(|| {
        let known = clients::ALL.map(|client| client.id);
        let all = known.join(", ");
        let hint =
            format!("known clients are {all}; run `toolgate install --list` to see their files");
        cli_error!(CliClient, "no client named `{name}`").hint(did_you_mean(name, &known, hint))
    })
}

/// The installation into one client: its file and the entry to write.
struct ClientInstallation {
    client: &'static KnownClient,
    file: ConfigDocument,
    before: Option<String>,
    spec: ServerSpec,
    endpoint: Option<String>,
    /// The servers in all files of the client, except toolgate.
    servers: Vec<FoundServer>,
}

impl ClientInstallation {
    /// Finds the client's file and prepares the entry.
    async fn of(
        context: &CliContext,
        client: &'static KnownClient,
        scope: ConfigScope,
        options: &InstallArgs,
        sources: &ConfigSources,
    ) -> Result<Self> {
        if options.http && client.transports == ClientTransports::Stdio {
            return Err(cli_error!(CliClient, "{} does not support HTTP servers", client.id)
                .hint("remove --http"));
        }
        let file = client.file(scope, sources).ok_or_else(|| {
            cli_error!(CliClient, "{} has no config file of that scope", client.id)
                .hint("run `toolgate install --list` to see the files of every client")
        })?;
        let (file, before) = read_document(file)?;
        let existing = ExistingEntries::of(context, &file, before.as_deref().unwrap_or_default());
        let (transport, endpoint) = entry::transport(context, options.http).await?;
        let spec = existing.spec(client, options.name.as_deref(), transport)?;
        let servers = ImportSearchResult::of_client(context, client)?;
        Ok(Self { client, file, before, spec, endpoint, servers })
    }

    /// Plans the move of the client's servers, if `--move` is given.
    fn plan_move(&self, context: &CliContext, options: &InstallArgs) -> Result<Option<ServerMove>> {
        let is_movable = |found: &&FoundServer| found.file == self.file.path() && found.everywhere;
        let found: Vec<_> = self.servers.iter().filter(is_movable).cloned().collect();
        if !options.moves || found.is_empty() {
            return Ok(None);
        }
        let scope = options.scope.scope();
        ServerMove::plan(context, found, scope, options.to_secrets).map(Some)
    }

    /// Returns the servers that the client still reaches directly after these left its file.
    fn remaining_after_move(&self, moved: &[ServerName]) -> Vec<&FoundServer> {
        let is_left = |found: &&FoundServer| {
            let is_moved = found.file == self.file.path() && moved.contains(&found.spec.name);
            found.spec.enabled && !(is_moved && found.everywhere)
        };
        self.servers.iter().filter(is_left).collect()
    }

    /// Returns the text of the file without these servers and with toolgate's entry.
    fn updated_text(&self, moved: &[ServerName]) -> Result<(String, Vec<ConversionLoss>)> {
        let mut before = self.before.clone().unwrap_or_default();
        for name in moved {
            let removed = self.file.dialect.remove(&before, name).map_err(|error| {
                let (id, path) = (self.client.id, self.file.path().display());
                cli_error!(CliClientFile, "cannot move `{name}` out of {id} ({path}): {error}")
                    .hint("remove --move, and move the server yourself")
            })?;
            before = removed.unwrap_or(before);
        }
        let before = before.as_str();
        let set = self.file.dialect.set(before, &self.spec, &self.file.at);
        let written = set.map_err(|error| self.manual_edit_error(&error.to_string()))?;
        // The client could not read an entry that cannot be read back.
        let Some(entry) = self.read_entry(&written.text) else {
            return Err(self.manual_edit_error("the written entry cannot be read back"));
        };
        // An entry that already means the same stays as it is written.
        if self.read_entry(before).as_ref() == Some(&entry) {
            return Ok((before.to_owned(), Vec::new()));
        }
        Ok((written.text, written.losses))
    }

    fn read_entry(&self, text: &str) -> Option<ServerSpec> {
        let servers = self.file.read(text).servers;
        let mut entries = servers.into_iter().filter(|it| it.only_in.is_none());
        entries.find(|it| it.spec.name == self.spec.name).map(|declared| declared.spec)
    }

    /// Returns the error for a file that cannot be edited safely. Its hint shows the entry, so that
    /// the user can add it.
    fn manual_edit_error(&self, why: &str) -> CliError {
        let path = self.file.path().display();
        let entry = std::slice::from_ref(&self.spec);
        let hint = match self.file.dialect.write(entry, &FileSettings::default(), &self.file.at) {
            Ok(written) => format!("add this to it yourself:\n{}", written.text.trim_end()),
            Err(_) => format!("add a server that runs `{}`", entry::command_line(&self.spec)),
        };
        cli_error!(CliClientFile, "cannot install into {} ({path}): {why}", self.client.id)
            .hint(hint)
    }

    /// Writes the entry, or only shows it with `--dry-run`.
    async fn install(
        &self,
        context: &CliContext,
        options: &InstallArgs,
        approve: Option<ApproverArg>,
    ) -> Result<InstallReport> {
        let moving = self.plan_move(context, options)?;
        let moved = moving.as_ref().map(|it| it.names.clone()).unwrap_or_default();
        let (after, losses) = self.updated_text(&moved)?;
        let direct = self.remaining_after_move(&moved);
        let direct = direct.into_iter().map(|found| found.spec.name.clone()).collect();
        let before = self.before.as_deref().unwrap_or_default();
        let shown = std::slice::from_ref(&self.spec);
        let diff = diff(&self.file, self.file.path(), before, &after, shown);
        let mut done = InstallReport {
            client: self.client.id,
            file: self.file.path().to_owned(),
            name: self.spec.name.to_string(),
            transport: self.spec.transport.as_str(),
            changed: !diff.is_empty(),
            approve: approve.filter(|_| !options.dry_run),
            backup: None,
            diff: None,
            losses,
            moved,
            direct,
            import: None,
        };
        if options.dry_run {
            done.import = moving.map(ServerMove::preview).transpose()?;
            done.diff = Some(diff);
            return Ok(done);
        }
        if !done.changed {
            return Ok(done);
        }
        if out::can_prompt() && !options.yes {
            out::alert(out::escape_invisible_lines(&diff).trim_end());
            let question = format!("Write this into {}?", done.file.display());
            let refused = format!("not confirmed; nothing was written for {}", self.client.id);
            confirm(&question, "write the file", "use --yes to confirm", &refused)?;
        }
        // Servers are written to toolgate's config before they leave the client's file.
        let moved = match moving {
            Some(moving) => {
                let (moved, import) = moving.write(context).await?;
                done.import = Some(import);
                moved
            }
            None => MovedServers::default(),
        };
        done.backup = self.write_file(context, &after, moved)?;
        Ok(done)
    }

    /// Writes the file, unless another process changed it meanwhile, and records how to undo the
    /// change.
    fn write_file(
        &self,
        context: &CliContext,
        after: &str,
        moved: MovedServers,
    ) -> Result<Option<PathBuf>> {
        let path = self.file.path();
        let folders = install_registry::missing_folders(path);
        let before = self.before.as_deref();
        let edited = edit_with_backup(&self.file, |text| {
            Ok((text == before.unwrap_or_default()).then(|| after.to_owned()))
        })?;
        if !edited.changed {
            let (id, path) = (self.client.id, path.display());
            return Err(cli_error!(
                CliClientFile,
                "cannot install into {id}: another process changed {path}"
            )
            .hint("run the command again"));
        }
        let mut entry = InstalledEntry {
            client: self.client.id.to_owned(),
            file: path.to_owned(),
            name: self.spec.name.to_string(),
            endpoint: self.endpoint.clone(),
            backup: edited.backup.clone(),
            before: before.map(install_registry::digest),
            after: install_registry::digest(after),
            folders,
            moved,
        };
        // A second install updates the first: `uninstall` restores the state before both.
        let register = InstallRegistry::of(&context.home);
        let earlier =
            register.entry(path).filter(|earlier| entry.before.as_ref() == Some(&earlier.after));
        if let Some(earlier) = earlier {
            let InstalledEntry { backup, before, folders, moved, .. } = earlier.clone();
            entry = InstalledEntry { backup, before, folders, ..entry };
            entry.moved.merge(moved);
        }
        install_registry::record_entry(&context.home, path, Some(entry))?;
        Ok(edited.backup)
    }

    fn print_report(
        &self,
        context: &CliContext,
        done: &InstallReport,
        options: &InstallArgs,
    ) -> Result<()> {
        let dry_run = options.dry_run;
        let (client, file) = (self.client, done.file.display());
        let name = &done.name;
        let ours = done.import.as_ref().and_then(|it| it.diff.as_ref());
        for diff in done.diff.iter().chain(ours).filter(|_| !context.json) {
            out::text(diff)?;
        }
        if let Some(report) = &done.import {
            import::print_servers(report);
        }
        out::note(&match (done.changed, dry_run) {
            (false, _) => format!("{}: already installed as {name} in {file}", client.id),
            (true, true) => format!("{}: would install {name} into {file}", client.id),
            (true, false) => format!("{}: installed as {name} in {file}", client.id),
        });
        if let Some(backup) = &done.backup {
            out::note(&format!("  backup in {}", backup.display()));
        }
        if done.changed && !dry_run {
            out::note(&format!("  restart {} to use it", client.title));
        }
        print_losses(&done.losses);
        let direct = self.remaining_after_move(&done.moved);
        server_move::warn_about_direct(client, &direct, options.moves);
        if let Some(remark) = entry::client_note(client) {
            out::remark(remark);
        }
        Ok(())
    }
}
