//! `context forget`: takes documents out again.
//!
//! It says what would go and asks before; sources are never touched. What cannot be found is an
//! error, and then nothing goes.

use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};
use serde_json::json;
use toolgate_context::{Card, Library, compile};

use super::{existing, failed, record, shown};
use crate::carry;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::out;

/// So many documents are looked up at once.
const PAGE: usize = 1000;
/// So many are named before the question; the rest is counted.
const NAMED: usize = 10;

#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("which").required(true),
    after_help = "Files and resources themselves are not touched. A file below a folder that is \
    ingested again comes back.\n\n\
    Examples:\n  toolgate context forget notes/old.md --yes\n  \
    toolgate context forget --folder notes --dry-run\n  \
    toolgate context forget --server sample --yes"
)]
pub struct Forget {
    /// Documents: a path, the URI of a resource, or a source as search shows it
    #[arg(value_name = "PATH|URI", group = "which")]
    sources: Vec<String>,
    /// Every file at this path and below it
    #[arg(long, value_name = "DIR", group = "which")]
    folder: Option<PathBuf>,
    /// Everything compiled from this server
    #[arg(long, value_name = "NAME", group = "which")]
    server: Option<String>,
    /// Everything, and what was asked before
    #[arg(long, group = "which")]
    all: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
    /// Say what would go, and nothing more
    #[arg(long)]
    dry_run: bool,
}

pub async fn run(context: &Context, options: &Forget) -> Result<Exit, Failure> {
    let library = existing(context).await?;
    let meant = match &library {
        Some(library) => meant(library, options).await?,
        None => Vec::new(),
    };
    let (Some(library), [_, ..]) = (library, &meant[..]) else { return Err(nothing(options)) };
    let many = shown::count(meant.len() as u64, "document");
    if options.dry_run || !options.yes {
        name(&meant);
    }
    if options.dry_run {
        tell(context, 0, &meant)?;
        out::note(&format!("{many} would be forgotten; nothing was"));
        return Ok(Exit::Done);
    }
    if !options.yes && !carry::agreed(&format!("Forget {many}?"), || unasked(&many))? {
        return Err(Failure::failed("forget anything: you did not agree"));
    }
    let forgotten = forget(&library, &meant).await?;
    if options.all {
        // What was asked says much about what was there.
        library.forget_queries().await.map_err(|error| failed(&error))?;
    }
    tell(context, forgotten, &meant)?;
    out::note(&format!("forgot {}", shown::count(forgotten, "document")));
    Ok(Exit::Done)
}

fn unasked(many: &str) -> Failure {
    Failure::refused(format!("forget {many}: nobody can be asked here"))
        .hint("say so with --yes; --dry-run shows what would go")
}

fn name(cards: &[Card]) {
    cards.iter().take(NAMED).for_each(|card| out::note(&format!("  {}", record::described(card))));
    if let more @ 1.. = cards.len().saturating_sub(NAMED) {
        out::note(&format!("  and {more} more"));
    }
}

fn tell(context: &Context, forgotten: u64, cards: &[Card]) -> Result<(), Failure> {
    if !context.json {
        return Ok(());
    }
    let sources: Vec<_> = cards.iter().map(|card| &card.key).collect();
    out::json(&json!({ "forgotten": forgotten, "documents": sources }))
}

async fn forget(library: &Library, cards: &[Card]) -> Result<u64, Failure> {
    let mut forgotten = 0;
    for some in cards.chunks(PAGE) {
        let keys: Vec<_> = some.iter().map(|card| card.key.clone()).collect();
        forgotten += library.forget(&keys).await.map_err(|error| failed(&error))?;
    }
    Ok(forgotten)
}

/// The documents that are meant, by key.
async fn meant(library: &Library, options: &Forget) -> Result<Vec<Card>, Failure> {
    if options.all {
        return every(library, |_| true).await;
    }
    if let Some(server) = &options.server {
        let prefix = compile::key(server, "");
        return every(library, |card| card.key.starts_with(&prefix)).await;
    }
    if let Some(folder) = &options.folder {
        let folders = spellings(folder);
        return every(library, |card| {
            folders.iter().any(|it| Path::new(&card.key).starts_with(it))
        })
        .await;
    }
    let mut cards: Vec<Card> = Vec::new();
    for source in &options.sources {
        for card in one(library, source).await? {
            // Somebody may name one document twice.
            if !cards.iter().any(|known| known.key == card.key) {
                cards.push(card);
            }
        }
    }
    Ok(cards)
}

async fn every(library: &Library, is_meant: impl Fn(&Card) -> bool) -> Result<Vec<Card>, Failure> {
    let (mut after, mut meant) = (String::new(), Vec::new());
    loop {
        let cards = library.documents(&after, PAGE).await.map_err(|error| failed(&error))?;
        let Some(last) = cards.last() else { return Ok(meant) };
        after = last.key.clone();
        meant.extend(cards.into_iter().filter(&is_meant));
    }
}

/// The documents a word means: a source as it is kept, a path from here, a note's name, or a URI,
/// which several servers may have.
async fn one(library: &Library, source: &str) -> Result<Vec<Card>, Failure> {
    let look = async |key: String| library.card(&key).await.map_err(|error| failed(&error));
    if let Some(card) = look(source.to_owned()).await? {
        return Ok(vec![card]);
    }
    for path in spellings(Path::new(source)).iter().filter_map(|path| path.to_str()) {
        if let Some(card) = look(path.to_owned()).await? {
            return Ok(vec![card]);
        }
    }
    if let Some(card) = look(format!("note:{source}")).await? {
        return Ok(vec![card]);
    }
    let mut found = Vec::new();
    for (server, _) in library.status().await.map_err(|error| failed(&error))?.servers {
        found.extend(look(compile::key(&server, source)).await?);
    }
    if found.is_empty() {
        return Err(unknown(library, source).await);
    }
    Ok(found)
}

/// How a path may have been kept: as it is written from here, and with its links followed, of which
/// the last part may be gone.
fn spellings(path: &Path) -> Vec<PathBuf> {
    let Ok(absolute) = std::path::absolute(path) else { return Vec::new() };
    let real = absolute
        .canonicalize()
        .ok()
        .or_else(|| Some(absolute.parent()?.canonicalize().ok()?.join(absolute.file_name()?)));
    [Some(absolute), real].into_iter().flatten().collect()
}

async fn unknown(library: &Library, source: &str) -> Failure {
    let failure = Failure::failed(format!("forget `{source}`: there is no such document"));
    let folders = spellings(Path::new(source));
    let below =
        every(library, |card| folders.iter().any(|it| Path::new(&card.key).starts_with(it)));
    match below.await {
        Ok(below) if !below.is_empty() => failure.hint(format!(
            "{} below it: --folder {source} means them all",
            shown::count(below.len() as u64, "document")
        )),
        _ => failure
            .hint("`toolgate context search` shows sources; `toolgate context status` folders"),
    }
}

fn nothing(options: &Forget) -> Failure {
    let what = match options {
        Forget { folder: Some(folder), .. } => format!("of `{}`", folder.display()),
        Forget { server: Some(server), .. } => format!("of server `{server}`"),
        _ => "at all".to_owned(),
    };
    Failure::failed(format!("forget: there is no document {what}"))
        .hint("`toolgate context status` says what there is")
}
