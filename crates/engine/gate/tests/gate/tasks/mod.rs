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
use toolgate_model::{PoolScope, Prefix};
use toolgate_wire::Era;

use crate::fleet::{empty, enlist};
use worker::Worker;

/// A gate before one server of an era.
pub async fn gate_before(era: Era) -> (Arc<Gate>, Arc<Fleet>, Worker) {
    let worker = Worker::new(era, "task");
    let (gate, fleet) = empty(Prefix::default());
    enlist(&fleet, "w", &worker, PoolScope::Shared).await;
    fleet.settled(|_| true).await;
    (gate, fleet, worker)
}
