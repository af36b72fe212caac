//! Tests of the journal's internals: a simulated disk, the content of a body, and its cost.

mod cost;
mod proven;
mod redaction;
mod simulated;

use toolgate_model::{CapabilityId, CapabilityKind, Effect, ServerName};

use crate::{JournalEvent, JournalRecord};

/// The times a property is tried: all with `TOOLGATE_SOAK`, else a tenth.
fn counted(all: u32) -> u32 {
    if std::env::var_os("TOOLGATE_SOAK").is_some() { all } else { all / 10 }
}

fn tool() -> CapabilityId {
    let server = ServerName::new("files").unwrap();
    CapabilityId { server, kind: CapabilityKind::Tool, name: "read_file".into() }
}

/// A decided call with these arguments.
fn decided<'a>(about: &'a CapabilityId, arguments: &'a [u8], call: u64) -> JournalRecord<'a> {
    JournalRecord {
        event: JournalEvent::Decided {
            effect: Effect::Allow,
            because: "rule `mcp:files/read_*` (config.toml:12)",
            method: "tools/call",
            definition: None,
            arguments_digest: None,
            arguments,
            other_params: b"",
            read_only: true,
            tags: &[],
        },
        call,
        caller: "local",
        client: "some-client",
        profile: "default",
        about: Some(about),
    }
}
