//! Results above a profile's limit: shortened for the caller, stored whole, read on demand.
//!
//! ```text
//! answer ──► layout: how large is it? ──► keep: store all of it ──► preview: first and last part,
//!                                                │                  and where the rest is
//!                                                ▼
//!                                     read ◄── query: a range, lines, a search
//! ```
//!
//! A kept result belongs to the principal behind the caller. It is a resource of the gate,
//! `toolgate://results/<id>`; the tool `read_result` reads the same for models whose client reads
//! no resources. A profile without a limit is not affected.
//!
//! A shortened result has no structured output, because a part of it would mean something else. So
//! that clients do not take this for an error of the tool, profiles with a limit list tools without
//! their `outputSchema`.

mod keep;
mod layout;
mod page;
mod preview;
mod query;
mod read;
mod search;
mod tool;

use std::io;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use tokio::sync::Semaphore;
use toolgate_model::ErrorCode;
use toolgate_store::{KeptResult, ResultStore};
use toolgate_wire::{Frame, JsonEdit, MessageKind, Span, method, scan};

use crate::present::own_response;
use crate::profile_view::ProfileView;
use crate::{Caller, Gate, GateError, Principal};
use layout::ResultLayout;

pub(crate) use tool::{template_definition, tool_definition};

/// The prefix of the URIs of kept results.
pub(crate) const PREFIX: &str = "toolgate://results/";
/// The `_meta` key that describes the kept result.
const META: &str = "dev.toolgate/result";
const OUTPUT_SCHEMA: &str = "outputSchema";
/// The requests that are answered with a tool result.
const CALLS: [&str; 2] = [method::TOOLS_CALL, method::TASKS_RESULT];

/// How many results are written at a time, which limits the disk space used beside the kept
/// results.
const WRITERS: usize = 2;

/// The result store; a temporary one until another is set.
pub(crate) struct ResultStorage {
    store: OnceLock<Arc<ResultStore>>,
    writers: Semaphore,
}

impl Default for ResultStorage {
    fn default() -> Self {
        Self { store: OnceLock::new(), writers: Semaphore::new(WRITERS) }
    }
}

impl ResultStorage {
    fn store(&self) -> Arc<ResultStore> {
        self.store.get_or_init(|| Arc::new(ResultStore::temporary())).clone()
    }
}

/// Returns the owner of kept results for a principal.
fn owner(principal: &Principal) -> String {
    format!("{principal:?}")
}

/// Returns true if a request reads a kept result.
pub(crate) fn reads_kept_result(view: &ProfileView, request: &Frame) -> bool {
    match request.method().as_deref() {
        Some(method::RESOURCES_READ) => request.name().is_some_and(|uri| uri.starts_with(PREFIX)),
        Some(method::TOOLS_CALL) => {
            limit(view).is_some() && request.name().is_some_and(|name| name == tool::NAME)
        }
        _ => false,
    }
}

/// Returns a tool definition without its output schema; `None` if it has none.
pub(crate) fn without_output_schema(tool: &Bytes) -> Option<Bytes> {
    scan::member(tool, OUTPUT_SCHEMA)?;
    let whole = Span::new(0, tool.len());
    JsonEdit::new(tool).delete_member(whole, OUTPUT_SCHEMA).finish().ok()
}

/// Returns the number of tokens above which results are shortened.
pub(crate) fn limit(view: &ProfileView) -> Option<u32> {
    view.profile_definition()?.result_limit
}

impl Gate {
    /// Sets the result store. Only the first call has an effect.
    pub fn keep_results(&self, store: Arc<ResultStore>) {
        let _ = self.results.store.set(store);
    }

    /// Returns the answer as the profile requires it: whole, or kept and shortened.
    pub(crate) async fn limit_result(
        &self,
        view: &ProfileView,
        request: &Frame,
        caller: &Caller,
        answer: Frame,
    ) -> Frame {
        let Some(limit) = limit(view) else { return answer };
        // A text never has more tokens than bytes.
        let small = answer.detached_values().is_none() && answer.bytes().len() <= limit as usize;
        if small || answer.kind() != MessageKind::Response {
            return answer;
        }
        if CALLS.into_iter().any(|method| request.is(method)) {
            return Box::pin(self.limit_tool_result(limit, caller, answer)).await;
        }
        match request.is(method::TASKS_GET) {
            true => Box::pin(self.limit_inlined_result(limit, caller, answer)).await,
            false => answer,
        }
    }

    /// Shortens a result that `tasks/get` inlines.
    async fn limit_inlined_result(&self, limit: u32, caller: &Caller, answer: Frame) -> Frame {
        let Some(task) = answer.result_span() else { return answer };
        let Some(at) = scan::member(task.slice(answer.bytes()), "result") else { return answer };
        let at = at.within(task);
        let inlined = own_response(at.slice(answer.bytes()));
        let Ok(inlined) = inlined else { return answer };
        let shown = self.limit_tool_result(limit, caller, inlined).await;
        let Some(shown) = shown.result().map(<[u8]>::to_vec) else { return answer };
        answer.edit().replace(at, shown).finish_frame().unwrap_or(answer)
    }

    async fn limit_tool_result(&self, limit: u32, caller: &Caller, answer: Frame) -> Frame {
        let Some(survey) = ResultLayout::of(&answer, limit) else { return answer };
        let (store, owner, revision) =
            (self.results.store(), owner(&caller.result_owner), caller.revision);
        let whole = answer.clone();
        let work = move || {
            let kept = keep::keep(&store, &owner, &answer, &survey)?;
            preview::preview(&kept, &answer, &survey, limit, revision)
        };
        let writing = self.results.writers.acquire().await;
        let shown = tokio::task::spawn_blocking(work).await;
        drop(writing);
        match shown.map_err(io::Error::other).and_then(|shown| shown) {
            Ok(shown) => shown,
            Err(error) => {
                // The tool has run, so a result above the limit is better than none.
                tracing::warn!(target: "toolgate::gate", %error, "cannot keep a large result");
                whole
            }
        }
    }

    /// Answers a request that reads a kept result.
    pub(crate) async fn read_kept(
        &self,
        view: &ProfileView,
        request: &Frame,
        caller: &Caller,
    ) -> Result<Frame, GateError> {
        let room = read::ReadLimits::of(limit(view));
        match request.is(method::TOOLS_CALL) {
            true => tool::call(self, request, caller, room.for_a_model(limit(view))).await,
            false => {
                let uri = request.name().unwrap_or_default().into_owned();
                read::resource(self, &uri, caller, room).await
            }
        }
    }

    /// Returns the kept result with this id, if it belongs to this caller.
    fn find_kept(&self, id: &str, caller: &Caller) -> Option<Arc<KeptResult>> {
        self.results.store().find(&owner(&caller.result_owner), id)
    }
}

/// Returns the error for a result that does not exist or belongs to another principal, which look
/// the same.
fn result_not_found(uri: &str) -> GateError {
    let message =
        format!("no result is kept as {uri}: results expire and do not outlive the gateway");
    let error = GateError { message, ..GateError::resource_not_found(uri) };
    error.hint("call the tool again")
}

fn unreadable(error: &io::Error) -> GateError {
    let message = format!("cannot read a kept result: {error}");
    GateError::new(ErrorCode::CallBadAnswer, message)
}
