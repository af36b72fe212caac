//! The server side of the control socket.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::sync::watch;
use tokio::task::JoinSet;
use toolgate_transport::local::{LocalReader, LocalWriter};
use toolgate_transport::peer::PeerProcess;
use toolgate_wire::Revision;

use super::HomeClaim;
use crate::control::{ControlEnvelope, ControlOpening, ControlResponse};
use crate::embedded_gateway::EmbeddedGateway;
use crate::exit::{Result, cli_error};
use crate::operator::ControlRequester;
use crate::shutdown::ShutdownSignal;

/// How long a connection may take to send its opening line.
const OPENING_TIMEOUT: Duration = Duration::from_secs(10);
/// The most bytes of the opening line.
const MAX_OPENING_BYTES: u64 = 64 * 1024;

/// Accepts connections until shutdown, and then waits until calls in flight have finished.
pub async fn serve_control_socket(
    claim: &HomeClaim,
    embedded: &Arc<EmbeddedGateway>,
    shutdown: &ShutdownSignal,
) {
    let Some(listener) = &claim.listener else { return shutdown.wait().await };
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((reader, writer, peer)) => {
                    let attached = claim.attached_clients.clone();
                    let (embedded, shutdown) = (embedded.clone(), shutdown.clone());
                    let connection = (reader, writer);
                    let served = serve_connection(embedded, shutdown, attached, connection, peer);
                    connections.spawn(served);
                }
                Err(error) => {
                    tracing::warn!(
                        target: "toolgate::gateway",
                        %error,
                        "cannot accept a connection on the control socket"
                    );
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            },
            Some(_) = connections.join_next() => {}
            () = shutdown.wait() => break,
        }
    }
    while connections.join_next().await.is_some() {}
}

/// Counts one MCP client as attached until it is dropped.
struct AttachedClientGuard(Arc<watch::Sender<usize>>);

impl AttachedClientGuard {
    fn new(clients: Arc<watch::Sender<usize>>) -> Self {
        clients.send_modify(|clients| *clients += 1);
        Self(clients)
    }
}

impl Drop for AttachedClientGuard {
    fn drop(&mut self) {
        self.0.send_modify(|clients| *clients -= 1);
    }
}

async fn serve_connection(
    embedded: Arc<EmbeddedGateway>,
    shutdown: ShutdownSignal,
    attached: Arc<watch::Sender<usize>>,
    (reader, mut writer): (LocalReader, LocalWriter),
    process: Option<PeerProcess>,
) {
    let mut reader = BufReader::new(reader);
    let mut line = Vec::new();
    let first = async { (&mut reader).take(MAX_OPENING_BYTES).read_until(b'\n', &mut line).await };
    if !matches!(tokio::time::timeout(OPENING_TIMEOUT, first).await, Ok(Ok(_))) {
        return;
    }
    let reply = match serde_json::from_slice(&line) {
        Ok(ControlOpening::Mcp { protocol, profile, operator, passphrase }) => {
            let requester = ControlRequester::peer(process, passphrase);
            let admitted = admit(&embedded, operator, &requester).await;
            match admitted.and_then(|()| parse_revision(protocol.as_deref())) {
                Ok(strict) => {
                    let _attached = AttachedClientGuard::new(attached);
                    let gateway =
                        embedded.gateway(strict, profile.as_deref()).for_operator(operator);
                    let served = gateway.serve_lines(reader, writer, shutdown.wait()).await;
                    if let Err(error) = served {
                        tracing::debug!(
                            target: "toolgate::gateway",
                            %error,
                            "connection of an attached client failed"
                        );
                    }
                    return;
                }
                Err(failure) => ControlResponse::from(Err(failure)),
            }
        }
        Ok(ControlOpening::Ask(ControlEnvelope { question, passphrase })) => {
            let requester = ControlRequester::peer(process, passphrase);
            tokio::select! {
                outcome = embedded.control.answer(&question, &requester) => outcome.into(),
                () = shutdown.wait() => {
                    ControlResponse::from(Err(cli_error!(GatewayUnreachable, "the gateway is shutting down")))
                }
            }
        }
        Err(error) => {
            let failure = cli_error!(GatewayAnswer, "invalid control request: {error}");
            let hint = concat!("this gateway is toolgate ", env!("CARGO_PKG_VERSION"));
            ControlResponse::from(Err(failure.hint(hint)))
        }
    };
    let mut text = serde_json::to_vec(&reply).unwrap_or_default();
    text.push(b'\n');
    // The requester may have disconnected; then the answer is not needed.
    let _ = writer.write_all(&text).await;
}

/// Checks whether a requester may open a session. An operator session requires the operator. For
/// any other session the client's process is recorded, so that the client cannot approve its own
/// calls. The connecting process is Toolgate's own relay; the client is its parent.
async fn admit(
    embedded: &EmbeddedGateway,
    operator: bool,
    requester: &ControlRequester,
) -> Result<()> {
    if operator {
        return embedded.control.identify(requester).await.map(|_| ());
    }
    if let Some(client) = requester.process.and_then(|relay| relay.starter()) {
        embedded.control.operators.clients.record(client);
    }
    Ok(())
}

fn parse_revision(protocol: Option<&str>) -> Result<Option<Revision>> {
    let known = |text: &str| {
        let unknown = |_| cli_error!(CliUsage, "unknown protocol revision `{text}`");
        text.parse::<Revision>().map_err(unknown)
    };
    protocol.map(known).transpose()
}
