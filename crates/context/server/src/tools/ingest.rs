//! `ingest`: the only tool that writes. It adds a file, a folder or a note to the library.

use std::path::Path;

use serde_json::{Value, json};
use toolgate_host::local::{ClientHandle, Tool, ToolCall, ToolOutput};
use toolgate_model::escape_invisible;

use super::ingest_permissions::IngestPermissions;
use super::schema;
use crate::arguments::ToolArguments;
use crate::ingest::{IngestOptions, IngestProgress, IngestRemarks, IngestReport, Ingester};
use crate::library_handle::shell_word;
use crate::service::{ContextService, describe_error};

/// The maximum length of a note, in characters.
const LENGTH: usize = 1_000_000;
/// The maximum length of a note's name, in characters.
const NAME: usize = 200;
/// The maximum number of skipped files listed.
const NAMED: usize = 50;

pub(super) fn tool(service: &ContextService, permissions: IngestPermissions) -> Tool {
    let service = service.clone();
    Tool::new(
        &service.names.tool_name("ingest"),
        "WRITES: adds to the user's documents, where every later search finds it. Use it only if the \
         user asked to add, save or remember something. Adds a file or a folder with everything \
         below it (`path`), or a text under a name (`text` and `name`). Unchanged files are skipped, \
         and a note of the same name is replaced. All other tools only read.",
        input(),
        move |call| run(service.clone(), permissions.clone(), call),
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
        "description": "The name of the note; an extension such as `.md` determines its format",
    });
    let path = schema::text(
        "A file or folder to ingest. It must be below the folder in which this server was started, or \
         below a folder of the user's configuration",
    );
    schema::arguments([("path", path), ("text", text), ("name", name)], &[])
}

fn output() -> Value {
    let remark = schema::object([
        ("path", schema::text("The file")),
        ("why", schema::text("Why it was left out, or what was lost")),
    ]);
    schema::object([
        ("source", schema::text("What was ingested: the path, or `note:NAME`")),
        ("added", schema::integer("New documents")),
        ("changed", schema::integer("Documents that were replaced")),
        ("unchanged", schema::integer("Documents that did not change")),
        ("removed", schema::integer("Documents whose file is gone")),
        ("passages", schema::integer("Passages that were stored")),
        ("binary", schema::integer("Binary files, which were left out")),
        ("skipped", schema::list(remark.clone(), "Other files left out, and why; the first 50")),
        ("skipped_total", schema::integer("The number of other files left out")),
        ("noted", schema::list(remark, "Files ingested with a loss; the first 50")),
        schema::notice(),
    ])
}

async fn run(
    service: ContextService,
    permissions: IngestPermissions,
    call: ToolCall,
) -> Result<ToolOutput, String> {
    let arguments = ToolArguments(&call.arguments);
    let (path, text, name) =
        (arguments.text("path")?, arguments.text("text")?, arguments.text("name")?);
    let (source, report) = match (path, text, name) {
        (Some(path), None, None) => ingest_path(&service, &permissions, path, &call.client).await?,
        (None, Some(text), Some(name)) => ingest_note(&service, &permissions, name, text).await?,
        _ => return Err("pass either `path`, or `text` and `name`".to_owned()),
    };
    Ok(report_output(&source, &report))
}

async fn ingest_path(
    service: &ContextService,
    permissions: &IngestPermissions,
    path: &str,
    client: &ClientHandle,
) -> Result<(String, IngestReport), String> {
    let allowed = permissions.check_path(path).map_err(|why| {
        let command = service.library_handle.ingest_command(&shell_path(path));
        format!("{why}. The user can run `{command}` to ingest it")
    })?;
    let ingest = open_ingester(service, permissions, permissions.options.clone()).await?;
    let mut on_progress = |progress: IngestProgress| {
        let total = (progress.files > 0).then_some(progress.files as f64);
        client.progress(progress.files_done as f64, total, "files read");
    };
    let report = ingest.ingest_path(&allowed, &mut on_progress).await.map_err(describe_error)?;
    Ok((allowed.display().to_string(), report))
}

async fn ingest_note(
    service: &ContextService,
    permissions: &IngestPermissions,
    name: &str,
    text: &str,
) -> Result<(String, IngestReport), String> {
    let name = name.trim();
    if name.is_empty() || name.chars().nth(NAME).is_some() {
        return Err(format!("`name` must have 1 to {NAME} characters"));
    }
    if name.chars().any(toolgate_host::is_invisible) {
        return Err(format!("`name` contains invisible characters: {}", escape_invisible(name)));
    }
    if text.trim().is_empty() || text.chars().nth(LENGTH).is_some() {
        return Err(format!("`text` must have 1 to {LENGTH} characters"));
    }
    // A text from a model is never trusted, whatever folders are.
    let ingest = open_ingester(
        service,
        permissions,
        IngestOptions { trusted: Vec::new(), ..permissions.options.clone() },
    );
    let report = ingest.await?.ingest_text(name, text).await.map_err(describe_error)?;
    Ok((format!("note:{name}"), report))
}

async fn open_ingester(
    service: &ContextService,
    permissions: &IngestPermissions,
    options: IngestOptions,
) -> Result<Ingester, String> {
    let library = service.library_handle.open_or_create().await.map_err(describe_error)?;
    Ok(Ingester::new(library, permissions.pdf.clone()).with_options(options))
}

/// Returns the absolute path, quoted for a shell.
fn shell_path(path: &str) -> String {
    let whole = std::path::absolute(Path::new(path));
    shell_word(&whole.map_or(path.to_owned(), |whole| whole.display().to_string()))
}

fn report_output(source: &str, report: &IngestReport) -> ToolOutput {
    let named = |remarks: &IngestRemarks| {
        let named = remarks.named.iter().take(NAMED);
        let named = named.map(
            |it| json!({ "path": escape_invisible(&it.path), "why": escape_invisible(&it.why) }),
        );
        named.collect::<Vec<_>>()
    };
    let IngestReport { added, changed, unchanged, removed, passages, binary, .. } = report;
    let notice = match (report.stopped, added + changed + unchanged) {
        (true, _) => "the ingest was stopped before it was complete",
        (false, 0) => "nothing was ingested",
        (false, _) => "everything else found there is in the library",
    };
    let structured = json!({
        "source": escape_invisible(source),
        "added": added, "changed": changed, "unchanged": unchanged, "removed": removed,
        "passages": passages, "binary": binary,
        "skipped": named(&report.skipped), "skipped_total": report.skipped.total,
        "noted": named(&report.noted), "notice": notice,
    });
    let mut text = format!(
        "{}: {added} documents added, {changed} changed, {unchanged} unchanged, {removed} removed; \
         {passages} passages kept. {} files left out ({binary} binary).",
        escape_invisible(source),
        report.skipped.total + binary,
    );
    for remark in report.skipped.named.iter().take(NAMED) {
        text += &format!(
            "\n- left out: {}: {}",
            escape_invisible(&remark.path),
            escape_invisible(&remark.why)
        );
    }
    ToolOutput::Both { text, structured }
}
