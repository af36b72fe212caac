//! The wire crate from outside: what is accepted, what is refused, and what a change changes.
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
use toolgate_wire::{Frame, Limits, WireError};

/// Reads one message within the default limits.
fn read(json: impl AsRef<[u8]>) -> Result<Frame, WireError> {
    Frame::parse(Bytes::copy_from_slice(json.as_ref()), &Limits::default())
}
