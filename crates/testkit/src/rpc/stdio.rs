//! The stdio transport: one message per line in both directions. It ends when the client closes
//! stdin.
//!
//! Two threads do the blocking reads and writes.

use std::io::{self, Write};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use tokio::sync::mpsc as channel;
use tokio::task::JoinSet;

use super::message::TestFrame;
use super::peer::{ClientPeer, FrameSink};
use super::session::{TestService, TestSession};

/// How long requests underway may still answer after the client has closed its end.
const GRACE: Duration = Duration::from_millis(200);

/// A command to the thread that writes stdout.
enum StdoutWriterCommand {
    Line(String),
    End,
}

/// A sink that sends frames to the thread that writes stdout.
struct StdioFrameSink(mpsc::Sender<StdoutWriterCommand>);

impl FrameSink for StdioFrameSink {
    fn send(&self, frame: String) {
        // Fails only after the writer has ended; then the frame is discarded.
        let _ = self.0.send(StdoutWriterCommand::Line(on_one_line(&frame)));
    }
}

/// The same JSON on one line: a raw line break can only be whitespace between tokens.
pub fn on_one_line(frame: &str) -> String {
    frame.replace(['\r', '\n'], " ")
}

/// Serves one client on this process's stdin and stdout.
pub async fn serve<S: TestService>(open: impl Fn(Arc<ClientPeer>) -> Arc<S>) -> io::Result<()> {
    let (frames, outgoing) = mpsc::channel();
    let writer = thread::spawn(move || write_lines(&outgoing));
    let outlet: Arc<dyn FrameSink> = Arc::new(StdioFrameSink(frames.clone()));
    let session = TestSession::new(ClientPeer::new(Arc::clone(&outlet)), &open);
    let mut replies = JoinSet::new();
    let mut lines = stdin_lines();
    while let Some(line) = lines.recv().await {
        match TestFrame::parse(&line) {
            Ok(frame) => {
                let reply = session.take(frame, &outlet);
                let outlet = Arc::clone(&outlet);
                replies.spawn(async move {
                    if let Some(frame) = reply.await {
                        outlet.send(frame);
                    }
                });
            }
            Err(fault) => outlet.send(fault.orphan_frame()),
        }
        while replies.try_join_next().is_some() {}
    }
    // A client that pipes its requests in and closes at once still gets the quick answers.
    let _ = tokio::time::timeout(GRACE, replies.join_all()).await;
    let _ = frames.send(StdoutWriterCommand::End);
    writer.join().unwrap_or(Ok(()))
}

/// The lines of our stdin until it ends, blank ones left out.
pub fn stdin_lines() -> channel::UnboundedReceiver<String> {
    let (lines, received) = channel::unbounded_channel();
    thread::spawn(move || {
        for line in io::stdin().lines().map_while(Result::ok) {
            if !line.trim().is_empty() && lines.send(line).is_err() {
                return;
            }
        }
    });
    received
}

fn write_lines(outgoing: &mpsc::Receiver<StdoutWriterCommand>) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    while let Ok(StdoutWriterCommand::Line(line)) = outgoing.recv() {
        stdout.write_all(line.as_bytes())?;
        stdout.write_all(b"\n")?;
        stdout.flush()?;
    }
    Ok(())
}
