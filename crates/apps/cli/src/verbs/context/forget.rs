//! `context forget`: removes documents from the local context.
//!
//! It lists the documents and asks before it removes them; their sources stay untouched. If one of
//! the named documents cannot be found, nothing is removed.

use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};
use serde_json::json;
use toolgate_context::{Document, Library, compile};

use super::open_existing;
use crate::cli_context::CliContext;
use crate::exit::{CliError, ErrorCode, Exit, Result, cli_error};
use crate::out;
use crate::prompt;
use crate::verbs::declaration::messages::display_path;

/// How many documents are looked up or removed at once.
const PAGE: usize = 1000;
/// How many documents are listed before the prompt; the rest are counted.
const MAX_NAMES: usize = 10;

/// The arguments of `toolgate context forget`.
#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("which").required(true),
    after_help = "Files and resources themselves are not touched. A file comes back when its \
    folder is ingested again.\n\n\
    Examples:\n  toolgate context forget notes/old.md --yes\n  \
    toolgate context forget --folder notes --dry-run\n  \
    toolgate context forget --server sample --yes"
)]
pub struct ContextForgetArgs {
    /// Documents to remove: paths, resource URIs, or sources as shown by `context search`
    #[arg(value_name = "PATH|URI", group = "which")]
    sources: Vec<String>,
    /// Remove all files in this folder and below
    #[arg(long, value_name = "DIR", group = "which")]
    folder: Option<PathBuf>,
    /// Remove everything compiled from this server
    #[arg(long, value_name = "NAME", group = "which")]
    server: Option<String>,
    /// Remove all documents and the query history
    #[arg(long, group = "which")]
    all: bool,
    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,
    /// Show what would be removed without removing it
    #[arg(long)]
    dry_run: bool,
}

pub async fn run(context: &CliContext, options: &ContextForgetArgs) -> Result<Exit> {
    let library = open_existing(context).await?;
    let selected = match &library {
        Some(library) => find_documents(library, options).await?,
        None => Vec::new(),
    };
    let (Some(library), [_, ..]) = (library, &selected[..]) else {
        return Err(no_match_error(options));
    };
    let many = out::count(selected.len(), "document");
    if options.dry_run || !options.yes {
        list_documents(&selected);
    }
    if options.dry_run {
        let text = format!("dry run: {many} would be removed");
        return print_result(context, 0, &selected, &text);
    }
    if !options.yes {
        let hint = "use --yes to confirm, or --dry-run to see what would be removed";
        let (question, action) = (format!("Remove {many}?"), format!("remove {many}"));
        prompt::confirm(&question, &action, hint, "not confirmed; nothing was removed")?;
    }
    let mut forgotten = 0;
    for some in selected.chunks(PAGE) {
        let keys: Vec<_> = some.iter().map(|document| document.key.clone()).collect();
        forgotten += library.forget(&keys).await?;
    }
    if options.all {
        // Past queries reveal what the documents were about.
        library.forget_queries().await?;
    }
    let text = format!("removed {}", out::count(forgotten, "document"));
    print_result(context, forgotten, &selected, &text)
}

fn list_documents(documents: &[Document]) {
    for Document { key, passages, .. } in documents.iter().take(MAX_NAMES) {
        let passages = out::count(*passages, "passage");
        out::note(&format!("  {} ({passages})", display_path(Path::new(key))));
    }
    if let more @ 1.. = documents.len().saturating_sub(MAX_NAMES) {
        out::note(&format!("  and {more} more"));
    }
}

fn print_result(
    context: &CliContext,
    forgotten: u64,
    documents: &[Document],
    text: &str,
) -> Result<Exit> {
    if context.json {
        let sources: Vec<_> = documents.iter().map(|document| &document.key).collect();
        out::json(&json!({ "forgotten": forgotten, "documents": sources }))?;
    }
    out::note(text);
    Ok(Exit::Done)
}

/// Returns the documents that the options select, sorted by key unless they were named.
async fn find_documents(library: &Library, options: &ContextForgetArgs) -> Result<Vec<Document>> {
    if options.all {
        return matching_documents(library, |_| true).await;
    }
    if let Some(server) = &options.server {
        let prefix = compile::resource_key(server, "");
        return matching_documents(library, |document| document.key.starts_with(&prefix)).await;
    }
    if let Some(folder) = &options.folder {
        return documents_below(library, folder).await;
    }
    let mut documents: Vec<Document> = Vec::new();
    for source in &options.sources {
        for document in find_by_source(library, source).await? {
            // The same document may be named twice.
            if !documents.iter().any(|known| known.key == document.key) {
                documents.push(document);
            }
        }
    }
    Ok(documents)
}

async fn documents_below(library: &Library, folder: &Path) -> Result<Vec<Document>> {
    let folders = path_variants(folder);
    let is_below = |it: &Document| folders.iter().any(|at| Path::new(&it.key).starts_with(at));
    matching_documents(library, is_below).await
}

async fn matching_documents(
    library: &Library,
    is_selected: impl Fn(&Document) -> bool,
) -> Result<Vec<Document>> {
    let (mut after, mut selected) = (String::new(), Vec::new());
    loop {
        let documents = library.documents(&after, PAGE).await?;
        let Some(last) = documents.last() else { return Ok(selected) };
        after = last.key.clone();
        selected.extend(documents.into_iter().filter(&is_selected));
    }
}

/// Returns the documents that an argument names: a stored source, a path, the name of a note, or a
/// URI, which several servers may have.
async fn find_by_source(library: &Library, source: &str) -> Result<Vec<Document>> {
    let paths = path_variants(Path::new(source));
    let paths = paths.iter().filter_map(|path| path.to_str());
    let note = format!("note:{source}");
    for key in [source].into_iter().chain(paths).chain([note.as_str()]) {
        if let Some(document) = library.find_document(key).await? {
            return Ok(vec![document]);
        }
    }
    let mut found = Vec::new();
    for (server, _) in library.status().await?.servers {
        found.extend(library.find_document(&compile::resource_key(&server, source)).await?);
    }
    if found.is_empty() {
        return Err(unknown_document_error(library, source).await);
    }
    Ok(found)
}

/// Returns the forms in which a path may be stored: absolute, and with links resolved. The file
/// itself may no longer exist.
fn path_variants(path: &Path) -> Vec<PathBuf> {
    let Ok(absolute) = std::path::absolute(path) else { return Vec::new() };
    let real = absolute
        .canonicalize()
        .ok()
        .or_else(|| Some(absolute.parent()?.canonicalize().ok()?.join(absolute.file_name()?)));
    [Some(absolute), real].into_iter().flatten().collect()
}

async fn unknown_document_error(library: &Library, source: &str) -> CliError {
    let failure = cli_error!(ContextUnknown, "no document with source `{source}`");
    match documents_below(library, Path::new(source)).await {
        Ok(below) if !below.is_empty() => failure.hint(format!(
            "use `--folder {source}` to remove the {} below it",
            out::count(below.len(), "document")
        )),
        _ => failure
            .hint("run `toolgate context search` or `toolgate context status` to see sources"),
    }
}

fn no_match_error(options: &ContextForgetArgs) -> CliError {
    let message = match options {
        ContextForgetArgs { folder: Some(folder), .. } => {
            format!("no documents in folder `{}`", folder.display())
        }
        ContextForgetArgs { server: Some(server), .. } => {
            format!("no documents from server `{server}`")
        }
        _ => "the local context has no documents".to_owned(),
    };
    CliError::new(ErrorCode::ContextUnknown, message)
        .hint("run `toolgate context status` to see what it contains")
}
