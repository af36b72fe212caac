//! What the gateway declares: its own part, and what servers brought that it merely carries.

use std::borrow::Cow;

use bytes::Bytes;
use toolgate_wire::{Era, Revision, meta, scan, string};

use crate::tasks::Form;

const OWN: &str = concat!(
    r#""tools":{"listChanged":true},"prompts":{"listChanged":true},"#,
    r#""resources":{"subscribe":true,"listChanged":true},"logging":{},"completions":{}"#
);
const CORE_TASKS: &str = r#","tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}"#;

/// The `capabilities` shown to callers of a revision, from those of the servers they reach, each
/// with the revision it speaks.
///
/// Extensions and experiments of all servers are gathered, each with the settings of the first
/// server that has it. Tasks are declared in the form of the revision if a server has them in its
/// own.
pub fn capabilities(servers: &[(Revision, &[u8])], to: Revision) -> Bytes {
    let tasks = servers.iter().any(|(revision, all)| Form::of_server(*revision, all).is_some());
    let mut extensions = gathered(servers, "extensions");
    if !tasks || to.era() == Era::Legacy {
        extensions.retain(|(key, _)| key != meta::TASKS_EXTENSION);
    } else if !extensions.iter().any(|(key, _)| key == meta::TASKS_EXTENSION) {
        extensions.push((meta::TASKS_EXTENSION.into(), b"{}"));
    }
    let mut all = format!("{{{OWN}").into_bytes();
    if tasks && to.core_tasks() {
        all.extend_from_slice(CORE_TASKS.as_bytes());
    }
    write(&mut all, "extensions", &extensions);
    write(&mut all, "experimental", &gathered(servers, "experimental"));
    all.push(b'}');
    all.into()
}

type Settings<'a> = Vec<(Cow<'a, str>, &'a [u8])>;

/// The members of one capability over all servers, each once.
fn gathered<'a>(servers: &[(Revision, &'a [u8])], capability: &str) -> Settings<'a> {
    let mut all: Settings<'a> = Vec::new();
    for (_, server) in servers {
        let Some(at) = scan::member(server, capability) else { continue };
        for (key, value) in scan::members(at.of(server)) {
            let value = value.within(at).of(server);
            let known = all.iter().any(|(other, _)| *other == key);
            if !known && value.starts_with(b"{") {
                all.push((key, value));
            }
        }
    }
    all
}

fn write(out: &mut Vec<u8>, capability: &str, settings: &Settings<'_>) {
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
