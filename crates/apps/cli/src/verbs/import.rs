//! `import`: copies servers from the files of other clients into toolgate's config.
//!
//! Importing a server gives consent to start it. Permissions that a project's file grants are not
//! imported, because only the user can grant them.

pub(super) mod import_batch;
pub(super) mod server_search;

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use toolgate_host::ConfigScope;
use toolgate_host::config::{ConfigDocument, ConversionLoss, EditError};

use super::declaration::scope::ScopeArg;
use crate::cli_context::CliContext;
use crate::control::ConfigFinding;
use crate::exit::{ErrorCode, Exit, OrFail as _, Result};
use crate::out::{self, TextTable};
use crate::prompt::confirm;
use crate::transfer::edit_with_backup;
use crate::transfer::file_change::diff;
use crate::transfer::literals::{LiteralReplacement, replace_literals};
use crate::transfer::losses::{self, print_losses};
use import_batch::{ImportBatch, choose_target};
use server_search::{FoundServer, ImportSearchResult};

/// The arguments of `toolgate import`.
#[derive(Debug, Args)]
#[command(
    after_help = "Without --from, the files of all known clients are searched, and nothing is \
    imported before you confirm.\n\n\
    Examples:\n  toolgate import\n  toolgate import --from claude-desktop\n  \
    toolgate import --from ./mcp.json github --to-secrets\n  \
    toolgate import --from cursor --dry-run"
)]
pub struct ImportArgs {
    /// Names of the servers [default: all servers]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Client whose files are read, or a file in any dialect
    #[arg(long, value_name = "CLIENT|FILE")]
    from: Option<String>,
    /// Import into your own config or into this project's
    #[arg(short, long, value_enum, default_value = "user")]
    scope: ScopeArg,
    /// Replace existing servers of the same name
    #[arg(long)]
    force: bool,
    /// Move literal credentials to the secret store and replace them with ${secret:…}
    #[arg(long)]
    to_secrets: bool,
    /// Import without a prompt
    #[arg(long, short)]
    yes: bool,
    /// Show what would change without changing it
    #[arg(long)]
    dry_run: bool,
}

/// The JSON output of `import`.
#[derive(Debug, Default, Serialize)]
pub(super) struct ImportReport {
    pub(super) file: PathBuf,
    pub(super) dry_run: bool,
    pub(super) imported: Vec<ImportedServer>,
    pub(super) skipped: Vec<SkippedServer>,
    #[serde(serialize_with = "losses::serialize")]
    pub(super) losses: Vec<ConversionLoss>,
    pub(super) diagnostics: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) diff: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) backup: Option<PathBuf>,
}

/// A server that was imported.
#[derive(Debug, Serialize)]
pub(super) struct ImportedServer {
    pub(super) name: String,
    from: String,
    /// Fields that contain a credential in plain text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    plain: Vec<String>,
    /// Fields whose credential was moved to the secret store.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    moved: Vec<String>,
}

/// A server that was not imported.
#[derive(Debug, Clone, Serialize)]
pub(super) struct SkippedServer {
    pub(super) name: String,
    from: String,
    why: String,
    /// Whether the target file already declares the same server.
    #[serde(skip)]
    pub(super) is_ours_already: bool,
}

pub async fn run(context: &CliContext, options: &ImportArgs) -> Result<Exit> {
    let search = ImportSearchResult::run(context, options.from.as_deref())?;
    let mut report = ImportReport { dry_run: options.dry_run, ..ImportReport::default() };
    report.diagnostics = search.findings.iter().map(|finding| finding.text.clone()).collect();
    let found = search.pick(&options.names, &mut report.skipped)?;
    report.losses = search.unimported_settings(&found);
    if options.from.is_none() && !options.dry_run && !found.is_empty() {
        confirm_import(options, &found)?;
    }
    let target = choose_target(context, options.scope.to_scope(), &found)?;
    report.file = target.path().to_owned();
    let found = select_new(found, &target, options.force, &mut report)?;
    let batch = ImportBatch::of(found, options.to_secrets, &mut report);
    match options.dry_run {
        true => preview(&target, &batch, &mut report)?,
        false => write(context, &target, &batch, &mut report).await?,
    }
    print_report(context, &report, &search.findings)?;
    Ok(Exit::Done)
}

/// Shows the servers that were found, and fails unless the user confirms the import.
fn confirm_import(options: &ImportArgs, found: &[FoundServer]) -> Result<()> {
    let mut table = TextTable::new(&["NAME", "FROM", "STARTS"]);
    for each in found {
        table.row([each.name(), &each.from, &each.command_line()]);
    }
    out::alert(table.text().trim_end());
    let hint = "use --yes to import all of them, or --from to name a client or file";
    let refused = "not confirmed; nothing was imported";
    match options.yes {
        true => Ok(()),
        false => confirm("Import them?", "import these servers", hint, refused),
    }
}

/// Returns the servers that the target does not declare yet, or all of them with `force`. The
/// report lists the others as skipped.
pub(super) fn select_new(
    found: Vec<FoundServer>,
    target: &ConfigDocument,
    force: bool,
    report: &mut ImportReport,
) -> Result<Vec<FoundServer>> {
    let reading = target.read(&target.text()?);
    let taken =
        |found: &FoundServer| reading.servers.iter().find(|it| it.spec.name == found.spec.name);
    let (kept, skipped): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|found| force || taken(found).is_none());
    report.skipped.extend(skipped.into_iter().map(|found| {
        let same = taken(&found).is_some_and(|it| it.spec.transport == found.spec.transport);
        let why = match same {
            true => "it is already declared in the same way",
            false => "another server of this name is already declared; use --force to replace it",
        };
        SkippedServer { is_ours_already: same, ..found.to_skipped(why) }
    }));
    Ok(kept)
}

/// Returns the text of the target with these servers added.
fn updated_text(
    target: &ConfigDocument,
    batch: &ImportBatch,
    before: &str,
) -> Result<(String, Vec<ConversionLoss>), EditError> {
    let (mut text, mut losses) = (before.to_owned(), Vec::new());
    for spec in &batch.specs {
        let written = target.dialect.set(&text, spec, &target.at)?;
        losses.extend(written.losses);
        text = written.text;
    }
    Ok((text, losses))
}

pub(super) fn preview(
    target: &ConfigDocument,
    batch: &ImportBatch,
    report: &mut ImportReport,
) -> Result<()> {
    let before = target.text()?;
    let (after, losses) = updated_text(target, batch, &before)
        .or_fail(ErrorCode::ConfigEdit, format_args!("cannot edit {}", target.path().display()))?;
    report.losses.extend(losses);
    let without_secrets = |spec| replace_literals(spec, &mut |_| LiteralReplacement::Remove);
    let shown: Vec<_> = batch.specs.iter().map(without_secrets).collect();
    report.diff = Some(diff(target, target.path(), &before, &after, &shown));
    Ok(())
}

pub(super) async fn write(
    context: &CliContext,
    target: &ConfigDocument,
    batch: &ImportBatch,
    report: &mut ImportReport,
) -> Result<()> {
    if batch.specs.is_empty() {
        return Ok(());
    }
    batch.keep_secrets(context)?;
    if target.at.scope == ConfigScope::User {
        context.ensure_config()?;
    }
    let edited = edit_with_backup(target, |before| {
        let (after, losses) = updated_text(target, batch, before)?;
        report.losses.extend(losses);
        Ok(Some(after))
    })?;
    report.backup = edited.backup;
    import_batch::record_consents(context, target, &batch.specs).await
}

fn print_report(
    context: &CliContext,
    report: &ImportReport,
    findings: &[ConfigFinding],
) -> Result<()> {
    if context.json {
        out::json(report)?;
    } else if let Some(diff) = &report.diff {
        out::text(diff)?;
    }
    out::print_findings(findings);
    print_servers(report);
    if report.imported.is_empty() && report.skipped.is_empty() {
        out::note("no servers found to import");
    }
    Ok(())
}

/// Prints what happened to every server.
pub(super) fn print_servers(report: &ImportReport) {
    let file = report.file.display();
    let verb = if report.dry_run { "would import" } else { "imported" };
    for ImportedServer { name, from, plain, moved } in &report.imported {
        out::note(&format!("{verb} {name} from {from} into {file}"));
        if !moved.is_empty() {
            out::note(&format!("  in the secret store: {}", moved.join(", ")));
        }
        if !plain.is_empty() {
            out::warning(&format!(
                "credentials in plain text: {}; --to-secrets moves them to the secret store",
                plain.join(", ")
            ));
        }
    }
    for SkippedServer { name, from, why, .. } in &report.skipped {
        out::note(&format!("skipped {name} from {from}: {why}"));
    }
    print_losses(&report.losses);
    if let Some(backup) = &report.backup {
        out::note(&format!("backup of {file} in {}", backup.display()));
    }
}
