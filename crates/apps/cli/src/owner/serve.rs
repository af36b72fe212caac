//! The owner's side of the control socket.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::task::JoinSet;
use toolgate_transport::local::{Reader, Writer};
use toolgate_wire::Revision;

use super::Claim;
use crate::control::{Opening, Reply};
use crate::ending::Ending;
use crate::exit::Failure;
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
                Ok((reader, writer)) => {
                    connections.spawn(one(station.clone(), ending.clone(), reader, writer));
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

async fn one(station: Arc<Station>, ending: Ending, reader: Reader, mut writer: Writer) {
    let mut reader = BufReader::new(reader);
    let mut line = Vec::new();
    let first = async { (&mut reader).take(OPENING).read_until(b'\n', &mut line).await };
    if !matches!(tokio::time::timeout(PATIENCE, first).await, Ok(Ok(_))) {
        return;
    }
    let reply = match serde_json::from_slice(&line) {
        Ok(Opening::Mcp { protocol, profile, operator }) => match revision(protocol.as_deref()) {
            Ok(strict) => {
                let gateway = station.gateway(strict, profile.as_deref()).operated(operator);
                let served = gateway.serve_lines(reader, writer, ending.reached()).await;
                if let Err(error) = served {
                    tracing::debug!(target: "toolgate::gateway", %error, "attached client");
                }
                return;
            }
            Err(failure) => Reply::from(Err(failure)),
        },
        Ok(Opening::Ask(question)) => tokio::select! {
            outcome = station.desk().answer(&question) => Reply::from(outcome),
            () = ending.reached() => Reply::from(Err(Failure::failed("ask a gateway that ends"))),
        },
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

fn revision(protocol: Option<&str>) -> Result<Option<Revision>, Failure> {
    let known = |text: &str| {
        let unknown = |_| Failure::usage(format!("speak `{text}`: no such revision"));
        text.parse::<Revision>().map_err(unknown)
    };
    protocol.map(known).transpose()
}
