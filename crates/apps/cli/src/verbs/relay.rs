//! Bytes between a client on stdin and stdout and the gateway that owns the home.

use tokio::io::{AsyncWriteExt as _, copy, stdin, stdout};
use toolgate_transport::local::{Reader, Writer};

use crate::exit::{Exit, Failure};

/// Relays until the client leaves and has got its last answers.
pub async fn run((mut reader, mut writer): (Reader, Writer)) -> Result<Exit, Failure> {
    let from_client = async {
        let copied = copy(&mut stdin(), &mut writer).await;
        // The end of what the client says is told; answers may still come.
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
            // Whoever no longer reads does not want the rest.
            let _ = to_client.await;
            Ok(Exit::Done)
        }
        _ = &mut to_client => Err(Failure::failed("reach the gateway: it ended")
            .hint("connect again; a gateway of your own starts if none serves this home")),
    }
}
