//! `context search`: finds passages.

use std::time::Duration;

use clap::Args;
use clap::builder::RangedU64ValueParser;
use toolgate_context::Hit;

use super::shown::{self, has_colour};
use super::snippet::{Piece, Sought};
use super::{existing, failed, tell_empty};
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::out::{self, visible, visible_lines};

/// How long a query may take to be noted.
const PATIENCE: Duration = Duration::from_millis(200);

#[derive(Debug, Args)]
#[command(
    after_help = "What stands in double quotes must stand there so; of the rest, the more the \
    better.\n\n\
    Examples:\n  toolgate context search how do we rotate keys\n  \
    toolgate context search --limit 3 --json 'who decided on \"blue green\"'"
)]
pub struct Search {
    /// What to look for: words, a name, a question
    #[arg(value_name = "QUERY", required = true)]
    query: Vec<String>,
    /// How many passages to show at most
    #[arg(long, value_name = "N", default_value_t = 8,
        value_parser = RangedU64ValueParser::<usize>::new().range(1..=1000))]
    limit: usize,
    /// Show whole passages instead of the part that fits
    #[arg(long)]
    full: bool,
}

pub async fn run(context: &Context, options: &Search) -> Result<Exit, Failure> {
    let query = options.query.join(" ");
    if query.trim().is_empty() {
        return Err(Failure::usage("search for nothing").hint("say what to look for"));
    }
    let Some(library) = existing(context).await? else {
        return none(context).inspect(|_| tell_empty());
    };
    let hits = library.search(&query, options.limit).await.map_err(|error| failed(&error))?;
    if hits.is_empty() {
        match library.keys("", 1).await.map_err(|error| failed(&error))?.is_empty() {
            true => tell_empty(),
            false => out::note("nothing fits; try other words"),
        }
        return none(context);
    }
    if context.json {
        out::json(&hits.iter().map(shown::shape).collect::<Vec<_>>())?;
    } else {
        out::data(text(&hits, &query, options.full).as_bytes())?;
    }
    // Only what found something is worth completing; somebody may be writing, and nobody waits.
    let _ = tokio::time::timeout(PATIENCE, library.note_query(&query)).await;
    Ok(Exit::Done)
}

fn none(context: &Context) -> Result<Exit, Failure> {
    if context.json {
        out::json(&Vec::<()>::new())?;
    }
    Ok(Exit::Done)
}

/// Passages for a person: where each stands, what it is about, and what fits.
fn text(hits: &[Hit], query: &str, full: bool) -> String {
    let sought = Sought::by(query);
    let shown = hits.iter().map(|hit| {
        let (place, under) = (shown::position(hit), visible(&shown::under(hit)));
        let words = if full { whole(&sought, &hit.text) } else { part(&sought, &hit.text) };
        format!("{}\n  {}\n{words}\n", painted("36", &place), painted("1", &under))
    });
    shown.collect::<Vec<_>>().join("\n")
}

/// The telling part, in one paragraph.
fn part(sought: &Sought, text: &str) -> String {
    let (pieces, before, behind) = sought.snippet(text);
    let said = said(&pieces);
    let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let (before, behind) = (if before { "…" } else { "" }, if behind { "…" } else { "" });
    format!("    {before}{words}{behind}")
}

fn whole(sought: &Sought, text: &str) -> String {
    let said = said(&sought.whole(text));
    said.trim_end().lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}

/// Text of a document: nothing in it is obeyed.
fn said(pieces: &[Piece<'_>]) -> String {
    let piece = |it: &Piece<'_>| {
        let text = visible_lines(it.text);
        if it.found { painted("31;1", &text) } else { text }
    };
    pieces.iter().map(piece).collect()
}

fn painted(code: &str, text: &str) -> String {
    if has_colour() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
}
