//! The lists a caller gets, and what he is told at the beginning, as prepared bytes.
//!
//! A definition is the server's own, with one member replaced: the name it is exposed under.

use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};
use toolgate_model::{CapabilityId, CapabilityKind, Catalog, Definition, ServerName};
use toolgate_naming::Exposed;
use toolgate_wire::{Splice, scan, string};

/// How much of all servers' instructions is passed on.
const MAX_INSTRUCTIONS: usize = 16 << 10;

/// The `result` object of one list.
pub(crate) fn prepare(
    kind: CapabilityKind,
    catalogs: &[(ServerName, Arc<Catalog>)],
    names: &Exposed,
) -> Bytes {
    let (array, _) = kind.members();
    let mut list = BytesMut::new();
    list.put_slice(format!("{{\"{array}\":[").as_bytes());
    let mut first = true;
    for (server, catalog) in catalogs {
        for definition in catalog.of(kind) {
            let name = definition.name.clone();
            let id = CapabilityId { server: server.clone(), kind, name };
            let Some(shown) = names.name_of(&id) else { continue };
            if !std::mem::take(&mut first) {
                list.put_u8(b',');
            }
            list.put_slice(&renamed(kind, definition, shown));
        }
    }
    list.put_slice(b"]}");
    list.freeze()
}

fn renamed(kind: CapabilityKind, definition: &Definition, shown: &str) -> Bytes {
    if shown == &*definition.name {
        return definition.raw.clone();
    }
    let (_, named) = kind.members();
    let Some(span) = scan::member(&definition.raw, named) else { return definition.raw.clone() };
    let spliced = Splice::new(&definition.raw).replace(span, string::encode(shown)).finish();
    spliced.unwrap_or_else(|_| definition.raw.clone())
}

/// What the gateway can do: its own part, and tasks where a server has them.
pub(crate) fn capabilities(catalogs: &[(ServerName, Arc<Catalog>)]) -> Bytes {
    let tasks = catalogs.iter().any(|(_, catalog)| {
        scan::pointer(&catalog.capabilities, &["tasks", "requests", "tools", "call"]).is_some()
    });
    let tasks = match tasks {
        true => r#","tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}"#,
        false => "",
    };
    let own = concat!(
        r#""tools":{"listChanged":true},"prompts":{"listChanged":true},"#,
        r#""resources":{"subscribe":true,"listChanged":true},"logging":{},"completions":{}"#
    );
    Bytes::from(format!("{{{own}{tasks}}}"))
}

/// What servers want the model to know: one server's own words, or everybody's under his name.
pub(crate) fn instructions(catalogs: &[(ServerName, Arc<Catalog>)]) -> Option<String> {
    let said: Vec<_> = catalogs
        .iter()
        .filter_map(|(server, catalog)| Some((server, catalog.instructions.as_deref()?)))
        .collect();
    let mut text = match said.as_slice() {
        [] => return None,
        [(_, only)] if catalogs.len() == 1 => (*only).to_owned(),
        several => several
            .iter()
            .map(|(server, text)| format!("## {server}\n\n{text}\n"))
            .collect::<Vec<_>>()
            .join("\n"),
    };
    if text.len() > MAX_INSTRUCTIONS {
        let end = (0..=MAX_INSTRUCTIONS).rev().find(|at| text.is_char_boundary(*at));
        text.truncate(end.unwrap_or(0));
    }
    Some(text)
}
