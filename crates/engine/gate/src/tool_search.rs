//! Finds tools by a description of the task.
//!
//! One index serves all callers; results are filtered by what each caller sees. A server whose
//! catalog changed is indexed again on the next search, or right after the change if a search is
//! likely. A server with per-caller connections is indexed with the tools of all of them.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use bytes::Bytes;
use tokio::sync::{Mutex, OwnedMutexGuard};
use toolgate_fleet::{CheckedCatalog, FleetServer, OfferedCatalog};
use toolgate_model::{
    CapabilityId, CapabilityKind, DEFAULT_TAG, DeclaredTool, ServerName, ServerSpec,
};
use toolgate_policy::MatchableClientNames;
use toolgate_search::{CapabilityHit, CapabilityIndex, IndexedCapability, TermMatch};
use toolgate_wire::Revision;

use crate::profile_view::ProfileView;
use crate::{Caller, Gate, GateError};

/// A tool that was found.
#[derive(Debug, Clone)]
pub struct ToolSearchHit {
    /// The tool.
    pub id: CapabilityId,
    /// The name to call it by.
    pub exposed: String,
    /// The score. Comparable within one result only.
    pub score: f32,
    /// The terms that matched.
    pub why: Vec<TermMatch>,
    /// The definition as it is or would be listed.
    pub definition: Bytes,
}

/// Up to this many tools are indexed inline; more on a blocking thread.
const AT_ONCE: usize = 64;

/// The search index over the tools of all servers.
#[derive(Default)]
pub(crate) struct ToolIndex(Arc<Mutex<ToolIndexState>>);

/// The index and the sources it was built from.
#[derive(Default)]
struct ToolIndexState {
    index: CapabilityIndex,
    servers: HashMap<ServerName, ServerIndexSources>,
}

/// The indexed catalogs of one server.
struct ServerIndexSources {
    /// The newest first.
    sources: Vec<Weak<CheckedCatalog>>,
    tags: ServerTags,
}

/// The tags that a declaration sets.
#[derive(PartialEq)]
struct ServerTags {
    server: Vec<String>,
    tools: Vec<(String, Vec<String>)>,
}

impl ToolIndex {
    /// Returns the best matches among the tools a view shows.
    pub(crate) async fn search(
        &self,
        view: &Arc<ProfileView>,
        query: &str,
        limit: usize,
    ) -> Vec<CapabilityHit> {
        let state = self.lock_indexed(view).await;
        state.index.search(query, limit, &|id| view.tools.contains_key(id))
    }

    /// Indexes what is new in a view.
    pub(crate) async fn index_view(&self, view: &Arc<ProfileView>) {
        drop(self.lock_indexed(view).await);
    }

    /// Returns the index with all tools of a view. Other searches wait while it is updated.
    async fn lock_indexed(&self, view: &Arc<ProfileView>) -> OwnedMutexGuard<ToolIndexState> {
        let mut state = self.0.clone().lock_owned().await;
        if state.lacking(view) <= AT_ONCE {
            state.index_view(view);
            return state;
        }
        let view = view.clone();
        let covered = tokio::task::spawn_blocking(move || {
            state.index_view(&view);
            state
        });
        match covered.await {
            Ok(state) => state,
            Err(_) => self.0.clone().lock_owned().await, // at the end of the process
        }
    }
}

impl ToolIndexState {
    fn index_view(&mut self, view: &ProfileView) {
        let mut changed = false;
        for offered in &view.offered {
            changed |= self.index_server(offered);
        }
        if changed {
            self.forget_gone();
        }
    }

    /// Returns how many tools of a view are not indexed yet.
    fn lacking(&self, view: &ProfileView) -> usize {
        let tags = |it: &OfferedCatalog| ServerTags::of(&it.fleet_server.spec);
        let new = view.offered.iter().filter(|it| !self.is_indexed(it, &tags(it)));
        new.map(|offered| offered.checked.catalog.tools.len()).sum()
    }

    fn is_indexed(
        &self,
        OfferedCatalog { fleet_server: member, checked: known, .. }: &OfferedCatalog,
        tags: &ServerTags,
    ) -> bool {
        let is_it = |source: &Weak<CheckedCatalog>| source.as_ptr() == Arc::as_ptr(known);
        let covered = self.servers.get(&member.spec.name);
        covered.is_some_and(|it| it.tags == *tags && it.sources.iter().any(is_it))
    }

    /// Indexes a server's tools; returns true if there was something new.
    fn index_server(&mut self, offered: &OfferedCatalog) -> bool {
        let OfferedCatalog { fleet_server: member, checked: known, .. } = offered;
        let (server, tags) = (&member.spec.name, ServerTags::of(&member.spec));
        if self.is_indexed(offered, &tags) {
            return false;
        }
        let is_it = |source: &Weak<CheckedCatalog>| source.as_ptr() == Arc::as_ptr(known);
        let mut sources = vec![Arc::downgrade(known)];
        let before = self.servers.remove(server).map(|covered| covered.sources);
        let before = before.into_iter().flatten().filter(|source| !is_it(source));
        sources.extend(before.filter(|source| source.strong_count() > 0));
        let known: Vec<_> = sources.iter().filter_map(Weak::upgrade).collect();
        self.index.set(server, documents(member, &tags, &known));
        self.servers.insert(server.clone(), ServerIndexSources { sources, tags });
        true
    }

    fn forget_gone(&mut self) {
        let index = &mut self.index;
        self.servers.retain(|server, covered| {
            let there = covered.sources.iter().any(|source| source.strong_count() > 0);
            if !there {
                index.remove(server);
            }
            there
        });
    }
}

fn documents(
    member: &FleetServer,
    tags: &ServerTags,
    known: &[Arc<CheckedCatalog>],
) -> Vec<IndexedCapability> {
    let all = known.iter().flat_map(|known| known.of_kind(CapabilityKind::Tool));
    let usable = all.filter(|(_, fact)| fact.unusable.is_none());
    usable
        .map(|(tool, _)| {
            IndexedCapability::from_tool(&member.spec.name, tool, tags.of_tool(&tool.name))
        })
        .collect()
}

impl ServerTags {
    fn of(spec: &ServerSpec) -> Self {
        let own = |(name, tool): (&String, &DeclaredTool)| Some((name.clone(), tool.tags.clone()?));
        Self {
            server: spec.tags.clone().unwrap_or_else(|| vec![DEFAULT_TAG.to_owned()]),
            tools: spec.selection.tools.iter().filter_map(own).collect(),
        }
    }

    fn of_tool(&self, name: &str) -> &[String] {
        let own = self.tools.iter().find(|(tool, _)| tool == name);
        own.map_or(&self.server, |(_, tags)| tags)
    }
}

impl Gate {
    /// Returns the best matches among the tools a caller sees, at most `limit`, best first.
    pub async fn search(&self, caller: &Caller, query: &str, limit: usize) -> Vec<ToolSearchHit> {
        let view = self.view(caller);
        let names = MatchableClientNames { client: &caller.client.name, caller: &caller.person };
        let denied = view.denied_to(names);
        let mut found = self.search_view(&view, caller.revision, query, limit).await;
        found.retain(|found| !denied.contains(&found.id));
        found
    }

    /// Like `search`, for all callers with a profile.
    pub async fn search_as(
        &self,
        profile: &str,
        query: &str,
        limit: usize,
    ) -> Result<Vec<ToolSearchHit>, GateError> {
        let view = self.profile_view(profile)?;
        Ok(self.search_view(&view, Revision::LATEST_LEGACY, query, limit).await)
    }

    async fn search_view(
        &self,
        view: &Arc<ProfileView>,
        to: Revision,
        query: &str,
        limit: usize,
    ) -> Vec<ToolSearchHit> {
        let found = |CapabilityHit { id, score, matches: why }: CapabilityHit| {
            let exposed = view.names().name_of(&id)?.to_owned();
            let definition = view.listed_tool(&id, to)?;
            Some(ToolSearchHit { id, exposed, score, why, definition })
        };
        let hits = self.tool_index.search(view, query, limit).await;
        hits.into_iter().filter_map(found).collect()
    }
}
