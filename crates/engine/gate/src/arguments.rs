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

/// The arguments of a call, raw; an object without members where there are none.
pub(crate) fn given(request: &Frame) -> &[u8] {
    let params = request.params().unwrap_or_default();
    match scan::member(params, "arguments").map(|at| at.of(params)) {
        None | Some(b"null") => b"{}",
        Some(given) => given,
    }
}

/// What is wrong with the arguments of a call. Of one that is repeated in a header, `null` is the
/// protocol's own way to leave it out.
fn checked(fact: &Fact, request: &Frame) -> Option<String> {
    let (arguments, given) = (fact.arguments()?, given(request));
    let misfit = arguments.check(given).err()?;
    let repeated: Vec<_> = fact.marks.iter().map(|mark| &mark.path[..]).collect();
    if !repeated.is_empty() && arguments.check(&without_nulls(given, &repeated)).is_ok() {
        return None;
    }
    Some(misfit.to_string())
}

/// An object without the members at the end of these paths that are `null`.
fn without_nulls(object: &[u8], paths: &[&[String]]) -> Vec<u8> {
    let mut kept: Vec<Vec<u8>> = Vec::new();
    for (key, at) in scan::members(object) {
        let value = at.of(object);
        let here = paths.iter().filter_map(|path| path.split_first());
        let further: Vec<_> =
            here.filter(|(first, _)| **first == key).map(|(_, rest)| rest).collect();
        let kept_value = match value {
            b"null" if further.iter().any(|rest| rest.is_empty()) => continue,
            value if !further.is_empty() && value.starts_with(b"{") => {
                without_nulls(value, &further)
            }
            value => value.to_vec(),
        };
        kept.push([string::encode(&key).as_bytes(), b":", &kept_value].concat());
    }
    [b"{".as_slice(), &kept.join(&b','), b"}"].concat()
}

/// The same, where it keeps nobody else waiting.
async fn checked_aside(fact: Arc<Fact>, request: Frame, slow: &Semaphore) -> Option<String> {
    let _turn = slow.acquire().await;
    let check = tokio::task::spawn_blocking(move || checked(&fact, &request));
    check.await.unwrap_or_else(|_| Some("its arguments could not be checked".to_owned()))
}

/// Whether a caller asked for a task of 2025-11-25, and would get one.
pub(crate) fn wants_task(view: &View, id: &CapabilityId, params: &[u8], caller: &Caller) -> bool {
    view.tasked.manner(id).is_some()
        && scan::member(params, "task").is_some()
        && Form::of_client(caller.revision, &caller.capabilities) == Some(Form::Session)
}
