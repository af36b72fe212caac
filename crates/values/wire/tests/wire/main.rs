//! The wire crate through its public API: what it accepts, what it rejects, and what edits change.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // tests may fail loudly

mod batches;
mod frames;
mod grammar;
mod large;
mod lookup;
mod refusals;
mod splices;
mod strategies;

use bytes::Bytes;
use toolgate_wire::{Frame, MessageLimits, WireError};

/// Parses one message within the default limits.
fn read(json: impl AsRef<[u8]>) -> Result<Frame, WireError> {
    Frame::parse(Bytes::copy_from_slice(json.as_ref()), &MessageLimits::default())
}
