//! `resources/subscribe` and `resources/unsubscribe`: many callers, one subscription per server.
//!
//! The gate answers both itself. The pool decides whether the server needs a request.

use toolgate_fleet::Pool;
use toolgate_wire::{Frame, build, method};

use crate::present::own_frame;
use crate::{Caller, GateError};

/// Starts or ends a caller's subscription.
pub(crate) async fn pass(
    pool: &Pool,
    uri: &str,
    caller: &Caller,
    request: &Frame,
) -> Result<Frame, GateError> {
    match request.is(method::RESOURCES_SUBSCRIBE) {
        true => pool.subscribe(uri, caller.id.key()).await?,
        false => pool.unsubscribe(uri, caller.id.key()).await?,
    }
    own_frame(build::response("0", b"{}"))
}

/// Returns true if the request is one of the two.
pub(crate) fn is_subscription(request: &Frame) -> bool {
    request.is(method::RESOURCES_SUBSCRIBE) || request.is(method::RESOURCES_UNSUBSCRIBE)
}
