//! Reading the body of a request: in one piece where it came so, bounded in size and in silence.

use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use http_body::Body;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::time::{Instant, timeout_at};
use toolgate_transport::TransportError;
use toolgate_transport::spool::Spool;
use toolgate_wire::Frame;

use super::answer::Refused;
use super::server::Server;
use crate::principal::Comer;
use crate::shares::Share;

/// What bodies of clients are counted in: they hold memory or disk as long as they are on their way.
const UNIT: usize = 1 << 20;

impl Server {
    /// The whole body of a request. It is counted for whoever sends it until it is here.
    pub(crate) async fn read_body(
        &self,
        mut body: Incoming,
        comer: &Comer,
    ) -> Result<Bytes, Refused> {
        let (limits, cuts) = (self.hub.options.body, self.hub.options.cuts);
        let declared = body.size_hint().lower();
        let mut limit = Limit { silence: cuts.body, end: None };
        let Some(first) = next(&mut body, &limit).await? else { return Ok(Bytes::new()) };
        if declared > limits.total as u64 {
            return Err(Refused::too_large(limits.total, Frame::peek_id(&first)));
        }
        if body.is_end_stream() {
            return Ok(first);
        }
        limit.end = Some(Instant::now() + cuts.upload);
        let Some(second) = next(&mut body, &limit).await? else { return Ok(first) };
        let (mut spool, mut upload) = (Spool::new(limits), Upload::default());
        let mut chunks = [Some(first), Some(second)].into_iter();
        while let Some(chunk) = match chunks.next() {
            Some(chunk) => chunk,
            None => next(&mut body, &limit).await?,
        } {
            upload.grow(chunk.len(), || self.uploads.take(comer.peer_id()))?;
            spool.push(&chunk).map_err(refused)?;
        }
        spool.finish().await.map_err(refused)
    }
}

/// How much of a body is here, and what it is counted as.
#[derive(Default)]
struct Upload {
    bytes: usize,
    counted: usize,
    share: Option<Share>,
}

impl Upload {
    fn grow(&mut self, by: usize, take: impl FnOnce() -> Option<Share>) -> Result<(), Refused> {
        self.bytes += by;
        let mut take = Some(take);
        while self.counted < self.bytes / UNIT {
            let has_room = match (&mut self.share, take.take()) {
                (Some(share), _) => share.grow(),
                (none, Some(take)) => {
                    *none = take();
                    none.is_some()
                }
                (None, None) => false,
            };
            if !has_room {
                let error = "too much is being sent to this gateway now; try again later";
                return Err(Refused::new(StatusCode::SERVICE_UNAVAILABLE, error));
            }
            self.counted += 1;
        }
        Ok(())
    }
}

/// How long a body may take.
struct Limit {
    /// For its next part.
    silence: Duration,
    /// For all of it.
    end: Option<Instant>,
}

/// The next piece of data.
async fn next(body: &mut Incoming, limit: &Limit) -> Result<Option<Bytes>, Refused> {
    loop {
        let now = Instant::now();
        let until = limit.end.map_or(now + limit.silence, |end| end.min(now + limit.silence));
        let Ok(frame) = timeout_at(until, body.frame()).await else {
            return Err(Refused::new(StatusCode::REQUEST_TIMEOUT, "the body did not come in time"));
        };
        match frame {
            None => return Ok(None),
            Some(Err(_)) => {
                return Err(Refused::new(StatusCode::BAD_REQUEST, "the body broke off"));
            }
            // Trailers say nothing to us.
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    return Ok(Some(data));
                }
            }
        }
    }
}

fn refused(error: TransportError) -> Refused {
    match error {
        TransportError::Oversize { limit, head } => {
            Refused::too_large(limit, Frame::peek_id(&head))
        }
        TransportError::Unkept { reason, head } => {
            tracing::warn!(target: "toolgate::gateway", reason, "a body could not be kept");
            Refused::unkept(&reason, Frame::peek_id(&head))
        }
        error => {
            tracing::warn!(target: "toolgate::gateway", %error, "a body could not be kept");
            Refused::new(StatusCode::INSUFFICIENT_STORAGE, "the body could not be kept")
        }
    }
}
