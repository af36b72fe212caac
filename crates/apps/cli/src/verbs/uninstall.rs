//! `uninstall`: removes Toolgate from a client's own config.
//!
//! A file that did not change since `install` is restored byte for byte. From a changed file only
//! the entry is removed. Servers that `install --move` moved come back.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use toolgate_host::config::clients::KnownClient;
use toolgate_host::config::{
    ConfigDocument, Dialect, EditOptions, FileAccess, SecretStore, edit_file, read_file,
};
use toolgate_host::{ConfigScope, ServerName, ServerSpec};

use super::declaration::scope::ScopeArg;
use super::install::{approve, client_name_parser, entry::ExistingEntries, find_client};
use crate::cli_context::CliContext;
use crate::exit::{ErrorCode, Exit, OrFail as _, Result, cli_error};
use crate::out;
use crate::transfer::file_change::diff;
use crate::transfer::install_registry::{self, InstallRegistry, InstalledEntry, MovedServers};
use crate::transfer::{client_sources, read_document};

/// The arguments of `toolgate uninstall`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  toolgate uninstall claude-code\n  \
    toolgate uninstall cursor vscode --scope project\n  toolgate uninstall codex --dry-run")]
pub struct UninstallArgs {
    /// Clients to uninstall from
    #[arg(value_name = "CLIENT", required = true, value_parser = client_name_parser())]
    clients: Vec<String>,
    /// Uninstall from your own config of the client or from this project's [default: both]
    #[arg(short, long, value_enum)]
    scope: Option<ScopeArg>,
    /// Show what would change without changing it
    #[arg(long)]
    dry_run: bool,
}

/// The JSON output of `uninstall` for one file.
#[derive(Debug, Serialize)]
struct UninstallReport {
    client: &'static str,
    file: PathBuf,
    /// Whether the file was deleted, because `install` created it.
    removed: bool,
    /// Servers that were moved back to the client.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    returned: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    backup: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
}

pub async fn run(context: &CliContext, options: &UninstallArgs) -> Result<Exit> {
    let sources = client_sources(context)?;
    let clients: Vec<_> =
        options.clients.iter().map(|name| find_client(name)).collect::<Result<_, _>>()?;
    let mut done = Vec::new();
    let scopes = match options.scope {
        Some(scope) => vec![scope.to_scope()],
        None => vec![ConfigScope::User, ConfigScope::Project],
    };
    for client in clients {
        let files = scopes.iter().filter_map(|scope| client.file(*scope, &sources));
        let found = files
            .filter_map(|file| InstalledClientFile::of(context, client, file).transpose())
            .collect::<Result<Vec<_>, _>>()?;
        if found.is_empty() {
            return Err(cli_error!(CliClientFile, "toolgate is not installed in {}", client.id)
                .hint("run `toolgate install --list` to see where it is installed"));
        }
        for installed in found {
            done.push(installed.uninstall(context, options.dry_run)?);
        }
        if !options.dry_run && !InstallRegistry::of(&context.home).has_client(client.id) {
            approve::record_approver(context, None, &[client.id.to_owned()])?;
        }
    }
    print_report(context, &done, options.dry_run)?;
    Ok(Exit::Done)
}

/// A client's file that contains toolgate's entry.
struct InstalledClientFile {
    client: &'static KnownClient,
    file: ConfigDocument,
    text: String,
    /// The entry.
    spec: ServerSpec,
    /// The text after the removal, or `None` if the file is to be deleted.
    after: Option<String>,
    known: Option<InstalledEntry>,
}

impl InstalledClientFile {
    /// Finds toolgate's entry in the file, or returns `None`.
    fn of(
        context: &CliContext,
        client: &'static KnownClient,
        file: ConfigDocument,
    ) -> Result<Option<Self>> {
        let (file, Some(text)) = read_document(file)? else { return Ok(None) };
        let existing = ExistingEntries::of(context, &file, &text);
        let Some(spec) = existing.gateway else { return Ok(None) };
        let known = InstallRegistry::of(&context.home).entry(file.path()).cloned();
        let unchanged =
            known.as_ref().filter(|known| known.after == install_registry::digest(&text));
        let after = match unchanged {
            Some(InstalledEntry { before: None, .. }) => None,
            unchanged => Some(match unchanged.and_then(read_backup) {
                Some(before) => before,
                None => {
                    let removed = file.dialect.remove(&text, &spec.name).map_err(|error| {
                        let (id, path) = (client.id, file.path().display());
                        cli_error!(CliClientFile, "cannot uninstall from {id} ({path}): {error}")
                            .hint(format!("remove `{}` from it yourself", spec.name))
                    })?;
                    let text = removed.unwrap_or_else(|| text.clone());
                    restore_moved(text, known.as_ref(), &file)
                }
            }),
        };
        Ok(Some(Self { client, file, text, spec, after, known }))
    }

    /// Returns the servers that come back to the client.
    fn returned(&self) -> Vec<String> {
        let Some((known, after)) = self.known.as_ref().zip(self.after.as_deref()) else {
            return Vec::new();
        };
        let servers = self.file.read(after).servers;
        let is_there = |name: &&String| servers.iter().any(|it| it.spec.name.as_str() == **name);
        known.moved.names.iter().filter(is_there).cloned().collect()
    }

    /// Removes the entry, or only shows the removal with `--dry-run`.
    fn uninstall(&self, context: &CliContext, dry_run: bool) -> Result<UninstallReport> {
        let path = self.file.path();
        let mut done = UninstallReport {
            client: self.client.id,
            file: path.to_owned(),
            removed: self.after.is_none(),
            returned: self.returned(),
            backup: None,
            diff: None,
        };
        if dry_run {
            let after = self.after.as_deref().unwrap_or_default();
            let shown = std::slice::from_ref(&self.spec);
            done.diff = Some(diff(&self.file, path, &self.text, after, shown));
            return Ok(done);
        }
        match &self.after {
            None => {
                std::fs::remove_file(path).or_fail(
                    ErrorCode::CliWrite,
                    format_args!("cannot remove {}", path.display()),
                )?;
                let folders = self.known.as_ref().map(|known| known.folders.as_slice());
                install_registry::remove_folders(folders.unwrap_or_default());
            }
            Some(after) => {
                // The restored text is already in a backup; any other text needs one.
                let restored = self.known.as_ref().and_then(read_backup).as_ref() == Some(after);
                let editing = EditOptions { access: FileAccess::Private, backup: !restored };
                let change = |text: &str| Ok((text == self.text).then(|| after.clone()));
                done.backup = edit_file(path, editing, change)?.backup;
                let known = self.known.as_ref().filter(|_| restored);
                if let Some(backup) = known.and_then(|known| known.backup.as_ref()) {
                    // The backup is the same as the restored file.
                    let _ = std::fs::remove_file(backup);
                }
            }
        }
        if let Some(known) = &self.known {
            remove_returned(context, path, &known.moved, &done.returned)?;
        }
        install_registry::record_entry(&context.home, path, None)?;
        Ok(done)
    }
}

/// Returns the text of the backup, if it is still the text before the installation.
fn read_backup(known: &InstalledEntry) -> Option<String> {
    let text = read_file(known.backup.as_deref()?).ok().flatten()?;
    (Some(install_registry::digest(&text)) == known.before).then_some(text)
}

/// Returns the text with the moved servers restored from the backup.
fn restore_moved(
    mut text: String,
    known: Option<&InstalledEntry>,
    file: &ConfigDocument,
) -> String {
    let Some((known, before)) = known.and_then(|known| Some((known, read_backup(known)?))) else {
        return text;
    };
    for declared in file.read(&before).servers {
        let is_moved = declared.only_in.is_none()
            && known.moved.names.iter().any(|name| declared.spec.name.as_str() == name);
        if is_moved && let Ok(written) = file.with_server(&text, &declared.spec) {
            text = written.text;
        }
    }
    text
}

/// Removes servers from toolgate's config that came back to a client, unless another client's
/// server of the same name was moved there too.
fn remove_returned(
    context: &CliContext,
    file: &Path,
    moved: &MovedServers,
    returned: &[String],
) -> Result<()> {
    let register = InstallRegistry::of(&context.home);
    let is_free =
        |name: &&String| returned.contains(name) && !register.is_moved_elsewhere(file, name);
    let names = moved.written.iter().filter(is_free).filter_map(|name| ServerName::new(name).ok());
    let names: Vec<_> = names.collect();
    if names.is_empty() {
        return Ok(());
    }
    let editing = EditOptions { access: FileAccess::Private, backup: true };
    edit_file(&moved.into, editing, |text| {
        let ours = ConfigDocument::for_user(&context.home);
        let dialect = match ours.path() == moved.into {
            true => ours.dialect,
            false => Dialect::detect(&moved.into, text),
        };
        let mut text = text.to_owned();
        for name in &names {
            text = dialect.remove(&text, name)?.unwrap_or(text);
        }
        Ok(Some(text))
    })?;
    let secrets = SecretStore::of(&context.home);
    for secret in &moved.secrets {
        if names.iter().any(|name| secret.starts_with(&format!("{name}."))) {
            secrets.remove(secret)?;
        }
    }
    Ok(())
}

fn print_report(context: &CliContext, done: &[UninstallReport], dry_run: bool) -> Result<()> {
    if context.json {
        out::json(&done)?;
    }
    for UninstallReport { client, file, removed, returned, backup, diff } in done {
        if let Some(diff) = diff.as_ref().filter(|_| !context.json) {
            out::text(diff)?;
        }
        let verb = if dry_run { "would remove toolgate" } else { "removed toolgate" };
        let how = match (removed, dry_run) {
            (true, true) => " and delete the file",
            (true, false) => " and deleted the file",
            (false, _) => "",
        };
        out::note(&format!("{client}: {verb} from {}{how}", file.display()));
        for name in returned {
            let verb = if dry_run { "would move" } else { "moved" };
            out::note(&format!("  {verb} {name} back to the client"));
        }
        if let Some(backup) = backup {
            out::note(&format!("  backup in {}", backup.display()));
        }
    }
    Ok(())
}
