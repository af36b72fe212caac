//! Reading the body of a request: in one piece where it came so, bounded in size and in silence.

use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use http_body::Body;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::time::timeout;
use toolgate_transport::TransportError;
use toolgate_transport::spool::{BodyLimits, Spool};
use toolgate_wire::Frame;

use super::answer::Refused;

/// The whole body.
pub(crate) async fn read(
    mut body: Incoming,
    limits: BodyLimits,
    silence: Duration,
) -> Result<Bytes, Refused> {
    let declared = body.size_hint().lower();
    let Some(first) = next(&mut body, silence).await? else { return Ok(Bytes::new()) };
    if declared > limits.total as u64 {
        return Err(Refused::too_large(limits.total, Frame::peek_id(&first)));
    }
    if body.is_end_stream() {
        return Ok(first);
    }
    let Some(second) = next(&mut body, silence).await? else { return Ok(first) };
    let mut spool = Spool::new(limits);
    for chunk in [first, second] {
        spool.push(&chunk).map_err(refused)?;
    }
    while let Some(chunk) = next(&mut body, silence).await? {
        spool.push(&chunk).map_err(refused)?;
    }
    spool.finish().await.map_err(refused)
}

/// The next piece of data.
async fn next(body: &mut Incoming, silence: Duration) -> Result<Option<Bytes>, Refused> {
    loop {
        let Ok(frame) = timeout(silence, body.frame()).await else {
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
        error => {
            tracing::warn!(target: "toolgate::gateway", %error, "a body could not be kept");
            Refused::new(StatusCode::INSUFFICIENT_STORAGE, "the body could not be kept")
        }
    }
}
