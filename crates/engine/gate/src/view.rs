//! What one caller sees: exposed names in both directions, and the lists ready to be sent.
//!
//! A view is made once per generation of the catalogs, not per request: a list of a thousand tools
//! costs a reference to bytes that are already there. Each revision's are made when first asked
//! for.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use toolgate_fleet::Offered;
use toolgate_model::{CapabilityId, CapabilityKind, Catalog, Definition, ServerName};
use toolgate_naming::{Exposed, Style, expose};
use toolgate_wire::mirror::{self, Rule};
use toolgate_wire::{Era, Frame, Revision};

use crate::extension::has_extension;
use crate::tasks::Tasked;
use crate::{lists, skills, uris};

/// How long a modern caller may keep a list once every server has settled. Changes are told to
/// those who listen; this is for those who do not.
const SETTLED_TTL_MS: u32 = 10_000;

/// Prepared once for each revision that is asked for.
type PerRevision<T> = [T; Revision::ALL.len()];

pub(crate) struct View {
    pub(crate) generation: u64,
    /// Whether it is one caller's own, because some server is connected for him alone.
    pub(crate) own: bool,
    pub(crate) names: Exposed,
    pub(crate) catalogs: Vec<(ServerName, Arc<Catalog>)>,
    /// Servers with a URI that is shown otherwise than they write it.
    pub(crate) sharing: HashSet<ServerName>,
    pub(crate) tasked: Tasked,
    /// Servers with skills.
    skilled: Vec<ServerName>,
    lists: PerRevision<[OnceLock<Bytes>; CapabilityKind::ALL.len()]>,
    capabilities: PerRevision<OnceLock<Bytes>>,
    /// Tools with arguments that modern requests repeat in headers, by exposed name.
    mirrored: HashMap<String, Arc<[Rule]>>,
    pub(crate) instructions: Option<String>,
}

impl View {
    pub(crate) fn new(generation: u64, own: bool, offered: Vec<Offered>, style: &Style) -> Self {
        let ids = ids(&offered);
        let catalogs = offered.into_iter().map(|it| (it.member.spec.name.clone(), it.catalog));
        let catalogs: Vec<_> = catalogs.collect();
        let servers: Vec<_> = catalogs.iter().map(|(server, _)| server).collect();
        let names = expose(&ids, &servers, style);
        for note in names.notes() {
            tracing::warn!(target: "toolgate::gate", "{note}");
        }
        for (id, reason) in names.quarantined() {
            tracing::warn!(target: "toolgate::gate", server = %id.server, "a {} is hidden: {reason}", id.kind);
        }
        let tasked = Tasked::of(&catalogs);
        let skills = |catalog: &Catalog| has_extension(catalog, |key| key == skills::EXTENSION);
        let skilled = catalogs.iter().filter(|(_, catalog)| skills(catalog));
        let skilled = skilled.map(|(server, _)| server.clone()).collect();
        let mut view = Self {
            generation,
            own,
            mirrored: mirrored(&catalogs, &names),
            instructions: lists::instructions(&catalogs),
            names,
            catalogs,
            sharing: HashSet::new(),
            tasked,
            skilled,
            lists: Default::default(),
            capabilities: Default::default(),
        };
        let servers = view.catalogs.iter().map(|(server, _)| server);
        view.sharing = servers.filter(|server| uris::shares(&view, server)).cloned().collect();
        view
    }

    /// The prepared `result` of a list. While servers are still coming up, modern callers are told
    /// not to keep it.
    pub(crate) fn list(&self, kind: CapabilityKind, to: Revision, settled: bool) -> Bytes {
        if to.era() == Era::Modern && !settled {
            return lists::prepare(self, kind, to, 0);
        }
        let prepared = &self.lists[to as usize][kind as usize];
        prepared.get_or_init(|| lists::prepare(self, kind, to, SETTLED_TTL_MS)).clone()
    }

    /// What the gateway declares.
    pub(crate) fn capabilities(&self, to: Revision) -> Bytes {
        let prepared = &self.capabilities[to as usize];
        prepared.get_or_init(|| lists::capabilities(&self.catalogs, to)).clone()
    }

    /// The arguments of the tool a request calls that modern requests repeat in headers.
    pub(crate) fn mirrored(&self, request: &Frame) -> Option<Arc<[Rule]>> {
        if self.mirrored.is_empty() {
            return None;
        }
        self.mirrored.get(request.name()?.as_ref()).cloned()
    }

    /// The servers with skills.
    pub(crate) fn skilled(&self) -> &[ServerName] {
        &self.skilled
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

/// Everything that is to be seen. What has no exposed name is neither listed nor found: a tool its
/// server's declaration hides is as unknown as one the server does not have.
fn ids(offered: &[Offered]) -> Vec<CapabilityId> {
    let mut ids = Vec::new();
    for Offered { member, catalog } in offered {
        let server = &member.spec.name;
        let selected = |kind, tool: &Definition| {
            kind != CapabilityKind::Tool || member.spec.selection.shows(&tool.name)
        };
        for kind in CapabilityKind::ALL {
            let seen = catalog.of(kind).iter().filter(|it| selected(kind, it));
            let usable = seen.filter(|it| is_usable(server, catalog, kind, it));
            ids.extend(usable.map(|definition| CapabilityId {
                server: server.clone(),
                kind,
                name: definition.name.clone(),
            }));
        }
    }
    ids
}

/// A modern tool whose marks for headers cannot be followed must not be used.
fn is_usable(
    server: &ServerName,
    catalog: &Catalog,
    kind: CapabilityKind,
    definition: &Definition,
) -> bool {
    if kind != CapabilityKind::Tool || catalog.protocol.era() == Era::Legacy {
        return true;
    }
    let marks = mirror::rules(&definition.raw);
    if let Err(reason) = &marks {
        let tool = &definition.name;
        tracing::warn!(target: "toolgate::gate", %server, "tool {tool:?} is hidden: {reason}");
    }
    marks.is_ok()
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
