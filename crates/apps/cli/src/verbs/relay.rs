//! Relays bytes between a client on stdin and stdout and the gateway that serves the home.

use tokio::io::{AsyncWriteExt as _, copy, stdin, stdout};
use toolgate_transport::local::{LocalReader, LocalWriter};

use crate::exit::{Exit, Result, cli_error};

/// Relays until the client closes stdin and has received its last answers.
pub async fn run((mut reader, mut writer): (LocalReader, LocalWriter)) -> Result<Exit> {
    let from_client = async {
        let copied = copy(&mut stdin(), &mut writer).await;
        // Forwards the end of the client's input; answers may still arrive.
        let _ = writer.shutdown().await;
        copied
    };
    let to_client = async {
        let mut stdout = stdout();
        let copied = copy(&mut reader, &mut stdout).await;
        stdout.flush().await.and(copied)
    };
    tokio::pin!(from_client, to_client);
    tokio::select! {
        biased;
        Ok(_) = &mut from_client => {
            // An error here means that the client closed stdout and wants no more answers.
            let _ = to_client.await;
            Ok(Exit::Done)
        }
        _ = &mut to_client => Err(cli_error!(GatewayUnreachable, "the gateway that serves this home has stopped")
            .hint("connect again; a new gateway starts if none is running")),
    }
}
