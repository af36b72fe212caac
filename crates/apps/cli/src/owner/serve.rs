//! The owner's side of the control socket.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::sync::watch;
use tokio::task::JoinSet;
use toolgate_transport::local::{Reader, Writer};
use toolgate_transport::peer::PeerProcess;
use toolgate_wire::Revision;

use super::Claim;
use crate::control::{Asked, Opening, Reply};
use crate::ending::Ending;
use crate::exit::Failure;
use crate::operator::Requester;
use crate::station::Station;

/// How long a connection may take to say what it wants.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long the line may be in which it says so.
const OPENING: u64 = 64 * 1024;

/// Serves whoever attaches until the end, and then lets calls in flight finish.
pub async fn serve(claim: &Claim, station: &Arc<Station>, ending: &Ending) {
    let Some(listener) = &claim.listener else { return ending.clone().reached().await };
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((reader, writer, peer)) => {
                    let attached = claim.attached.clone();
                    let (station, ending) = (station.clone(), ending.clone());
                    connections.spawn(one(station, ending, attached, (reader, writer), peer));
                }
                Err(error) => {
                    tracing::warn!(target: "toolgate::gateway", %error, "control socket");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            },
            Some(_) = connections.join_next() => {}
            () = ending.clone().reached() => break,
        }
    }
    while connections.join_next().await.is_some() {}
}

/// An MCP client that is attached while this lives.
struct Attached(Arc<watch::Sender<usize>>);

impl Attached {
    fn new(clients: Arc<watch::Sender<usize>>) -> Self {
        clients.send_modify(|clients| *clients += 1);
        Self(clients)
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        self.0.send_modify(|clients| *clients -= 1);
    }
}

async fn one(
    station: Arc<Station>,
    ending: Ending,
    attached: Arc<watch::Sender<usize>>,
    (reader, mut writer): (Reader, Writer),
    process: Option<PeerProcess>,
) {
    let mut reader = BufReader::new(reader);
    let mut line = Vec::new();
    let first = async { (&mut reader).take(OPENING).read_until(b'\n', &mut line).await };
    if !matches!(tokio::time::timeout(PATIENCE, first).await, Ok(Ok(_))) {
        return;
    }
    let reply = match serde_json::from_slice(&line) {
        Ok(Opening::Mcp { protocol, profile, operator, passphrase }) => {
            let asker = Requester::peer(process, passphrase);
            let admitted = admit(&station, operator, &asker).await;
            match admitted.and_then(|()| revision(protocol.as_deref())) {
                Ok(strict) => {
                    let _attached = Attached::new(attached);
                    let gateway = station.gateway(strict, profile.as_deref()).operated(operator);
                    let served = gateway.serve_lines(reader, writer, ending.reached()).await;
                    if let Err(error) = served {
                        tracing::debug!(target: "toolgate::gateway", %error, "attached client");
                    }
                    return;
                }
                Err(failure) => Reply::from(Err(failure)),
            }
        }
        Ok(Opening::Ask(Asked { question, passphrase })) => {
            let asker = Requester::peer(process, passphrase);
            tokio::select! {
            outcome = station.desk().answer(&question, &asker) => Reply::from(outcome),
            () = ending.reached() => Reply::from(Err(Failure::failed("ask a gateway that ends"))),
            }
        }
        Err(error) => {
            let failure = Failure::failed(format!("understand the question: {error}"));
            let hint = concat!("this gateway is toolgate ", env!("CARGO_PKG_VERSION"));
            Reply::from(Err(failure.hint(hint)))
        }
    };
    let mut text = serde_json::to_vec(&reply).unwrap_or_default();
    text.push(b'\n');
    // Whoever left before the answer does not want it.
    let _ = writer.write_all(&text).await;
}

/// Whether a client may open a session: an operator's is for operators only. The process behind any
/// other is recorded, since what it calls is not for it to approve. That is not the connector, which
/// is ours, but whoever started it.
async fn admit(station: &Station, operator: bool, asker: &Requester) -> Result<(), Failure> {
    if operator {
        return station.desk().identify(asker).await.map(|_| ());
    }
    if let Some(client) = asker.process.and_then(|connector| connector.starter()) {
        station.desk().operators().clients().record(client);
    }
    Ok(())
}

fn revision(protocol: Option<&str>) -> Result<Option<Revision>, Failure> {
    let known = |text: &str| {
        let unknown = |_| Failure::usage(format!("speak `{text}`: no such revision"));
        text.parse::<Revision>().map_err(unknown)
    };
    protocol.map(known).transpose()
}
