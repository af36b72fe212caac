//! The stdio carrier: one message per line, both ways. Ends when the client closes our stdin.
//!
//! Two plain threads do the blocking reads and writes; pipes have no readiness worth waiting for.

use std::io::{self, Write};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use tokio::sync::mpsc as channel;
use tokio::task::JoinSet;

use super::message::Frame;
use super::peer::{Outlet, Peer};
use super::session::{Service, Session};

/// How long requests underway may still answer after the client has closed its end.
const GRACE: Duration = Duration::from_millis(200);

enum Outgoing {
    Line(String),
    End,
}

struct Pipe(mpsc::Sender<Outgoing>);

impl Outlet for Pipe {
    fn send(&self, frame: String) {
        // Fails only after the writer's end, and then nobody is left to tell.
        let _ = self.0.send(Outgoing::Line(on_one_line(&frame)));
    }
}

/// The same JSON on one line: a raw line break can only be whitespace between tokens.
pub fn on_one_line(frame: &str) -> String {
    frame.replace(['\r', '\n'], " ")
}

/// Serves one client on this process's stdin and stdout.
pub async fn serve<S: Service>(open: impl Fn(Arc<Peer>) -> Arc<S>) -> io::Result<()> {
    let (frames, outgoing) = mpsc::channel();
    let writer = thread::spawn(move || write_lines(&outgoing));
    let outlet: Arc<dyn Outlet> = Arc::new(Pipe(frames.clone()));
    let session = Session::new(Peer::new(Arc::clone(&outlet)), &open);
    let mut replies = JoinSet::new();
    let mut lines = stdin_lines();
    while let Some(line) = lines.recv().await {
        match Frame::parse(&line) {
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
    let _ = frames.send(Outgoing::End);
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

fn write_lines(outgoing: &mpsc::Receiver<Outgoing>) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    while let Ok(Outgoing::Line(line)) = outgoing.recv() {
        stdout.write_all(line.as_bytes())?;
        stdout.write_all(b"\n")?;
        stdout.flush()?;
    }
    Ok(())
}
