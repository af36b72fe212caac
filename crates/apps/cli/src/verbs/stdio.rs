//! `serve --stdio`: serves a client that starts its servers itself.
//!
//! It relays to the gateway that serves the home, or becomes the gateway if there is none.

use std::time::Duration;

use tokio::io::{stdin, stdout};
use tokio::time::timeout;
use toolgate_host::pins::LockFile;
use toolgate_transport::peer::PeerProcess;
use toolgate_wire::Revision;

use super::relay;
use super::serve::run_gateway;
use crate::cli_context::CliContext;
use crate::embedded_gateway::{EmbeddedGateway, EmbeddedGatewayOptions};
use crate::exit::{Exit, Result};
use crate::home_claim::HomeClaim;
use crate::reload::ConfigReloader;
use crate::server_access::RunningGateway;
use crate::shutdown;
use crate::{home_claim, out, reload};

/// How long a gateway waits for servers that start for the first time after its client has left.
const FIRST_START_TIMEOUT: Duration = Duration::from_secs(10);

/// Keeps running after the client has left: until the definitions of new servers are stored, so
/// that the next run lists them at once, and as long as other clients are attached.
async fn linger(embedded: &EmbeddedGateway, claim: Option<&HomeClaim>) {
    let _ = timeout(FIRST_START_TIMEOUT, embedded.control.host.wait_discovered()).await;
    if let Some(claim) = claim {
        claim.wait_for_detach().await;
    }
}

pub async fn run(
    context: &CliContext,
    strict: Option<Revision>,
    park: Duration,
    lock: Option<LockFile>,
) -> Result<Exit> {
    // A relay has no config files to reload, but SIGHUP must not end it.
    let _hangups = reload::hangup_signals()?;
    // With a lock file it does not relay, because the other gateway may not enforce it.
    if lock.is_none()
        && let Some(gateway) = RunningGateway::find_compatible(context).await
    {
        let protocol = strict.map(|revision| revision.as_str().to_owned());
        let profile = context.profile.as_deref();
        return relay::run(gateway.open_mcp(protocol, profile, false).await?).await;
    }
    // The client is served even if the home cannot be claimed.
    let claim = home_claim::claim_home(&context.home).unwrap_or_else(|failure| {
        tracing::warn!(target: "toolgate::gateway", "{failure}");
        None
    });
    // Another gateway serves this home; it must know about this client too.
    if claim.is_none()
        && let Some(gateway) = RunningGateway::find_any(context).await
    {
        let _ = gateway.open_mcp(None, None, false).await;
    }
    let profile = context.profile.as_deref();
    let gateway_options = EmbeddedGatewayOptions {
        strict,
        park: Some(park),
        serving: true,
        profile,
        lock,
        ..EmbeddedGatewayOptions::default()
    };
    let reloading = ConfigReloader::new(&context.setup_options()?)?;
    let embedded = EmbeddedGateway::open(context, gateway_options).await?;
    out::print_findings_summary(&embedded.control.findings(), context.verbose);
    let ending = shutdown::on_signal()?;
    // The client must not approve its own calls.
    if let Some(client) = PeerProcess::current().and_then(|own| own.starter()) {
        embedded.control.operators.clients.record(client);
    }
    let client = async {
        let gateway = embedded.gateway(None, None);
        let served = gateway.serve_lines(stdin(), stdout(), ending.wait()).await;
        ending.run_until_shutdown(linger(&embedded, claim.as_ref())).await;
        ending.trigger();
        served
    };
    run_gateway(&embedded, claim.as_ref(), reloading, &ending, client).await?;
    Ok(Exit::Done)
}
