//! `context search`: searches the local context for passages.

use std::time::Duration;

use clap::Args;
use clap::builder::RangedU64ValueParser;
use tokio::time::timeout;
use toolgate_context::{PassageHit, heading_path};

use super::display;
use super::snippet::{QueryTerms, SnippetSpan};
use super::{open_existing, print_empty};
use crate::cli_context::CliContext;
use crate::exit::{Exit, Result, cli_error};
use crate::out::{self, escape_invisible, escape_invisible_lines};

/// How long storing a query in the history may take.
const NOTE_TIMEOUT: Duration = Duration::from_millis(200);

/// The arguments of `toolgate context search`.
#[derive(Debug, Args)]
#[command(
    after_help = "Phrases in double quotes must match exactly. Passages that match more of the \
    other words rank higher.\n\n\
    Examples:\n  toolgate context search how do we rotate keys\n  \
    toolgate context search --limit 3 --json 'who decided on \"blue green\"'"
)]
pub struct ContextSearchArgs {
    /// Words, names or a question to search for
    #[arg(value_name = "QUERY", required = true)]
    query: Vec<String>,
    /// Maximum number of passages to show
    #[arg(long, value_name = "N", default_value_t = 8,
        value_parser = RangedU64ValueParser::<usize>::new().range(1..=1000))]
    limit: usize,
    /// Show whole passages instead of snippets
    #[arg(long)]
    full: bool,
}

pub async fn run(context: &CliContext, options: &ContextSearchArgs) -> Result<Exit> {
    let query = options.query.join(" ");
    if query.trim().is_empty() {
        return Err(cli_error!(CliUsage, "the query is empty").hint("add words to search for"));
    }
    let library = open_existing(context).await?;
    let hits = match &library {
        Some(library) => library.search(&query, options.limit).await?,
        None => Vec::new(),
    };
    match &library {
        _ if !hits.is_empty() => {}
        Some(library) if !library.keys("", 1).await?.is_empty() => {
            out::note("no passages match; try other words");
        }
        _ => print_empty(),
    }
    let shown: Vec<_> = hits.iter().map(display::hit_json).collect();
    out::print(context, &shown, || hits_text(&hits, &query, options.full))?;
    // Only queries with results are remembered for completion. The timeout avoids waiting for
    // another process that is writing.
    if let Some(library) = library.filter(|_| !hits.is_empty()) {
        let _ = timeout(NOTE_TIMEOUT, library.remember_query(&query)).await;
    }
    Ok(Exit::Done)
}

/// Returns the passages as text: location, headings, and the matching part or the whole passage.
fn hits_text(hits: &[PassageHit], query: &str, full: bool) -> String {
    let terms = QueryTerms::from_query(query);
    let shown = hits.iter().map(|hit| {
        let (place, under) = (
            display::editor_location(hit),
            escape_invisible(&heading_path(&hit.title, &hit.heading)),
        );
        let words =
            if full { passage_text(&terms, &hit.text) } else { snippet_text(&terms, &hit.text) };
        format!("{}\n  {}\n{words}\n", paint("36", &place), paint("1", &under))
    });
    shown.collect::<Vec<_>>().join("\n")
}

/// Returns the best matching part of a passage as one paragraph.
fn snippet_text(terms: &QueryTerms, text: &str) -> String {
    let (pieces, before, behind) = terms.snippet(text);
    let marked = spans_text(&pieces);
    let words = marked.split_whitespace().collect::<Vec<_>>().join(" ");
    let (before, behind) = (if before { "…" } else { "" }, if behind { "…" } else { "" });
    format!("    {before}{words}{behind}")
}

fn passage_text(terms: &QueryTerms, text: &str) -> String {
    let marked = spans_text(&terms.mark_all(text));
    marked.trim_end().lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}

/// Returns text of a document with matches highlighted. Control characters in it are escaped.
fn spans_text(pieces: &[SnippetSpan<'_>]) -> String {
    let piece = |it: &SnippetSpan<'_>| {
        let text = escape_invisible_lines(it.text);
        if it.is_match { paint("31;1", &text) } else { text }
    };
    pieces.iter().map(piece).collect()
}

fn paint(code: &str, text: &str) -> String {
    if out::stdout_has_colour() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
}
