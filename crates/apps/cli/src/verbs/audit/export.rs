//! `audit export`: writes journal records for other programs.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use toolgate_host::audit::{JournalEntry, read_since};

use super::{display, journal_paths, run_blocking};
use crate::cli_context::CliContext;
use crate::complete::server_names;
use crate::exit::{CliError, ErrorCode, Exit, Result};
use crate::out::{self, Spinner};
use crate::verbs::since::TimeArg;

/// How many bytes are buffered before they are written to stdout.
const CHUNK: usize = 64 << 10;

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
    let mut target = AuditExportOutput::open(options)?;
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

fn write_error(path: &Path, error: &std::io::Error) -> CliError {
    CliError::new(ErrorCode::CliWrite, format!("cannot write {}: {error}", path.display()))
}

/// Where the exported records are written.
enum AuditExportOutput {
    Stdout(String),
    File(PathBuf, BufWriter<File>),
}

impl AuditExportOutput {
    fn open(options: &AuditExportArgs) -> Result<Self> {
        let Some(path) = &options.output else { return Ok(Self::Stdout(String::new())) };
        let file = File::create(path).map_err(|error| write_error(path, &error))?;
        Ok(Self::File(path.clone(), BufWriter::new(file)))
    }

    fn write(&mut self, text: &str) -> Result<()> {
        match self {
            Self::Stdout(waiting) => {
                waiting.push_str(text);
                if waiting.len() >= CHUNK {
                    out::data(waiting.as_bytes())?;
                    waiting.clear();
                }
                Ok(())
            }
            Self::File(path, file) => {
                file.write_all(text.as_bytes()).map_err(|error| write_error(path, &error))
            }
        }
    }

    fn finish(self) -> Result<()> {
        match self {
            Self::Stdout(waiting) => out::data(waiting.as_bytes()),
            Self::File(path, mut file) => file.flush().map_err(|error| write_error(&path, &error)),
        }
    }
}
