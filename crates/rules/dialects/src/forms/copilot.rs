//! Copilot CLI's `mcp-config.json`, and a repository's `.github/mcp.json`.

use toolgate_model::{
    Data, HttpKind, HttpSpec, Selection, ServerName, ServerSpec, ToolSpec, TransportSpec,
};

use super::rest;
use crate::form::{Entry, Form, Place};
use crate::frame::server::{self, Keys};
use crate::frame::{Fields, Writer};
use crate::{Grammar, Syntax};

pub(crate) struct Copilot;

const ID: &str = "copilot";
const KEYS: Keys = Keys {
    tags: &["type"],
    words: &[
        ("local", None),
        ("stdio", None),
        ("http", Some(HttpKind::Auto)),
        ("sse", Some(HttpKind::Sse)),
    ],
    ..Keys::COMMON
};
/// What it means is not documented well enough to act on it.
const KEPT: [&str; 1] = ["timeout"];
/// What stands for all tools.
const ALL: &str = "*";

impl Form for Copilot {
    fn syntax(&self) -> Syntax {
        Syntax::Json
    }

    fn place(&self) -> Place {
        Place::Map(&["mcpServers"])
    }

    fn grammar(&self) -> Grammar {
        Grammar::Braces
    }

    fn is_own_file(&self) -> bool {
        true
    }

    fn read(&self, name: ServerName, entry: &mut Fields<'_, '_, '_>) -> Option<Entry> {
        let transport = server::transport(entry, &KEYS);
        let tools = entry.texts("tools");
        let extras = entry.kept(&KEPT).map(|kept| (ID.to_owned(), kept));
        let mut spec = ServerSpec::new(name, transport?);
        spec.extras.extend(extras);
        match tools {
            // An empty list is a list all the same: no tool is on it.
            Some(tools) if tools.is_empty() => spec.selection.listed_only = true,
            Some(tools) if !tools.iter().any(|tool| tool == ALL) => spec.selection.include = tools,
            _ => {}
        }
        Some(spec.into())
    }

    fn write(&self, spec: &ServerSpec, writer: &mut Writer<'_>) {
        let mut rest = spec.clone();
        match &mut rest.transport {
            TransportSpec::Stdio(stdio) => {
                writer.plain("type", Some("local"));
                rest::stdio(stdio, &KEYS, writer);
            }
            TransportSpec::Http(http) => write_http(http, writer),
            TransportSpec::BuiltIn => return rest::undeclarable(writer, "it is built in"),
        }
        let tools = tools(&mut rest, writer);
        writer.data("tools", Data::texts(tools));
        rest::finish(&rest, ID, writer);
    }
}

fn write_http(http: &mut HttpSpec, writer: &mut Writer<'_>) {
    let word = match http.kind {
        HttpKind::Sse => "sse",
        HttpKind::Auto | HttpKind::Streamable => "http",
    };
    if http.kind == HttpKind::Sse {
        http.kind = HttpKind::Auto;
    }
    writer.plain("type", Some(word));
    rest::http(http, &KEYS, writer);
}

/// The list of tools, which Copilot wants to be there. Where it is a list of names, it says all
/// that other rules have to say about who is seen.
fn tools(rest: &mut ServerSpec, writer: &mut Writer<'_>) -> Vec<String> {
    let Selection { include, listed_only, tools, .. } = &rest.selection;
    if !listed_only && include.is_empty() {
        return vec![ALL.to_owned()];
    }
    let named: Vec<_> = match listed_only {
        true => tools.keys().cloned().collect(),
        false => rest::exact(writer, "include", include),
    };
    let is_whole = *listed_only || named.len() == include.len();
    let seen = named.into_iter().filter(|name| rest.selection.shows(name)).collect();
    let Selection { include, exclude, listed_only, tools, .. } = &mut rest.selection;
    (*include, *listed_only) = (Vec::new(), false);
    if is_whole {
        exclude.clear();
        tools.values_mut().for_each(|tool| tool.enabled = true);
        tools.retain(|_, tool| *tool != ToolSpec::default());
    }
    seen
}
