//! Finding tools by what somebody wants to do.
//!
//! One index for everybody, filtered by what each caller sees. A server whose catalog changed is
//! indexed anew when somebody searches next, or after the change where somebody is likely to; the
//! others are not touched. A server that is connected for single callers is indexed with what any of
//! them is offered.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use bytes::Bytes;
use tokio::sync::{Mutex, OwnedMutexGuard};
use toolgate_fleet::{Known, Member, Offered};
use toolgate_model::{CapabilityId, CapabilityKind, DEFAULT_TAG, ServerName, ServerSpec, ToolSpec};
use toolgate_policy::ClientNames;
use toolgate_search::{Document, Hit, Index, Match};
use toolgate_wire::Revision;

use crate::view::View;
use crate::{Caller, Gate, Refusal};

/// A tool that was found.
#[derive(Debug, Clone)]
pub struct Found {
    /// Which.
    pub id: CapabilityId,
    /// The name to call it by.
    pub exposed: String,
    /// How well it fits. Comparable within one answer only.
    pub score: f32,
    /// What in it met the query.
    pub why: Vec<Match>,
    /// Its definition as it is, or would be, listed.
    pub definition: Bytes,
}

/// So many tools are indexed at once; more are indexed beside everything else.
const AT_ONCE: usize = 64;

/// The index, and what it was made of.
#[derive(Default)]
pub(crate) struct Finder(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    index: Index,
    servers: HashMap<ServerName, Covered>,
}

/// What is indexed of one server.
struct Covered {
    /// The newest first.
    sources: Vec<Weak<Known>>,
    tags: Tags,
}

/// What a declaration says of tags.
#[derive(PartialEq)]
struct Tags {
    server: Vec<String>,
    tools: Vec<(String, Vec<String>)>,
}

impl Finder {
    /// What fits a query best among what a view shows.
    pub(crate) async fn search(&self, view: &Arc<View>, query: &str, limit: usize) -> Vec<Hit> {
        let state = self.covering(view).await;
        state.index.search(query, limit, &|id| view.tool(id).is_some())
    }

    /// Indexes what is new in a view.
    pub(crate) async fn cover(&self, view: &Arc<View>) {
        drop(self.covering(view).await);
    }

    /// The index, with all there is in a view. Whoever comes while it is made waits, and nobody else.
    async fn covering(&self, view: &Arc<View>) -> OwnedMutexGuard<State> {
        let mut state = self.0.clone().lock_owned().await;
        if state.lacking(view) <= AT_ONCE {
            state.cover(view);
            return state;
        }
        let view = view.clone();
        let covered = tokio::task::spawn_blocking(move || {
            state.cover(&view);
            state
        });
        match covered.await {
            Ok(state) => state,
            Err(_) => self.0.clone().lock_owned().await, // at the end of the process
        }
    }
}

impl State {
    fn cover(&mut self, view: &View) {
        let mut changed = false;
        for offered in view.offered() {
            changed |= self.cover_server(offered);
        }
        if changed {
            self.forget_gone();
        }
    }

    /// How many tools of a view are to be indexed.
    fn lacking(&self, view: &View) -> usize {
        let new = view.offered().iter().filter(|it| !self.covers(it, &Tags::of(&it.member.spec)));
        new.map(|offered| offered.known.catalog.tools.len()).sum()
    }

    fn covers(&self, Offered { member, known, .. }: &Offered, tags: &Tags) -> bool {
        let is_it = |source: &Weak<Known>| source.as_ptr() == Arc::as_ptr(known);
        let covered = self.servers.get(&member.spec.name);
        covered.is_some_and(|it| it.tags == *tags && it.sources.iter().any(is_it))
    }

    /// Whether there was something new.
    fn cover_server(&mut self, offered: &Offered) -> bool {
        let Offered { member, known, .. } = offered;
        let (server, tags) = (&member.spec.name, Tags::of(&member.spec));
        if self.covers(offered, &tags) {
            return false;
        }
        let is_it = |source: &Weak<Known>| source.as_ptr() == Arc::as_ptr(known);
        let mut sources = vec![Arc::downgrade(known)];
        let before = self.servers.remove(server).map(|covered| covered.sources);
        let before = before.into_iter().flatten().filter(|source| !is_it(source));
        sources.extend(before.filter(|source| source.strong_count() > 0));
        let known: Vec<_> = sources.iter().filter_map(Weak::upgrade).collect();
        self.index.set(server, documents(member, &tags, &known));
        self.servers.insert(server.clone(), Covered { sources, tags });
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

fn documents(member: &Member, tags: &Tags, known: &[Arc<Known>]) -> Vec<Document> {
    let all = known.iter().flat_map(|known| known.of_kind(CapabilityKind::Tool));
    let usable = all.filter(|(_, fact)| fact.unusable.is_none());
    usable
        .map(|(tool, _)| Document::of_tool(&member.spec.name, tool, tags.of_tool(&tool.name)))
        .collect()
}

impl Tags {
    fn of(spec: &ServerSpec) -> Self {
        let own = |(name, tool): (&String, &ToolSpec)| Some((name.clone(), tool.tags.clone()?));
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
    /// The tools a caller sees that fit a query best, at most so many, the best first.
    pub async fn search(&self, caller: &Caller, query: &str, limit: usize) -> Vec<Found> {
        let view = self.view(caller);
        let names = ClientNames { client: &caller.client.name, caller: &caller.person };
        let denied = view.denied_to(names);
        let mut found = self.found(&view, caller.revision, query, limit).await;
        found.retain(|found| !denied.contains(&found.id));
        found
    }

    /// The same for whoever has a profile.
    pub async fn search_as(
        &self,
        profile: &str,
        query: &str,
        limit: usize,
    ) -> Result<Vec<Found>, Refusal> {
        let view = self.view_of(profile)?;
        Ok(self.found(&view, Revision::LATEST_LEGACY, query, limit).await)
    }

    async fn found(&self, view: &Arc<View>, to: Revision, query: &str, limit: usize) -> Vec<Found> {
        let found = |Hit { id, score, why }: Hit| {
            let exposed = view.names().name_of(&id)?.to_owned();
            let definition = view.listed_tool(&id, to)?;
            Some(Found { id, exposed, score, why, definition })
        };
        let hits = self.finder.search(view, query, limit).await;
        hits.into_iter().filter_map(found).collect()
    }
}
