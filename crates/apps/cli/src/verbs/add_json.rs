//! `add-json`: declares a server from an entry that was copied out of some file or page.
//!
//! Which dialect an entry is written in is seen from its fields. Whole documents are taken too, if
//! they declare one server.

use std::io::Read as _;

use clap::Args;
use jsonc_parser::ParseOptions;
use serde_json::{Map, Value, json};
use toolgate_host::Scope;
use toolgate_host::ServerSpec;
use toolgate_host::config::{Dialect, Document, FileRef};
use toolgate_model::Severity;

use super::change::{self, Placing, Proposal};
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::out::{self, visible_lines};

#[derive(Debug, Args)]
#[command(
    after_help = "The entry may be written as in .mcp.json, Gemini's or VS Code's settings, \
    opencode.json, or their like.\n\n\
    Examples:\n  \
    toolgate add-json fs '{\"command\":\"npx\",\"args\":[\"-y\",\"server\",\".\"]}'\n  \
    toolgate add-json docs '{\"type\":\"http\",\"url\":\"https://api.example.com/mcp/\"}' -s user\n  \
    toolgate add-json fs - < entry.json"
)]
pub struct AddJson {
    /// What to call the server
    name: String,
    /// Its entry, or - to read it from stdin
    #[arg(value_name = "JSON", allow_hyphen_values = true)]
    entry: String,
    #[command(flatten)]
    placing: Placing,
}

/// JSON as people have it in their files: with comments and trailing commas, and nothing looser.
const JSONC: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

pub async fn run(context: &Context, options: &AddJson) -> Result<Exit, Failure> {
    let name = change::name(&options.name)?;
    let text = match options.entry.as_str() {
        "-" => typed()?,
        text => text.to_owned(),
    };
    let entry = entry(&text)?;
    let spec = read(context, options, name.as_str(), &entry)?;
    let trusted = spec.trust && !options.placing.trust;
    let spec = ServerSpec { trust: false, ..spec };
    if trusted {
        let note = out::cyan("note:");
        out::note(&format!("{note} `trust` of the entry does not count; say --trust yourself"));
    }
    change::declare(context, Proposal { spec, placing: &options.placing }).await
}

fn typed() -> Result<String, Failure> {
    let mut text = String::new();
    let read = std::io::stdin().read_to_string(&mut text);
    read.map_err(|error| Failure::failed(format!("read standard input: {error}")))?;
    Ok(text)
}

/// The entry itself, taken out of the document around it.
fn entry(text: &str) -> Result<Map<String, Value>, Failure> {
    let hint = r#"an entry is wanted, for example {"command":"npx","args":["server"]}"#;
    let wrong = |why: String| Failure::usage(format!("read the entry: {why}")).hint(hint);
    // The parser's own words may repeat the text, which may hold a credential; the place does not.
    let text = text.trim_start_matches('\u{feff}');
    let value: Value = jsonc_parser::parse_to_serde_value(text, &JSONC).map_err(|error| {
        let (line, column) = (error.line_display(), error.column_display());
        wrong(format!("it is no JSON at line {line}, column {column}"))
    })?;
    let Value::Object(members) = value else { return Err(wrong("it is no object".into())) };
    let around = ["mcpServers", "servers", "context_servers", "mcp"].iter();
    let Some(servers) = around.filter_map(|key| members.get(*key)?.as_object()).next() else {
        return Ok(members);
    };
    match servers.iter().next() {
        Some((_, Value::Object(only))) if servers.len() == 1 => Ok(only.clone()),
        _ => Err(wrong("it declares several servers, or none".into())
            .hint("`toolgate import` takes whole files; here give one entry")),
    }
}

/// The dialect an entry is written in, by the fields only that one has.
fn dialect(entry: &Map<String, Value>) -> Dialect {
    let has = |keys: &[&str]| keys.iter().any(|key| entry.contains_key(*key));
    let kind = entry.get("type").and_then(Value::as_str).unwrap_or_default();
    let text = Value::Object(entry.clone()).to_string();
    let command_is_list = entry.get("command").is_some_and(Value::is_array);
    if command_is_list || has(&["environment"]) || matches!(kind, "local" | "remote") {
        Dialect::OpenCode
    } else if has(&["serverUrl"]) {
        Dialect::Windsurf
    } else if has(&["autoApprove", "alwaysAllow"]) || kind == "streamableHttp" {
        Dialect::Cline
    } else if has(&["httpUrl", "includeTools", "excludeTools", "trust", "authProviderType"]) {
        Dialect::Gemini
    } else if has(&["envFile", "sandbox", "sandboxEnabled", "dev"])
        || ["${input:", "${workspaceFolder", "${env:", "${userHome"]
            .iter()
            .any(|it| text.contains(it))
    {
        Dialect::VsCode
    } else {
        Dialect::McpJson
    }
}

/// The document of a dialect that holds nothing but this entry.
fn document(dialect: Dialect, name: &str, entry: &Map<String, Value>) -> String {
    let key = match dialect {
        Dialect::OpenCode => "mcp",
        Dialect::VsCode => "servers",
        _ => "mcpServers",
    };
    json!({ key: { name: entry } }).to_string()
}

fn read(
    context: &Context,
    options: &AddJson,
    name: &str,
    entry: &Map<String, Value>,
) -> Result<ServerSpec, Failure> {
    let dialect = dialect(entry);
    let at = place(context, options)?;
    let reading = dialect.read(&document(dialect, name, entry), &at);
    for found in reading.diagnostics.iter().filter(|it| it.severity == Severity::Warning) {
        let hint = found.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
        out::note(&visible_lines(&format!("warning: {}{hint}", found.message)));
    }
    let fault = reading.diagnostics.iter().find(|it| it.severity == Severity::Error);
    match (reading.servers.into_iter().next(), fault) {
        (Some(declared), _) => Ok(declared.spec),
        (None, Some(fault)) => Err(Failure {
            hint: fault.hint.clone(),
            ..Failure::usage(format!("read the entry: {}", fault.message))
        }),
        (None, None) => Err(Failure::usage("read the entry: it declares nothing to start")
            .hint("give it `command` or `url`")),
    }
}

/// Where the entry will lie: its paths are meant from there.
fn place(context: &Context, options: &AddJson) -> Result<FileRef, Failure> {
    let is_project = options.placing.scope.unwrap_or_default().means_project();
    match (&context.config, is_project) {
        (None, true) => {
            let [_, shared] = Document::of_project(&change::root(context)?);
            Ok(shared.at)
        }
        (None, false) => Ok(Document::of_user(&context.home).at),
        (Some(named), _) => Ok(FileRef::new(named, Scope::User)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Dialect {
        dialect(&entry(text).unwrap())
    }

    #[test]
    fn the_fields_tell_the_dialect() {
        for (text, expected) in [
            (r#"{"command":"npx","args":["x"]}"#, Dialect::McpJson),
            (r#"{"type":"http","url":"https://x.test"}"#, Dialect::McpJson),
            (r#"{"type":"local","command":["npx","x"]}"#, Dialect::OpenCode),
            (r#"{"type":"remote","url":"https://x.test"}"#, Dialect::OpenCode),
            (r#"{"httpUrl":"https://x.test"}"#, Dialect::Gemini),
            (r#"{"command":"x","trust":true}"#, Dialect::Gemini),
            (r#"{"command":"x","env":{"A":"${input:a}"}}"#, Dialect::VsCode),
            (r#"{"serverUrl":"https://x.test"}"#, Dialect::Windsurf),
            (r#"{"type":"streamableHttp","url":"https://x.test"}"#, Dialect::Cline),
            (r#"{"mcpServers":{"a":{"command":"x"}}}"#, Dialect::McpJson),
            (
                "\u{feff}{ /* c */ \"command\": \"x\", \"args\": [\"1\",], } // end",
                Dialect::McpJson,
            ),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_entry_is_bad_usage() {
        for text in ["", "[]", "1", "{\"command\":", r#"{"mcpServers":{"a":{},"b":{}}}"#] {
            assert_eq!(entry(text).unwrap_err().exit, Exit::Usage, "{text}");
        }
    }
}
