//! `context ingest`: adds files and folders to the local context, and follows changes with
//! `--watch`.
//!
//! Problems with single files are listed at the end and are not errors; a path on the command line
//! that cannot be read is one. The first Ctrl-C stops after the current documents.

mod progress;

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;
use toolgate_context::ingest::{IngestOptions, IngestReport};
use toolgate_context::{ContextError, Ingester, PdfReader, WatchEvent, watch_paths};

use super::open_library;
use crate::cli_context::CliContext;
use crate::exit::{CliError, Exit, Result, cli_error, error_chain};
use crate::{out, shutdown};
use progress::IngestProgressBar;

/// The path that means standard input.
const STDIN_PATH: &str = "-";

/// How many remarks of one kind are printed without `--verbose`; the JSON has all of them.
const MAX_REMARKS: usize = 50;

/// The arguments of `toolgate context ingest`.
#[derive(Debug, Args)]
#[command(
    after_help = "Unchanged files are not read again, and deleted files are removed.\nIgnore files \
    (.gitignore, .ignore) are respected; links are not followed.\n\nExamples:\n  \
    toolgate context ingest ~/notes\n  \
    toolgate context ingest README.md docs --watch\n  \
    uname -a | toolgate context ingest - --name machine.txt"
)]
pub struct ContextIngestArgs {
    /// Files and folders to add, or - to add standard input as a note
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
    /// Keep running and add changes
    #[arg(long)]
    watch: bool,
    /// Trust their text as your own instead of marking it as untrusted
    #[arg(long)]
    trust: bool,
    /// Include hidden files
    #[arg(long)]
    hidden: bool,
    /// Include files that ignore files exclude
    #[arg(long)]
    no_ignore: bool,
    /// Name of the note from standard input
    #[arg(long, value_name = "NAME", default_value = "stdin")]
    name: String,
}

pub async fn run(context: &CliContext, options: &ContextIngestArgs) -> Result<Exit> {
    let ingester = Ingester::new(open_library(context).await?, PdfReader::current());
    let ingester = ingester.with_options(ingest_options(context, options).await?);
    stop_on_signal(&ingester)?;
    if options.watch {
        return watch(context, options, &ingester).await;
    }
    let mut report = IngestReport::default();
    let mut unread = Vec::new();
    for path in &options.paths {
        match ingest_path(options, &ingester, path).await {
            Ok(one) => report.join(one),
            Err(ContextError::Store(error)) => return Err(error.into()),
            Err(error) => unread.push(error),
        }
    }
    print_report(context, &report, &unread)?;
    match (report.stopped, unread.first()) {
        (_, Some(error)) => Err(CliError::of(error)),
        (true, _) => {
            Err(CliError::interrupted()
                .hint("run the same command again to add the remaining files"))
        }
        (false, None) => Ok(Exit::Done),
    }
}

async fn ingest_path(
    options: &ContextIngestArgs,
    ingester: &Ingester,
    path: &Path,
) -> Result<IngestReport, ContextError> {
    if path == Path::new(STDIN_PATH) {
        return ingester.ingest_bytes(&options.name, read_stdin(ingester).await?).await;
    }
    let mut bar = IngestProgressBar::new();
    ingester.ingest_path(path, &mut |progress| bar.update(progress)).await
}

/// Reads standard input up to one byte more than the limit, so that the ingester notices an input
/// that is too long.
async fn read_stdin(ingester: &Ingester) -> Result<Vec<u8>, ContextError> {
    let mut bytes = Vec::new();
    let most = ingester.options().most_text + 1;
    let read = tokio::io::stdin().take(most).read_to_end(&mut bytes).await;
    read.map_err(|source| ContextError::Path { path: STDIN_PATH.into(), source })?;
    Ok(bytes)
}

/// Returns the options of the ingester. The config marks folders as trusted, `--trust` these paths.
async fn ingest_options(
    context: &CliContext,
    options: &ContextIngestArgs,
) -> Result<IngestOptions> {
    // Only the user's and the system's files can mark folders as trusted.
    let mut trusted = context.load_user_setup().await?.plan().settings.context.trusted.clone();
    if options.trust {
        trusted.extend(options.paths.iter().cloned());
    }
    Ok(IngestOptions {
        hidden: options.hidden,
        ignore_files: !options.no_ignore,
        trusted,
        trust_texts: options.trust,
        ..IngestOptions::default()
    })
}

/// Stops the ingester on the first signal, and exits immediately on the second.
fn stop_on_signal(ingester: &Ingester) -> Result<()> {
    let mut signals = shutdown::signals()?;
    let ingester = ingester.clone();
    tokio::spawn(async move {
        signals.next().await;
        ingester.stop();
        signals.next().await;
        std::process::exit(Exit::Failed as i32);
    });
    Ok(())
}

async fn watch(
    context: &CliContext,
    options: &ContextIngestArgs,
    ingester: &Ingester,
) -> Result<Exit> {
    if options.paths.iter().any(|path| path == Path::new(STDIN_PATH)) {
        return Err(
            cli_error!(CliUsage, "standard input cannot be watched").hint("remove `-` or --watch")
        );
    }
    let mut bar = IngestProgressBar::new();
    let mut written = Ok(());
    let end = ingester.clone();
    let mut on_event = |event| {
        match event {
            WatchEvent::Progress(progress) => return bar.update(progress),
            WatchEvent::Report(path, report) => {
                bar.clear();
                written = print_change(context, &path, &report);
            }
            WatchEvent::Failed(path, error) => {
                bar.clear();
                out::note(&format!("{}: {}", path.display(), error_chain(&error)));
            }
        }
        // The reader of our output closed it.
        if written.is_err() {
            end.stop();
        }
    };
    watch_paths(ingester, &options.paths, &mut on_event).await;
    drop(bar);
    written.map(|()| Exit::Done)
}

/// Prints what changed below one watched path.
fn print_change(context: &CliContext, path: &Path, report: &IngestReport) -> Result<()> {
    if context.json {
        let mut shape = report_json(report, &[]);
        shape["path"] = json!(path);
        return out::line(&shape.to_string());
    }
    print_remarks(report, context.verbose);
    out::line(&format!("{}: {}", out::escape_invisible(&path.to_string_lossy()), summary(report)))
}

fn print_report(
    context: &CliContext,
    report: &IngestReport,
    unread: &[ContextError],
) -> Result<()> {
    if context.json {
        return out::json(&report_json(report, unread));
    }
    print_remarks(report, context.verbose);
    // The first error is the result of the whole run and is printed at its end.
    for error in unread.iter().skip(1) {
        out::labelled_note(&out::red("error:"), &error_chain(error));
    }
    out::line(&summary(report))
}

fn report_json(report: &IngestReport, unread: &[ContextError]) -> Value {
    let mut shape = json!(report);
    shape["failed"] = unread.iter().map(|error| error_chain(error)).collect();
    shape
}

fn summary(report: &IngestReport) -> String {
    let IngestReport { added, changed, unchanged, removed, bytes, passages, binary, .. } = report;
    let mut text = format!(
        "{added} added, {changed} changed, {unchanged} unchanged, {removed} removed, {} skipped",
        report.skipped.total
    );
    if *binary > 0 {
        text.push_str(&format!("; {} without text", out::count(*binary, "file")));
    }
    if *passages > 0 {
        let (passages, size) = (out::count(*passages, "passage"), out::format_size(*bytes));
        text.push_str(&format!("; {passages} in {size}"));
    }
    text
}

/// Prints the files that were skipped or read incompletely, with the reasons.
fn print_remarks(report: &IngestReport, verbose: bool) {
    let most = if verbose { usize::MAX } else { MAX_REMARKS };
    for (what, remarks) in [("skipped", &report.skipped), ("note:", &report.noted)] {
        let label = out::cyan(what);
        for remark in remarks.named.iter().take(most) {
            out::labelled_note(&label, &format!("{}: {}", remark.path, remark.why));
        }
        let rest = remarks.total.saturating_sub(remarks.named.len().min(most) as u64);
        if rest > 0 {
            out::labelled_note(&label, &format!("{rest} more"));
        }
    }
}
