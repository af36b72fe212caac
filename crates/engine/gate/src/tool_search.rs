//! Finds tools by a description of the task.
//!
//! One index serves all callers; results are filtered by what each caller sees. A server whose
//! catalog changed is indexed again on the next search, or right after the change if a search is
//! likely. A server with per-caller connections is indexed with the tools of all of them.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Weak};

use bytes::Bytes;
use tokio::sync::{Mutex, OwnedMutexGuard};
use toolgate_fleet::{CheckedCatalog, OfferedCatalog};
use toolgate_model::{
    CapabilityId, CapabilityKind, DEFAULT_TAG, DeclaredTool, Definition, ServerName, ServerSpec,
};
use toolgate_search::{CapabilityHit, CapabilityIndex, IndexedCapability, TermMatch};
use toolgate_wire::Revision;

use crate::profile_view::ProfileView;
use crate::{Gate, GateError};

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
    /// The declaration of the tags.
    tags: Option<Vec<String>>,
    tools: BTreeMap<String, DeclaredTool>,
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
        let new = view.offered.iter().filter(|it| !self.is_indexed(it));
        new.map(|offered| offered.checked.catalog.tools.len()).sum()
    }

    fn is_indexed(&self, offered: &OfferedCatalog) -> bool {
        let (spec, known) = (&offered.fleet_server.spec, &offered.checked);
        let is_it = |source: &Weak<CheckedCatalog>| source.as_ptr() == Arc::as_ptr(known);
        self.servers.get(&spec.name).is_some_and(|it| {
            (&it.tags, &it.tools) == (&spec.tags, &spec.selection.tools)
                && it.sources.iter().any(is_it)
        })
    }

    /// Indexes a server's tools; returns true if there was something new.
    fn index_server(&mut self, offered: &OfferedCatalog) -> bool {
        let (spec, known) = (&offered.fleet_server.spec, &offered.checked);
        if self.is_indexed(offered) {
            return false;
        }
        let is_it = |source: &Weak<CheckedCatalog>| source.as_ptr() == Arc::as_ptr(known);
        let mut sources = vec![Arc::downgrade(known)];
        let before = self.servers.remove(&spec.name).map(|covered| covered.sources);
        let before = before.into_iter().flatten().filter(|source| !is_it(source));
        sources.extend(before.filter(|source| source.strong_count() > 0));
        let known: Vec<_> = sources.iter().filter_map(Weak::upgrade).collect();
        self.index.set(&spec.name, documents(spec, &known));
        let (tags, tools) = (spec.tags.clone(), spec.selection.tools.clone());
        self.servers.insert(spec.name.clone(), ServerIndexSources { sources, tags, tools });
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

fn documents(spec: &ServerSpec, known: &[Arc<CheckedCatalog>]) -> Vec<IndexedCapability> {
    let undeclared = [DEFAULT_TAG.to_owned()];
    let all = known.iter().flat_map(|known| known.of_kind(CapabilityKind::Tool));
    let usable = all.filter(|(_, fact)| fact.unusable.is_none());
    let document = |(tool, _): (&Definition, _)| {
        let tags = spec.declared_tags(&tool.name).unwrap_or(&undeclared);
        IndexedCapability::from_tool(&spec.name, tool, tags)
    };
    usable.map(document).collect()
}

impl Gate {
    /// Returns the best matches among the tools a profile shows, at most `limit`, best first.
    pub async fn search(
        &self,
        profile: &str,
        query: &str,
        limit: usize,
    ) -> Result<Vec<ToolSearchHit>, GateError> {
        let view = self.profile_view(profile)?;
        let found = |CapabilityHit { id, score, matches: why }: CapabilityHit| {
            let exposed = view.names().name_of(&id)?.to_owned();
            let definition = view.listed_tool(&id, Revision::LATEST_LEGACY)?;
            Some(ToolSearchHit { id, exposed, score, why, definition })
        };
        let hits = self.tool_index.search(&view, query, limit).await;
        Ok(hits.into_iter().filter_map(found).collect())
    }
}
