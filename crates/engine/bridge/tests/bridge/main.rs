//! Every mapping of the bridge, as it looks on the wire, and what holds for all of them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // tests

mod errors;
mod opening;
mod pairs;
mod properties;
mod questions;
mod results;
mod tools;

use serde_json::Value;
use toolgate_bridge::Passage;
use toolgate_wire::{Frame, Limits, Revision, build};

const OLDEST: Revision = Revision::V2024_11_05;
const LEGACY: Revision = Revision::LATEST_LEGACY;
const MODERN: Revision = Revision::V2026_07_28;

fn passage(method: &str, from: Revision, to: Revision) -> Passage<'_> {
    Passage { method, from, to }
}

fn response(result: &Value) -> Frame {
    frame(build::response("1", result.to_string().as_bytes()))
}

fn frame(message: bytes::Bytes) -> Frame {
    Frame::parse(message, &Limits::default()).unwrap()
}

/// The result, the way a reader of the snapshot wants it.
fn pretty(frame: &Frame) -> String {
    let raw = frame.result().or(frame.error()).unwrap();
    let value: Value = serde_json::from_slice(raw).unwrap();
    serde_json::to_string_pretty(&value).unwrap().replace(env!("CARGO_PKG_VERSION"), "VERSION")
}
