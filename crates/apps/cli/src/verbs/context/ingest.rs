//! `context ingest`: takes files and folders in, and with `--watch` whatever becomes of them.
//!
//! What is wrong with one file is told by its name at the end, and is no failure; a path that was
//! named and cannot be read at all is one. The first Ctrl-C ends it after the documents it is at.

mod progress;

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;
use toolgate_context::ingest::{Options, Remarks, Report};
use toolgate_context::{ContextError, Followed, Ingest as Ingester, PdfReader, follow};
use toolgate_host::{Setup, SetupOptions, Signals};

use super::shown::count;
use super::{failed, library};
use crate::context::Context;
use crate::exit::{Exit, Failure, chain};
use crate::out;
use progress::Bar;

/// What stands for standard input.
const PIPE: &str = "-";

/// How many names are shown of one kind; all that are kept stand in the JSON.
const SHOWN: usize = 50;

#[derive(Debug, Args)]
#[command(
    after_help = "A file that did not change is not read again, and one that is gone is taken \
    out.\nIgnore files (.gitignore, .ignore) count; links are not followed.\n\nExamples:\n  \
    toolgate context ingest ~/notes\n  \
    toolgate context ingest README.md docs --watch\n  \
    uname -a | toolgate context ingest - --name machine.txt"
)]
pub struct Ingest {
    /// Files and folders; `-` is standard input, as a note
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
    /// Go on, and take in what changes
    #[arg(long)]
    watch: bool,
    /// Their text is your own word: it is not marked as untrusted
    #[arg(long)]
    trust: bool,
    /// Hidden files too
    #[arg(long)]
    hidden: bool,
    /// What ignore files name too
    #[arg(long)]
    no_ignore: bool,
    /// What the note from standard input is called
    #[arg(long, value_name = "NAME", default_value = "stdin")]
    name: String,
}

pub async fn run(context: &Context, options: &Ingest) -> Result<Exit, Failure> {
    let ingester = Ingester::new(library(context).await?, PdfReader::current());
    let ingester = ingester.with(what(context, options).await?);
    stop_on_signal(&ingester)?;
    if options.watch {
        return watch(context, options, &ingester).await;
    }
    let mut report = Report::default();
    let mut unread = Vec::new();
    for path in &options.paths {
        match one(options, &ingester, path).await {
            Ok(one) => report.join(one),
            Err(ContextError::Store(error)) => return Err(failed(&error)),
            Err(error) => unread.push(error),
        }
    }
    tell(context, &report, &unread)?;
    match (report.stopped, unread.first()) {
        (_, Some(error)) => Err(failed(error)),
        (true, _) => Err(Failure::failed("finish: it was interrupted")
            .hint("what was taken in stays; the same command takes in the rest")),
        (false, None) => Ok(Exit::Done),
    }
}

async fn one(options: &Ingest, ingester: &Ingester, path: &Path) -> Result<Report, ContextError> {
    if path == Path::new(PIPE) {
        return ingester.bytes(&options.name, piped(ingester).await?).await;
    }
    let mut bar = Bar::new();
    ingester.path(path, &mut |progress| bar.at(progress)).await
}

/// What comes through the pipe, and one byte more than may.
async fn piped(ingester: &Ingester) -> Result<Vec<u8>, ContextError> {
    let mut bytes = Vec::new();
    let most = ingester.options().most_text + 1;
    let read = tokio::io::stdin().take(most).read_to_end(&mut bytes).await;
    read.map_err(|source| ContextError::Path { path: PIPE.into(), source })?;
    Ok(bytes)
}

/// What is taken in, and whose word it is: the user's files say it of folders, `--trust` of these.
async fn what(context: &Context, options: &Ingest) -> Result<Options, Failure> {
    let mut trusted = trusted(context).await?;
    if options.trust {
        trusted.extend(options.paths.iter().cloned());
    }
    Ok(Options {
        hidden: options.hidden,
        ignore_files: !options.no_ignore,
        trusted,
        trust_texts: options.trust,
        ..Options::default()
    })
}

/// The folders whose text is the user's own word, by his files and the system's.
async fn trusted(context: &Context) -> Result<Vec<PathBuf>, Failure> {
    let (home, config) = (context.home.clone(), context.config.clone());
    let options = SetupOptions { home, config, project_dir: None, own_endpoints: Vec::new() };
    let setup = Setup::load(options).await?;
    Ok(setup.plan().settings.context.trusted.clone())
}

/// The first signal ends it in good order, the second at once.
fn stop_on_signal(ingester: &Ingester) -> Result<(), Failure> {
    let failed = |error| Failure::failed(format!("listen for signals: {error}"));
    let mut signals = Signals::new().map_err(failed)?;
    let ingester = ingester.clone();
    tokio::spawn(async move {
        signals.next().await;
        ingester.stop();
        signals.next().await;
        std::process::exit(Exit::Failed as i32);
    });
    Ok(())
}

async fn watch(context: &Context, options: &Ingest, ingester: &Ingester) -> Result<Exit, Failure> {
    if options.paths.iter().any(|path| path == Path::new(PIPE)) {
        return Err(Failure::usage("watch standard input: it is read once")
            .hint("leave out `-`, or --watch"));
    }
    let mut bar = Bar::new();
    let mut written = Ok(());
    let end = ingester.clone();
    let mut told = |followed| {
        match followed {
            Followed::Progress(progress) => return bar.at(progress),
            Followed::Report(path, report) => {
                bar.clear();
                written = change(context, &path, &report);
            }
            Followed::Failed(path, error) => {
                bar.clear();
                let why = out::visible_lines(&chain(&error));
                out::note(&format!("{}: failed to {why}", out::visible(&path.to_string_lossy())));
            }
        }
        // Whoever read what became of the files has left.
        if written.is_err() {
            end.stop();
        }
    };
    follow(ingester, &options.paths, &mut told).await;
    drop(bar);
    written.map(|()| Exit::Done)
}

/// Tells what became of one path that is watched.
fn change(context: &Context, path: &Path, report: &Report) -> Result<(), Failure> {
    if context.json {
        let mut shape = shape(report, &[]);
        shape["path"] = json!(path);
        return out::line(&shape.to_string());
    }
    remarks(report, context.verbose);
    out::line(&format!("{}: {}", out::visible(&path.to_string_lossy()), summary(report)))
}

fn tell(context: &Context, report: &Report, unread: &[ContextError]) -> Result<(), Failure> {
    if context.json {
        return out::json(&shape(report, unread));
    }
    remarks(report, context.verbose);
    // The first of them is what the run failed with.
    for error in unread.iter().skip(1) {
        out::note(&format!(
            "{} failed to {}",
            out::red("error:"),
            out::visible_lines(&chain(error))
        ));
    }
    out::line(&summary(report))
}

fn shape(report: &Report, unread: &[ContextError]) -> Value {
    let mut shape = json!(report);
    shape["failed"] = unread.iter().map(|error| chain(error)).collect();
    shape
}

fn summary(report: &Report) -> String {
    let Report { added, changed, unchanged, removed, bytes, passages, binary, .. } = report;
    let mut text = format!(
        "{added} added, {changed} changed, {unchanged} unchanged, {removed} removed, {} skipped",
        report.skipped.total
    );
    if *binary > 0 {
        text.push_str(&format!("; {} that are no text", count(*binary, "file")));
    }
    if *passages > 0 {
        let size = out::size(usize::try_from(*bytes).unwrap_or(usize::MAX));
        text.push_str(&format!("; {} in {size}", count(*passages, "passage")));
    }
    text
}

/// Names what was refused or lost, and why.
fn remarks(report: &Report, verbose: bool) {
    for (what, remarks) in [("skipped", &report.skipped), ("note:", &report.noted)] {
        named(what, remarks, if verbose { usize::MAX } else { SHOWN });
    }
}

fn named(what: &str, remarks: &Remarks, most: usize) {
    let shown = remarks.named.iter().take(most);
    for remark in shown {
        let (path, why) = (out::visible(&remark.path), out::visible(&remark.why));
        out::note(&format!("{} {path}: {why}", out::cyan(what)));
    }
    let rest = remarks.total.saturating_sub(remarks.named.len().min(most) as u64);
    if rest > 0 {
        out::note(&format!("{} {rest} more", out::cyan(what)));
    }
}
