//! The fleet against servers of its own: processes, sockets, and one inside this process.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failed test may panic

mod applying;
mod asking;
mod built_in;
mod eras;
mod masking;
mod old_http;
mod renewing;
mod replacing;
mod retries;
mod silent;
mod spares;
mod subscriptions;

use std::sync::Arc;

use toolgate_fleet::{DRAIN, Fleet, FleetBuilder, Member, PhaseReport, Report};
use toolgate_launch::{Helper, Launcher};
use toolgate_model::{Origin, Scope, ServerName, ServerSpec, TransportSpec};
use toolgate_store::{SqliteState, State};

fn name() -> ServerName {
    ServerName::new("it").unwrap()
}

fn spec(transport: TransportSpec) -> ServerSpec {
    ServerSpec::new(name(), transport)
}

fn member(spec: ServerSpec) -> Member {
    Member::plain(spec, Origin { scope: Scope::User, file: None, line: 0, column: 0 })
}

/// A fleet of one server, not started yet, and what it remembers.
async fn fleet(member: Member) -> (Fleet, Arc<dyn State>) {
    let store: Arc<dyn State> = Arc::new(SqliteState::in_memory().await.unwrap());
    let fleet = without_servers(Some(store.clone()));
    fleet.enlist_idle(member).await;
    (fleet, store)
}

/// A fleet that remembers nothing: a database does not run on a paused clock.
fn forgetful() -> Fleet {
    without_servers(None)
}

fn without_servers(store: Option<Arc<dyn State>>) -> Fleet {
    let launcher = Launcher::new(Helper::none());
    FleetBuilder { launcher, store, roots: Vec::new(), drain: DRAIN }.build()
}

fn details(report: &Report) -> Vec<String> {
    let told = |phase: &PhaseReport| phase.detail.clone();
    report.phases.iter().filter_map(told).collect()
}
