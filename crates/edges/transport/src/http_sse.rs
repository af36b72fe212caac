//! A client of HTTP+SSE, the transport of 2024-11-05: a pair of byte streams over two endpoints.
//!
//! A GET opens an event stream. Its first event names the URL for posting messages, and everything
//! the server sends arrives on the stream. The caller sees lines in and lines out, as on pipes. A
//! stream that has ended is not resumed: its session is over. This module does not look inside
//! messages: the caller provides a function that creates the answer to a message that was lost.

mod line_decoder;
mod poster;

#[cfg(test)]
mod tests;

use std::io;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use http::Method;
use http::header::{ACCEPT, HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use tokio::io::{AsyncRead, AsyncWriteExt, DuplexStream, ReadBuf};
use tokio::sync::mpsc;

use crate::TransportError;
use crate::http::{HttpEndpoint, HttpResponse};
use crate::spool::BodyLimits;
use line_decoder::SseLineDecoder;
use poster::{MessagePoster, PostFailureReport};

/// The capacity in bytes of each pipe between this transport and its user.
const PIPE: usize = 64 << 10;
/// How many reports of posts may wait.
const REPORTS: usize = 64;
/// How many characters of a refusal's body are kept.
const SHOWN: usize = 300;

/// A function that creates the answer to a message the server did not accept, for the given reason.
/// It returns the answer without a line end, or `None` if the message expects none.
pub type FailureResponder = fn(message: &[u8], reason: &str) -> Option<Bytes>;

/// The messages of the server, one per line. It ends with the event stream.
#[derive(Debug)]
pub struct SseReader {
    pipe: DuplexStream,
    /// Why the stream ended, if there is a reason beyond its end.
    reason: Arc<OnceLock<String>>,
}

/// Opens the event stream and waits for its `endpoint` event, which names the URL for posting.
///
/// The messages written to the second stream, one per line, are posted in that order. Dropping it
/// closes the connection once everything is posted.
pub async fn open(
    endpoint: &HttpEndpoint,
    responder: FailureResponder,
) -> Result<(SseReader, DuplexStream), TransportError> {
    let accept = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("text/event-stream"))]);
    let headers = endpoint.headers(accept);
    let reply = endpoint.send(Method::GET, headers, Bytes::new()).await?;
    if !reply.status.is_success() {
        return Err(refusal_error(reply).await);
    }
    if !reply.is_event_stream() {
        return Err(TransportError::NotEventStream("the response is not an event stream".into()));
    }
    let mut events = SseLineStream { reply, decoder: SseLineDecoder::default() };
    let (post_url, rest) = events.read_post_url().await?;
    let posts = MessagePoster::new(endpoint.at_same_origin(&post_url)?, responder);
    let (to_user, pipe) = tokio::io::duplex(PIPE);
    let (from_user, output) = tokio::io::duplex(PIPE);
    let reason = Arc::<OnceLock<String>>::default();
    tokio::spawn(run_carrier(events, rest, to_user, posts.start(from_user), reason.clone()));
    Ok((SseReader { pipe, reason }, output))
}

/// The event stream of a server that has answered the GET, decoded into lines.
struct SseLineStream {
    reply: HttpResponse,
    decoder: SseLineDecoder,
}

impl SseLineStream {
    /// Reads until the `endpoint` event. Returns its URL and the lines that came with it.
    async fn read_post_url(&mut self) -> Result<(String, BytesMut), TransportError> {
        while let Some(lines) = self.next_lines().await? {
            if let Some(post_url) = self.decoder.post_url() {
                return Ok((post_url, lines));
            }
            if !lines.is_empty() {
                let reason = "a message came before the `endpoint` event";
                return Err(TransportError::NotEventStream(reason.into()));
            }
        }
        Err(TransportError::NotEventStream("it ended before the `endpoint` event".into()))
    }

    /// Returns the next lines, or parts of them, or `None` at the end.
    async fn next_lines(&mut self) -> Result<Option<BytesMut>, TransportError> {
        let Some(chunk) = self.reply.next_chunk().await? else { return Ok(None) };
        let mut lines = BytesMut::new();
        self.decoder.push(&chunk, &mut lines);
        Ok(Some(lines))
    }
}

/// Transfers messages in both directions until one direction ends.
async fn run_carrier(
    mut events: SseLineStream,
    rest: BytesMut,
    mut pipe: DuplexStream,
    (posting, mut reports): (impl Future<Output = ()>, mpsc::Receiver<PostFailureReport>),
    reason: Arc<OnceLock<String>>,
) {
    let receiving = async {
        pipe.write_all(&rest).await.map_err(|_| None)?;
        loop {
            let lines = tokio::select! {
                lines = events.next_lines() => match lines {
                    Ok(lines) => lines.ok_or(None)?,
                    Err(error) => return Err(Some(error.to_string())),
                },
                // A failure response must not interrupt a message.
                Some(report) = reports.recv(), if events.decoder.is_between_messages() => {
                    match report {
                        PostFailureReport::FailureResponse(line) => line,
                        PostFailureReport::SessionEnded(reason) => return Err(Some(reason)),
                    }
                }
            };
            pipe.write_all(&lines).await.map_err(|_| None)?;
        }
    };
    let ended: Result<std::convert::Infallible, Option<String>> = tokio::select! {
        ended = receiving => ended,
        () = posting => return,
    };
    if let Err(Some(why)) = ended {
        let _ = reason.set(why);
    }
}

async fn refusal_error(reply: HttpResponse) -> TransportError {
    let status = reply.status.as_u16();
    let challenge = reply.headers.get(WWW_AUTHENTICATE);
    let challenge = challenge.and_then(|value| value.to_str().ok()).map(str::to_owned);
    let limits = BodyLimits { memory: 64 << 10, total: 64 << 10 };
    let body = reply.read_bytes(limits).await.unwrap_or_default();
    let text = String::from_utf8_lossy(&body).chars().take(SHOWN).collect();
    TransportError::Refused { status, challenge, text }
}

impl AsyncRead for SseReader {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.pipe).poll_read(context, buffer))?;
        let ended = buffer.filled().len() == before && buffer.remaining() > 0;
        Poll::Ready(match self.reason.get().filter(|_| ended) {
            Some(reason) => Err(io::Error::other(reason.clone())),
            None => Ok(()),
        })
    }
}
