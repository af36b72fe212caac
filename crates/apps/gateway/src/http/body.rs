//! Reads the body of a request, with limits on its size and on the time it takes. A body that
//! arrives in one chunk is not copied.

use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use http_body::Body;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::time::{Instant, timeout_at};
use toolgate_transport::TransportError;
use toolgate_transport::spool::BodySpool;

use super::server::HttpServer;
use crate::principal::ClientIdentity;
use crate::rejection::Rejection;

/// The unit in which request bodies count against a peer's quota. A body occupies memory or disk
/// until it is complete.
const QUOTA_UNIT: usize = 1 << 20;

impl HttpServer {
    /// Reads the whole body of a request. While it arrives, it counts against the sender's quota.
    pub(crate) async fn read_body(
        &self,
        mut body: Incoming,
        identity: &ClientIdentity,
    ) -> Result<Bytes, Rejection> {
        let (limits, timeouts) = (self.gateway.options.body, self.gateway.options.timeouts);
        let declared = body.size_hint().lower();
        let silence = timeouts.body;
        let Some(first) = next_chunk(&mut body, silence, None).await? else {
            return Ok(Bytes::new());
        };
        if declared > limits.total as u64 {
            return Err(Rejection::too_large(limits.total, &first));
        }
        if body.is_end_stream() {
            return Ok(first);
        }
        let end = Some(Instant::now() + timeouts.upload);
        let Some(second) = next_chunk(&mut body, silence, end).await? else { return Ok(first) };
        let (mut spool, mut quota) = (BodySpool::new(limits), Vec::new());
        spool.push(&first).map_err(body_error)?;
        let mut next = Some(second);
        while let Some(chunk) = next {
            spool.push(&chunk).map_err(body_error)?;
            while quota.len() < spool.received() / QUOTA_UNIT {
                let unit = self.upload_quota.acquire(identity.peer_id()).ok_or_else(|| {
                    let error = "too many uploads are in progress; try again later";
                    Rejection::new(StatusCode::SERVICE_UNAVAILABLE, error)
                })?;
                quota.push(unit);
            }
            next = next_chunk(&mut body, silence, end).await?;
        }
        spool.into_body().into_bytes().await.map_err(body_error)
    }
}

/// Returns the next chunk of data. It may take as long as `silence`, and the whole body until `end`.
async fn next_chunk(
    body: &mut Incoming,
    silence: Duration,
    end: Option<Instant>,
) -> Result<Option<Bytes>, Rejection> {
    loop {
        let now = Instant::now();
        let until = end.map_or(now + silence, |end| end.min(now + silence));
        let Ok(frame) = timeout_at(until, body.frame()).await else {
            return Err(Rejection::new(StatusCode::REQUEST_TIMEOUT, "reading the body timed out"));
        };
        match frame {
            None => return Ok(None),
            Some(Err(_)) => {
                return Err(Rejection::new(StatusCode::BAD_REQUEST, "the body ended early"));
            }
            // Trailers are ignored.
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    return Ok(Some(data));
                }
            }
        }
    }
}

fn body_error(error: TransportError) -> Rejection {
    match error {
        TransportError::Oversize { limit, head } => Rejection::too_large(limit, &head),
        TransportError::NoRoom { reason, head } => {
            tracing::warn!(target: "toolgate::gateway", reason, "cannot store a request body");
            Rejection::storage_failed(&reason, &head)
        }
        error => {
            tracing::warn!(target: "toolgate::gateway", %error, "cannot store a request body");
            Rejection::new(StatusCode::INSUFFICIENT_STORAGE, "cannot store the body")
        }
    }
}
