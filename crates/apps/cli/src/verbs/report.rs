//! `report`: what happened, as Markdown, as JSON, or as one page with plots.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use toolgate_host::review::{self, html, markdown};

use super::score::standings;
use super::since::{self, Since};
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::out;

#[derive(Debug, Args)]
#[command(after_help = "No server is started, and the page loads nothing and runs nothing.\n\n\
    Examples:\n  toolgate report --since 7d\n  toolgate report -o report.html\n  \
    toolgate report --json")]
pub struct Report {
    /// How it is written; without it, as the ending of FILE says, else Markdown
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Count what happened from then on: an age (7d, 12h, 30m) or a time in UTC (2026-11-16)
    #[arg(long, value_name = "WHEN")]
    since: Option<Since>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Markdown
    Md,
    /// The numbers
    Json,
    /// One page with plots
    Html,
}

impl Format {
    fn of_file(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "html" | "htm" => Some(Self::Html),
            "json" => Some(Self::Json),
            "md" => Some(Self::Md),
            _ => None,
        }
    }
}

pub async fn run(context: &Context, options: &Report) -> Result<Exit, Failure> {
    let collector = since::counted(context, options.since).await?;
    let report = collector.report(&standings(context).await?, review::rfc3339);
    let named = options.output.as_deref().and_then(Format::of_file);
    let usual = if context.json { Format::Json } else { Format::Md };
    let text = match options.format.or(named).unwrap_or(usual) {
        Format::Md => markdown(&report),
        Format::Html => html(&report),
        Format::Json => serde_json::to_string_pretty(&report)
            .map(|text| text + "\n")
            .map_err(|error| Failure::failed(format!("write JSON: {error}")))?,
    };
    match &options.output {
        None => out::data(text.as_bytes())?,
        Some(path) => write(path, &text)?,
    }
    Ok(Exit::Done)
}

/// Writes the file whole or not at all.
fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let failed = |error| Failure::failed(format!("write {}: {error}", path.display()));
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    let part = PathBuf::from(name);
    let written = std::fs::File::create(&part)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .and_then(|()| std::fs::rename(&part, path));
    written.map_err(|error| {
        let _ = std::fs::remove_file(&part); // what is half written is of no use
        failed(error)
    })
}
