//! Translates a task's outcome for its caller, with the same step as the answer to an ordinary
//! call.

use bytes::Bytes;
use toolgate_wire::{Frame, JsonEdit, Revision, method, scan};

use super::{error_response, own_response, unreadable};
use crate::GateError;
use crate::present::{ResponseContext, own_result};

impl ResponseContext<'_> {
    /// Translates the tool's result.
    pub(super) fn result(&self, raw: &[u8]) -> Result<Bytes, GateError> {
        let shown = self.present(own_response(raw)?);
        shown.result().map(Bytes::copy_from_slice).ok_or_else(unreadable)
    }

    /// Translates the error object.
    pub(super) fn error(&self, raw: &[u8]) -> Result<Bytes, GateError> {
        let shown = self.present(error_response(raw)?);
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
}

/// Returns a result of an extension method that the gate wrote, in the modern format.
pub(super) fn modern_response(own: &[u8], to: Revision) -> Result<Frame, GateError> {
    own_result(method::TASKS_GET, own, to)
}
