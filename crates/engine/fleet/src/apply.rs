//! Many servers declared anew: what differs is taken over, and nothing else is touched.
//!
//! Servers are told apart by their names. One whose declaration differs only in what its process
//! need not know (where it stands, what it is called in words, which of its tools are seen) goes on
//! as it is; any other difference replaces it.

use std::collections::BTreeSet;
use std::sync::Arc;

use toolgate_model::{Catalog, ServerName, ServerSpec, ServerState};

use crate::fleet::Change;
use crate::server::Server;
use crate::{Fleet, Member};

/// What became of the servers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Applied {
    /// Those that are new.
    pub added: Vec<ServerName>,
    /// Those that are declared otherwise than before.
    pub changed: Vec<ServerName>,
    /// Those that are gone.
    pub removed: Vec<ServerName>,
    /// Those that are as before.
    pub kept: Vec<ServerName>,
}

impl Applied {
    /// Whether everything is as before.
    pub fn is_nothing(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && self.removed.is_empty()
    }
}

/// How far two declarations of one name differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Difference {
    /// Not at all, but for the place they stand at.
    None,
    /// In what the process need not know.
    Words,
    /// In the process, or in whether it may run.
    Process,
}

impl Fleet {
    /// Makes these the servers there are, and says what that changed. New and changed ones are
    /// started in the background; calls under way on a replaced one finish on the old process, up
    /// to the drain limit.
    pub async fn apply(&self, members: Vec<Member>) -> Applied {
        self.apply_with(members, || false).await
    }

    /// The same, together with what `also` stores, which says whether that changed anything.
    /// Everything that takes time is done before; then all of it becomes visible at once.
    pub async fn apply_with(&self, members: Vec<Member>, also: impl FnOnce() -> bool) -> Applied {
        let _turn = self.applying.lock().await;
        let (mut applied, mut change) = (Applied::default(), Change::default());
        let wanted: BTreeSet<_> = members.iter().map(|member| member.spec.name.clone()).collect();
        change.leaving.extend(self.names().into_iter().filter(|name| !wanted.contains(name)));
        let mut kept = Vec::new();
        for member in members {
            let name = member.spec.name.clone();
            let Some(present) = self.server(&name) else {
                change.entering.push(self.prepare(member, true).await);
                applied.added.push(name);
                continue;
            };
            match difference(&present, &member) {
                Difference::None => {
                    kept.push(present.clone());
                    change.redeclared.push((present, member));
                    applied.kept.push(name);
                }
                Difference::Words => {
                    change.redeclared.push((present, member));
                    applied.changed.push(name);
                }
                Difference::Process => {
                    change.entering.push(self.prepare(member, true).await);
                    applied.changed.push(name);
                }
            }
        }
        let gone = self.publish(change, also);
        applied.removed.extend(gone.into_iter().map(|(name, _)| name));
        kept.iter().for_each(|server| server.reconsider());
        applied
    }
}

/// Takes over words. Gives the server's name if they say what is seen, or where that is said.
pub(crate) fn redeclare(server: &Arc<Server>, member: Member) -> Option<ServerName> {
    let (name, old) = (member.spec.name.clone(), server.member());
    let chosen = old.spec.selection != member.spec.selection;
    let differs = chosen
        || (&old.spec.tags, &old.origin, old.place)
            != (&member.spec.tags, &member.origin, member.place);
    let catalog = server.shared_pool().and_then(|pool| pool.catalog());
    if let Some(catalog) = catalog.filter(|_| chosen) {
        warn_of_missing(&member.spec, &catalog);
    }
    server.redeclare(member);
    differs.then_some(name)
}

fn difference(present: &Server, new: &Member) -> Difference {
    let old = &*present.member();
    let same_built_in = match (&old.built_in, &new.built_in) {
        (None, None) => true,
        (Some(old), Some(new)) => std::ptr::addr_eq(Arc::as_ptr(old), Arc::as_ptr(new)),
        _ => false,
    };
    let same_meaning = same_built_in && old.project == new.project;
    if !same_meaning || !same_standing(present, old, new) || !same_process(&old.spec, &new.spec) {
        return Difference::Process;
    }
    match old.spec == new.spec {
        true => Difference::None,
        false => Difference::Words,
    }
}

/// Whether it may run as before. What variables are worth is asked when a connection is made: it
/// does not end one, but one that was refused for it is tried again.
fn same_standing(present: &Server, old: &Member, new: &Member) -> bool {
    if old.may_run() && new.may_run() && present.is_up() {
        return true;
    }
    let state = present.status().state;
    let refused = matches!(state, ServerState::Blocked(_)) && new.standing != state;
    old.standing == new.standing && !refused
}

/// Every field is named, so that a new one must be decided on.
fn same_process(old: &ServerSpec, new: &ServerSpec) -> bool {
    let ServerSpec {
        name,
        transport,
        enabled,
        timeouts,
        pool,
        safety,
        sampling,
        description: _,
        tags: _,
        trust: _,
        compile: _,
        required: _,
        selection: _,
        extras: _,
    } = new;
    (name, transport, enabled) == (&old.name, &old.transport, &old.enabled)
        && (timeouts, pool, safety) == (&old.timeouts, &old.pool, &old.safety)
        && *sampling == old.sampling // the handshake says whether it may ask
}

/// An entry that speaks of a tool its server does not have is likely misspelt.
pub(crate) fn warn_of_missing(spec: &ServerSpec, catalog: &Catalog) {
    let has = |name: &str| catalog.tools.iter().any(|tool| &*tool.name == name);
    for tool in spec.selection.tools.keys().filter(|tool| !has(tool)) {
        tracing::warn!(
            target: "toolgate::fleet", server = %spec.name,
            "its entry names the tool {tool:?}, which the server does not have"
        );
    }
}
