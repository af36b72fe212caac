//! Sidekick's `mcp_tools_config.json`: a list of processes, each with the tools it may show.
//!
//! Strings contain no variables. Tools that are not listed are hidden, so the list is required.

use std::collections::BTreeMap;

use toolgate_model::{
    ConfigValue, ServerName, ServerSpec, ServerTimeouts, StdioSpec, ToolSelection, ToolSpec,
    TransportSpec,
};

use super::write_helpers::{self, TimeoutScope};
use crate::common::fields::TimeUnit;
use crate::common::server::{self, EntryKeys};
use crate::common::tree::{TreeNode, TreeValue};
use crate::common::{EntryWriter, FileDiagnostics, TableFields};
use crate::dialect_format::{DialectFormat, EnabledField, ParsedEntry, ServersLocation};
use crate::{FileSettings, Syntax, VariableSyntax, template};

/// The dialect of Sidekick.
pub(crate) struct Sidekick;

const ID: &str = "sidekick";
const VERSION: &str = "1.0";
const KEYS: EntryKeys =
    EntryKeys { transport_keys: &[], transport_names: &[], cwd: None, ..EntryKeys::COMMON };

impl DialectFormat for Sidekick {
    fn syntax(&self) -> Syntax {
        Syntax::Json
    }

    fn servers_location(&self) -> ServersLocation {
        ServersLocation::List(&["servers"])
    }

    fn variable_syntax(&self) -> VariableSyntax {
        VariableSyntax::Literal
    }

    fn is_servers_only(&self) -> bool {
        true
    }

    fn enabled_field(&self) -> Option<EnabledField> {
        Some(EnabledField { field: "enabled", value_when_enabled: true, opposite_field: None })
    }

    fn read_settings(&self, top: &mut TableFields<'_, '_, '_>) -> FileSettings {
        if top.text("version").is_some_and(|version| version != VERSION) {
            top.warn("version", "is not known: the file is read as version 1.0", "write \"1.0\"");
        }
        FileSettings::default()
    }

    fn read(&self, name: ServerName, entry: &mut TableFields<'_, '_, '_>) -> Option<ParsedEntry> {
        let started = entry.with_table("server_config", server_config);
        if entry.node("server_config").is_none() {
            entry.fail("has no `server_config`", "add it, with the `command` to start");
        }
        let enabled = entry.flag("enabled").unwrap_or(true);
        let tags = entry.texts("tags");
        let selection = selection(entry);
        let (stdio, timeouts) = started?;
        let spec = ServerSpec::new(name, TransportSpec::Stdio(stdio));
        Some(ServerSpec { enabled, tags, timeouts, selection, ..spec }.into())
    }

    fn write(&self, spec: &ServerSpec, writer: &mut EntryWriter<'_>) {
        let mut rest = spec.clone();
        let stdio = match &rest.transport {
            TransportSpec::Stdio(stdio) => stdio.clone(),
            TransportSpec::Http(_) => {
                return write_helpers::report_undeclarable(
                    writer,
                    "Sidekick only starts processes",
                );
            }
            TransportSpec::BuiltIn => {
                return write_helpers::report_undeclarable(writer, "it is built in");
            }
        };
        if !std::mem::replace(&mut rest.enabled, true) {
            writer.flag("enabled", false);
        }
        if let Some(tags) = rest.tags.take() {
            writer.data("tags", ConfigValue::texts(tags));
        }
        let timeout = write_helpers::timeout(
            &mut rest.timeouts,
            TimeoutScope::Start,
            std::time::Duration::ZERO,
        );
        writer.with_table("server_config", |inner| {
            write_command(&stdio, inner);
            if let Some(time) = timeout {
                inner.seconds("timeout", time);
            }
        });
        let tools = write_tools(&mut rest.selection, writer);
        writer.data("tools", ConfigValue::List(tools));
        write_helpers::report_losses(&rest, ID, writer);
    }

    fn base_fields(&self) -> Vec<(String, ConfigValue)> {
        vec![("version".to_owned(), ConfigValue::text(VERSION))]
    }
}

/// Reads the process, and the time limit of its handshake.
fn server_config(fields: &mut TableFields<'_, '_, '_>) -> (StdioSpec, ServerTimeouts) {
    let words = fields.texts("command");
    let mut words = words.unwrap_or_default().into_iter().map(|word| template::literal(&word));
    let command = words.next().unwrap_or_default();
    let stdio = server::read_stdio(fields, command, &KEYS);
    let stdio = StdioSpec { args: words.collect(), ..stdio };
    match fields.node("command").map(|node| &node.value) {
        Some(TreeValue::List(_)) => server::check_stdio(fields, &stdio, "command"),
        Some(_) => {}
        None => fields.fail("has no `command`", "list the program and its arguments"),
    }
    let start = fields.time("timeout", TimeUnit::Seconds);
    (stdio, ServerTimeouts { start, ..ServerTimeouts::default() })
}

fn selection(entry: &mut TableFields<'_, '_, '_>) -> ToolSelection {
    let items = entry.list("tools");
    if entry.node("tools").is_none() {
        entry
            .fail("has no `tools`", "list those to expose: [{\"name\": \"…\"}]; others are hidden");
    }
    let mut tools = BTreeMap::new();
    for item in items.unwrap_or_default() {
        if let Some((name, tool)) = tool(entry.diagnostics(), item)
            && tools.insert(name.clone(), tool).is_some()
        {
            entry.error_at(item.at, &format!("lists the tool {name:?} twice"), "keep one");
        }
    }
    ToolSelection { listed_only: true, tools, ..ToolSelection::default() }
}

/// Reads one tool. An invalid tool is reported and stays hidden; the others are used.
fn tool(report: &mut FileDiagnostics<'_>, item: &TreeNode) -> Option<(String, ToolSpec)> {
    let TreeValue::Table(members) = &item.value else {
        let message = format!("a tool is {}, not a table", item.value.kind());
        report.error(item.at, message, "write it as {\"name\": \"…\"}");
        return None;
    };
    let mut fields = TableFields::of(report, "a tool".to_owned(), item.at, members);
    let name = fields.text("name").filter(|name| !name.is_empty()).map(str::to_owned);
    if fields.node("name").is_none_or(|node| node.value == TreeValue::Text(String::new())) {
        fields.fail("has no `name`", "give it the one its server reports");
    }
    let tool = ToolSpec {
        alias: fields.text("alias").map(str::to_owned),
        tags: fields.texts("tags"),
        enabled: fields.flag("enabled").unwrap_or(true),
        approval: None,
    };
    let is_usable = fields.finish();
    name.filter(|_| is_usable).map(|name| (name, tool))
}

fn write_command(stdio: &StdioSpec, writer: &mut EntryWriter<'_>) {
    let command = write_helpers::render_literal(writer, "command", &stdio.command);
    let args =
        stdio.args.iter().filter_map(|arg| write_helpers::render_literal(writer, "args", arg));
    let words: Vec<_> = command.into_iter().chain(args).collect();
    writer.texts("command", &words);
    writer.secrets("env", "env", &stdio.env);
    writer.cwd(None, stdio.cwd.as_deref());
}

/// Returns the list of tools, each enabled or disabled according to all rules, because the dialect
/// has no other rules.
fn write_tools(selection: &mut ToolSelection, writer: &mut EntryWriter<'_>) -> Vec<ConfigValue> {
    let mut tools = selection.tools.clone();
    if !selection.listed_only {
        if selection.include.is_empty() {
            let why = "every tool must be listed here: those that are not stay hidden";
            writer.losses().add("tools", why);
        }
        for name in write_helpers::exact_names(writer, "include", &selection.include) {
            tools.entry(name).or_default();
        }
    }
    tools.iter_mut().for_each(|(name, tool)| tool.enabled = selection.is_visible(name));
    *selection = ToolSelection { approval: selection.approval, ..ToolSelection::default() };
    tools.iter().map(|(name, tool)| write_tool(name, tool, writer)).collect()
}

fn write_tool(name: &str, tool: &ToolSpec, writer: &mut EntryWriter<'_>) -> ConfigValue {
    let ToolSpec { alias, tags, enabled, approval } = tool;
    let mut fields = vec![("name".to_owned(), ConfigValue::text(name))];
    fields.extend(alias.as_ref().map(|alias| ("alias".to_owned(), ConfigValue::text(alias))));
    let tags = tags.as_ref().map(|tags| ConfigValue::texts(tags.iter().cloned()));
    fields.extend(tags.map(|tags| ("tags".to_owned(), tags)));
    if !enabled {
        fields.push(("enabled".to_owned(), ConfigValue::Bool(false)));
    }
    writer.losses().add_if_set(&format!("tools.{name}.approval"), approval.is_some());
    ConfigValue::Table(fields)
}
