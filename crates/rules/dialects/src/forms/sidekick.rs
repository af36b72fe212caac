//! Sidekick's `mcp_tools_config.json`: a list of processes, each with the tools it may show.
//!
//! No text is expanded. Tools that are not listed are hidden, so the list must be there.

use std::collections::BTreeMap;

use toolgate_model::{
    Data, Selection, ServerName, ServerSpec, StdioSpec, Timeouts, ToolSpec, TransportSpec,
};

use super::rest::{self, Covers};
use crate::form::{Entry, Form, Place, Switch};
use crate::frame::fields::Unit;
use crate::frame::server::{self, Keys};
use crate::frame::tree::{Node, Value};
use crate::frame::{Fields, Report, Writer};
use crate::{Grammar, Settings, Syntax, template};

pub(crate) struct Sidekick;

const ID: &str = "sidekick";
const VERSION: &str = "1.0";
const KEYS: Keys = Keys { tags: &[], words: &[], cwd: None, ..Keys::COMMON };

impl Form for Sidekick {
    fn syntax(&self) -> Syntax {
        Syntax::Json
    }

    fn place(&self) -> Place {
        Place::List(&["servers"])
    }

    fn grammar(&self) -> Grammar {
        Grammar::Literal
    }

    fn is_own_file(&self) -> bool {
        true
    }

    fn switch(&self) -> Option<Switch> {
        Some(Switch { field: "enabled", on: true, other: None })
    }

    fn settings(&self, top: &mut Fields<'_, '_, '_>) -> Settings {
        if top.text("version").is_some_and(|version| version != VERSION) {
            top.warn("version", "is not known: the file is read as version 1.0", "write \"1.0\"");
        }
        Settings::default()
    }

    fn read(&self, name: ServerName, entry: &mut Fields<'_, '_, '_>) -> Option<Entry> {
        let started = entry.within("server_config", server_config);
        if entry.node("server_config").is_none() {
            entry.fail("has no `server_config`", "say in it what to start: `command`");
        }
        let enabled = entry.flag("enabled").unwrap_or(true);
        let tags = entry.texts("tags");
        let selection = selection(entry);
        let (stdio, timeouts) = started?;
        let spec = ServerSpec::new(name, TransportSpec::Stdio(stdio));
        Some(ServerSpec { enabled, tags, timeouts, selection, ..spec }.into())
    }

    fn write(&self, spec: &ServerSpec, writer: &mut Writer<'_>) {
        let mut rest = spec.clone();
        let stdio = match &rest.transport {
            TransportSpec::Stdio(stdio) => stdio.clone(),
            TransportSpec::Http(_) => {
                return rest::undeclarable(writer, "Sidekick only starts processes");
            }
            TransportSpec::BuiltIn => return rest::undeclarable(writer, "it is built in"),
        };
        if !std::mem::replace(&mut rest.enabled, true) {
            writer.flag("enabled", false);
        }
        if let Some(tags) = rest.tags.take() {
            writer.data("tags", Data::texts(tags));
        }
        let timeout = rest::timeout(&mut rest.timeouts, Covers::Start, std::time::Duration::ZERO);
        writer.within("server_config", |inner| {
            write_command(&stdio, inner);
            if let Some(time) = timeout {
                inner.seconds("timeout", time);
            }
        });
        let tools = write_tools(&mut rest.selection, writer);
        writer.data("tools", Data::List(tools));
        rest::finish(&rest, ID, writer);
    }

    fn base(&self) -> Vec<(String, Data)> {
        vec![("version".to_owned(), Data::text(VERSION))]
    }
}

/// What is started, and how long its handshake may take.
fn server_config(fields: &mut Fields<'_, '_, '_>) -> (StdioSpec, Timeouts) {
    let words = fields.texts("command");
    let mut words = words.unwrap_or_default().into_iter().map(|word| template::literal(&word));
    let command = words.next().unwrap_or_default();
    let stdio = server::stdio(fields, command, &KEYS);
    let stdio = StdioSpec { args: words.collect(), ..stdio };
    match fields.node("command").map(|node| &node.value) {
        Some(Value::List(_)) => server::check_stdio(fields, &stdio, "command"),
        Some(_) => {}
        None => fields.fail("has no `command`", "list the program and its arguments"),
    }
    let start = fields.time("timeout", Unit::Seconds);
    (stdio, Timeouts { start, ..Timeouts::default() })
}

fn selection(entry: &mut Fields<'_, '_, '_>) -> Selection {
    let items = entry.list("tools");
    if entry.node("tools").is_none() {
        entry
            .fail("has no `tools`", "list those to expose: [{\"name\": \"…\"}]; others are hidden");
    }
    let mut tools = BTreeMap::new();
    for item in items.unwrap_or_default() {
        if let Some((name, tool)) = tool(entry.report(), item)
            && tools.insert(name.clone(), tool).is_some()
        {
            entry.fault(item.at, &format!("lists the tool {name:?} twice"), "keep one");
        }
    }
    Selection { listed_only: true, tools, ..Selection::default() }
}

/// One tool. A bad one is reported and stays hidden; its neighbours are still good.
fn tool(report: &mut Report<'_>, item: &Node) -> Option<(String, ToolSpec)> {
    let Value::Table(members) = &item.value else {
        let message = format!("a tool is {}, not a table", item.value.kind());
        report.error(item.at, message, "write it as {\"name\": \"…\"}");
        return None;
    };
    let mut fields = Fields::of(report, "a tool".to_owned(), item.at, members);
    let name = fields.text("name").filter(|name| !name.is_empty()).map(str::to_owned);
    if fields.node("name").is_none_or(|node| node.value == Value::Text(String::new())) {
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

fn write_command(stdio: &StdioSpec, writer: &mut Writer<'_>) {
    let command = rest::literally(writer, "command", &stdio.command);
    let args = stdio.args.iter().filter_map(|arg| rest::literally(writer, "args", arg));
    let words: Vec<_> = command.into_iter().chain(args).collect();
    writer.plains("command", &words);
    writer.secrets("env", "env", &stdio.env);
    writer.cwd(None, stdio.cwd.as_deref());
}

/// The list of tools, each on or off as all rules together have it: beside it there are none.
fn write_tools(selection: &mut Selection, writer: &mut Writer<'_>) -> Vec<Data> {
    let mut tools = selection.tools.clone();
    if !selection.listed_only {
        if selection.include.is_empty() {
            let why = "every tool must be listed here: those that are not stay hidden";
            writer.losses().add("tools", why);
        }
        for name in rest::exact(writer, "include", &selection.include) {
            tools.entry(name).or_default();
        }
    }
    tools.iter_mut().for_each(|(name, tool)| tool.enabled = selection.shows(name));
    *selection = Selection { approval: selection.approval, ..Selection::default() };
    tools.iter().map(|(name, tool)| write_tool(name, tool, writer)).collect()
}

fn write_tool(name: &str, tool: &ToolSpec, writer: &mut Writer<'_>) -> Data {
    let ToolSpec { alias, tags, enabled, approval } = tool;
    let mut fields = vec![("name".to_owned(), Data::text(name))];
    fields.extend(alias.as_ref().map(|alias| ("alias".to_owned(), Data::text(alias))));
    let tags = tags.as_ref().map(|tags| Data::texts(tags.iter().cloned()));
    fields.extend(tags.map(|tags| ("tags".to_owned(), tags)));
    if !enabled {
        fields.push(("enabled".to_owned(), Data::Flag(false)));
    }
    writer.losses().unsaid(&format!("tools.{name}.approval"), approval.is_some());
    Data::Table(fields)
}
