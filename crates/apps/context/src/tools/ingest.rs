//! `ingest`: the one tool that writes. It adds a file, a folder or a note to the library.

use std::path::Path;

use serde_json::{Value, json};
use toolgate_host::local::{Client, Output, Tool, ToolCall};
use toolgate_model::visible;

use super::intake::Intake;
use super::schema;
use crate::arguments::Arguments;
use crate::desk::{Desk, told};
use crate::ingest::{Ingest, Options, Progress, Remarks, Report};
use crate::shelf::shell_word;

/// How many characters a note may have.
const LENGTH: usize = 1_000_000;
/// How many a name may have.
const NAME: usize = 200;
/// How many files that were left out are named.
const NAMED: usize = 50;

pub(super) fn tool(desk: &Desk, intake: Intake) -> Tool {
    let desk = desk.clone();
    Tool::new(
        &desk.names.tool("ingest"),
        "WRITES: adds to the user's documents, where every later search finds it. Use it only if the \
         user asked to add, save or remember something. Takes in a file or a folder with everything \
         below it (`path`), or a text under a name (`text` and `name`). What did not change is left \
         alone, and a note of the same name is replaced. Every other tool here only reads.",
        input(),
        move |call| run(desk.clone(), intake.clone(), call),
    )
    .title("Ingest documents")
    .annotations(json!({
        "readOnlyHint": false, "destructiveHint": false, "idempotentHint": true,
        "openWorldHint": false,
    }))
    .output_schema(output())
}

fn input() -> Value {
    let text = json!({
        "type": "string", "minLength": 1, "maxLength": LENGTH,
        "description": "A text to keep as a note, together with `name`",
    });
    let name = json!({
        "type": "string", "minLength": 1, "maxLength": NAME,
        "description": "What the note is called; an ending like `.md` tells how it is written",
    });
    let path = schema::text(
        "A file or folder to take in, below the folder this server was started in or a folder of the \
         user's configuration",
    );
    schema::arguments([("path", path), ("text", text), ("name", name)], &[])
}

fn output() -> Value {
    let remark = schema::object([
        ("path", schema::text("The file")),
        ("why", schema::text("Why, or what was lost")),
    ]);
    schema::object([
        ("source", schema::text("What was taken in: the path, or `note:NAME`")),
        ("added", schema::whole("Documents that were not there before")),
        ("changed", schema::whole("Documents kept in place of what was there")),
        ("unchanged", schema::whole("Documents that are what they were")),
        ("removed", schema::whole("Documents whose file is gone")),
        ("passages", schema::whole("Passages that were kept")),
        ("binary", schema::whole("Files that are no text, which were left out")),
        ("skipped", schema::list(remark.clone(), "What else was left out, and why; the first 50")),
        ("skipped_total", schema::whole("How many were left out")),
        ("noted", schema::list(remark, "What was taken in with a loss; the first 50")),
        schema::notice(),
    ])
}

async fn run(desk: Desk, intake: Intake, call: ToolCall) -> Result<Output, String> {
    let arguments = Arguments(&call.arguments);
    let (path, text, name) =
        (arguments.text("path")?, arguments.text("text")?, arguments.text("name")?);
    let (source, report) = match (path, text, name) {
        (Some(path), None, None) => folder(&desk, &intake, path, &call.client).await?,
        (None, Some(text), Some(name)) => note(&desk, &intake, name, text).await?,
        _ => return Err("give `path`, or `text` and `name`".to_owned()),
    };
    Ok(reported(&source, &report))
}

async fn folder(
    desk: &Desk,
    intake: &Intake,
    path: &str,
    client: &Client,
) -> Result<(String, Report), String> {
    let allowed = intake.allowed(path).map_err(|why| {
        let command = desk.shelf.ingesting(&typed(path));
        format!("{why}. The user can take it in himself: `{command}`")
    })?;
    let ingest = ingest(desk, intake, intake.options.clone()).await?;
    let mut told = |progress: Progress| {
        let total = (progress.files > 0).then_some(progress.files as f64);
        client.progress(progress.files_done as f64, total, "files read");
    };
    let report = ingest.path(&allowed, &mut told).await.map_err(failed)?;
    Ok((allowed.display().to_string(), report))
}

async fn note(
    desk: &Desk,
    intake: &Intake,
    name: &str,
    text: &str,
) -> Result<(String, Report), String> {
    let name = name.trim();
    if name.is_empty() || name.chars().nth(NAME).is_some() {
        return Err(format!("`name` must have 1 to {NAME} characters"));
    }
    if name.chars().any(toolgate_host::is_invisible) {
        return Err(format!("`name` holds characters nobody sees: {}", visible(name)));
    }
    if text.trim().is_empty() || text.chars().nth(LENGTH).is_some() {
        return Err(format!("`text` must have 1 to {LENGTH} characters"));
    }
    // What a model hands over is nobody's word, whatever folders are trusted.
    let ingest = ingest(desk, intake, Options { trusted: Vec::new(), ..intake.options.clone() });
    let report = ingest.await?.text(name, text).await.map_err(failed)?;
    Ok((format!("note:{name}"), report))
}

async fn ingest(desk: &Desk, intake: &Intake, options: Options) -> Result<Ingest, String> {
    let library = desk.shelf.open().await.map_err(told)?;
    Ok(Ingest::new(library, intake.pdf.clone()).with(options))
}

fn failed(error: crate::ContextError) -> String {
    format!("failed to {error}")
}

/// A path as a shell takes it from any folder.
fn typed(path: &str) -> String {
    let whole = std::path::absolute(Path::new(path));
    shell_word(&whole.map_or(path.to_owned(), |whole| whole.display().to_string()))
}

fn reported(source: &str, report: &Report) -> Output {
    let named = |remarks: &Remarks| {
        let named = remarks.named.iter().take(NAMED);
        let named = named.map(|it| json!({ "path": visible(&it.path), "why": visible(&it.why) }));
        named.collect::<Vec<_>>()
    };
    let Report { added, changed, unchanged, removed, passages, binary, .. } = report;
    let notice = match (report.stopped, added + changed + unchanged) {
        (true, _) => "the ingest was stopped before its end",
        (false, 0) => "nothing was taken in",
        (false, _) => "everything else found there is in the library",
    };
    let structured = json!({
        "source": visible(source),
        "added": added, "changed": changed, "unchanged": unchanged, "removed": removed,
        "passages": passages, "binary": binary,
        "skipped": named(&report.skipped), "skipped_total": report.skipped.total,
        "noted": named(&report.noted), "notice": notice,
    });
    let mut text = format!(
        "{}: {added} documents added, {changed} changed, {unchanged} unchanged, {removed} removed; \
         {passages} passages kept. {} files left out ({binary} binary).",
        visible(source),
        report.skipped.total + binary,
    );
    for remark in report.skipped.named.iter().take(NAMED) {
        text += &format!("\n- left out: {}: {}", visible(&remark.path), visible(&remark.why));
    }
    Output::Both { text, structured }
}
