//! `import`: servers another host's file declares, copied into ours.
//!
//! Importing is the user's own word for what is then started. What a project's file says about not
//! being asked is no word of the user's, and stays behind.

pub(super) mod found;
pub(super) mod intake;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::Serialize;
use toolgate_host::config::{EditError, Editing, edit_file, read_file};
use toolgate_host::{Scope, ServerSpec};

use crate::carry::change::Change;
use crate::carry::report::{Lost, tell_lost};
use crate::carry::{agreed, literals};
use crate::context::Context;
use crate::control::Finding;
use crate::exit::{Exit, Failure, chain};
use crate::out::{self, Table, visible};
use found::{Found, Search};
use intake::{Intake, Target};

#[derive(Debug, Args)]
#[command(after_help = "Without --from every file of a known client is looked at, and nothing is \
    taken before you said so.\n\n\
    Examples:\n  toolgate import\n  toolgate import --from claude-desktop\n  \
    toolgate import --from ./mcp.json github --to-secrets\n  toolgate import --from cursor --dry-run")]
pub struct Import {
    /// Which servers; without one, all of them
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// The client whose files are read, or a file in any dialect
    #[arg(long, value_name = "CLIENT|FILE")]
    from: Option<String>,
    /// Into your own config, or into this project's
    #[arg(short, long, value_enum, default_value = "user")]
    scope: Into,
    /// Replace servers that ours declare under the same name
    #[arg(long)]
    force: bool,
    /// Move literal credentials into the secret store, and leave ${secret:…} in their place
    #[arg(long)]
    to_secrets: bool,
    /// Take what was found without being asked
    #[arg(long, short)]
    yes: bool,
    /// Show what would change and change nothing
    #[arg(long)]
    dry_run: bool,
}

/// Whose file it goes into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Into {
    User,
    Project,
}

/// What became of an import.
#[derive(Debug, Default, Serialize)]
pub(super) struct Report {
    pub(super) file: PathBuf,
    pub(super) dry_run: bool,
    pub(super) imported: Vec<Imported>,
    pub(super) skipped: Vec<Skipped>,
    pub(super) losses: Vec<Lost>,
    pub(super) diagnostics: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) diff: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) backup: Option<PathBuf>,
}

/// A server that was copied.
#[derive(Debug, Serialize)]
pub(super) struct Imported {
    pub(super) name: String,
    from: String,
    /// Fields that hold a credential in plain text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    plain: Vec<String>,
    /// Fields whose credential is in the secret store now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    moved: Vec<String>,
}

/// A server that was not.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Skipped {
    pub(super) name: String,
    from: String,
    why: String,
    /// Whether ours say just the same already.
    #[serde(skip)]
    pub(super) is_ours_already: bool,
}

pub async fn run(context: &Context, options: &Import) -> Result<Exit, Failure> {
    let search = Search::run(context, options.from.as_deref())?;
    let mut report = Report { dry_run: options.dry_run, ..Report::default() };
    report.diagnostics = search.findings.iter().map(|finding| finding.text.clone()).collect();
    let found = search.pick(&options.names, &mut report.skipped)?;
    report.losses = search.left_behind(&found);
    if options.from.is_none() && !options.dry_run && !found.is_empty() {
        ask(options, &found)?;
    }
    let target = Target::of(context, options.scope == Into::Project, &found)?;
    report.file = target.at.path.to_path_buf();
    let found = fresh(found, &target, options.force, &mut report)?;
    let intake = Intake::of(found, options.to_secrets, &mut report);
    match options.dry_run {
        true => preview(&target, &intake, &mut report)?,
        false => write(context, &target, &intake, &mut report).await?,
    }
    tell(context, &report, &search.findings)?;
    Ok(Exit::Done)
}

/// Shows what was found, and takes nothing unless the person agrees.
fn ask(options: &Import, found: &[Found]) -> Result<(), Failure> {
    let mut table = Table::new(&["NAME", "FROM", "STARTS"]);
    for each in found {
        let starts = each.starts();
        table.row([visible(each.name()), visible(&each.from), visible(&starts)]);
    }
    out::note(table.text().trim_end());
    if options.yes {
        return Ok(());
    }
    let without = || {
        Failure::usage("import these: nobody can be asked here")
            .hint("take them all with --yes, or name a client or file with --from")
    };
    match agreed("Import them?", without)? {
        true => Ok(()),
        false => Err(Failure::failed("import these: you did not agree")),
    }
}

/// Those ours do not have yet, or have to give way to.
pub(super) fn fresh(
    found: Vec<Found>,
    target: &Target,
    force: bool,
    report: &mut Report,
) -> Result<Vec<Found>, Failure> {
    let text = read_file(&target.at.path).map_err(|error| Failure::usage(chain(&error)))?;
    let reading = target.dialect.read(text.as_deref().unwrap_or_default(), &target.at);
    let taken = |found: &Found| reading.servers.iter().find(|it| it.spec.name == found.spec.name);
    let (kept, skipped): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|found| force || taken(found).is_none());
    report.skipped.extend(skipped.into_iter().map(|found| {
        let same = taken(&found).is_some_and(|it| it.spec.transport == found.spec.transport);
        let why = match same {
            true => "it is declared already, in the same way",
            false => "ours declare another server of this name; --force replaces it",
        };
        Skipped { is_ours_already: same, ..found.skipped(why) }
    }));
    Ok(kept)
}

/// The text with these servers in it.
fn changed(
    target: &Target,
    intake: &Intake,
    before: &str,
) -> Result<(String, Vec<Lost>), EditError> {
    let (mut text, mut losses) = (before.to_owned(), Vec::new());
    for spec in &intake.specs {
        let written = target.dialect.set(&text, spec, &target.at)?;
        losses.extend(written.losses.iter().map(Lost::from));
        text = written.text;
    }
    Ok((text, losses))
}

pub(super) fn preview(
    target: &Target,
    intake: &Intake,
    report: &mut Report,
) -> Result<(), Failure> {
    let path = target.at.path.to_path_buf();
    let before = read_file(&path).map_err(|error| Failure::usage(chain(&error)))?;
    let before = before.unwrap_or_default();
    let (after, losses) = changed(target, intake, &before)
        .map_err(|error| Failure::failed(format!("edit {}: failed to {error}", path.display())))?;
    report.losses.extend(losses);
    let shown: Vec<_> = intake.specs.iter().map(hidden).collect();
    let change = Change { path, dialect: target.dialect, before, after };
    report.diff = Some(change.diff(&shown, &target.at));
    Ok(())
}

/// The server with nothing in it that may be a credential.
fn hidden(spec: &ServerSpec) -> ServerSpec {
    literals::replaced(spec, &mut |_| literals::Instead::Nothing)
}

pub(super) async fn write(
    context: &Context,
    target: &Target,
    intake: &Intake,
    report: &mut Report,
) -> Result<(), Failure> {
    if intake.specs.is_empty() {
        return Ok(());
    }
    intake.keep_secrets(context)?;
    if target.at.scope == Scope::User {
        context.first_run()?;
    }
    let editing = Editing { access: target.access(), backup: true };
    let edited = edit_file(&target.at.path, editing, |before| {
        let (after, losses) = changed(target, intake, before)?;
        report.losses.extend(losses);
        Ok(Some(after))
    });
    let edited = edited.map_err(|error| Failure::failed(chain(&error)))?;
    report.backup = edited.backup;
    intake::settle(context, target, &intake.specs).await
}

fn tell(context: &Context, report: &Report, findings: &[Finding]) -> Result<(), Failure> {
    if context.json {
        out::json(report)?;
    } else if let Some(diff) = &report.diff {
        out::text(diff)?;
    }
    out::findings(findings);
    tell_servers(report);
    if report.imported.is_empty() && report.skipped.is_empty() {
        out::note("no server was found that could be imported");
    }
    Ok(())
}

/// Says what became of every server.
pub(super) fn tell_servers(report: &Report) {
    let file = report.file.display();
    let verb = if report.dry_run { "would import" } else { "imported" };
    for Imported { name, from, plain, moved } in &report.imported {
        out::note(&format!("{verb} {} from {} into {file}", visible(name), visible(from)));
        if !moved.is_empty() {
            out::note(&format!("  in the secret store: {}", visible(&moved.join(", "))));
        }
        if !plain.is_empty() {
            out::note(&format!(
                "  {} credentials in plain text: {}; --to-secrets moves them into the secret store",
                out::cyan("warning:"),
                visible(&plain.join(", "))
            ));
        }
    }
    for Skipped { name, from, why, .. } in &report.skipped {
        out::note(&format!("skipped {} of {}: {}", visible(name), visible(from), visible(why)));
    }
    tell_lost(&report.losses);
    if let Some(backup) = &report.backup {
        out::note(&format!("what {file} held before is in {}", backup.display()));
    }
}
