//! `audit export`: writes journal records for other programs.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use toolgate_host::audit::{JournalEntry, read_since};

use super::{display, journal_paths};
use crate::blocking::run_blocking;
use crate::cli_context::CliContext;
use crate::complete::server_names;
use crate::exit::{Exit, Result};
use crate::out::{self, OutputFile, Spinner};
use crate::verbs::since::TimeArg;

/// The arguments of `toolgate audit export`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  toolgate audit export --since 2026-11-16 > day.jsonl\n  \
    toolgate audit export --server files --format csv -o files.csv")]
pub struct AuditExportArgs {
    /// Start here: an age (7d, 12h, 30m) or a UTC time (2026-11-16T10:00)
    #[arg(long, value_name = "WHEN")]
    since: Option<TimeArg>,
    /// End here: an age or a UTC time
    #[arg(long, value_name = "WHEN")]
    until: Option<TimeArg>,
    /// Export only records about this server
    #[arg(long, value_name = "SERVER", add = server_names())]
    server: Option<String>,
    /// Output format
    #[arg(long, value_enum, default_value_t = AuditFormatArg::Jsonl)]
    format: AuditFormatArg,
    /// Write to this file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// An output format of `audit export`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AuditFormatArg {
    /// JSON lines, one record per line as in the journal
    Jsonl,
    /// CSV, for spreadsheets
    Csv,
}

impl AuditExportArgs {
    fn matches_filters(&self, entry: &JournalEntry) -> bool {
        self.until.is_none_or(|TimeArg(until)| entry.ms < until)
            && self.server.as_ref().is_none_or(|server| *server == entry.server)
    }
}

pub async fn run(context: &CliContext, options: &AuditExportArgs) -> Result<Exit> {
    let folder = journal_paths(context).folder;
    let since = options.since.map_or(0, |TimeArg(ms)| ms);
    let mut entries = read_since(&folder, since)?;
    let mut target = OutputFile::open(options.output.as_deref())?;
    if options.format == AuditFormatArg::Csv {
        target.write(display::HEADINGS)?;
    }
    let spinner = Spinner::new("reading the journal");
    let mut count = 0_u64;
    loop {
        // Reads in batches, so that the spinner keeps moving.
        let (batch, rest) = run_blocking(move || {
            let batch: Result<Vec<_>, _> = entries.by_ref().take(1000).collect();
            Ok((batch?, entries))
        })
        .await?;
        entries = rest;
        if batch.is_empty() {
            break;
        }
        for entry in batch.iter().filter(|entry| options.matches_filters(entry)) {
            count += 1;
            target.write(&match options.format {
                AuditFormatArg::Jsonl => display::json_line(entry),
                AuditFormatArg::Csv => display::csv_line(entry),
            })?;
        }
        spinner.set_text(&format!("reading the journal: {count} records"));
    }
    drop(spinner);
    target.finish()?;
    if let Some(path) = &options.output {
        out::note(&format!("wrote {} to {}", out::count(count, "record"), path.display()));
    }
    Ok(Exit::Done)
}
