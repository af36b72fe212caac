//! Step: a server's answer as this caller must see it.

use bytes::Bytes;
use toolgate_bridge::{self as bridge, Passage};
use toolgate_fleet::Pool;
use toolgate_model::CapabilityId;
use toolgate_wire::{Frame, Kind, Limits};

use crate::view::View;
use crate::{Caller, Refusal, uris};

/// Who asked whom for what.
pub(crate) struct Exchange<'a> {
    pub(crate) view: &'a View,
    pub(crate) caller: &'a Caller,
    pub(crate) pool: &'a Pool,
    pub(crate) request: &'a Frame,
    /// What the request named, if that is a capability of the server.
    pub(crate) id: Option<&'a CapabilityId>,
}

impl Exchange<'_> {
    /// Shapes an answer in the server's revision for the caller. One that already has the caller's
    /// shape stays as it is.
    pub(crate) fn present(&self, answer: Frame) -> Frame {
        let answer = uris::shown(self.view, self.pool.server(), answer); // as the lists show them
        let to = self.caller.revision;
        // Its catalog is of the connection that answered, and read without a lock.
        let from = self.pool.catalog().map_or(to, |catalog| catalog.protocol);
        let succeeded = answer.kind() == Kind::Response;
        if from == to && succeeded && !self.pool.is_own() {
            return answer;
        }
        let method = self.request.method().unwrap_or_default();
        let passage = Passage { method: &method, from, to };
        if !succeeded {
            return bridge::error(answer, &passage); // what the caller's revision calls it
        }
        let tool = || self.view.definition(self.id?).map(|tool| &tool[..]);
        let answer = bridge::result(answer, &passage, tool()); // with the members it has there
        match self.pool.is_own() {
            true => bridge::confined(answer, &passage), // and his alone, if the server is his
            false => answer,
        }
    }
}

/// A message the gate wrote itself.
pub(crate) fn own_frame(message: Bytes) -> Result<Frame, Refusal> {
    Frame::parse(message, &Limits::WIDEST).map_err(|error| Refusal {
        code: error.code(),
        message: error.to_string(),
        data: None,
    })
}
