//! Starts the servers once after an installation, so that a client finds their tools in its first
//! list. Many clients list tools only once, before a new server had time to start.

use std::time::Duration;

use tokio::time::timeout;

use crate::cli_context::CliContext;
use crate::embedded_gateway::{EmbeddedGateway, EmbeddedGatewayOptions};
use crate::out::{self, Spinner};
use crate::server_access::RunningGateway;

/// How long to wait for servers. Later ones are discovered at their next start.
const LIMIT: Duration = Duration::from_secs(20);

/// Starts servers whose capabilities are not known yet. A failing server is only reported: it does
/// not fail the installation.
pub async fn start_servers_once(context: &CliContext) {
    // A running gateway has already started them.
    if RunningGateway::find_compatible(context).await.is_some() {
        return;
    }
    let gateway_options =
        EmbeddedGatewayOptions { quiet: true, ..EmbeddedGatewayOptions::default() };
    let embedded = match EmbeddedGateway::open(context, gateway_options).await {
        Ok(embedded) => embedded,
        Err(failure) => {
            out::note(&format!("the servers were not started: {failure}"));
            return;
        }
    };
    let host = &embedded.control.host;
    let spinner = Spinner::new("starting the servers once to discover their tools");
    let _ = timeout(LIMIT, host.wait_discovered()).await;
    drop(spinner);
    let unknown = host.servers().into_iter().filter(|status| {
        status.spec.enabled && status.catalog.is_none() && status.origin.file.is_some()
    });
    let unknown: Vec<_> = unknown.map(|status| status.spec.name.to_string()).collect();
    if !unknown.is_empty() {
        out::note(&format!(
            "  did not start in time; their tools appear after their next start: {}",
            unknown.join(", ")
        ));
    }
    embedded.close().await;
}
