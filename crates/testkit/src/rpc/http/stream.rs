//! A stream of messages as a log that connections can follow and resume.
//!
//! Event ids are `<stream>-<number of events so far>`, so a client resumes after the last id it
//! saw. One connection follows a log at a time; a newer one takes over.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::{mpsc, watch};

use crate::rpc::peer::FrameSink;

/// How long a client should wait before it comes back, in milliseconds.
const RETRY: u32 = 500;

/// All messages of one stream since its beginning.
pub struct ResumableStream {
    key: u64,
    state: watch::Sender<ResumableStreamState>,
}

/// The events of a stream and the connection that follows it.
#[derive(Default)]
struct ResumableStreamState {
    frames: Vec<String>,
    finished: bool,
    delivered: usize,
    /// Which connection may follow; the others stop at `cut`.
    turn: u64,
    cut: usize,
}

impl ResumableStreamState {
    fn next_turn(&mut self) {
        self.turn += 1;
        self.cut = self.frames.len();
    }
}

impl FrameSink for ResumableStream {
    fn send(&self, frame: String) {
        self.state.send_modify(|state| state.frames.push(frame));
    }

    fn pause(&self) {
        self.state.send_modify(ResumableStreamState::next_turn);
    }
}

impl ResumableStream {
    /// An empty log.
    pub fn new(key: u64) -> Self {
        Self { key, state: watch::Sender::default() }
    }

    /// What its event ids begin with.
    pub fn key(&self) -> u64 {
        self.key
    }

    /// Adds the last message, if there is one, and ends the stream.
    pub fn finish(&self, last: Option<String>) {
        self.state.send_modify(|state| {
            state.frames.extend(last);
            state.finished = true;
        });
    }

    /// How many events some connection has taken.
    pub fn delivered(&self) -> usize {
        self.state.borrow().delivered
    }

    /// Whether nothing is left after `from` and nothing will come.
    pub fn exhausted(&self, from: usize) -> bool {
        let state = self.state.borrow();
        state.finished && from >= state.frames.len()
    }

    /// The stream's only message, once it is clear that it is the only one.
    pub async fn only_frame(&self) -> Option<String> {
        let mut watched = self.state.subscribe();
        let state = watched.wait_for(|state| state.finished || !state.frames.is_empty()).await;
        let state = state.ok()?;
        (state.finished && state.frames.len() == 1).then(|| state.frames[0].clone())
    }

    /// Follows the log from a place on; `primed` begins with an event that only has an id.
    pub fn follow(self: &Arc<Self>, from: usize, primed: bool) -> mpsc::Receiver<Bytes> {
        let (chunks, receiver) = mpsc::channel(16);
        self.state.send_modify(ResumableStreamState::next_turn);
        let turn = self.state.borrow().turn;
        tokio::spawn(Arc::clone(self).feed(turn, from, primed, chunks));
        receiver
    }

    async fn feed(
        self: Arc<Self>,
        turn: u64,
        from: usize,
        primed: bool,
        chunks: mpsc::Sender<Bytes>,
    ) {
        let mut next = from;
        if primed {
            let primer = format!("id: {}-{next}\nretry: {RETRY}\ndata: \n\n", self.key);
            if chunks.send(primer.into()).await.is_err() {
                return;
            }
        }
        loop {
            let Some((events, over)) = self.news(turn, next, &chunks).await else {
                return;
            };
            for frame in events {
                next += 1;
                if chunks.send(self.event(next, &frame)).await.is_err() {
                    return;
                }
                self.state.send_if_modified(|state| {
                    state.delivered = state.delivered.max(next);
                    false
                });
            }
            if over {
                return;
            }
        }
    }

    /// What has come since `next`, and whether this connection is at its end; nothing once the
    /// client has left.
    async fn news(
        &self,
        turn: u64,
        next: usize,
        chunks: &mpsc::Sender<Bytes>,
    ) -> Option<(Vec<String>, bool)> {
        let mut watched = self.state.subscribe();
        let state = tokio::select! {
            state = watched.wait_for(|state| {
                state.turn != turn || state.finished || state.frames.len() > next
            }) => state.ok()?,
            () = chunks.closed() => return None,
        };
        let replaced = state.turn != turn;
        let end = if replaced { state.cut } else { state.frames.len() };
        let events = state.frames.get(next..end).unwrap_or_default().to_vec();
        Some((events, replaced || state.finished))
    }

    fn event(&self, place: usize, frame: &str) -> Bytes {
        let data: String = frame.lines().map(|line| format!("data: {line}\n")).collect();
        format!("event: message\nid: {}-{place}\n{data}\n", self.key).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn rest(mut chunks: mpsc::Receiver<Bytes>) -> String {
        let mut text = String::new();
        while let Some(chunk) = chunks.recv().await {
            text.push_str(std::str::from_utf8(&chunk).unwrap());
        }
        text
    }

    #[tokio::test]
    async fn a_paused_stream_goes_on_where_the_client_left_it() {
        let log = Arc::new(ResumableStream::new(7));
        let first = log.follow(0, true);
        log.send("one".to_owned());
        log.pause();
        assert_eq!(
            rest(first).await,
            "id: 7-0\nretry: 500\ndata: \n\nevent: message\nid: 7-1\ndata: one\n\n"
        );
        log.finish(Some("two".to_owned()));
        assert_eq!(rest(log.follow(1, false)).await, "event: message\nid: 7-2\ndata: two\n\n");
        assert!(log.exhausted(2));
    }

    #[tokio::test]
    async fn a_message_of_several_lines_keeps_them() {
        let log = Arc::new(ResumableStream::new(1));
        log.finish(Some("{\n}".to_owned()));
        assert_eq!(
            rest(log.follow(0, false)).await,
            "event: message\nid: 1-1\ndata: {\ndata: }\n\n"
        );
    }

    #[tokio::test]
    async fn a_newer_connection_takes_over() {
        let log = Arc::new(ResumableStream::new(1));
        let older = log.follow(0, false);
        let newer = log.follow(0, false);
        assert_eq!(rest(older).await, "");
        log.finish(Some("x".to_owned()));
        assert!(rest(newer).await.contains("data: x"));
    }
}
