//! `audit verify`: checks the journal and lists every place where it was tampered with.

use std::path::{Path, PathBuf};

use clap::Args;
use toolgate_host::audit::{JournalPaths, JournalPublicKey, VerifyReport, verify};

use super::journal_paths;
use crate::blocking::run_blocking;
use crate::cli_context::CliContext;
use crate::exit::{CliError, ErrorCode, Exit, OrFail as _, Result, cli_error};
use crate::out::{self, Spinner, escape_invisible};

/// The arguments of `toolgate audit verify`.
#[derive(Debug, Args)]
#[command(after_help = "To detect a journal that was truncated at its end or rewritten, keep \
    copies of the\ncheckpoints and the key in a safe place and pass them with --checkpoints and \
    --key.\nBy default those of this home are used.\n\n\
    Example: toolgate audit verify --json")]
pub struct AuditVerifyArgs {
    /// Folder of the checkpoints to verify against
    #[arg(long, value_name = "DIR")]
    checkpoints: Option<PathBuf>,
    /// Public key that verifies the checkpoints
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
}

pub async fn run(context: &CliContext, options: &AuditVerifyArgs) -> Result<Exit> {
    let JournalPaths { folder, checkpoints, public_key: public, .. } = journal_paths(context);
    let key = match &options.key {
        Some(path) => Some(read_key(path)?),
        None if public.exists() => Some(read_key(&public)?),
        None => None,
    };
    if let Some(named) = options.checkpoints.as_ref().filter(|named| !named.is_dir()) {
        return Err(cli_error!(JournalVerify, "{} is not a folder", named.display()));
    }
    let checkpoints = options.checkpoints.clone().unwrap_or(checkpoints);
    let spinner = Spinner::new("verifying the journal");
    let progress = spinner.clone();
    let report = run_blocking(move || {
        let mut report =
            |records| progress.set_text(&format!("verifying the journal: {records} records"));
        verify(&folder, &checkpoints, key.as_ref(), &mut report).map_err(CliError::from)
    })
    .await?;
    drop(spinner);
    print(context, &report)?;
    Ok(if report.is_intact() { Exit::Done } else { Exit::Failed })
}

fn read_key(path: &Path) -> Result<JournalPublicKey> {
    let text = std::fs::read_to_string(path)
        .or_fail(ErrorCode::JournalVerify, format_args!("cannot read {}", path.display()))?;
    JournalPublicKey::parse(&text).ok_or_else(|| {
        cli_error!(JournalVerify, "{} is not the public key of a journal", path.display())
            .hint("pass the file journal.pub from the folder of the journal")
    })
}

fn print(context: &CliContext, report: &VerifyReport) -> Result<()> {
    if context.json {
        return out::json(report);
    }
    for problem in &report.problems {
        let line = if problem.line > 0 { format!(":{}", problem.line) } else { String::new() };
        let file = escape_invisible(&problem.file.display().to_string());
        out::line(&format!("{file}{line}: {}", escape_invisible(&problem.detail)))?;
    }
    out::print_notes(&report.notices);
    let VerifyReport { chains, records, checkpoints, unsigned, .. } = report;
    let found = match report.problems.len() {
        0 => "the journal is intact".to_owned(),
        problems => out::count(problems, "problem"),
    };
    out::line(&format!(
        "{found}: {} in {}, {}, {} after the last checkpoint",
        out::count(*records, "record"),
        out::count(*chains, "chain"),
        out::count(*checkpoints, "checkpoint"),
        out::count(*unsigned, "record"),
    ))
}
