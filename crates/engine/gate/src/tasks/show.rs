//! The end of a tool that ran as a task, as its caller must see it: by the same step that the
//! answer to an ordinary call passes.

use bytes::Bytes;
use toolgate_bridge::{Passage, result};
use toolgate_fleet::Pool;
use toolgate_model::CapabilityId;
use toolgate_wire::{Frame, Revision, Splice, build, method, scan, string};

use super::{failed, own_frame, unreadable};
use crate::present::Exchange;
use crate::view::View;
use crate::{Caller, Refusal};

/// Whose tool ran where, for whom.
pub(super) struct Shown<'a> {
    pub(super) view: &'a View,
    pub(super) caller: &'a Caller,
    pub(super) pool: &'a Pool,
    pub(super) tool: &'a CapabilityId,
}

impl Shown<'_> {
    /// The tool's result for this caller.
    pub(super) fn result(&self, raw: &[u8]) -> Result<Bytes, Refusal> {
        let shown = self.present(own_frame(build::response("0", raw))?)?;
        shown.result().map(Bytes::copy_from_slice).ok_or_else(unreadable)
    }

    /// The error object for this caller.
    pub(super) fn error(&self, raw: &[u8]) -> Result<Bytes, Refusal> {
        let shown = self.present(failed(raw)?)?;
        shown.error().map(Bytes::copy_from_slice).ok_or_else(unreadable)
    }

    /// The extension's `tasks/get`, with the result it inlines as this caller must see it.
    pub(super) fn inlined(&self, task: &[u8]) -> Result<Bytes, Refusal> {
        let Some(at) = scan::member(task, "result") else {
            return Ok(Bytes::copy_from_slice(task));
        };
        let shown = self.result(at.of(task))?;
        Splice::new(task).replace(at, shown).finish().map_err(|_| unreadable())
    }

    fn present(&self, answer: Frame) -> Result<Frame, Refusal> {
        let name = format!("{{\"name\":{}}}", string::encode(&self.tool.name));
        let request = build::request("0", method::TOOLS_CALL, Some(name.as_bytes()));
        let request = own_frame(request)?;
        let Self { view, caller, pool, tool } = *self;
        Ok(Exchange { view, caller, pool, request: &request, id: Some(tool) }.present(answer))
    }
}

/// A result of the extension's own methods that the gate wrote, as modern callers expect results.
pub(super) fn modern(own: &[u8], to: Revision) -> Result<Frame, Refusal> {
    let answer = own_frame(build::response("0", own))?;
    let passage = Passage { method: method::TASKS_GET, from: Revision::LATEST_LEGACY, to };
    Ok(result(answer, &passage, None))
}
