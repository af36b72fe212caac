//! The capabilities that the gateway declares: its own, and those of servers that it passes
//! through.

use std::borrow::Cow;

use bytes::Bytes;
use toolgate_wire::{Era, Revision, meta, scan, string};

use crate::tasks::TaskFormat;

const OWN: &str = concat!(
    r#""tools":{"listChanged":true},"prompts":{"listChanged":true},"#,
    r#""resources":{"subscribe":true,"listChanged":true},"logging":{},"completions":{}"#
);
const CORE_TASKS: &str = r#","tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}"#;

/// Returns the `capabilities` for callers of a revision, from those of the servers they reach, each
/// with its revision.
///
/// Extensions and experimental capabilities of all servers are merged; the settings of the first
/// server that has one count. Tasks are declared in the format of the caller's revision if any
/// server supports tasks.
pub fn gateway_capabilities(servers: &[(Revision, &[u8])], to: Revision) -> Bytes {
    let tasks =
        servers.iter().any(|(revision, all)| TaskFormat::of_server(*revision, all).is_some());
    let mut extensions = gather_settings(servers, "extensions");
    if !tasks || to.era() == Era::Legacy {
        extensions.retain(|(key, _)| key != meta::TASKS_EXTENSION);
    } else if !extensions.iter().any(|(key, _)| key == meta::TASKS_EXTENSION) {
        extensions.push((meta::TASKS_EXTENSION.into(), b"{}"));
    }
    let mut all = format!("{{{OWN}").into_bytes();
    if tasks && to.has_core_tasks() {
        all.extend_from_slice(CORE_TASKS.as_bytes());
    }
    write_settings(&mut all, "extensions", &extensions);
    write_settings(&mut all, "experimental", &gather_settings(servers, "experimental"));
    all.push(b'}');
    all.into()
}

/// The members of one capability: keys with their raw settings.
type RawCapabilityMembers<'a> = Vec<(Cow<'a, str>, &'a [u8])>;

/// Returns the members of one capability over all servers, each once.
fn gather_settings<'a>(
    servers: &[(Revision, &'a [u8])],
    capability: &str,
) -> RawCapabilityMembers<'a> {
    let mut all: RawCapabilityMembers<'a> = Vec::new();
    for (_, server) in servers {
        let Some(at) = scan::member(server, capability) else { continue };
        for (key, value) in scan::members(at.slice(server)) {
            let value = value.within(at).slice(server);
            let known = all.iter().any(|(other, _)| *other == key);
            if !known && value.starts_with(b"{") {
                all.push((key, value));
            }
        }
    }
    all
}

fn write_settings(out: &mut Vec<u8>, capability: &str, settings: &RawCapabilityMembers<'_>) {
    if settings.is_empty() {
        return;
    }
    out.extend_from_slice(format!(",\"{capability}\":{{").as_bytes());
    for (index, (key, value)) in settings.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        out.extend_from_slice(format!("{comma}{}:", string::encode(key)).as_bytes());
        out.extend_from_slice(value);
    }
    out.push(b'}');
}
