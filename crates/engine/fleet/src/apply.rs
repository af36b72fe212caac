//! Applies a new set of server declarations and changes only the servers that differ.
//!
//! Servers are matched by name. A server whose declaration differs only in metadata (origin,
//! description, visible tools) keeps its process. Any other difference replaces the server.

use std::collections::BTreeSet;
use std::sync::Arc;

use toolgate_model::{Catalog, ServerName, ServerSpec, ServerState};

use crate::fleet::FleetChange;
use crate::server_pools::ServerPools;
use crate::{Fleet, FleetServer};

/// Lists what [`Fleet::apply`] did with each server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FleetApplyReport {
    /// New servers.
    pub added: Vec<ServerName>,
    /// Servers whose declaration changed.
    pub changed: Vec<ServerName>,
    /// Servers that are no longer declared.
    pub removed: Vec<ServerName>,
    /// Servers whose declaration did not change.
    pub kept: Vec<ServerName>,
}

impl FleetApplyReport {
    /// Returns true if no server was added, changed or removed.
    pub fn is_unchanged(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && self.removed.is_empty()
    }
}

/// How much two declarations with the same name differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ServerDifference {
    /// Not at all, except possibly in their position.
    None,
    /// Only in metadata that does not affect the process.
    Metadata,
    /// In the process itself, or in whether it may run.
    Process,
}

impl Fleet {
    /// Replaces the set of servers with `members` and reports what changed. New and changed servers
    /// start in the background. Calls in progress on a replaced server finish on the old process,
    /// up to the drain limit.
    pub async fn apply(&self, members: Vec<FleetServer>) -> FleetApplyReport {
        self.apply_with(members, || false).await
    }

    /// Works like [`Fleet::apply`] and also runs `also`, which stores related state and returns
    /// true if that changed anything. All slow work happens first; then the whole change becomes
    /// visible at once.
    pub async fn apply_with(
        &self,
        members: Vec<FleetServer>,
        also: impl FnOnce() -> bool,
    ) -> FleetApplyReport {
        let _turn = self.applying.lock().await;
        let (mut applied, mut change) = (FleetApplyReport::default(), FleetChange::default());
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
                ServerDifference::None => {
                    kept.push(present.clone());
                    change.redeclared.push((present, member));
                    applied.kept.push(name);
                }
                ServerDifference::Metadata => {
                    change.redeclared.push((present, member));
                    applied.changed.push(name);
                }
                ServerDifference::Process => {
                    change.entering.push(self.prepare(member, true).await);
                    applied.changed.push(name);
                }
            }
        }
        let gone = self.publish(change, also);
        applied.removed.extend(gone.into_iter().map(|(name, _)| name));
        kept.iter().for_each(|server| server.restart_if_unusable());
        applied
    }
}

/// Replaces the metadata of a running server. Returns its name if the change affects which
/// capabilities are visible, or their origin, tags or order.
pub(crate) fn redeclare(server: &Arc<ServerPools>, member: FleetServer) -> Option<ServerName> {
    let (name, old) = (member.spec.name.clone(), server.fleet_server());
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

fn difference(present: &ServerPools, new: &FleetServer) -> ServerDifference {
    let old = &*present.fleet_server();
    let same_built_in = match (&old.built_in, &new.built_in) {
        (None, None) => true,
        (Some(old), Some(new)) => std::ptr::addr_eq(Arc::as_ptr(old), Arc::as_ptr(new)),
        _ => false,
    };
    let same_meaning = same_built_in && old.project == new.project;
    if !same_meaning || !same_run_state(present, old, new) || !same_process(&old.spec, &new.spec) {
        return ServerDifference::Process;
    }
    match old.spec == new.spec {
        true => ServerDifference::None,
        false => ServerDifference::Metadata,
    }
}

/// Returns true if the server may run, or not run, as before. Variables are resolved when a
/// connection is made, so a changed value does not end a live connection. A server that was blocked
/// because of a variable is tried again.
fn same_run_state(present: &ServerPools, old: &FleetServer, new: &FleetServer) -> bool {
    if old.may_run() && new.may_run() && present.is_up() {
        return true;
    }
    let state = present.status().state;
    let refused = matches!(state, ServerState::Blocked(_)) && new.initial_state != state;
    old.initial_state == new.initial_state && !refused
}

/// Returns true if both declarations describe the same process. The pattern names every field, so
/// that adding a field forces a decision here.
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
        && *sampling == old.sampling // the handshake declares sampling
}

/// Logs a warning for each tool that the entry names and the server does not have; the name is
/// probably misspelt.
pub(crate) fn warn_of_missing(spec: &ServerSpec, catalog: &Catalog) {
    let has = |name: &str| catalog.tools.iter().any(|tool| &*tool.name == name);
    for tool in spec.selection.tools.keys().filter(|tool| !has(tool)) {
        tracing::warn!(
            target: "toolgate::fleet", server = %spec.name,
            "the entry names the tool {tool:?}, which the server does not have"
        );
    }
}
