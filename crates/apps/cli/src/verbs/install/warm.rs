//! Starts the servers once after an installation, so that a client finds their tools in its first
//! list: many clients list once, before a new server has had the time to start.

use std::time::Duration;

use tokio::time::timeout;

use crate::context::Context;
use crate::out::{self, Spinner};
use crate::reach::Living;
use crate::station::{Station, Terms};

/// How long servers may take; what is not up by then is learnt at its next start.
const LIMIT: Duration = Duration::from_secs(20);

/// Learns what servers offer of which nothing is known yet. An installation does not fail because a
/// server does: that is told, and no more.
pub async fn learn(context: &Context) {
    // A gateway that runs has started them already.
    if Living::of(context).await.is_some() {
        return;
    }
    let terms = Terms { quiet: true, ..Terms::default() };
    let station = match Station::open(context, terms).await {
        Ok(station) => station,
        Err(failure) => {
            out::note(&format!("the servers were not started: {failure}"));
            return;
        }
    };
    let host = station.desk().host();
    let spinner = Spinner::new("starting the servers once, to learn what they offer");
    let _ = timeout(LIMIT, host.first_seen()).await;
    drop(spinner);
    let unknown = host.servers().servers.into_iter().filter(|status| {
        status.spec.enabled && status.catalog.is_none() && status.origin.file.is_some()
    });
    let unknown: Vec<_> = unknown.map(|status| status.spec.name.to_string()).collect();
    if !unknown.is_empty() {
        out::note(&format!(
            "  not known yet, and listed once they have started: {}",
            out::visible(&unknown.join(", "))
        ));
    }
    station.close().await;
}
