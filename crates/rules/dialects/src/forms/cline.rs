//! Cline's `cline_mcp_settings.json`, and Kilo's and Roo's files of the same kind.
//!
//! They differ in two words, told apart by where a file lies: the tools that need no question, and
//! the tag of Streamable HTTP. An endpoint without a tag speaks HTTP+SSE here.

use std::collections::BTreeMap;
use std::time::Duration;

use toolgate_model::{
    Approval, HttpKind, HttpSpec, ServerName, ServerSpec, Timeouts, ToolSpec, TransportSpec,
};

use super::rest::{self, Covers};
use crate::form::{Entry, Form, Place, Switch};
use crate::frame::fields::Unit;
use crate::frame::server::{self, Keys};
use crate::frame::{Fields, Writer};
use crate::{FileRef, Grammar, Syntax};

pub(crate) struct Cline;

const ID: &str = "cline";
const KEYS: Keys = Keys {
    tags: &["type", "transportType"],
    words: &[
        ("stdio", None),
        ("sse", Some(HttpKind::Sse)),
        ("streamableHttp", Some(HttpKind::Streamable)),
        ("streamable-http", Some(HttpKind::Streamable)),
        ("http", Some(HttpKind::Streamable)),
    ],
    ..Keys::COMMON
};
/// Cline takes no shorter `timeout`.
const LEAST_TIMEOUT: Duration = Duration::from_secs(30);

impl Form for Cline {
    fn syntax(&self) -> Syntax {
        Syntax::Json
    }

    fn place(&self) -> Place {
        Place::Map(&["mcpServers"])
    }

    fn grammar(&self) -> Grammar {
        Grammar::Literal
    }

    fn is_own_file(&self) -> bool {
        true
    }

    fn switch(&self) -> Option<Switch> {
        Some(Switch { field: "disabled", on: false, other: None })
    }

    fn read(&self, name: ServerName, entry: &mut Fields<'_, '_, '_>) -> Option<Entry> {
        let mut transport = server::transport(entry, &KEYS);
        if let Some(TransportSpec::Http(HttpSpec { kind: kind @ HttpKind::Auto, .. })) =
            &mut transport
        {
            *kind = HttpKind::Sse;
        }
        let enabled = !entry.flag("disabled").unwrap_or(false);
        let timeouts = timeouts(entry);
        let tools = approved(entry);
        let mut spec = ServerSpec::new(name, transport?);
        spec.selection.tools = tools;
        Some(ServerSpec { enabled, timeouts, ..spec }.into())
    }

    fn write(&self, spec: &ServerSpec, writer: &mut Writer<'_>) {
        let mut rest = spec.clone();
        let words = Words::of(writer.file());
        match &mut rest.transport {
            TransportSpec::Stdio(stdio) => rest::stdio(stdio, &KEYS, writer),
            TransportSpec::Http(http) => write_http(http, &words, writer),
            TransportSpec::BuiltIn => return rest::undeclarable(writer, "it is built in"),
        }
        if !std::mem::replace(&mut rest.enabled, true) {
            writer.flag("disabled", true);
        }
        if let Some(time) = rest::timeout(&mut rest.timeouts, Covers::All, LEAST_TIMEOUT) {
            writer.seconds("timeout", time);
        }
        let approved = take_approved(&mut rest.selection.tools);
        writer.plains(words.approved, &approved);
        rest::finish(&rest, ID, writer);
    }
}

/// What differs between the hosts.
struct Words {
    approved: &'static str,
    streamable: &'static str,
}

impl Words {
    fn of(file: &FileRef) -> Self {
        let others = [".kilocode", ".roo", "mcp_settings.json"];
        let is_other = file.path.iter().any(|part| others.iter().any(|other| part == *other));
        match is_other {
            true => Self { approved: "alwaysAllow", streamable: "streamable-http" },
            false => Self { approved: "autoApprove", streamable: "streamableHttp" },
        }
    }
}

/// One number for everything.
fn timeouts(fields: &mut Fields<'_, '_, '_>) -> Timeouts {
    let Some(mut time) = fields.time("timeout", Unit::Seconds) else { return Timeouts::default() };
    if time < LEAST_TIMEOUT {
        fields.warn("timeout", "is taken as 30 seconds", "Cline takes no less: give 30 or more");
        time = LEAST_TIMEOUT;
    }
    Timeouts::all(time)
}

/// The tools that are called without asking.
fn approved(fields: &mut Fields<'_, '_, '_>) -> BTreeMap<String, ToolSpec> {
    let lists = ["autoApprove", "alwaysAllow"].map(|key| fields.texts(key).unwrap_or_default());
    let never = ToolSpec { approval: Some(Approval::Never), ..ToolSpec::default() };
    lists.into_iter().flatten().map(|tool| (tool, never.clone())).collect()
}

/// Takes out what the list of approved tools can say.
fn take_approved(tools: &mut BTreeMap<String, ToolSpec>) -> Vec<String> {
    let never = ToolSpec { approval: Some(Approval::Never), ..ToolSpec::default() };
    let mut approved = Vec::new();
    for (name, tool) in tools.iter_mut().filter(|(_, tool)| tool.approval == never.approval) {
        approved.push(name.clone());
        tool.approval = None;
    }
    tools.retain(|_, tool| *tool != ToolSpec::default());
    approved
}

fn write_http(http: &mut HttpSpec, words: &Words, writer: &mut Writer<'_>) {
    let word = match std::mem::take(&mut http.kind) {
        HttpKind::Sse => "sse",
        HttpKind::Streamable => words.streamable,
        HttpKind::Auto => {
            writer.losses().add("type", "it cannot be left open: Streamable HTTP is written");
            words.streamable
        }
    };
    writer.plain("type", Some(word));
    rest::http(http, &KEYS, writer);
}
