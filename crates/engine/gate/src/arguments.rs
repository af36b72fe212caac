//! Step: checks the arguments of a tool call against the tool's schema.
//!
//! The check uses the schema as the server wrote it, even if the client was shown another.
//! Arguments that do not fit never reach the server: the answer is a tool error that says what is
//! wrong and where, so that a model can correct itself (as 2025-11-25 requires of servers). A
//! caller that wants a task gets a protocol error instead, because it waits for a task and not for
//! a result. Missing or `null` arguments count as an empty object.

use std::sync::Arc;

use tokio::sync::Semaphore;
use toolgate_bridge::tasks::TaskFormat;
use toolgate_fleet::CheckedDefinition;
use toolgate_model::{CapabilityId, ErrorCode};
use toolgate_wire::{Frame, method, scan, string};

use crate::profile_view::ProfileView;
use crate::{Caller, GateError, own_tools};

/// Arguments up to this many bytes are checked inline; larger ones on a blocking thread.
const QUICK: usize = 8 << 10;
/// The most slow checks that run at once.
pub(crate) const SLOW_CHECKS: usize = 2;

/// Returns the answer to a call whose arguments do not fit; `None` if they fit.
pub(crate) async fn check_arguments(
    view: &ProfileView,
    id: &CapabilityId,
    request: &Frame,
    caller: &Caller,
    slow: &Semaphore,
) -> Option<Result<Frame, GateError>> {
    if !request.is(method::TOOLS_CALL) {
        return None;
    }
    let fact = &view.tools.get(id)?.fact;
    let misfit = match fact.is_cheap_to_check && raw_arguments(request).len() <= QUICK {
        true => find_misfit(fact, request)?,
        false => Box::pin(find_misfit_blocking(fact.clone(), request.clone(), slow)).await?,
    };
    let message = format!("{}: {misfit}", request.name().unwrap_or_default());
    tracing::debug!(target: "toolgate::gate", %id, "{message}");
    Some(match wants_task(view, id, request.params().unwrap_or_default(), caller) {
        true => Err(GateError::new(ErrorCode::CallArguments, message)),
        false => own_tools::tool_error(&message, caller.revision),
    })
}

/// Returns the raw arguments of a call; `{}` if there are none.
pub(crate) fn raw_arguments(request: &Frame) -> &[u8] {
    let params = request.params().unwrap_or_default();
    match scan::member(params, "arguments").map(|at| at.slice(params)) {
        None | Some(b"null") => b"{}",
        Some(given) => given,
    }
}

/// Returns what is wrong with the arguments of a call. For an argument that is repeated in a
/// header, `null` is the protocol's way to leave it out.
fn find_misfit(fact: &CheckedDefinition, request: &Frame) -> Option<String> {
    let (arguments, given) = (fact.arguments()?, raw_arguments(request));
    let misfit = arguments.check(given).err()?;
    let repeated: Vec<_> = fact.header_rules.iter().map(|mark| &mark.path[..]).collect();
    if !repeated.is_empty() && arguments.check(&without_nulls(given, &repeated)).is_ok() {
        return None;
    }
    Some(misfit.to_string())
}

/// Returns the object without the `null` members at the end of these paths.
fn without_nulls(object: &[u8], paths: &[&[String]]) -> Vec<u8> {
    let mut kept: Vec<Vec<u8>> = Vec::new();
    for (key, at) in scan::members(object) {
        let value = at.slice(object);
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

/// Like `find_misfit`, but on a blocking thread.
async fn find_misfit_blocking(
    fact: Arc<CheckedDefinition>,
    request: Frame,
    slow: &Semaphore,
) -> Option<String> {
    let _turn = slow.acquire().await;
    let check = tokio::task::spawn_blocking(move || find_misfit(&fact, &request));
    check.await.unwrap_or_else(|_| Some("cannot check the arguments".to_owned()))
}

/// Returns true if the caller asked for a task of 2025-11-25 and would get one.
pub(crate) fn wants_task(
    view: &ProfileView,
    id: &CapabilityId,
    params: &[u8],
    caller: &Caller,
) -> bool {
    view.task_servers.mode(id).is_some()
        && scan::member(params, "task").is_some()
        && TaskFormat::of_client(caller.revision, &caller.capabilities) == Some(TaskFormat::Session)
}
