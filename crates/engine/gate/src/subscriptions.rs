//! `resources/subscribe` and `unsubscribe`: many callers, one subscription at the server.

use bytes::Bytes;
use toolgate_fleet::Pool;
use toolgate_session::Outbound;
use toolgate_wire::{Frame, Kind, Limits, build, method};

use crate::{Caller, Refusal};

/// Passes one of the two on.
pub(crate) async fn pass(
    pool: &Pool,
    uri: &str,
    caller: &Caller,
    outbound: &Outbound,
) -> Result<Frame, Refusal> {
    match outbound.frame.is(method::RESOURCES_SUBSCRIBE) {
        true => subscribe(pool, uri, caller, outbound).await,
        false => unsubscribe(pool, uri, caller, outbound).await,
    }
}

/// Passes a subscription on; the pool renews it when the server comes back.
async fn subscribe(
    pool: &Pool,
    uri: &str,
    caller: &Caller,
    outbound: &Outbound,
) -> Result<Frame, Refusal> {
    let answer = pool.call(outbound, || true).await?;
    if answer.kind() == Kind::Response {
        pool.subscribed(uri, caller.id.key());
    }
    Ok(answer)
}

/// Ends a caller's subscription; the server hears of it when he was the last.
async fn unsubscribe(
    pool: &Pool,
    uri: &str,
    caller: &Caller,
    outbound: &Outbound,
) -> Result<Frame, Refusal> {
    if pool.unsubscribed(uri, caller.id.key()) {
        return Ok(pool.call(outbound, || true).await?);
    }
    let done: Bytes = build::response("0", b"{}");
    Frame::parse(done, &Limits::default()).map_err(|_| Refusal::incomplete("uri"))
}

/// Whether a request is one of the two.
pub(crate) fn concerns(request: &Frame) -> bool {
    request.is(method::RESOURCES_SUBSCRIBE) || request.is(method::RESOURCES_UNSUBSCRIBE)
}
