//! The stdio transport: each input line starts a sequence of actions. Sequences run concurrently
//! and share stdout.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Stdout};
use tokio::sync::Mutex;
use tokio::task::JoinSet;

use super::action::{ByteChunks, HostileActionSink, perform};
use super::server::HostileServer;

/// How long plays that are under way when stdin ends may take to finish.
const GRACE: Duration = Duration::from_millis(500);

/// A sink that writes to the shared stdout.
#[derive(Clone)]
struct StdoutActionSink(Arc<Mutex<Stdout>>);

/// Serves until stdin ends.
pub(super) async fn serve(server: HostileServer) -> io::Result<()> {
    let pipe = StdoutActionSink(Arc::new(Mutex::new(tokio::io::stdout())));
    let mut plays = JoinSet::new();
    let mut stage = |play| {
        let (mut pipe, server) = (pipe.clone(), server.clone());
        plays.spawn(async move { perform(play, &mut pipe, &server.shared).await });
    };
    if let Some(play) = server.start() {
        stage(play);
    }
    let mut input = BufReader::new(tokio::io::stdin());
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line).await? > 0 {
        if let Some(play) = server.receive(line.trim_ascii()) {
            stage(play);
        }
        line.clear();
    }
    if server.shared.stays() {
        std::future::pending::<()>().await;
    }
    let finished = async { while plays.join_next().await.is_some() {} };
    // A play that hangs or floods is cut here, as any process is that ends.
    let _ = tokio::time::timeout(GRACE, finished).await;
    Ok(())
}

impl HostileActionSink for StdoutActionSink {
    async fn message(&mut self, message: Bytes) -> io::Result<()> {
        let mut stdout = self.0.lock().await;
        stdout.write_all(&message).await?;
        stdout.write_all(b"\n").await?;
        stdout.flush().await
    }

    async fn stream(&mut self, chunks: ByteChunks, pause: Duration) -> io::Result<()> {
        let mut stdout = self.0.lock().await;
        for chunk in chunks {
            stdout.write_all(&chunk).await?;
            stdout.flush().await?;
            if !pause.is_zero() {
                tokio::time::sleep(pause).await;
            }
        }
        // What follows is another message: only an endless stream leaves its line open.
        stdout.write_all(b"\n").await?;
        stdout.flush().await
    }
}
