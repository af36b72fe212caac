//! Servers that a client reaches without the gateway: warns about them, or moves them behind it.

use toolgate_host::config::ConfigDocument;
use toolgate_host::config::clients::KnownClient;
use toolgate_host::{ConfigScope, ServerName};

use crate::cli_context::CliContext;
use crate::exit::Result;
use crate::out;
use crate::transfer::install_registry::MovedServers;
use crate::verbs::import::import_batch::{ImportBatch, choose_target};
use crate::verbs::import::server_search::FoundServer;
use crate::verbs::import::{self, ImportReport};

/// Warns about servers that a client reaches without the gateway.
pub fn warn_about_direct(client: &KnownClient, direct: &[&FoundServer], moves: bool) {
    if direct.is_empty() {
        return;
    }
    let named = direct.iter().map(|found| format!("{} in {}", found.name(), found.file.display()));
    let named = named.collect::<Vec<_>>().join(", ");
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
        scope: ConfigScope,
        to_secrets: bool,
    ) -> Result<Self> {
        let target = choose_target(context, scope, &found)?;
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
