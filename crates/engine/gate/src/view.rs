//! What one caller sees: exposed names in both directions, and the lists ready to be sent.
//!
//! A view is made once per generation of the catalogs, not per request: a list of a thousand tools
//! costs a reference to bytes that are already there.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use toolgate_model::{CapabilityId, CapabilityKind, Catalog, ServerName};
use toolgate_naming::{Exposed, Style, expose};
use toolgate_wire::mirror::{self, Rule};

use crate::lists;

pub(crate) struct View {
    pub(crate) generation: u64,
    pub(crate) names: Exposed,
    pub(crate) catalogs: Vec<(ServerName, Arc<Catalog>)>,
    /// URIs that two servers have, by server: as the server wrote them, and as they are shown.
    pub(crate) tagged: HashMap<ServerName, HashMap<Arc<str>, String>>,
    lists: [Bytes; CapabilityKind::ALL.len()],
    /// Tools with arguments that modern requests repeat in headers, by exposed name.
    mirrored: HashMap<String, Arc<[Rule]>>,
    pub(crate) capabilities: Bytes,
    pub(crate) instructions: Option<String>,
}

impl View {
    pub(crate) fn new(
        generation: u64,
        catalogs: Vec<(ServerName, Arc<Catalog>)>,
        style: &Style,
    ) -> Self {
        let names = expose(&ids(&catalogs), style);
        for note in names.notes() {
            tracing::warn!(target: "toolgate::gate", "{note}");
        }
        for (id, reason) in names.quarantined() {
            tracing::warn!(target: "toolgate::gate", server = %id.server, "a {} is hidden: {reason}", id.kind);
        }
        let tagged = tagged(&catalogs, &names);
        let lists = CapabilityKind::ALL.map(|kind| lists::prepare(kind, &catalogs, &names));
        Self {
            generation,
            mirrored: mirrored(&catalogs, &names),
            capabilities: lists::capabilities(&catalogs),
            instructions: lists::instructions(&catalogs),
            names,
            catalogs,
            tagged,
            lists,
        }
    }

    /// The prepared `result` of a list.
    pub(crate) fn list(&self, kind: CapabilityKind) -> &Bytes {
        &self.lists[kind as usize]
    }

    /// The arguments of a tool, by exposed name, that modern requests repeat in headers.
    pub(crate) fn mirrored(&self, tool: &str) -> Option<Arc<[Rule]>> {
        self.mirrored.get(tool).cloned()
    }

    /// The servers that declared a capability.
    pub(crate) fn declaring<'a>(
        &'a self,
        capability: &'a str,
    ) -> impl Iterator<Item = &'a ServerName> + 'a {
        let declares =
            move |(_, catalog): &&(ServerName, Arc<Catalog>)| catalog.declares(capability);
        self.catalogs.iter().filter(declares).map(|(name, _)| name)
    }

    /// The definition behind an id, as its server wrote it.
    pub(crate) fn definition(&self, id: &CapabilityId) -> Option<&Bytes> {
        let (_, catalog) = self.catalogs.iter().find(|(name, _)| *name == id.server)?;
        let found = catalog.of(id.kind).iter().find(|definition| definition.name == id.name)?;
        Some(&found.raw)
    }
}

fn ids(catalogs: &[(ServerName, Arc<Catalog>)]) -> Vec<CapabilityId> {
    let mut ids = Vec::new();
    for (server, catalog) in catalogs {
        for kind in CapabilityKind::ALL {
            let of_kind = catalog.of(kind).iter();
            ids.extend(of_kind.map(|definition| CapabilityId {
                server: server.clone(),
                kind,
                name: definition.name.clone(),
            }));
        }
    }
    ids
}

fn mirrored(
    catalogs: &[(ServerName, Arc<Catalog>)],
    names: &Exposed,
) -> HashMap<String, Arc<[Rule]>> {
    let mut mirrored = HashMap::new();
    for (server, catalog) in catalogs {
        for tool in catalog.of(CapabilityKind::Tool) {
            let rules = mirror::rules(&tool.raw).unwrap_or_default();
            let (server, kind, name) = (server.clone(), CapabilityKind::Tool, tool.name.clone());
            let shown = names.name_of(&CapabilityId { server, kind, name });
            if let (Some(shown), false) = (shown, rules.is_empty()) {
                mirrored.insert(shown.to_owned(), rules.into());
            }
        }
    }
    mirrored
}

fn tagged(
    catalogs: &[(ServerName, Arc<Catalog>)],
    names: &Exposed,
) -> HashMap<ServerName, HashMap<Arc<str>, String>> {
    let mut tagged: HashMap<ServerName, HashMap<Arc<str>, String>> = HashMap::new();
    for id in ids(catalogs).into_iter().filter(|id| id.kind == CapabilityKind::Resource) {
        match names.name_of(&id) {
            Some(shown) if shown != &*id.name => {
                let shown = shown.to_owned();
                tagged.entry(id.server).or_default().insert(id.name, shown);
            }
            _ => {}
        }
    }
    tagged
}
