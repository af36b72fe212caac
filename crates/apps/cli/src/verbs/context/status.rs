//! `context status`: shows the size and the sources of the local context.

use serde_json::{Value, json};
use toolgate_context::{LibraryStatus, format_time};

use super::{open_existing, print_empty};
use crate::cli_context::CliContext;
use crate::exit::{Exit, Result};
use crate::out::{self, TextTable};

pub async fn run(context: &CliContext) -> Result<Exit> {
    let status = match open_existing(context).await? {
        Some(library) => library.status().await?,
        None => LibraryStatus::default(),
    };
    if context.json {
        out::json(&status_json(context, &status))?;
    } else if status.documents == 0 {
        print_empty();
    } else {
        out::data(status_text(&status).as_bytes())?;
    }
    Ok(Exit::Done)
}

fn status_json(context: &CliContext, status: &LibraryStatus) -> Value {
    let counts = |sources: &[(String, u64)], kind: &str| -> Vec<Value> {
        sources.iter().map(|(name, count)| json!({ kind: name, "documents": count })).collect()
    };
    json!({
        "file": context.context_file(),
        "documents": status.documents,
        "passages": status.passages,
        "bytes": status.bytes,
        "size": status.size,
        "latest": status.latest.map(format_time),
        "folders": counts(&status.folders, "folder"),
        "servers": counts(&status.servers, "server"),
        "notes": note_count(status),
    })
}

/// Returns the number of documents that come neither from a folder nor from a server.
fn note_count(status: &LibraryStatus) -> u64 {
    let from = status.folders.iter().chain(&status.servers).map(|(_, documents)| documents);
    status.documents.saturating_sub(from.sum())
}

fn status_text(status: &LibraryStatus) -> String {
    let mut text = format!(
        "{} in {}, {} of text; file size {}\n",
        out::count(status.passages, "passage"),
        out::count(status.documents, "document"),
        out::format_size(status.bytes),
        out::format_size(status.size),
    );
    if let Some(latest) = status.latest {
        text.push_str(&format!("last added: {}\n", format_time(latest)));
    }
    let mut table = TextTable::new(&["SOURCE", "DOCUMENTS"]);
    let folders = status.folders.iter().cloned();
    let servers = status.servers.iter().map(|(name, count)| (format!("server {name}"), *count));
    let notes = Some(("notes".to_owned(), note_count(status))).filter(|(_, count)| *count > 0);
    for (source, count) in folders.chain(servers).chain(notes) {
        table.row([source, count.to_string()]);
    }
    format!("{text}\n{}", table.text())
}
