//! What callers with one profile see: exposed names in both directions, and rendered lists.
//!
//! A view is built once per generation of catalogs and profile, not per request, so listing a
//! thousand tools costs one reference to existing bytes. `rules/exposure` decides what is visible
//! and why; a view prepares that decision for use.
//!
//! Lists follow the order of the declarations. Servers at the same position are sorted by name, and
//! the capabilities of a server keep the server's order.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use bytes::Bytes;
use toolgate_bridge as bridge;
use toolgate_bridge::tasks::TaskFormat;
use toolgate_exposure::ExposedNames;
use toolgate_exposure::{Exposure, ExposureEntry, ExposureReason, profile_sees};
use toolgate_fleet::{CheckedDefinition, OfferedCatalog};
use toolgate_model::{
    CapabilityId, CapabilityKind, Catalog, DeclaredProfile, Digest, Profile, ServerName,
};
use toolgate_policy::{CapabilityRules, MatchableClientNames};
use toolgate_wire::mcp_headers::ArgumentHeader;
use toolgate_wire::{Era, Frame, Revision, scan};

use crate::capability_list::{CapabilityList, ListEntry, PerRevision, ServerDefinitionEntry};
use crate::decide::CapabilityAttributes;
use crate::governance::ActiveGovernance;
use crate::pins::WithheldCapabilities;
use crate::tasks::TaskCapableServers;
use crate::{CallerId, Gate, exposure, own_tools, rendering, results, skills, uris};

/// How long a modern caller may cache a list once every server has settled. Subscribed callers are
/// notified of changes; this limit is for the others.
const SETTLED_TTL_MS: u32 = 10_000;

/// A visible tool, with everything a decision needs that is the same for every call.
pub(crate) struct VisibleTool {
    pub(crate) fact: Arc<CheckedDefinition>,
    /// The index of its server in `offered`.
    pub(crate) server: usize,
    pub(crate) attributes: CapabilityAttributes,
    pub(crate) pinned_at: Option<SystemTime>,
    /// The rules that can apply to it, prepared on the first call.
    pub(crate) rules: OnceLock<Arc<CapabilityRules>>,
}

/// What callers with one profile see, with lists prepared as bytes.
pub(crate) struct ProfileView {
    pub(crate) generation: u64,
    pub(crate) epoch: u64,
    /// The name of the profile.
    pub(crate) profile: Arc<str>,
    /// The profile; `None` if it was removed.
    declared: Option<DeclaredProfile>,
    pub(crate) exposure: Arc<Exposure>,
    /// The servers of which this view shows something, in order.
    pub(crate) offered: Vec<OfferedCatalog>,
    /// The digest of what is started or connected to under each server's name.
    pub(crate) identities: Vec<Digest>,
    /// Servers with a URI that is exposed differently from how they write it.
    pub(crate) uri_rewrites: HashSet<ServerName>,
    pub(crate) task_servers: TaskCapableServers,
    /// Servers with skills.
    pub(crate) skill_servers: Vec<ServerName>,
    /// The visible tools.
    pub(crate) tools: HashMap<CapabilityId, VisibleTool>,
    pub(crate) governance: Arc<ActiveGovernance>,
    pub(crate) withheld: WithheldCapabilities,
    /// Capabilities that a rule denies to everyone with this profile, whatever the arguments. They
    /// keep their names and are not listed.
    denied: HashMap<CapabilityId, ExposureReason>,
    /// Whether a rule denies something to some clients only.
    pub(crate) denies_by_client: bool,
    lists: [Arc<CapabilityList>; CapabilityKind::ALL.len()],
    capabilities: PerRevision<OnceLock<Bytes>>,
    /// Tools with arguments that modern requests repeat in headers, by exposed name.
    header_rules: HashMap<String, Arc<[ArgumentHeader]>>,
    pub(crate) instructions: Option<String>,
    renders: Arc<AtomicU64>,
}

impl ProfileView {
    /// Builds the view of a profile, or of one caller if a server is connected for that caller
    /// alone. Lists of the view `before` are reused.
    pub(crate) fn new(
        gate: &Gate,
        caller: Option<CallerId>,
        profile: &str,
        before: Option<&Self>,
    ) -> Self {
        // Servers, profiles and rules as published together.
        let (generation, epoch, offered, governing, settings) = gate.fleet.snapshot(|| {
            // Read before the catalogs: a change in between makes the view stale at once.
            let (generation, epoch) = (gate.fleet.generation(), gate.fleet.epoch());
            let offered = gate.fleet.catalogs(caller);
            (generation, epoch, offered, gate.current_governance(), gate.settings())
        });
        let (own, withheld) =
            (caller.is_some(), gate.withheld_capabilities(&offered, governing.settings.posture));
        let declared = settings.profiles.get(profile);
        let mut exposure = match &declared {
            Some(declared) => exposure::compute(&offered, declared, profile, &settings),
            None => Exposure::default(),
        };
        let denied = denied_by_policy(&governing, &offered, profile);
        exposure.withhold(&|id| withheld.reason_for(id).cloned());
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
            uri_rewrites: HashSet::new(),
            task_servers: TaskCapableServers::default(),
            skill_servers: Vec::new(),
            tools: HashMap::new(),
            denies_by_client: governing.policy.has_client_deny_rules(),
            governance: governing,
            withheld,
            denied,
            lists: CapabilityKind::ALL
                .map(|kind| CapabilityList::from_previous(None, kind, Vec::new(), false)),
            capabilities: Default::default(),
            header_rules: HashMap::new(),
            instructions: None,
            renders: gate.caller_states.renders.clone(),
        };
        view.take(offered);
        // If the client's name matters, two callers of the same endpoint may see different lists.
        let is_public = !own && settings.profiles.clients.is_empty() && !view.denies_by_client;
        view.lists = CapabilityKind::ALL.map(|kind| {
            let before = before.map(|before| before.list_of(kind));
            let entries = view.entries(kind, &BTreeSet::new(), &BTreeSet::new());
            CapabilityList::from_previous(before, kind, entries, is_public)
        });
        view
    }

    /// Adds the servers of which this profile sees something.
    fn take(&mut self, offered: Vec<OfferedCatalog>) {
        // A withheld capability keeps its name, so that a call can be refused with the reason.
        let has_name = |row: &&ExposureEntry| self.names().name_of(&row.id).is_some();
        let named = self.exposure.entries.iter().filter(has_name);
        let named: HashSet<_> = named.map(|row| row.id.server.clone()).collect();
        let is_seen =
            |offered: &OfferedCatalog| named.contains(offered.server()) || self.sees(offered, "");
        let offered: Vec<_> = offered.into_iter().filter(is_seen).collect();
        self.identities = offered.iter().map(|it| it.fleet_server.spec.digest()).collect();
        self.offered = offered;
        self.task_servers = TaskCapableServers::of(&self.offered);
        self.instructions =
            rendering::instructions(&self.offered, &self.withheld.without_instructions);
        let skilled = self.servers_with_extension(|key| key == skills::EXTENSION);
        self.skill_servers = skilled.cloned().collect();
        self.take_tools();
        let rewritten = self.offered.iter().filter(|it| uris::needs_rewriting(self, it));
        self.uri_rewrites = rewritten.map(|it| it.server().clone()).collect();
    }

    fn take_tools(&mut self) {
        let mut tools = HashMap::new();
        let mut mirrored = HashMap::new();
        for (id, offered, fact) in self.visible(CapabilityKind::Tool) {
            if let (Some(shown), false) = (self.names().name_of(&id), fact.header_rules.is_empty())
            {
                mirrored.insert(shown.to_owned(), fact.header_rules.clone());
            }
            let tool = VisibleTool {
                fact: fact.clone(),
                server: self.offered.iter().position(|it| std::ptr::eq(it, offered)).unwrap_or(0),
                attributes: CapabilityAttributes::of(&offered.fleet_server, &id, Some(&fact.raw)),
                pinned_at: self.withheld.pinned_at.get(&id).copied(),
                rules: OnceLock::new(),
            };
            tools.insert(id, tool);
        }
        (self.tools, self.header_rules) = (tools, mirrored);
    }

    /// Returns every usable capability of a kind that has a name here, in order.
    fn visible(
        &self,
        kind: CapabilityKind,
    ) -> impl Iterator<Item = (CapabilityId, &OfferedCatalog, &Arc<CheckedDefinition>)> {
        self.offered.iter().flat_map(move |offered| {
            // Of two definitions with the same name, the first counts.
            let mut names = HashSet::new();
            offered.checked.of_kind(kind).filter_map(move |(definition, fact)| {
                let (server, name) = (offered.server().clone(), definition.name.clone());
                let id = CapabilityId { server, kind, name };
                let counts = names.insert(&definition.name);
                let shown = counts && self.names().name_of(&id).is_some();
                let usable =
                    self.withheld.reason_for(&id).is_none() && !self.denied.contains_key(&id);
                (shown && usable).then_some((id, offered, fact))
            })
        })
    }

    /// Returns the list entries of a kind: everything that is not deferred and the deferred tools
    /// that were found, without what is denied to the client.
    fn entries(
        &self,
        kind: CapabilityKind,
        found: &BTreeSet<CapabilityId>,
        denied: &BTreeSet<CapabilityId>,
    ) -> Vec<ListEntry> {
        let own = match kind {
            CapabilityKind::Tool => own_tools::listed_definitions(self),
            CapabilityKind::Template => {
                results::limit(self).map(|_| results::template_definition()).into_iter().collect()
            }
            _ => Vec::new(),
        };
        let mut entries: Vec<_> = own.into_iter().map(ListEntry::Own).collect();
        for (id, offered, fact) in self.visible(kind) {
            if (!self.is_deferred(&id) || found.contains(&id)) && !denied.contains(&id) {
                entries.push(ListEntry::Offered(Box::new(self.entry(id, offered, fact))));
            }
        }
        entries
    }

    fn entry(
        &self,
        id: CapabilityId,
        offered: &OfferedCatalog,
        fact: &Arc<CheckedDefinition>,
    ) -> ServerDefinitionEntry {
        let catalog = &offered.checked.catalog;
        let links = uris::definition_replacements(self, &id.server, &fact.raw);
        ServerDefinitionEntry {
            fact: fact.clone(),
            shown: self.names().name_of(&id).unwrap_or_default().to_owned(),
            protocol: catalog.protocol,
            tasks: match id.kind {
                CapabilityKind::Tool => {
                    TaskFormat::of_server(catalog.protocol, &catalog.capabilities)
                }
                _ => None,
            },
            is_bounded: id.kind == CapabilityKind::Tool && results::limit(self).is_some(),
            links: links.into_iter().map(|(_, shown)| shown).collect(),
            id,
        }
    }

    /// Returns a caller's tool list: with the tools it found and without those denied to its
    /// client.
    pub(crate) fn caller_tool_list(
        &self,
        before: Option<&Arc<CapabilityList>>,
        found: &BTreeSet<CapabilityId>,
        denied: &BTreeSet<CapabilityId>,
    ) -> Arc<CapabilityList> {
        let kind = CapabilityKind::Tool;
        let before = before.or(Some(self.list_of(kind)));
        CapabilityList::from_previous(before, kind, self.entries(kind, found, denied), false)
    }

    /// Returns the visible tools that rules deny to this client, whatever the arguments.
    pub(crate) fn denied_to(&self, client: MatchableClientNames<'_>) -> BTreeSet<CapabilityId> {
        if !self.denies_by_client {
            return BTreeSet::new();
        }
        let policy = &self.governance.policy;
        let is_denied = |(id, tool): &(&CapabilityId, &VisibleTool)| {
            policy.always_denies(id, &tool.attributes.tags, &self.profile, Some(client)).is_some()
        };
        self.tools.iter().filter(is_denied).map(|(id, _)| id.clone()).collect()
    }

    pub(crate) fn list_of(&self, kind: CapabilityKind) -> &Arc<CapabilityList> {
        &self.lists[kind as usize]
    }

    /// Returns the rendered `result` of a list of this view. While servers are still starting,
    /// modern callers may not cache it.
    pub(crate) fn render_list(&self, list: &CapabilityList, to: Revision, settled: bool) -> Bytes {
        let is_modern = to.era() == Era::Modern;
        let tail = |ttl| match is_modern {
            true => bridge::modern_list_members(ttl, list.is_public()),
            false => String::new(),
        };
        let rendered = list.rendered(to, || tail(SETTLED_TTL_MS), |entry| self.render(entry, to));
        match settled || !is_modern {
            true => rendered.bytes.clone(),
            false => rendered.with_tail(&tail(0)),
        }
    }

    fn render(&self, entry: &ServerDefinitionEntry, to: Revision) -> Bytes {
        self.renders.fetch_add(1, Ordering::Relaxed);
        rendering::render_definition(self, entry, to)
    }

    /// Renders a visible tool as it is or would be listed.
    pub(crate) fn listed_tool(&self, id: &CapabilityId, to: Revision) -> Option<Bytes> {
        let tool = self.tools.get(id)?;
        let offered = self.offered.get(tool.server)?;
        Some(self.render(&self.entry(id.clone(), offered, &tool.fact), to))
    }

    /// Returns the capabilities that the gateway declares.
    pub(crate) fn capabilities(&self, to: Revision) -> Bytes {
        let prepared = &self.capabilities[to as usize];
        prepared.get_or_init(|| rendering::capabilities(&self.offered, to)).clone()
    }

    /// Returns the names of everything visible, in both directions.
    pub(crate) fn names(&self) -> &ExposedNames {
        &self.exposure.names
    }

    /// Returns the profile; `None` if it was removed.
    pub(crate) fn profile_definition(&self) -> Option<&Profile> {
        self.declared.as_ref().map(|declared| &declared.profile)
    }

    /// Returns what a server offers; `None` if this view shows nothing of it.
    pub(crate) fn offered_by(&self, server: &ServerName) -> Option<&OfferedCatalog> {
        self.offered.iter().find(|it| it.server() == server)
    }

    /// Returns true if a tool is visible but not listed.
    pub(crate) fn is_deferred(&self, id: &CapabilityId) -> bool {
        self.exposure.deferred.contains(id)
    }

    /// Returns the arguments that modern requests repeat in headers for the tool a request calls,
    /// and the tool.
    pub(crate) fn header_rules(
        &self,
        request: &Frame,
    ) -> Option<(&CapabilityId, &Arc<[ArgumentHeader]>)> {
        if self.header_rules.is_empty() {
            return None;
        }
        let name = request.name()?;
        let rules = self.header_rules.get(name.as_ref())?;
        Some((self.names().id_of(CapabilityKind::Tool, &name)?, rules))
    }

    /// Returns the servers that declared an extension whose key passes the test.
    pub(crate) fn servers_with_extension(
        &self,
        test: impl Fn(&str) -> bool,
    ) -> impl Iterator<Item = &ServerName> {
        self.visible_servers(move |catalog| {
            let capabilities = &catalog.capabilities[..];
            let at = scan::member(capabilities, "extensions");
            let extensions = at.map(|at| at.slice(capabilities)).unwrap_or_default();
            scan::members(extensions).any(|(key, _)| test(&key))
        })
    }

    /// Returns the servers whose catalog passes the test and that the profile sees as a whole, even
    /// if none of their capabilities is listed.
    pub(crate) fn visible_servers(
        &self,
        test: impl Fn(&Catalog) -> bool,
    ) -> impl Iterator<Item = &ServerName> {
        let seen = self.offered.iter().filter(|it| self.sees(it, ""));
        seen.filter(move |it| test(&it.checked.catalog)).map(OfferedCatalog::server)
    }

    /// Returns true if the profile sees an unlisted capability of a server.
    pub(crate) fn sees_unlisted(&self, server: &ServerName, name: &str) -> bool {
        self.offered_by(server).is_some_and(|offered| self.sees(offered, name))
    }

    /// Returns true if the profile excludes a capability of a server by name.
    pub(crate) fn excludes(&self, server: &ServerName, name: &str) -> bool {
        let (Some(offered), Some(declared)) = (self.offered_by(server), &self.declared) else {
            return true;
        };
        let exclude = declared.profile.exclude.clone();
        let profile = Profile { exclude, ..Profile::default() };
        !profile_sees(&offered.fleet_server.spec, name, &profile)
    }

    fn sees(&self, offered: &OfferedCatalog, name: &str) -> bool {
        let declared = self.declared.as_ref();
        declared.is_some_and(|it| profile_sees(&offered.fleet_server.spec, name, &it.profile))
    }

    /// Returns the definition of a capability as its server wrote it.
    pub(crate) fn definition(&self, id: &CapabilityId) -> Option<&Bytes> {
        if let Some(tool) = self.tools.get(id) {
            return Some(&tool.fact.raw);
        }
        self.offered_by(&id.server)?.checked.definition(id.kind, &id.name).map(|fact| &fact.raw)
    }
}

/// Returns what rules deny to everyone with a profile, whatever the arguments.
fn denied_by_policy(
    governing: &ActiveGovernance,
    offered: &[OfferedCatalog],
    profile: &str,
) -> HashMap<CapabilityId, ExposureReason> {
    let mut denied = HashMap::new();
    if !governing.policy.has_deny_rules {
        return denied;
    }
    for OfferedCatalog { fleet_server: member, checked: known, .. } in offered {
        for kind in CapabilityKind::ALL {
            for (definition, fact) in known.of_kind(kind) {
                let (server, name) = (member.spec.name.clone(), definition.name.clone());
                let id = CapabilityId { server, kind, name };
                let marks = CapabilityAttributes::of(member, &id, Some(&fact.raw));
                let rule = governing.policy.always_denies(&id, &marks.tags, profile, None);
                if let Some((text, origin)) = rule {
                    let because =
                        ExposureReason { rule: format!("rule `{text}`"), origin: origin.clone() };
                    denied.insert(id, because);
                }
            }
        }
    }
    denied
}
