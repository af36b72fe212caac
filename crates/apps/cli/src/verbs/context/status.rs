//! `context status`: how much there is, and where it came from.

use clap::Args;
use serde_json::{Value, json};
use toolgate_context::Status as Standing;

use super::{existing, failed, shown, tell_empty};
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::out::{self, Cut, Table};

#[derive(Debug, Args)]
#[command(after_help = "Example: toolgate context status")]
pub struct Status {}

pub async fn run(context: &Context, _options: &Status) -> Result<Exit, Failure> {
    let standing = match existing(context).await? {
        Some(library) => library.status().await.map_err(|error| failed(&error))?,
        None => Standing::default(),
    };
    if context.json {
        out::json(&shape(context, &standing))?;
    } else if standing.documents == 0 {
        tell_empty();
    } else {
        out::data(text(&standing).as_bytes())?;
    }
    Ok(Exit::Done)
}

fn shape(context: &Context, standing: &Standing) -> Value {
    let folder =
        |(folder, documents): &(String, u64)| json!({ "folder": folder, "documents": documents });
    let server =
        |(server, documents): &(String, u64)| json!({ "server": server, "documents": documents });
    json!({
        "file": context.context_file(),
        "documents": standing.documents,
        "passages": standing.passages,
        "bytes": standing.bytes,
        "size": standing.size,
        "latest": standing.latest.map(shown::time),
        "folders": standing.folders.iter().map(folder).collect::<Vec<_>>(),
        "servers": standing.servers.iter().map(server).collect::<Vec<_>>(),
        "notes": notes(standing),
    })
}

/// Documents that came neither from a folder nor from a server.
fn notes(standing: &Standing) -> u64 {
    let from = standing.folders.iter().chain(&standing.servers).map(|(_, documents)| documents);
    standing.documents.saturating_sub(from.sum())
}

fn text(standing: &Standing) -> String {
    let size = |bytes: u64| out::size(usize::try_from(bytes).unwrap_or(usize::MAX));
    let (documents, passages) = (standing.documents, standing.passages);
    let mut text = format!(
        "{} in {}, {} of text; the file has {}\n",
        shown::count(passages, "passage"),
        shown::count(documents, "document"),
        size(standing.bytes),
        size(standing.size),
    );
    if let Some(latest) = standing.latest {
        text.push_str(&format!("last taken in: {}\n", shown::time(latest)));
    }
    let mut table = Table::new(&["SOURCE", "DOCUMENTS"]).soft(0, Cut::Start);
    for (folder, documents) in &standing.folders {
        table.row([out::visible(folder), documents.to_string()]);
    }
    for (server, documents) in &standing.servers {
        table.row([format!("server {}", out::visible(server)), documents.to_string()]);
    }
    if let notes @ 1.. = notes(standing) {
        table.row(["notes".to_owned(), notes.to_string()]);
    }
    format!("{text}\n{}", table.fitted())
}
