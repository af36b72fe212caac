//! HTTP+SSE, the transport of 2024-11-05, as a client: a pair of byte streams over two endpoints.
//!
//! One GET gives an event stream whose first event says where messages are posted; all that the
//! server sends comes on the stream. Seen from here these are lines in and lines out, so whoever
//! speaks on pipes can speak on this. A stream that has ended is not taken up again: the session on
//! it is over. A message is not looked into: whoever opens the carrier says what stands in for the
//! answer to one that did not get through.

mod posts;
mod unfold;

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
use crate::http::{Endpoint, Outgoing, Reply};
use crate::spool::BodyLimits;
use posts::{Posts, Report};
use unfold::Unfolder;

/// How much may wait in a pipe between the carrier and whoever uses it.
const PIPE: usize = 64 << 10;
/// How many reports of posts may wait.
const REPORTS: usize = 64;
/// How much is shown of a refusal.
const SHOWN: usize = 300;

/// What stands in for the answer to a message the server did not take, for the reason given; `None`
/// if nobody waits for one. Given without a line end.
pub type StandIn = fn(message: &[u8], reason: &str) -> Option<Bytes>;

/// What the server sends, a message per line. It ends with the event stream.
#[derive(Debug)]
pub struct Inbound {
    pipe: DuplexStream,
    /// Why it ended, if there is more to say than that it did.
    reason: Arc<OnceLock<String>>,
}

/// Opens the event stream and waits until it has said where messages are posted.
///
/// What is written to the second stream, a message per line, is posted in that order. Dropping it
/// ends the carrier once everything is posted.
pub async fn open(
    endpoint: &Endpoint,
    stand_in: StandIn,
) -> Result<(Inbound, DuplexStream), TransportError> {
    let accept = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("text/event-stream"))]);
    let headers = endpoint.headers(accept);
    let reply =
        endpoint.send(Outgoing { method: Method::GET, headers, body: Bytes::new() }).await?;
    if !reply.status.is_success() {
        return Err(refused(reply).await);
    }
    if !reply.is_event_stream() {
        return Err(TransportError::NotEvents("the answer is no event stream".into()));
    }
    let mut events = Events { reply, unfolder: Unfolder::default() };
    let (place, rest) = events.place().await?;
    let posts = Posts::new(endpoint.at(&place)?, stand_in);
    let (to_user, pipe) = tokio::io::duplex(PIPE);
    let (from_user, output) = tokio::io::duplex(PIPE);
    let reason = Arc::<OnceLock<String>>::default();
    tokio::spawn(carry(events, rest, to_user, posts.all(from_user), reason.clone()));
    Ok((Inbound { pipe, reason }, output))
}

/// The stream of a server that has answered the GET.
struct Events {
    reply: Reply,
    unfolder: Unfolder,
}

impl Events {
    /// Reads up to where messages are posted; gives that and the lines that came with it.
    async fn place(&mut self) -> Result<(String, BytesMut), TransportError> {
        let mut lines = BytesMut::new();
        while let Some(chunk) = self.reply.chunk().await? {
            self.unfolder.push(&chunk, &mut lines);
            if let Some(place) = self.unfolder.place() {
                return Ok((place, lines));
            }
            if !lines.is_empty() {
                let reason = "it sends messages before it says where to post";
                return Err(TransportError::NotEvents(reason.into()));
            }
        }
        Err(TransportError::NotEvents("it ended before it said where to post".into()))
    }

    /// The next lines, or parts of them; `None` at the end.
    async fn lines(&mut self) -> Result<Option<BytesMut>, TransportError> {
        let Some(chunk) = self.reply.chunk().await? else { return Ok(None) };
        let mut lines = BytesMut::new();
        self.unfolder.push(&chunk, &mut lines);
        Ok(Some(lines))
    }
}

/// Carries both ways until one of them is over.
async fn carry(
    mut events: Events,
    rest: BytesMut,
    mut pipe: DuplexStream,
    (posting, mut reports): (impl Future<Output = ()>, mpsc::Receiver<Report>),
    reason: Arc<OnceLock<String>>,
) {
    let receiving = async {
        pipe.write_all(&rest).await.map_err(|_| None)?;
        loop {
            let lines = tokio::select! {
                lines = events.lines() => match lines {
                    Ok(lines) => lines.ok_or(None)?,
                    Err(error) => return Err(Some(error.to_string())),
                },
                // A stand-in must not come amid a message.
                Some(report) = reports.recv(), if events.unfolder.is_between_messages() => {
                    match report {
                        Report::StandIn(line) => line,
                        Report::Over(reason) => return Err(Some(reason)),
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

async fn refused(reply: Reply) -> TransportError {
    let status = reply.status.as_u16();
    let challenge = reply.headers.get(WWW_AUTHENTICATE);
    let challenge = challenge.and_then(|value| value.to_str().ok()).map(str::to_owned);
    let limits = BodyLimits { memory: 64 << 10, total: 64 << 10 };
    let body = reply.bytes(limits).await.unwrap_or_default();
    let text = String::from_utf8_lossy(&body).chars().take(SHOWN).collect();
    TransportError::Refused { status, challenge, text }
}

impl AsyncRead for Inbound {
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
