//! `report`: reports usage and decisions as Markdown, JSON or an HTML page with plots.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::score::fetch_standings;
use super::since::{self, TimeArg};
use crate::cli_context::CliContext;
use crate::exit::{ErrorCode, Exit, OrFail as _, Result};
use crate::out::OutputFile;
use crate::review::{render_html, render_markdown};

/// The arguments of `toolgate report`.
#[derive(Debug, Args)]
#[command(
    after_help = "No server is started. The HTML page loads no resources and runs no scripts.\n\n\
    Examples:\n  toolgate report --since 7d\n  toolgate report -o report.html\n  \
    toolgate report --json"
)]
pub struct ReportArgs {
    /// Output format [default: from the extension of FILE, or md]
    #[arg(long, value_enum)]
    format: Option<ReportFormatArg>,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Start of the report: an age (7d, 12h, 30m) or a UTC time (2026-11-16)
    #[arg(long, value_name = "WHEN")]
    since: Option<TimeArg>,
}

/// An output format of `report`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ReportFormatArg {
    /// Markdown
    Md,
    /// JSON
    Json,
    /// HTML page with plots
    #[value(alias = "htm")]
    Html,
}

pub async fn run(context: &CliContext, options: &ReportArgs) -> Result<Exit> {
    let collector = since::count_journal(context, options.since).await?;
    let report = collector.report(&fetch_standings(context).await?);
    let extension = options.output.as_deref().and_then(Path::extension).and_then(OsStr::to_str);
    let named = extension.and_then(|it| ReportFormatArg::from_str(it, false).ok());
    let usual = if context.json { ReportFormatArg::Json } else { ReportFormatArg::Md };
    let text = match options.format.or(named).unwrap_or(usual) {
        ReportFormatArg::Md => render_markdown(&report),
        ReportFormatArg::Html => render_html(&report),
        ReportFormatArg::Json => serde_json::to_string_pretty(&report)
            .map(|text| text + "\n")
            .or_fail(ErrorCode::CliInternal, "cannot write JSON")?,
    };
    OutputFile::write_whole(options.output.as_deref(), &text)?;
    Ok(Exit::Done)
}
