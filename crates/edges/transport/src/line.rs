//! Newline-delimited messages on a pair of byte streams.
//!
//! The reader limits the length of a line: it reports a longer one and skips to its end, so the
//! stream stays usable. The writer is one task that gathers the waiting messages and writes them
//! together: under load many messages cost one system call.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Notify, mpsc};

use crate::TransportError;
use crate::chunked_message::OutgoingMessage;
use crate::spool::{BodyLimits, BodySpool, ReceivedBody};

/// How many bytes the read buffer grows by: the capacity of a pipe, so that a long line takes few
/// reads.
const CHUNK: usize = 64 << 10;
/// The buffer grows before a read if less than this is free.
const SPARE: usize = 4 << 10;
/// The maximum number of waiting messages in one write.
const BATCH: usize = 64;

/// A reader of newline-delimited messages.
#[derive(Debug)]
pub struct LineReader<R> {
    input: R,
    limits: BodyLimits,
    buffer: BytesMut,
    /// How much of `buffer` is known to hold no newline.
    searched: usize,
    /// How many bytes of a refused line have been skipped, until its end is found.
    refused: Option<usize>,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    /// Creates a reader of `input`.
    pub fn new(input: R, limits: BodyLimits) -> Self {
        Self { input, limits, buffer: BytesMut::new(), searched: 0, refused: None }
    }

    /// Returns the next line without its line end, or `None` at the end of the stream. Skips empty
    /// lines. After [`TransportError::Oversize`] the next call skips the rest of that line. If the
    /// rest exceeds the limit again, the call returns an error and the stream is unusable.
    ///
    /// Not cancel-safe inside a large line: call it in a loop from a dedicated task.
    pub async fn next(&mut self) -> Result<Option<Bytes>, TransportError> {
        match self.next_body().await? {
            Some(body) => body.into_bytes().await.map(trim_end).map(Some),
            None => Ok(None),
        }
    }

    /// Like [`LineReader::next`], but leaves a large line in its file, where it may end with white
    /// space.
    pub async fn next_body(&mut self) -> Result<Option<ReceivedBody>, TransportError> {
        self.pass_over_refused().await?;
        loop {
            if let Some(line) = self.take_buffered() {
                if line.is_empty() {
                    continue;
                }
                return Ok(Some(ReceivedBody::Memory(line)));
            }
            if self.buffer.len() > self.limits.memory {
                return self.next_large().await.map(Some);
            }
            if self.fill().await? == 0 {
                return Ok(self.take_last().map(ReceivedBody::Memory));
            }
        }
    }

    fn take_buffered(&mut self) -> Option<Bytes> {
        match memchr::memchr(b'\n', &self.buffer[self.searched..]) {
            Some(at) => {
                let line = self.buffer.split_to(self.searched + at + 1).freeze();
                self.searched = 0;
                Some(trim_end(line))
            }
            None => {
                self.searched = self.buffer.len();
                None
            }
        }
    }

    /// Takes the last line of the stream, which has no line end.
    fn take_last(&mut self) -> Option<Bytes> {
        self.searched = 0;
        let last = trim_end(self.buffer.split().freeze());
        (!last.is_empty()).then_some(last)
    }

    async fn fill(&mut self) -> Result<usize, TransportError> {
        if self.buffer.capacity() - self.buffer.len() < SPARE {
            self.buffer.reserve(CHUNK.max(self.buffer.len()));
        }
        Ok(self.input.read_buf(&mut self.buffer).await?)
    }

    /// Reads a line that exceeds the memory limit.
    async fn next_large(&mut self) -> Result<ReceivedBody, TransportError> {
        let mut spool = BodySpool::new(self.limits);
        self.searched = 0;
        loop {
            let (chunk, ended) = self.take_chunk();
            let text = chunk.strip_suffix(b"\n").unwrap_or(&chunk);
            if let Err(error) = spool.push(text) {
                self.refused = (!ended).then_some(0);
                return Err(error);
            }
            drop(chunk);
            if ended || self.fill().await? == 0 {
                return Ok(spool.into_body());
            }
        }
    }

    /// Skips the rest of a line that was refused.
    async fn pass_over_refused(&mut self) -> Result<(), TransportError> {
        while let Some(passed) = self.refused {
            let (chunk, ended) = self.take_chunk();
            let passed = passed + chunk.len();
            if passed > self.limits.total {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "line has no end").into());
            }
            self.refused = (!ended && self.fill().await? > 0).then_some(passed);
        }
        Ok(())
    }

    /// Takes the buffered part of the current line. The flag is true if it contains the line's end.
    fn take_chunk(&mut self) -> (BytesMut, bool) {
        let end = memchr::memchr(b'\n', &self.buffer);
        (self.buffer.split_to(end.map_or(self.buffer.len(), |at| at + 1)), end.is_some())
    }
}

fn trim_end(mut line: Bytes) -> Bytes {
    while let [.., b'\n' | b'\r'] = &line[..] {
        line.truncate(line.len() - 1);
    }
    line
}

/// How many bytes may wait for a peer that does not read. A single message may be larger.
const ROOM: usize = 64 << 20;

/// A handle that queues messages for the writer. Cheap to clone.
#[derive(Debug, Clone)]
pub struct LineSender {
    queue: mpsc::UnboundedSender<OutgoingMessage>,
    waiting: Arc<QueuedBytes>,
}

/// The number of bytes that wait to be written, and the signal to give up on the peer.
#[derive(Debug, Default)]
struct QueuedBytes {
    bytes: AtomicUsize,
    given_up: Notify,
}

impl LineSender {
    /// Queues one message, given without its line end. The owner limits the number of waiting
    /// messages by the calls it admits. The queue itself has no such limit, because a cancellation
    /// must always get through. If a peer stops reading and too many bytes wait, the writer closes
    /// the whole connection: dropping a single message would leave its request without an answer.
    /// The message must not contain a raw line break.
    pub fn send(&self, message: impl Into<OutgoingMessage>) -> Result<(), TransportError> {
        let line = message.into();
        let held = line.held_bytes();
        let before = self.waiting.bytes.fetch_add(held, Ordering::Relaxed);
        if before > 0 && before + held > ROOM {
            self.waiting.given_up.notify_one();
            return Err(TransportError::Closed);
        }
        self.queue.send(line).map_err(|_| TransportError::Closed)
    }
}

/// Creates a line writer: a handle to send messages, and the future that writes them.
pub fn writer<W: AsyncWrite + Unpin>(
    output: W,
) -> (LineSender, impl Future<Output = Result<(), TransportError>>) {
    let (queue, receiver) = mpsc::unbounded_channel();
    let waiting = Arc::<QueuedBytes>::default();
    let sender = LineSender { queue, waiting: waiting.clone() };
    let work = async move {
        tokio::select! {
            biased;
            () = waiting.given_up.notified() => Err(TransportError::Closed),
            written = write_lines(output, receiver, &waiting) => written,
        }
    };
    (sender, work)
}

/// Writes messages until all senders are dropped or the stream fails. Dropping the output closes
/// it.
async fn write_lines<W: AsyncWrite + Unpin>(
    mut output: W,
    mut queue: mpsc::UnboundedReceiver<OutgoingMessage>,
    waiting: &QueuedBytes,
) -> Result<(), TransportError> {
    let mut batch = Vec::with_capacity(BATCH);
    let mut gathered = Vec::new();
    while queue.recv_many(&mut batch, BATCH).await > 0 {
        gathered.clear();
        let mut held = 0;
        for line in batch.drain(..) {
            held += line.held_bytes();
            match line {
                OutgoingMessage::Small(message) => gathered.extend_from_slice(&message),
                OutgoingMessage::Large(mut message) => {
                    while let Some(chunk) = message.next_chunk()? {
                        gathered.extend_from_slice(&chunk);
                        output.write_all(&gathered).await?;
                        gathered.clear();
                    }
                }
            }
            gathered.push(b'\n');
        }
        output.write_all(&gathered).await?;
        output.flush().await?;
        waiting.bytes.fetch_sub(held, Ordering::Relaxed);
        if gathered.capacity() > 1 << 20 {
            gathered = Vec::new();
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn lines(input: &[u8], limits: BodyLimits) -> Vec<Result<Bytes, TransportError>> {
        let mut reader = LineReader::new(input, limits);
        let mut found = Vec::new();
        loop {
            match reader.next().await {
                Ok(Some(line)) => found.push(Ok(line)),
                Ok(None) => return found,
                Err(error) => found.push(Err(error)),
            }
        }
    }

    #[tokio::test]
    async fn lines_come_one_by_one_whatever_ends_them() {
        let found = lines(b"{\"a\":1}\r\n\n{\"b\":2}\nlast", BodyLimits::default()).await;
        let found: Vec<_> = found.into_iter().map(Result::unwrap).collect();
        assert_eq!(found, ["{\"a\":1}", "{\"b\":2}", "last"]);
    }

    #[tokio::test]
    async fn a_line_over_the_memory_limit_is_spooled_and_whole() {
        let limits = BodyLimits { memory: 20_000, total: 1 << 20 };
        let long = "x".repeat(100_000);
        let found = lines(format!("{long}\nnext\n").as_bytes(), limits).await;
        assert_eq!(found[0].as_ref().unwrap(), &long);
        assert_eq!(found[1].as_ref().unwrap(), "next");
    }

    #[tokio::test]
    async fn an_oversize_line_is_reported_and_the_next_one_read() {
        let limits = BodyLimits { memory: 20_000, total: 50_000 };
        let long = "x".repeat(100_000);
        let found = lines(format!("{{\"id\":1}}{long}\nnext\n").as_bytes(), limits).await;
        let Err(TransportError::Oversize { head, .. }) = &found[0] else { panic!("{found:?}") };
        assert!(head.starts_with(b"{\"id\":1}"));
        assert_eq!(found[1].as_ref().unwrap(), "next");
    }

    #[tokio::test]
    async fn a_line_without_end_is_reported_when_it_is_too_long_and_then_ends_the_stream() {
        let limits = BodyLimits { memory: 20_000, total: 50_000 };
        let (mut flood, input) = tokio::io::duplex(1 << 16);
        let flooding = async {
            // Fails once the reader has had enough.
            while flood.write_all(&[b'x'; 10_000]).await.is_ok() {}
        };
        let reading = async {
            let mut reader = LineReader::new(input, limits);
            let first = reader.next().await;
            assert!(matches!(first, Err(TransportError::Oversize { .. })), "{first:?}");
            assert!(matches!(reader.next().await, Err(TransportError::Io(_))));
        };
        tokio::join!(flooding, reading);
    }

    #[tokio::test]
    async fn waiting_messages_are_written_in_order() {
        let (ours, mut theirs) = tokio::io::duplex(1 << 16);
        let (sender, work) = writer(ours);
        for n in 0..200 {
            sender.send(Bytes::from(format!("{n}"))).unwrap();
        }
        drop(sender);
        work.await.unwrap();
        let mut text = String::new();
        theirs.read_to_string(&mut text).await.unwrap();
        let expected: Vec<_> = (0..200).map(|n| n.to_string()).collect();
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    }

    #[tokio::test]
    async fn a_reader_that_does_not_read_is_given_up() {
        let (ours, _theirs) = tokio::io::duplex(1 << 10);
        let (sender, work) = writer(ours);
        let work = tokio::spawn(work);
        let message = Bytes::from(vec![b'x'; ROOM / 4]);
        let refused = std::iter::repeat_with(|| sender.send(message.clone())).take(6);
        assert_eq!(refused.filter(Result::is_err).count(), 2);
        assert!(matches!(work.await.unwrap(), Err(TransportError::Closed)));
        assert!(sender.queue.is_closed());
    }
}
