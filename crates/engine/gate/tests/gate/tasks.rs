//! Tasks between every pair of forms, on servers that speak each.

mod blocking;
mod bounds;
mod client;
mod hostile;
mod owned;
mod pairings;
mod worker;

use std::sync::Arc;

use toolgate_fleet::Fleet;
use toolgate_gate::Gate;
use toolgate_model::{PrefixMode, ServerSpec, ServerTimeouts};
use toolgate_wire::Era;

use crate::fleet::{empty, member, spec};
use worker::Worker;

/// A gate before one server of an era.
pub async fn gate_before(era: Era) -> (Arc<Gate>, Arc<Fleet>, Worker) {
    gate_within(era, ServerTimeouts::default()).await
}

/// The same with limits of that server.
pub async fn gate_within(era: Era, timeouts: ServerTimeouts) -> (Arc<Gate>, Arc<Fleet>, Worker) {
    let worker = Worker::new(era, "task");
    let (gate, fleet) = empty(PrefixMode::default());
    fleet.add_server(member(ServerSpec { timeouts, ..spec("w") }, &worker)).await;
    fleet.wait_settled(|_| true).await;
    (gate, fleet, worker)
}
