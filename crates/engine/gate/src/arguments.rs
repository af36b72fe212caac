//! Step: whether the arguments of a tool fit what its server said of them.
//!
//! They are held to the schema as the server wrote it, whatever a client was shown in its place.
//! Arguments that do not fit never reach the server: the answer is a tool's error, which says what
//! is wrong and where, so that a model can correct itself (as 2025-11-25 wants it of servers). Only a
//! caller who wants a task is answered with an error of the protocol: he waits for a task, not for a
//! result. Arguments that are left out, or `null`, are an object without members.

use std::sync::Arc;

use tokio::sync::Semaphore;
use toolgate_bridge::tasks::Form;
use toolgate_fleet::Fact;
use toolgate_model::CapabilityId;
use toolgate_wire::{Frame, code, method, scan, string};

use crate::view::View;
use crate::{Caller, Refusal, own};

/// Arguments of so many bytes are checked at once; more are checked beside everything else.
const QUICK: usize = 8 << 10;
/// How many checks that may take long are under way at once.
pub(crate) const SLOW_CHECKS: usize = 2;

/// The answer to a call whose arguments do not fit.
pub(crate) async fn misfit(
    view: &View,
    id: &CapabilityId,
    request: &Frame,
    caller: &Caller,
    slow: &Semaphore,
) -> Option<Result<Frame, Refusal>> {
    if !request.is(method::TOOLS_CALL) {
        return None;
    }
    let fact = view.tool(id)?;
    let misfit = match fact.is_quick && given(request).len() <= QUICK {
        true => checked(fact, request)?,
        false => Box::pin(checked_aside(fact.clone(), request.clone(), slow)).await?,
    };
    let message = format!("{}: {misfit}", request.name().unwrap_or_default());
    tracing::debug!(target: "toolgate::gate", %id, "{message}");
    Some(match wants_task(view, id, request.params().unwrap_or_default(), caller) {
        true => Err(Refusal { code: code::INVALID_PARAMS, message, data: None }),
        false => own::error(&message, caller.revision),
    })
}

fn given(request: &Frame) -> &[u8] {
    let params = request.params().unwrap_or_default();
    match scan::member(params, "arguments").map(|at| at.of(params)) {
        None | Some(b"null") => b"{}",
        Some(given) => given,
    }
}

/// What is wrong with the arguments of a call. Where arguments are repeated in headers, `null` is the
/// protocol's own way to leave one out.
fn checked(fact: &Fact, request: &Frame) -> Option<String> {
    let (arguments, given) = (fact.arguments()?, given(request));
    let misfit = arguments.check(given).err()?;
    if !fact.marks.is_empty() && arguments.check(&without_nulls(given)).is_ok() {
        return None;
    }
    Some(misfit.to_string())
}

fn without_nulls(given: &[u8]) -> Vec<u8> {
    let members = scan::members(given).map(|(key, at)| (key, at.of(given)));
    let there = members.filter(|(_, value)| *value != b"null");
    let there = there.map(|(key, value)| [string::encode(&key).as_bytes(), b":", value].concat());
    [b"{".as_slice(), &there.collect::<Vec<_>>().join(&b','), b"}"].concat()
}

/// The same, where it keeps nobody else waiting.
async fn checked_aside(fact: Arc<Fact>, request: Frame, slow: &Semaphore) -> Option<String> {
    let _turn = slow.acquire().await;
    let check = tokio::task::spawn_blocking(move || checked(&fact, &request));
    check.await.unwrap_or_else(|_| Some("its arguments could not be checked".to_owned()))
}

/// Whether a caller asked for a task of 2025-11-25, and would get one.
fn wants_task(view: &View, id: &CapabilityId, params: &[u8], caller: &Caller) -> bool {
    view.tasked.manner(id).is_some()
        && scan::member(params, "task").is_some()
        && Form::of_client(caller.revision, &caller.capabilities) == Some(Form::Session)
}
