//! Servers that a client reaches without the gateway: warns about them, or moves them behind it.

use std::path::Path;

use toolgate_host::ServerName;
use toolgate_host::config::ConfigDocument;
use toolgate_host::config::clients::KnownClient;

use crate::cli_context::CliContext;
use crate::exit::Result;
use crate::out::{self, escape_invisible};
use crate::transfer::install_registry::MovedServers;
use crate::verbs::import::import_batch::{ImportBatch, choose_target};
use crate::verbs::import::server_search::{FoundServer, ImportSearchResult};
use crate::verbs::import::{self, ImportReport};

/// The servers in a client's own files.
pub struct DirectServers(Vec<FoundServer>);

impl DirectServers {
    /// Reads all files of a client.
    pub fn of(context: &CliContext, client: &KnownClient) -> Result<Self> {
        ImportSearchResult::of_client(context, client).map(Self)
    }

    /// Returns the servers that can be moved out of one file: all that are not bound to a project.
    pub fn movable_from(&self, file: &Path) -> Vec<FoundServer> {
        let in_file = self.0.iter().filter(|found| found.file == file && found.everywhere);
        in_file.cloned().collect()
    }

    /// Returns the servers that the client still reaches directly after these were moved out of a
    /// file.
    pub fn remaining_after_move(&self, file: &Path, moved: &[ServerName]) -> Vec<&FoundServer> {
        let is_left = |found: &&FoundServer| {
            let is_moved = found.file == file && moved.contains(&found.spec.name);
            found.spec.enabled && !(is_moved && found.everywhere)
        };
        self.0.iter().filter(is_left).collect()
    }
}

/// Warns about servers that a client reaches without the gateway.
pub fn warn_about_direct(client: &KnownClient, direct: &[&FoundServer], moves: bool) {
    if direct.is_empty() {
        return;
    }
    let named = direct.iter().map(|found| format!("{} in {}", found.name(), found.file.display()));
    let named = named.collect::<Vec<_>>().join(", ");
    let named = escape_invisible(&named);
    out::warning(&format!("{} reaches these servers without Toolgate: {named}", client.title));
    out::note("  their tools are listed twice, and calls of the direct copies bypass every rule");
    if !moves {
        let command = format!("toolgate install {} --move", client.id);
        out::note(&format!(
            "  run `{command}` to move them behind Toolgate; `toolgate uninstall` moves them back"
        ));
    }
}

/// A planned move of servers from a client's file to toolgate's config.
pub struct ServerMove {
    target: ConfigDocument,
    batch: ImportBatch,
    report: ImportReport,
    /// The servers that leave the client's file.
    pub names: Vec<ServerName>,
}

impl ServerMove {
    /// Plans the move of all servers whose names toolgate's config does not use for other servers.
    pub fn plan(
        context: &CliContext,
        found: Vec<FoundServer>,
        project: bool,
        to_secrets: bool,
    ) -> Result<Self> {
        let target = choose_target(context, project, &found)?;
        let all: Vec<_> = found.iter().map(|found| found.spec.name.clone()).collect();
        let mut report = ImportReport { file: target.path().to_owned(), ..ImportReport::default() };
        let new = import::select_new(found, &target, false, &mut report)?;
        let batch = ImportBatch::of(new, to_secrets, &mut report);
        let stays = |name: &ServerName| {
            let mut skipped = report.skipped.iter();
            skipped.any(|it| it.name == name.as_str() && !it.is_ours_already)
        };
        let names = all.into_iter().filter(|name| !stays(name)).collect();
        Ok(Self { target, batch, report, names })
    }

    /// Returns what would change in toolgate's config.
    pub fn preview(mut self) -> Result<ImportReport> {
        self.report.dry_run = true;
        import::preview(&self.target, &self.batch, &mut self.report)?;
        Ok(self.report)
    }

    /// Writes the servers to toolgate's config. Must run before they leave the client's file.
    pub async fn write(mut self, context: &CliContext) -> Result<(MovedServers, ImportReport)> {
        import::write(context, &self.target, &self.batch, &mut self.report).await?;
        let moved = MovedServers {
            into: self.target.path().to_owned(),
            names: self.names.iter().map(ToString::to_string).collect(),
            written: self.batch.specs.iter().map(|spec| spec.name.to_string()).collect(),
            secrets: self.batch.secret_names(),
        };
        Ok((moved, self.report))
    }
}
