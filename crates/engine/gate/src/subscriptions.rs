//! `resources/subscribe` and `unsubscribe`: many callers, one subscription at the server.
//!
//! The gate answers both itself: how a server is told, and whether it must be, is the pool's
//! affair.

use toolgate_fleet::Pool;
use toolgate_wire::{Frame, build, method};

use crate::present::own_frame;
use crate::{Caller, Refusal};

/// Begins or ends a caller's subscription.
pub(crate) async fn pass(
    pool: &Pool,
    uri: &str,
    caller: &Caller,
    request: &Frame,
) -> Result<Frame, Refusal> {
    match request.is(method::RESOURCES_SUBSCRIBE) {
        true => pool.subscribe(uri, caller.id.key()).await?,
        false => pool.unsubscribe(uri, caller.id.key()).await?,
    }
    own_frame(build::response("0", b"{}"))
}

/// Whether a request is one of the two.
pub(crate) fn concerns(request: &Frame) -> bool {
    request.is(method::RESOURCES_SUBSCRIBE) || request.is(method::RESOURCES_UNSUBSCRIBE)
}
