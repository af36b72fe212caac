//! `.mcp.json`: a `mcpServers` map, as Claude Code defined it and many others read it.
//!
//! Two differences to Claude Code are meant: `url` without `type` is taken as HTTP, and `cwd` is
//! honoured.

use toolgate_model::{PoolScope, ServerName, ServerSpec, Timeouts};

use crate::fields::Fields;
use crate::report::Report;
use crate::server;
use crate::tree::{Member, Value};
use crate::{Declared, FileRef, Interpolation, Reading, duration, json};

/// Reads the text of a `.mcp.json`.
pub fn mcp_json(text: &str, at: &FileRef) -> Reading {
    let text = text.trim_start_matches('\u{feff}');
    let mut report = Report::new(text, at);
    let mut reading = Reading::default();
    match json::parse(text) {
        Ok(document) => {
            let servers = top_level(&mut report, &document);
            server::each(&mut report, servers, |report, name, member, fields| {
                reading.servers.extend(entry(report, name, member, fields));
            });
        }
        Err(error) => report.syntax(error),
    }
    reading.diagnostics = report.finish();
    reading
}

fn top_level<'t>(report: &mut Report<'_>, document: &'t [Member]) -> &'t [Member] {
    let mut fields = Fields::of(report, "the file".into(), 0, document);
    let servers = fields.table("mcpServers").map_or(&[][..], |(_, servers)| servers);
    fields.ignored(&["$schema"]);
    fields.finish();
    servers
}

fn entry(
    report: &mut Report<'_>,
    name: ServerName,
    member: &Member,
    members: &[Member],
) -> Option<Declared> {
    let origin = report.origin(member.at);
    let mut fields = Fields::of(report, format!("server {:?}", name.as_str()), member.at, members);
    let transport = server::transport(&mut fields);
    let disabled = fields.flag("disabled").unwrap_or(false);
    let enabled = fields.flag("enabled").unwrap_or(true) && !disabled;
    let timeouts = timeouts(&mut fields);
    fields.not_yet(&["headersHelper", "oauth"]);
    fields.ignored(&["alwaysLoad", "description"]);
    let pool = PoolScope::default();
    let spec = ServerSpec { name, transport: transport?, enabled, timeouts, pool };
    let interpolation = Interpolation::Plain;
    fields.finish().then_some(Declared { spec, origin, interpolation })
}

/// `timeout` is a wall clock per call, in milliseconds; Claude Code ignores values under a second.
fn timeouts(fields: &mut Fields<'_, '_, '_>) -> Timeouts {
    let mut timeouts = Timeouts::default();
    let Some(node) = fields.node("timeout") else {
        return timeouts;
    };
    let Value::Integer(millis) = node.value else {
        fields.fault(node.at, "has a `timeout` that is no whole number", "give milliseconds");
        return timeouts;
    };
    match u64::try_from(millis).map(duration::checked) {
        Ok(Ok(limit)) if limit.as_millis() >= 1000 => {
            timeouts.call = limit;
            timeouts.max = limit;
        }
        _ => {
            fields.warn("timeout", "is out of range and ignored", "give 1000 or more milliseconds")
        }
    }
    timeouts
}
