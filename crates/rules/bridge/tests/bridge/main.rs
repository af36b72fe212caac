//! All translations of the bridge, as snapshots of the wire, and the properties common to all.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // tests

mod errors;
mod opening;
mod pairs;
mod properties;
mod questions;
mod results;
mod tools;

use serde_json::Value;
use toolgate_bridge::ResponseTranslation;
use toolgate_wire::{Frame, MessageLimits, Revision, build};

const OLDEST: Revision = Revision::V2024_11_05;
const LEGACY: Revision = Revision::LATEST_LEGACY;
const MODERN: Revision = Revision::V2026_07_28;

fn passage(method: &str, from: Revision, to: Revision) -> ResponseTranslation<'_> {
    ResponseTranslation { method, from, to }
}

fn response(result: &Value) -> Frame {
    frame(build::response("1", result.to_string().as_bytes()))
}

fn frame(message: bytes::Bytes) -> Frame {
    Frame::parse(message, &MessageLimits::default()).unwrap()
}

/// Formats the result for a snapshot.
fn pretty(frame: &Frame) -> String {
    let raw = frame.result().or(frame.error()).unwrap();
    let value: Value = serde_json::from_slice(raw).unwrap();
    serde_json::to_string_pretty(&value).unwrap().replace(env!("CARGO_PKG_VERSION"), "VERSION")
}
