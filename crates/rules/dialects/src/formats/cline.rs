//! Cline's `cline_mcp_settings.json`, and the similar files of Kilo and Roo.
//!
//! The hosts use different names for two things, and the path of a file tells them apart: the list
//! of tools that need no approval, and the type of Streamable HTTP. An endpoint without a type uses
//! HTTP+SSE.

use std::collections::BTreeMap;
use std::time::Duration;

use toolgate_model::{
    ApprovalMode, HttpSpec, HttpTransportKind, ServerName, ServerSpec, ServerTimeouts, ToolSpec,
    TransportSpec,
};

use super::write_helpers::{self, TimeoutScope};
use crate::common::fields::TimeUnit;
use crate::common::server::{self, EntryKeys};
use crate::common::{EntryWriter, TableFields};
use crate::dialect_format::{DialectFormat, EnabledField, ParsedEntry, ServersLocation};
use crate::{FileRef, Syntax, VariableSyntax};

/// The dialect of Cline, Kilo and Roo.
pub(crate) struct Cline;

const ID: &str = "cline";
const KEYS: EntryKeys = EntryKeys {
    transport_keys: &["type", "transportType"],
    transport_names: &[
        ("stdio", None),
        ("sse", Some(HttpTransportKind::Sse)),
        ("streamableHttp", Some(HttpTransportKind::Streamable)),
        ("streamable-http", Some(HttpTransportKind::Streamable)),
        ("http", Some(HttpTransportKind::Streamable)),
    ],
    ..EntryKeys::COMMON
};
/// The minimum `timeout` that Cline accepts.
const LEAST_TIMEOUT: Duration = Duration::from_secs(30);

impl DialectFormat for Cline {
    fn syntax(&self) -> Syntax {
        Syntax::Json
    }

    fn servers_location(&self) -> ServersLocation {
        ServersLocation::Map(&["mcpServers"])
    }

    fn variable_syntax(&self) -> VariableSyntax {
        VariableSyntax::Literal
    }

    fn is_servers_only(&self) -> bool {
        true
    }

    fn enabled_field(&self) -> Option<EnabledField> {
        Some(EnabledField { field: "disabled", value_when_enabled: false, opposite_field: None })
    }

    fn read(&self, name: ServerName, entry: &mut TableFields<'_, '_, '_>) -> Option<ParsedEntry> {
        let mut transport = server::read_transport(entry, &KEYS);
        if let Some(TransportSpec::Http(HttpSpec {
            kind: kind @ HttpTransportKind::Auto, ..
        })) = &mut transport
        {
            *kind = HttpTransportKind::Sse;
        }
        let enabled = !entry.flag("disabled").unwrap_or(false);
        let timeouts = timeouts(entry);
        let tools = read_approved_tools(entry);
        let mut spec = ServerSpec::new(name, transport?);
        spec.selection.tools = tools;
        Some(ServerSpec { enabled, timeouts, ..spec }.into())
    }

    fn write(&self, spec: &ServerSpec, writer: &mut EntryWriter<'_>) {
        let mut rest = spec.clone();
        let words = ClineKeys::of(writer.file());
        match &mut rest.transport {
            TransportSpec::Stdio(stdio) => write_helpers::stdio(stdio, &KEYS, writer),
            TransportSpec::Http(http) => write_http(http, &words, writer),
            TransportSpec::BuiltIn => {
                return write_helpers::report_undeclarable(writer, "it is built in");
            }
        }
        if !std::mem::replace(&mut rest.enabled, true) {
            writer.flag("disabled", true);
        }
        if let Some(time) =
            write_helpers::timeout(&mut rest.timeouts, TimeoutScope::All, LEAST_TIMEOUT)
        {
            writer.seconds("timeout", time);
        }
        let approved = take_approved(&mut rest.selection.tools);
        writer.texts(words.approved, &approved);
        write_helpers::report_losses(&rest, ID, writer);
    }
}

/// The names that differ between the hosts.
struct ClineKeys {
    approved: &'static str,
    streamable: &'static str,
}

impl ClineKeys {
    fn of(file: &FileRef) -> Self {
        let others = [".kilocode", ".roo", "mcp_settings.json"];
        let is_other = file.path.iter().any(|part| others.iter().any(|other| part == *other));
        match is_other {
            true => Self { approved: "alwaysAllow", streamable: "streamable-http" },
            false => Self { approved: "autoApprove", streamable: "streamableHttp" },
        }
    }
}

/// Reads the one timeout for everything.
fn timeouts(fields: &mut TableFields<'_, '_, '_>) -> ServerTimeouts {
    let Some(mut time) = fields.time("timeout", TimeUnit::Seconds) else {
        return ServerTimeouts::default();
    };
    if time < LEAST_TIMEOUT {
        fields.warn("timeout", "is taken as 30 seconds", "use 30 or more: Cline accepts no less");
        time = LEAST_TIMEOUT;
    }
    ServerTimeouts::all(time)
}

/// Reads the tools that need no approval.
fn read_approved_tools(fields: &mut TableFields<'_, '_, '_>) -> BTreeMap<String, ToolSpec> {
    let lists = ["autoApprove", "alwaysAllow"].map(|key| fields.texts(key).unwrap_or_default());
    let never = ToolSpec { approval: Some(ApprovalMode::Never), ..ToolSpec::default() };
    lists.into_iter().flatten().map(|tool| (tool, never.clone())).collect()
}

/// Removes and returns the tools that the list of approved tools can express.
fn take_approved(tools: &mut BTreeMap<String, ToolSpec>) -> Vec<String> {
    let never = ToolSpec { approval: Some(ApprovalMode::Never), ..ToolSpec::default() };
    let mut approved = Vec::new();
    for (name, tool) in tools.iter_mut().filter(|(_, tool)| tool.approval == never.approval) {
        approved.push(name.clone());
        tool.approval = None;
    }
    tools.retain(|_, tool| *tool != ToolSpec::default());
    approved
}

fn write_http(http: &mut HttpSpec, words: &ClineKeys, writer: &mut EntryWriter<'_>) {
    let word = match std::mem::take(&mut http.kind) {
        HttpTransportKind::Sse => "sse",
        HttpTransportKind::Streamable => words.streamable,
        HttpTransportKind::Auto => {
            writer.losses().add(
                "type",
                "this dialect must name one HTTP transport: Streamable HTTP is written",
            );
            words.streamable
        }
    };
    writer.text("type", Some(word));
    write_helpers::http(http, &KEYS, writer);
}
