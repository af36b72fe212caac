//! What a mode does, as data: a sequence of actions, which is endless if the mode floods.
//!
//! Framing is left to the [`HostileActionSink`] of each transport.

use std::io;
use std::time::Duration;

use bytes::Bytes;

use super::context::HostileState;

/// A lazy sequence of actions.
pub(super) type HostileActionSequence = Box<dyn Iterator<Item = HostileAction> + Send>;

/// A lazy sequence of byte chunks, written without separators.
pub(super) type ByteChunks = Box<dyn Iterator<Item = Bytes> + Send>;

/// How long an asking server waits for the answers it is owed.
const ANSWERS_WITHIN: Duration = Duration::from_secs(5);

/// One action of a hostile server.
pub(super) enum HostileAction {
    /// Send one message, framed as the carrier frames messages.
    Message(Bytes),
    /// Send bytes that the carrier does not frame, with a pause after each chunk.
    Stream(ByteChunks, Duration),
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

/// The destination of the messages of a sequence.
pub(super) trait HostileActionSink: Send {
    /// Sends one framed message.
    fn message(&mut self, message: Bytes) -> impl Future<Output = io::Result<()>> + Send;
    /// Sends bytes as they are, and nothing of another play between them.
    fn stream(
        &mut self,
        chunks: ByteChunks,
        pause: Duration,
    ) -> impl Future<Output = io::Result<()>> + Send;
}

/// A play of one message.
pub(super) fn single_message(message: Bytes) -> HostileActionSequence {
    action_sequence([HostileAction::Message(message)])
}

/// A play of these acts.
pub(super) fn action_sequence<const N: usize>(acts: [HostileAction; N]) -> HostileActionSequence {
    Box::new(acts.into_iter())
}

/// Unframed bytes, all at once.
pub(super) fn raw(bytes: impl Into<Bytes>) -> HostileAction {
    HostileAction::Stream(Box::new(std::iter::once(bytes.into())), Duration::ZERO)
}

/// Performs a sequence to its end, or until the sink is closed.
pub(super) async fn perform(
    play: HostileActionSequence,
    out: &mut impl HostileActionSink,
    world: &HostileState,
) -> io::Result<()> {
    for act in play {
        match act {
            HostileAction::Message(message) => out.message(message).await?,
            HostileAction::Stream(chunks, pause) => out.stream(chunks, pause).await?,
            HostileAction::Stderr(bytes) => write_stderr(bytes).await?,
            HostileAction::Pause(pause) => tokio::time::sleep(pause).await,
            HostileAction::AwaitAnswers(count) => {
                // Too few answers are a result too, and the play's next act reports it.
                let _ = tokio::time::timeout(ANSWERS_WITHIN, world.wait_for_answers(count)).await;
            }
            HostileAction::Stay => world.stay()?,
            HostileAction::Hang => std::future::pending().await,
            HostileAction::Exit(code) => std::process::exit(code),
        }
    }
    Ok(())
}

async fn write_stderr(bytes: Bytes) -> io::Result<()> {
    use tokio::io::AsyncWriteExt;
    let mut stderr = tokio::io::stderr();
    stderr.write_all(&bytes).await?;
    stderr.flush().await
}
