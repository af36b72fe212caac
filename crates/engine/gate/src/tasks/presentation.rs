//! Translates a task's outcome for its caller, with the same step as the answer to an ordinary
//! call.

use bytes::Bytes;
use toolgate_fleet::Pool;
use toolgate_model::CapabilityId;
use toolgate_wire::{Frame, JsonEdit, Revision, build, method, scan, string};

use super::{error_response, own_frame, own_response, unreadable};
use crate::present::{ResponseContext, own_result};
use crate::profile_view::ProfileView;
use crate::{Caller, GateError};

/// The context for translating the outcome of a tool that ran as a task.
pub(super) struct TaskResultPresenter<'a> {
    pub(super) view: &'a ProfileView,
    pub(super) caller: &'a Caller,
    pub(super) pool: &'a Pool,
    pub(super) tool: &'a CapabilityId,
}

impl TaskResultPresenter<'_> {
    /// Translates the tool's result.
    pub(super) fn result(&self, raw: &[u8]) -> Result<Bytes, GateError> {
        let shown = self.present(own_response(raw)?)?;
        shown.result().map(Bytes::copy_from_slice).ok_or_else(unreadable)
    }

    /// Translates the error object.
    pub(super) fn error(&self, raw: &[u8]) -> Result<Bytes, GateError> {
        let shown = self.present(error_response(raw)?)?;
        shown.error().map(Bytes::copy_from_slice).ok_or_else(unreadable)
    }

    /// Translates the result inlined in the extension's `tasks/get`.
    pub(super) fn inlined_result(&self, task: &[u8]) -> Result<Bytes, GateError> {
        let Some(at) = scan::member(task, "result") else {
            return Ok(Bytes::copy_from_slice(task));
        };
        let shown = self.result(at.slice(task))?;
        JsonEdit::new(task).replace(at, shown).finish().map_err(|_| unreadable())
    }

    fn present(&self, answer: Frame) -> Result<Frame, GateError> {
        let name = format!("{{\"name\":{}}}", string::encode(&self.tool.name));
        let request = build::request("0", method::TOOLS_CALL, Some(name.as_bytes()));
        let request = own_frame(request)?;
        let Self { view, caller, pool, tool } = *self;
        Ok(ResponseContext { view, caller, pool, request: &request, id: Some(tool) }
            .present(answer))
    }
}

/// Returns a result of an extension method that the gate wrote, in the modern format.
pub(super) fn modern_response(own: &[u8], to: Revision) -> Result<Frame, GateError> {
    own_result(method::TASKS_GET, own, to)
}
