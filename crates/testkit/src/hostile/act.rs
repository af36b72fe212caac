//! What a mode can do, as data: a play is acts one after another, endless if the mode floods.
//!
//! It does NOT know the carriers' framing; an `Outlet` brings that.

use std::io;
use std::time::Duration;

use bytes::Bytes;

use super::scene::World;

/// Acts one after another, each made only when it is due.
pub(super) type Play = Box<dyn Iterator<Item = Act> + Send>;

/// Bytes one after another, written without anything in between.
pub(super) type Chunks = Box<dyn Iterator<Item = Bytes> + Send>;

/// How long an asking server waits for the answers it is owed.
const ANSWERS_WITHIN: Duration = Duration::from_secs(5);

/// One thing a server does.
pub(super) enum Act {
    /// Send one message, framed as the carrier frames messages.
    Message(Bytes),
    /// Send bytes that the carrier does not frame, with a pause after each chunk.
    Stream(Chunks, Duration),
    /// Write to stderr.
    Stderr(Bytes),
    /// Do nothing for a while.
    Pause(Duration),
    /// Wait until the client has answered so many of our requests, but not for ever.
    AwaitAnswers(u64),
    /// Stay when asked to end: ignore SIGTERM and the end of stdin.
    Stay,
    /// Never go on.
    Hang,
    /// End the process here and now.
    Exit(i32),
}

/// Where a play's messages go.
pub(super) trait Outlet: Send {
    /// Sends one framed message.
    fn message(&mut self, message: Bytes) -> impl Future<Output = io::Result<()>> + Send;
    /// Sends bytes as they are, and nothing of another play between them.
    fn stream(
        &mut self,
        chunks: Chunks,
        pause: Duration,
    ) -> impl Future<Output = io::Result<()>> + Send;
}

/// A play of one message.
pub(super) fn says(message: Bytes) -> Play {
    acts([Act::Message(message)])
}

/// A play of these acts.
pub(super) fn acts<const N: usize>(acts: [Act; N]) -> Play {
    Box::new(acts.into_iter())
}

/// Unframed bytes, all at once.
pub(super) fn raw(bytes: impl Into<Bytes>) -> Act {
    Act::Stream(Box::new(std::iter::once(bytes.into())), Duration::ZERO)
}

/// Performs a play to its end, or until nobody listens any more.
pub(super) async fn perform(play: Play, out: &mut impl Outlet, world: &World) -> io::Result<()> {
    for act in play {
        match act {
            Act::Message(message) => out.message(message).await?,
            Act::Stream(chunks, pause) => out.stream(chunks, pause).await?,
            Act::Stderr(bytes) => shout(bytes).await?,
            Act::Pause(pause) => tokio::time::sleep(pause).await,
            Act::AwaitAnswers(count) => {
                // Too few answers are a result too, and the play's next act reports it.
                let _ = tokio::time::timeout(ANSWERS_WITHIN, world.answered(count)).await;
            }
            Act::Stay => world.stay()?,
            Act::Hang => std::future::pending().await,
            Act::Exit(code) => std::process::exit(code),
        }
    }
    Ok(())
}

async fn shout(bytes: Bytes) -> io::Result<()> {
    use tokio::io::AsyncWriteExt;
    let mut stderr = tokio::io::stderr();
    stderr.write_all(&bytes).await?;
    stderr.flush().await
}
