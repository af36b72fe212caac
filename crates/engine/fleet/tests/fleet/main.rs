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

use toolgate_fleet::{
    ConnectPhaseReport, ConnectReport, DRAIN_LIMIT, Fleet, FleetBuilder, FleetServer,
};
use toolgate_launch::{LaunchHelperProgram, Launcher};
use toolgate_model::{ConfigScope, Origin, ServerName, ServerSpec, TransportSpec};
use toolgate_store::StateStore;

fn name() -> ServerName {
    ServerName::new("it").unwrap()
}

fn spec(transport: TransportSpec) -> ServerSpec {
    ServerSpec::new(name(), transport)
}

fn member(spec: ServerSpec) -> FleetServer {
    FleetServer::from_spec(
        spec,
        Origin { scope: ConfigScope::User, file: None, line: 0, column: 0 },
    )
}

/// A fleet of one server, not started yet, and what it remembers.
async fn fleet(member: FleetServer) -> (Fleet, Arc<StateStore>) {
    let store: Arc<StateStore> = Arc::new(StateStore::in_memory().await.unwrap());
    let fleet = without_servers(Some(store.clone()));
    fleet.add_idle_server(member).await;
    (fleet, store)
}

/// A fleet that remembers nothing: a database does not run on a paused clock.
fn forgetful() -> Fleet {
    without_servers(None)
}

fn without_servers(store: Option<Arc<StateStore>>) -> Fleet {
    let launcher = Launcher::new(LaunchHelperProgram::none());
    FleetBuilder { launcher, store, roots: Vec::new(), drain: DRAIN_LIMIT }.build()
}

fn details(report: &ConnectReport) -> Vec<String> {
    let told = |phase: &ConnectPhaseReport| phase.detail.clone();
    report.phases.iter().filter_map(told).collect()
}
