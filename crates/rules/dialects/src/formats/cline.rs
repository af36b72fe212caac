//! Cline's `cline_mcp_settings.json`, and the similar files of Kilo and Roo.
//!
//! The hosts use different names for two things, and the path of a file tells them apart: the list
//! of tools that need no approval, and the type of Streamable HTTP. An endpoint without a type uses
//! HTTP+SSE.

use std::time::Duration;

use toolgate_model::{ApprovalMode, DeclaredTool, HttpTransportKind, ServerSpec, TransportSpec};

use crate::FileRef;
use crate::common::entry::{EntryField, LeastTimeout, TimeoutField, TimeoutScope};
use crate::common::fields::TimeUnit;
use crate::common::server::{self, EntryKeys, SSE, STREAMABLE};
use crate::common::{EntryWriter, TableFields};
use crate::dialect_format::{DialectFormat, EnabledField};

/// The dialect of Cline, Kilo and Roo.
pub(crate) const FORMAT: DialectFormat = DialectFormat {
    name: "cline",
    paths: &["cline_mcp_settings.json", "mcp_settings.json", ".kilocode/mcp.json", ".roo/mcp.json"],
    extras: "cline",
    enabled: Some(EnabledField::DISABLED),
    fields: &[
        EntryField::Other(read_transport, write_transport),
        EntryField::Enabled,
        EntryField::Timeout(TimeoutField {
            key: "timeout",
            unit: TimeUnit::Seconds,
            scope: TimeoutScope::All,
            least: Some(LeastTimeout {
                time: Duration::from_secs(30),
                problem: "is taken as 30 seconds",
                hint: "use 30 or more: Cline accepts no less",
                is_used: true,
            }),
        }),
        EntryField::Other(read_approved, write_approved),
    ],
    ..DialectFormat::MCP_SERVERS
};

const KEYS: EntryKeys = EntryKeys {
    transport_keys: &["type", "transportType"],
    transport_names: &[
        ("stdio", None),
        ("sse", SSE),
        ("streamableHttp", STREAMABLE),
        ("streamable-http", STREAMABLE),
        ("http", STREAMABLE),
    ],
    ..EntryKeys::COMMON
};

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

fn read_transport(entry: &mut TableFields<'_>, spec: &mut ServerSpec) {
    let Some(mut transport) = server::read_transport(entry, &KEYS) else { return };
    if let TransportSpec::Http(http) = &mut transport
        && http.kind == HttpTransportKind::Auto
    {
        http.kind = HttpTransportKind::Sse;
    }
    spec.transport = transport;
}

fn write_transport(rest: &mut ServerSpec, writer: &mut EntryWriter<'_>) {
    match &mut rest.transport {
        TransportSpec::Http(http) => {
            let kind = std::mem::take(&mut http.kind);
            if kind == HttpTransportKind::Auto {
                let why = "this dialect must name one HTTP transport: Streamable HTTP is written";
                writer.losses.add("type", why);
            }
            let is_sse = kind == HttpTransportKind::Sse;
            let word = if is_sse { "sse" } else { ClineKeys::of(writer.file).streamable };
            writer.text("type", Some(word));
            server::write_http(http, &KEYS, writer);
        }
        other => server::write_transport(other, &KEYS, writer),
    }
}

/// Reads the tools that need no approval.
fn read_approved(fields: &mut TableFields<'_>, spec: &mut ServerSpec) {
    let lists = ["autoApprove", "alwaysAllow"].map(|key| fields.texts(key).unwrap_or_default());
    let never = DeclaredTool { approval: Some(ApprovalMode::Never), ..DeclaredTool::default() };
    spec.selection.tools = lists.into_iter().flatten().map(|tool| (tool, never.clone())).collect();
}

/// Writes the tools that need no approval.
fn write_approved(rest: &mut ServerSpec, writer: &mut EntryWriter<'_>) {
    let tools = &mut rest.selection.tools;
    let mut approved = Vec::new();
    for (name, tool) in tools.iter_mut() {
        if tool.approval.take_if(|it| *it == ApprovalMode::Never).is_some() {
            approved.push(name.clone());
        }
    }
    tools.retain(|_, tool| *tool != DeclaredTool::default());
    writer.texts(ClineKeys::of(writer.file).approved, &approved);
}
