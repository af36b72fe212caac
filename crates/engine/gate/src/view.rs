//! What one kind of caller sees: exposed names in both directions, and the lists ready to be sent.
//!
//! A view is made once per generation of the catalogs and profile, not per request: a list of a
//! thousand tools costs a reference to bytes that are already there. What is seen, and why, is
//! decided by `rules/exposure`; a view is that decision made ready for use.
//!
//! Lists are in the order of the declarations, servers of the same place by name, and within a
//! server as it sent them.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use bytes::Bytes;
use toolgate_bridge as bridge;
use toolgate_bridge::tasks::Form;
use toolgate_exposure::{Because, Exposure, Row};
use toolgate_fleet::{Fact, Offered};
use toolgate_model::{
    CapabilityId, CapabilityKind, Catalog, DeclaredProfile, Digest, Profile, ServerName,
};
use toolgate_naming::Exposed;
use toolgate_policy::{ClientNames, Prepared};
use toolgate_wire::mirror::Rule;
use toolgate_wire::{Era, Frame, Revision};

use crate::decide::Marks;
use crate::extension::has_extension;
use crate::governing::Governing;
use crate::listing::{Entry, List, OfferedEntry, PerRevision};
use crate::pinned::Withheld;
use crate::tasks::Tasked;
use crate::{Manner, exposing, lists, own, results, skills, uris};

/// How long a modern caller may keep a list once every server has settled. Changes are told to
/// those who listen; this is for those who do not.
const SETTLED_TTL_MS: u32 = 10_000;

/// What a view is made of.
pub(crate) struct Making<'a> {
    pub(crate) generation: u64,
    /// Which declaration of all servers it is made of.
    pub(crate) epoch: u64,
    /// Whether it is one caller's own, because some server is connected for him alone.
    pub(crate) own: bool,
    pub(crate) offered: Vec<Offered>,
    pub(crate) profile: &'a str,
    pub(crate) manner: &'a Manner,
    pub(crate) governing: Arc<Governing>,
    /// What must not be used now, whatever the profile sees.
    pub(crate) withheld: Withheld,
    /// The view before it, whose lists it goes on with.
    pub(crate) before: Option<&'a View>,
    /// Counts definitions that are made ready to be sent.
    pub(crate) renders: Arc<AtomicU64>,
}

/// A visible tool, and everything a decision about it needs that is the same for every call.
pub(crate) struct Tool {
    pub(crate) fact: Arc<Fact>,
    /// Whose it is, by place among what is offered.
    pub(crate) server: usize,
    pub(crate) marks: Marks,
    pub(crate) pinned_at: Option<SystemTime>,
    /// The rules that can be about it, found when it is first called.
    pub(crate) rules: OnceLock<Prepared>,
}

pub(crate) struct View {
    pub(crate) generation: u64,
    pub(crate) epoch: u64,
    profile: Arc<str>,
    /// What the profile says; `None` if there is none of this name any more.
    declared: Option<DeclaredProfile>,
    pub(crate) exposure: Arc<Exposure>,
    /// The servers this view has something of, in order.
    offered: Vec<Offered>,
    /// What is started or reached under the name of each.
    identities: Vec<Digest>,
    pub(crate) catalogs: Vec<(ServerName, Arc<Catalog>)>,
    /// Servers with a URI that is shown otherwise than they write it.
    pub(crate) sharing: HashSet<ServerName>,
    pub(crate) tasked: Tasked,
    /// Servers with skills.
    skilled: Vec<ServerName>,
    /// Every visible tool.
    tools: HashMap<CapabilityId, Tool>,
    pub(crate) governing: Arc<Governing>,
    pub(crate) withheld: Withheld,
    /// What a rule refuses to everybody with this profile, whatever its arguments are: it keeps its
    /// name and is not listed.
    denied: HashMap<CapabilityId, Because>,
    /// Whether a rule refuses something to some clients only.
    pub(crate) denies_by_client: bool,
    lists: [Arc<List>; CapabilityKind::ALL.len()],
    capabilities: PerRevision<OnceLock<Bytes>>,
    /// Tools with arguments that modern requests repeat in headers, by exposed name.
    mirrored: HashMap<String, Arc<[Rule]>>,
    pub(crate) instructions: Option<String>,
    renders: Arc<AtomicU64>,
}

impl View {
    pub(crate) fn new(making: Making<'_>) -> Self {
        let Making { generation, own, offered, profile, manner, before, renders, .. } = making;
        let (governing, withheld, epoch) = (making.governing, making.withheld, making.epoch);
        let declared = manner.profiles.get(profile);
        let mut exposure = match &declared {
            Some(declared) => exposing::of(&offered, declared, profile, manner),
            None => Exposure::default(),
        };
        let denied = denied(&governing, &offered, profile);
        exposure.withhold(&|id| withheld.because(id).cloned());
        exposure.unlist(&|id| denied.get(id).cloned());
        let known = before.map(|before| &before.exposure.findings[..]).unwrap_or_default();
        let findings = exposure.findings.iter().filter(|it| !own && !known.contains(it));
        for finding in findings {
            tracing::warn!(target: "toolgate::gate", profile, "{finding}");
        }
        let mut view = Self {
            generation,
            epoch,
            profile: profile.into(),
            declared,
            exposure: Arc::new(exposure),
            offered: Vec::new(),
            identities: Vec::new(),
            catalogs: Vec::new(),
            sharing: HashSet::new(),
            tasked: Tasked::default(),
            skilled: Vec::new(),
            tools: HashMap::new(),
            denies_by_client: governing.policy.denies_by_client(),
            governing,
            withheld,
            denied,
            lists: CapabilityKind::ALL.map(|kind| List::after(None, kind, Vec::new(), false)),
            capabilities: Default::default(),
            mirrored: HashMap::new(),
            instructions: None,
            renders,
        };
        view.take(offered);
        // Where the name of a client decides, two who ask in the same place may see different lists.
        let is_public = !own && manner.profiles.clients.is_empty() && !view.denies_by_client;
        view.lists = CapabilityKind::ALL.map(|kind| {
            let before = before.map(|before| before.list_of(kind));
            let entries = view.entries(kind, &BTreeSet::new(), &BTreeSet::new());
            List::after(before, kind, entries, is_public)
        });
        view
    }

    /// Takes in the servers that this profile sees something of.
    fn take(&mut self, offered: Vec<Offered>) {
        // What is withheld has a name all the same, and is refused under it.
        let has_name = |row: &&Row| self.names().name_of(&row.id).is_some();
        let named = self.exposure.rows.iter().filter(has_name);
        let named: HashSet<_> = named.map(|row| row.id.server.clone()).collect();
        let is_seen =
            |offered: &Offered| named.contains(&offered.member.spec.name) || self.sees(offered, "");
        let offered: Vec<_> = offered.into_iter().filter(is_seen).collect();
        let catalogs = offered.iter();
        let catalogs = catalogs.map(|it| (it.member.spec.name.clone(), it.known.catalog.clone()));
        self.catalogs = catalogs.collect();
        self.identities = offered.iter().map(|it| it.member.spec.digest()).collect();
        self.offered = offered;
        self.tasked = Tasked::of(&self.catalogs);
        self.instructions = lists::instructions(&self.catalogs, &self.withheld.silent);
        let skills = |catalog: &Catalog| has_extension(catalog, |key| key == skills::EXTENSION);
        let skilled = self.whole().filter(|(_, catalog)| skills(catalog));
        self.skilled = skilled.map(|(server, _)| server.clone()).collect();
        self.take_tools();
        let servers = self.catalogs.iter().map(|(server, _)| server);
        self.sharing = servers.filter(|server| uris::shares(self, server)).cloned().collect();
    }

    fn take_tools(&mut self) {
        let mut tools = HashMap::new();
        let mut mirrored = HashMap::new();
        for (id, offered, fact) in self.visible(CapabilityKind::Tool) {
            if let (Some(shown), false) = (self.names().name_of(&id), fact.marks.is_empty()) {
                mirrored.insert(shown.to_owned(), fact.marks.clone());
            }
            let tool = Tool {
                fact: fact.clone(),
                server: self.offered.iter().position(|it| std::ptr::eq(it, offered)).unwrap_or(0),
                marks: Marks::of_tool(&offered.member, &id.name, &fact.raw),
                pinned_at: self.withheld.pinned_at.get(&id).copied(),
                rules: OnceLock::new(),
            };
            tools.insert(id, tool);
        }
        (self.tools, self.mirrored) = (tools, mirrored);
    }

    /// Everything of a kind that has a name here, in order.
    fn visible(
        &self,
        kind: CapabilityKind,
    ) -> impl Iterator<Item = (CapabilityId, &Offered, &Arc<Fact>)> {
        self.offered.iter().flat_map(move |offered| {
            // Of two definitions with the same name the first counts.
            let mut names = HashSet::new();
            offered.known.of_kind(kind).filter_map(move |(definition, fact)| {
                let (server, name) = (offered.member.spec.name.clone(), definition.name.clone());
                let id = CapabilityId { server, kind, name };
                let counts = names.insert(&definition.name);
                let shown = counts && self.names().name_of(&id).is_some();
                let usable = self.withheld.because(&id).is_none() && !self.denied.contains_key(&id);
                (shown && usable).then_some((id, offered, fact))
            })
        })
    }

    /// What is listed of a kind: what is not deferred, and what of that was found, but nothing that
    /// is refused to one client.
    fn entries(
        &self,
        kind: CapabilityKind,
        found: &BTreeSet<CapabilityId>,
        denied: &BTreeSet<CapabilityId>,
    ) -> Vec<Entry> {
        let own = match kind {
            CapabilityKind::Tool => own::listed(self),
            CapabilityKind::Template => {
                results::limit(self).map(|_| results::listed_template()).into_iter().collect()
            }
            _ => Vec::new(),
        };
        let mut entries: Vec<_> = own.into_iter().map(Entry::Own).collect();
        for (id, offered, fact) in self.visible(kind) {
            if (!self.is_deferred(&id) || found.contains(&id)) && !denied.contains(&id) {
                entries.push(Entry::Offered(Box::new(self.entry(id, offered, fact))));
            }
        }
        entries
    }

    fn entry(&self, id: CapabilityId, offered: &Offered, fact: &Arc<Fact>) -> OfferedEntry {
        let catalog = &offered.known.catalog;
        let links = uris::in_definition(self, &id.server, &fact.raw);
        OfferedEntry {
            fact: fact.clone(),
            shown: self.names().name_of(&id).unwrap_or_default().to_owned(),
            protocol: catalog.protocol,
            tasks: match id.kind {
                CapabilityKind::Tool => Form::of_server(catalog.protocol, &catalog.capabilities),
                _ => None,
            },
            is_bounded: id.kind == CapabilityKind::Tool && results::limit(self).is_some(),
            links: links.into_iter().map(|(_, shown)| shown).collect(),
            id,
        }
    }

    /// The list of tools, with those that a caller has found among them and without those that are
    /// refused to its client.
    pub(crate) fn joined(
        &self,
        before: Option<&Arc<List>>,
        found: &BTreeSet<CapabilityId>,
        denied: &BTreeSet<CapabilityId>,
    ) -> Arc<List> {
        let kind = CapabilityKind::Tool;
        let before = before.or(Some(self.list_of(kind)));
        List::after(before, kind, self.entries(kind, found, denied), false)
    }

    /// The visible tools that rules refuse to this client, whatever their arguments are.
    pub(crate) fn denied_to(&self, client: ClientNames<'_>) -> BTreeSet<CapabilityId> {
        if !self.denies_by_client {
            return BTreeSet::new();
        }
        let policy = &self.governing.policy;
        let is_denied = |(id, tool): &(&CapabilityId, &Tool)| {
            policy.always_denies(id, &tool.marks.tags, &self.profile, Some(client)).is_some()
        };
        self.tools.iter().filter(is_denied).map(|(id, _)| id.clone()).collect()
    }

    pub(crate) fn list_of(&self, kind: CapabilityKind) -> &Arc<List> {
        &self.lists[kind as usize]
    }

    /// The prepared `result` of a list of this view. While servers are still coming up, modern
    /// callers are told not to keep it.
    pub(crate) fn prepared(&self, list: &List, to: Revision, settled: bool) -> Bytes {
        if let Some(ready) = list.ready(to).filter(|_| settled) {
            return ready;
        }
        let render = |entry: &OfferedEntry| self.render(entry, to);
        if to.era() == Era::Legacy {
            return list.bytes(to, "", render);
        }
        let tail = bridge::list_tail(SETTLED_TTL_MS, list.is_public());
        match settled {
            true => list.bytes(to, &tail, render),
            false => {
                let once = bridge::list_tail(0, list.is_public());
                list.bytes_for_once(to, [&tail, &once], render)
            }
        }
    }

    fn render(&self, entry: &OfferedEntry, to: Revision) -> Bytes {
        self.renders.fetch_add(1, Ordering::Relaxed);
        lists::rendered(self, entry, to)
    }

    /// A visible tool as it is, or would be, listed.
    pub(crate) fn listed_tool(&self, id: &CapabilityId, to: Revision) -> Option<Bytes> {
        let tool = self.tools.get(id)?;
        let offered = self.offered.get(tool.server)?;
        Some(self.render(&self.entry(id.clone(), offered, &tool.fact), to))
    }

    /// What the gateway declares.
    pub(crate) fn capabilities(&self, to: Revision) -> Bytes {
        let prepared = &self.capabilities[to as usize];
        prepared.get_or_init(|| lists::capabilities(&self.catalogs, to)).clone()
    }

    /// Names of everything visible, in both directions.
    pub(crate) fn names(&self) -> &Exposed {
        &self.exposure.names
    }

    /// The name of the profile.
    pub(crate) fn profile(&self) -> &Arc<str> {
        &self.profile
    }

    /// What the profile says; `None` if there is none of its name any more.
    pub(crate) fn declared(&self) -> Option<&Profile> {
        self.declared.as_ref().map(|declared| &declared.profile)
    }

    /// Whether this view has something of a server.
    pub(crate) fn has_server(&self, server: &ServerName) -> bool {
        self.offered.iter().any(|it| it.member.spec.name == *server)
    }

    /// The servers this view has something of, in order.
    pub(crate) fn offered(&self) -> &[Offered] {
        &self.offered
    }

    /// The place of a server among them.
    pub(crate) fn place_of(&self, server: &ServerName) -> Option<usize> {
        self.offered.iter().position(|it| it.member.spec.name == *server)
    }

    /// What is started or reached under the name of the server at a place.
    pub(crate) fn identity(&self, place: usize) -> &Digest {
        &self.identities[place]
    }

    /// Whether a tool is visible and not listed.
    pub(crate) fn is_deferred(&self, id: &CapabilityId) -> bool {
        self.exposure.deferred.contains(id)
    }

    /// What is known of a visible tool.
    pub(crate) fn tool(&self, id: &CapabilityId) -> Option<&Arc<Fact>> {
        self.tools.get(id).map(|tool| &tool.fact)
    }

    /// The same, with what decisions need.
    pub(crate) fn offered_tool(&self, id: &CapabilityId) -> Option<&Tool> {
        self.tools.get(id)
    }

    /// The arguments of the tool a request calls that modern requests repeat in headers, and the
    /// tool.
    pub(crate) fn mirrored(&self, request: &Frame) -> Option<(&CapabilityId, &Arc<[Rule]>)> {
        if self.mirrored.is_empty() {
            return None;
        }
        let name = request.name()?;
        let rules = self.mirrored.get(name.as_ref())?;
        Some((self.names().id_of(CapabilityKind::Tool, &name)?, rules))
    }

    /// The servers with skills.
    pub(crate) fn skilled(&self) -> &[ServerName] {
        &self.skilled
    }

    /// The servers that declared a capability, and that the profile sees even where nothing of
    /// theirs is listed.
    pub(crate) fn declaring<'a>(
        &'a self,
        capability: &'a str,
    ) -> impl Iterator<Item = &'a ServerName> + 'a {
        self.whole().filter(move |(_, it)| it.declares(capability)).map(|(name, _)| name)
    }

    /// The servers that the profile sees as such, not just single things of theirs.
    pub(crate) fn whole(&self) -> impl Iterator<Item = &(ServerName, Arc<Catalog>)> {
        let servers = self.offered.iter().zip(&self.catalogs);
        servers.filter(|(offered, _)| self.sees(offered, "")).map(|(_, catalog)| catalog)
    }

    /// Whether the profile sees something of a server that no list names.
    pub(crate) fn sees_unlisted(&self, server: &ServerName, name: &str) -> bool {
        let offered = self.offered.iter().find(|it| it.member.spec.name == *server);
        offered.is_some_and(|offered| self.sees(offered, name))
    }

    /// Whether the profile names something of a server among what it does not see.
    pub(crate) fn excludes(&self, server: &ServerName, name: &str) -> bool {
        let offered = self.offered.iter().find(|it| it.member.spec.name == *server);
        let (Some(offered), Some(declared)) = (offered, &self.declared) else { return true };
        let exclude = declared.profile.exclude.clone();
        let profile = Profile { exclude, ..Profile::default() };
        let declared = DeclaredProfile { profile, origin: declared.origin.clone() };
        !toolgate_exposure::sees(&offered.member.spec, name, &declared)
    }

    fn sees(&self, offered: &Offered, name: &str) -> bool {
        let declared = self.declared.as_ref();
        declared.is_some_and(|it| toolgate_exposure::sees(&offered.member.spec, name, it))
    }

    /// The definition behind an id, as its server wrote it.
    pub(crate) fn definition(&self, id: &CapabilityId) -> Option<&Bytes> {
        if let Some(tool) = self.tools.get(id) {
            return Some(&tool.fact.raw);
        }
        let offered = self.offered.iter().find(|it| it.member.spec.name == id.server)?;
        offered.known.fact(id.kind, &id.name).map(|fact| &fact.raw)
    }
}

/// What rules refuse to everybody with a profile, whatever its arguments are.
fn denied(
    governing: &Governing,
    offered: &[Offered],
    profile: &str,
) -> HashMap<CapabilityId, Because> {
    let mut denied = HashMap::new();
    if !governing.policy.denies() {
        return denied;
    }
    for Offered { member, known, .. } in offered {
        for kind in CapabilityKind::ALL {
            for (definition, fact) in known.of_kind(kind) {
                let (server, name) = (member.spec.name.clone(), definition.name.clone());
                let marks = match kind {
                    CapabilityKind::Tool => Marks::of_tool(member, &name, &fact.raw),
                    _ => Marks::of_reading(member),
                };
                let id = CapabilityId { server, kind, name };
                let rule = governing.policy.always_denies(&id, &marks.tags, profile, None);
                if let Some((text, origin)) = rule {
                    let because =
                        Because { rule: format!("rule `{text}`"), origin: origin.clone() };
                    denied.insert(id, because);
                }
            }
        }
    }
    denied
}
