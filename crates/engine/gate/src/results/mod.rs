//! Results above a profile's limit: shown in part, kept whole, read on demand.
//!
//! ```text
//! answer ──► survey: how much is it? ──► keep: all of it, in the store ──► shown: first and last
//!                                                 │                        part, and where the
//!                                                 ▼                        rest is
//!                             read ◄── query: a range, lines, a search
//! ```
//!
//! What is kept belongs to the principal behind the caller, and is a resource of the gate's own,
//! `toolgate://results/<id>`; the tool `read_result` reads the same for models whose client reads no
//! resources. A profile without a limit is not concerned: its results pass as they are.
//!
//! Structured output of a result that is shown in part is left out, since half of it would mean
//! something else. So that no client takes that for a fault of the tool, profiles with a limit list
//! tools without their `outputSchema`.

mod keep;
mod page;
mod query;
mod read;
mod search;
mod shown;
mod survey;
mod tool;

use std::io;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use tokio::sync::Semaphore;
use toolgate_store::{FileResults, KeptResult, Results};
use toolgate_wire::{Frame, Kind, Span, Splice, build, code, method, scan};

use crate::present::own_frame;
use crate::view::View;
use crate::{Caller, Gate, Principal, Refusal};
use survey::Survey;

pub(crate) use tool::{listed_template, listed_tool};

/// What the URIs of kept results begin with.
pub(crate) const PREFIX: &str = "toolgate://results/";
/// Under which key a result says what was kept of it.
const META: &str = "dev.toolgate/result";
const OUTPUT_SCHEMA: &str = "outputSchema";
/// The requests that are answered with a tool's result.
const CALLS: [&str; 2] = [method::TOOLS_CALL, method::TASKS_RESULT];

/// How many results are written down at a time: what is being written is on the disk beside all
/// that is kept.
const WRITERS: usize = 2;

/// Where results are kept; until somebody says, where the system keeps what is soon gone.
pub(crate) struct Keeping {
    store: OnceLock<Arc<dyn Results>>,
    writers: Semaphore,
}

impl Default for Keeping {
    fn default() -> Self {
        Self { store: OnceLock::new(), writers: Semaphore::new(WRITERS) }
    }
}

impl Keeping {
    fn store(&self) -> Arc<dyn Results> {
        self.store.get_or_init(|| Arc::new(FileResults::temporary())).clone()
    }
}

/// Whom a kept result belongs to.
fn owner(principal: &Principal) -> String {
    format!("{principal:?}")
}

/// Whether a request reads a result that was kept.
pub(crate) fn concerns(view: &View, request: &Frame) -> bool {
    match request.method().as_deref() {
        Some(method::RESOURCES_READ) => request.name().is_some_and(|uri| uri.starts_with(PREFIX)),
        Some(method::TOOLS_CALL) => {
            limit(view).is_some() && request.name().is_some_and(|name| name == tool::NAME)
        }
        _ => false,
    }
}

/// A tool's definition without the schema of its output; `None` if it has none.
pub(crate) fn without_output_schema(tool: &Bytes) -> Option<Bytes> {
    scan::member(tool, OUTPUT_SCHEMA)?;
    let whole = Span::new(0, tool.len());
    Splice::new(tool).delete_member(whole, OUTPUT_SCHEMA).finish().ok()
}

/// From how many tokens on results are shown in part.
pub(crate) fn limit(view: &View) -> Option<u32> {
    view.declared()?.result_limit
}

impl Gate {
    /// Keeps results here from now on; the first to say so counts.
    pub fn keep_results(&self, store: Arc<dyn Results>) {
        let _ = self.results.store.set(store);
    }

    /// An answer as its caller's profile wants it: whole, or shown in part and kept.
    pub(crate) async fn bounded(
        &self,
        view: &View,
        request: &Frame,
        caller: &Caller,
        answer: Frame,
    ) -> Frame {
        let Some(limit) = limit(view) else { return answer };
        // No text has more tokens than bytes.
        let small = answer.aside().is_none() && answer.bytes().len() <= limit as usize;
        if small || answer.kind() != Kind::Response {
            return answer;
        }
        if CALLS.into_iter().any(|method| request.is(method)) {
            return Box::pin(self.bound(limit, caller, answer)).await;
        }
        match request.is(method::TASKS_GET) {
            true => Box::pin(self.bound_inlined(limit, caller, answer)).await,
            false => answer,
        }
    }

    /// The same for a result that `tasks/get` inlines.
    async fn bound_inlined(&self, limit: u32, caller: &Caller, answer: Frame) -> Frame {
        let Some(task) = answer.result_span() else { return answer };
        let Some(at) = scan::member(task.of(answer.bytes()), "result") else { return answer };
        let at = at.within(task);
        let inlined = own_frame(build::response("0", at.of(answer.bytes())));
        let Ok(inlined) = inlined else { return answer };
        let shown = self.bound(limit, caller, inlined).await;
        let Some(shown) = shown.result().map(<[u8]>::to_vec) else { return answer };
        answer.edit().replace(at, shown).frame().unwrap_or(answer)
    }

    async fn bound(&self, limit: u32, caller: &Caller, answer: Frame) -> Frame {
        let Some(survey) = Survey::of(&answer, limit) else { return answer };
        let (store, owner, revision) =
            (self.results.store(), owner(&caller.keeper), caller.revision);
        let whole = answer.clone();
        let work = move || {
            let kept = keep::keep(&*store, &owner, &answer, &survey)?;
            shown::shown(&kept, &answer, &survey, limit, revision)
        };
        let writing = self.results.writers.acquire().await;
        let shown = tokio::task::spawn_blocking(work).await;
        drop(writing);
        match shown.map_err(io::Error::other).and_then(|shown| shown) {
            Ok(shown) => shown,
            Err(error) => {
                // What the tool did is done: better too much of it than nothing.
                tracing::warn!(target: "toolgate::gate", %error, "a large result cannot be kept");
                whole
            }
        }
    }

    /// Reads a result that was kept.
    pub(crate) async fn read_kept(
        &self,
        view: &View,
        request: &Frame,
        caller: &Caller,
    ) -> Result<Frame, Refusal> {
        let room = read::Room::of(limit(view));
        match request.is(method::TOOLS_CALL) {
            true => tool::call(self, request, caller, room.for_a_model(limit(view))).await,
            false => {
                let uri = request.name().unwrap_or_default().into_owned();
                read::resource(self, &uri, caller, room).await
            }
        }
    }

    /// The kept result with this id, if it is this caller's.
    fn kept(&self, id: &str, caller: &Caller) -> Option<Arc<KeptResult>> {
        self.results.store().find(&owner(&caller.keeper), id)
    }
}

/// A result that is not there, or not his: both look the same.
fn gone(uri: &str) -> Refusal {
    let message = format!(
        "no result is kept as {uri}: results are kept for some time and until the gateway ends; \
         call the tool again"
    );
    Refusal { code: code::RESOURCE_NOT_FOUND, message, ..Refusal::no_resource(uri) }
}

fn unreadable(error: &io::Error) -> Refusal {
    let message = format!("failed to read a kept result: {error}");
    Refusal { code: code::INTERNAL_ERROR, message, data: None }
}
