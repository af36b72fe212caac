//! `add-json`: declares a server from a JSON entry copied from a client's file or from a web page.
//!
//! The dialect of an entry is detected from its fields. A whole document is accepted if it declares
//! exactly one server.

use clap::Args;
use jsonc_parser::ParseOptions;
use serde_json::{Map, Value, json};
use toolgate_host::ServerSpec;
use toolgate_host::config::{ConfigDocument, Dialect, FileRef};
use toolgate_model::DiagnosticSeverity;

use super::declaration::{self, PlacementArgs, files};
use crate::arguments::read_stdin;
use crate::cli_context::CliContext;
use crate::exit::{CliError, ErrorCode, Exit, Result, cli_error};
use crate::out;

/// The arguments of `toolgate add-json`.
#[derive(Debug, Args)]
#[command(
    after_help = "The entry can have the format of .mcp.json, Gemini's or VS Code's settings, \
    opencode.json, or similar files.\n\n\
    Examples:\n  \
    toolgate add-json fs '{\"command\":\"npx\",\"args\":[\"-y\",\"server\",\".\"]}'\n  \
    toolgate add-json docs '{\"type\":\"http\",\"url\":\"https://api.example.com/mcp/\"}' -s user\n  \
    toolgate add-json fs - < entry.json"
)]
pub struct AddJsonArgs {
    /// Name of the server
    name: String,
    /// Entry of the server, or - to read it from stdin
    #[arg(value_name = "JSON", allow_hyphen_values = true)]
    entry: String,
    #[command(flatten)]
    placing: PlacementArgs,
}

/// Accepts JSON with comments and trailing commas, and nothing looser.
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

pub async fn run(context: &CliContext, options: &AddJsonArgs) -> Result<Exit> {
    let name = declaration::parse_server_name(&options.name)?;
    let text = match options.entry.as_str() {
        "-" => read_stdin(std::io::stdin())?,
        text => text.to_owned(),
    };
    let entry = parse_entry(&text)?;
    let spec = parse_spec(context, options, name.as_str(), &entry)?;
    let trusted = spec.trust && !options.placing.trust;
    let spec = ServerSpec { trust: false, ..spec };
    if trusted {
        out::remark("`trust` in the entry is ignored; use --trust instead");
    }
    declaration::declare(context, spec, &options.placing).await
}

/// Returns the entry in a text, without the document around it.
fn parse_entry(text: &str) -> Result<Map<String, Value>> {
    let hint = r#"pass one entry, for example {"command":"npx","args":["server"]}"#;
    let wrong = |message: String| CliError::new(ErrorCode::ConfigInvalid, message).hint(hint);
    // The parser's message may quote the text and so a credential. The position is safe.
    let text = text.trim_start_matches('\u{feff}');
    let value: Value = jsonc_parser::parse_to_serde_value(text, &JSONC).map_err(|error| {
        let (line, column) = (error.line_display(), error.column_display());
        wrong(format!("the entry is not valid JSON at line {line}, column {column}"))
    })?;
    let Value::Object(members) = value else {
        return Err(wrong("the entry is not a JSON object".into()));
    };
    let around = ["mcpServers", "servers", "context_servers", "mcp"].iter();
    let Some(servers) = around.filter_map(|key| members.get(*key)?.as_object()).next() else {
        return Ok(members);
    };
    match servers.iter().next() {
        Some((_, Value::Object(only))) if servers.len() == 1 => Ok(only.clone()),
        _ => Err(wrong("the document does not declare exactly one server".into())
            .hint("pass one entry, or run `toolgate import` for a whole file")),
    }
}

/// Detects the dialect of an entry from the fields that only that dialect has.
fn detect_dialect(entry: &Map<String, Value>) -> Dialect {
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

/// Returns a document in the dialect that contains only this entry.
fn document(dialect: Dialect, name: &str, entry: &Map<String, Value>) -> String {
    let key = match dialect {
        Dialect::OpenCode => "mcp",
        Dialect::VsCode => "servers",
        _ => "mcpServers",
    };
    json!({ key: { name: entry } }).to_string()
}

fn parse_spec(
    context: &CliContext,
    options: &AddJsonArgs,
    name: &str,
    entry: &Map<String, Value>,
) -> Result<ServerSpec> {
    let dialect = detect_dialect(entry);
    let at = target_file(context, options)?;
    let reading = dialect.read(&document(dialect, name, entry), &at);
    for found in reading.diagnostics.iter().filter(|it| it.severity == DiagnosticSeverity::Warning)
    {
        let hint = found.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
        out::note_lines(&format!("warning: {}{hint}", found.message));
    }
    let fault = reading.diagnostics.iter().find(|it| it.severity == DiagnosticSeverity::Error);
    match (reading.servers.into_iter().next(), fault) {
        (Some(declared), _) => Ok(declared.spec),
        (None, Some(fault)) => Err(CliError {
            code: fault.code,
            message: format!("the entry is invalid: {}", fault.message),
            hint: fault.hint.clone(),
        }),
        (None, None) => Err(cli_error!(ConfigInvalid, "the entry has neither a command nor a URL")
            .hint("add `command` or `url` to the entry")),
    }
}

/// Returns the file that will contain the entry. Relative paths in the entry start at its folder.
fn target_file(context: &CliContext, options: &AddJsonArgs) -> Result<FileRef> {
    let scope = options.placing.scope.unwrap_or_default().scope();
    let file = files::own_document(context, scope, |root| {
        let [_, shared] = ConfigDocument::for_project(root);
        Ok(shared)
    })?;
    Ok(file.at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Dialect {
        detect_dialect(&parse_entry(text).unwrap())
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
            assert_eq!(parse_entry(text).unwrap_err().exit(), Exit::Usage, "{text}");
        }
    }
}
