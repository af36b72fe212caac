//! `audit export`: records for other programs.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use toolgate_host::audit::{Entry, read_since};

use super::{aside, failed, places, shown};
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::out::{self, Spinner};
use crate::verbs::since::Since;

/// So much is given to stdout at once.
const CHUNK: usize = 64 << 10;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  toolgate audit export --since 2026-11-16 > day.jsonl\n  \
    toolgate audit export --server files --format csv -o files.csv")]
pub struct Export {
    /// From then on: an age (7d, 12h, 30m) or a time in UTC (2026-11-16T10:00)
    #[arg(long, value_name = "WHEN")]
    since: Option<Since>,
    /// Up to then
    #[arg(long, value_name = "WHEN")]
    until: Option<Since>,
    /// Only what is about this server
    #[arg(long, value_name = "SERVER")]
    server: Option<String>,
    /// How to write it
    #[arg(long, value_enum, default_value_t = Format::Jsonl)]
    format: Format,
    /// Write to this file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One record per line, as it was written
    Jsonl,
    /// For spreadsheets
    Csv,
}

impl Export {
    fn takes(&self, entry: &Entry) -> bool {
        self.until.is_none_or(|Since(until)| entry.ms < until)
            && self.server.as_ref().is_none_or(|server| *server == entry.server)
    }
}

pub async fn run(context: &Context, options: &Export) -> Result<Exit, Failure> {
    let folder = places(context).folder;
    let since = options.since.map_or(0, |Since(ms)| ms);
    let mut entries = read_since(&folder, since).map_err(|error| failed(&error))?;
    let mut target = Target::open(options)?;
    if options.format == Format::Csv {
        target.write(shown::HEADINGS)?;
    }
    let spinner = Spinner::new("reading the journal");
    let mut count = 0_u64;
    loop {
        // Some at a time, so that the spinner turns.
        let (batch, rest) = aside(move || {
            let batch: Result<Vec<_>, _> = entries.by_ref().take(1000).collect();
            Ok((batch.map_err(|error| failed(&error))?, entries))
        })
        .await?;
        entries = rest;
        if batch.is_empty() {
            break;
        }
        for entry in batch.iter().filter(|entry| options.takes(entry)) {
            count += 1;
            target.write(&match options.format {
                Format::Jsonl => shown::json_line(entry),
                Format::Csv => shown::csv(entry),
            })?;
        }
        spinner.say(&format!("reading the journal: {count} records"));
    }
    drop(spinner);
    target.end()?;
    if let Some(path) = &options.output {
        out::note(&format!("{count} records in {}", path.display()));
    }
    Ok(Exit::Done)
}

/// Where the records go.
enum Target {
    Stdout(String),
    File(PathBuf, BufWriter<File>),
}

impl Target {
    fn open(options: &Export) -> Result<Self, Failure> {
        let Some(path) = &options.output else { return Ok(Self::Stdout(String::new())) };
        let file = File::create(path)
            .map_err(|error| Failure::failed(format!("write {}: {error}", path.display())))?;
        Ok(Self::File(path.clone(), BufWriter::new(file)))
    }

    fn write(&mut self, text: &str) -> Result<(), Failure> {
        match self {
            Self::Stdout(waiting) => {
                waiting.push_str(text);
                if waiting.len() >= CHUNK {
                    out::data(waiting.as_bytes())?;
                    waiting.clear();
                }
                Ok(())
            }
            Self::File(path, file) => file
                .write_all(text.as_bytes())
                .map_err(|error| Failure::failed(format!("write {}: {error}", path.display()))),
        }
    }

    fn end(self) -> Result<(), Failure> {
        match self {
            Self::Stdout(waiting) => out::data(waiting.as_bytes()),
            Self::File(path, mut file) => file
                .flush()
                .map_err(|error| Failure::failed(format!("write {}: {error}", path.display()))),
        }
    }
}
