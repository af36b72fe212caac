//! Modes with endless lists (T32), and one with a list that only looks endless.
//!
//! Each page is small; the number of pages does the harm.

use std::sync::atomic::Ordering;

use serde_json::json;

use super::action::{ActionSequence, single_message};
use super::context::HookContext;
use super::ordinary::{tool, tools};

pub(super) fn same_cursor(scene: &HookContext) -> ActionSequence {
    page(scene, "again")
}

pub(super) fn fresh_cursor(scene: &HookContext) -> ActionSequence {
    // Any counter will do, and nothing else counts in this mode.
    let number = scene.shared.triggered.fetch_add(1, Ordering::Relaxed);
    page(scene, &format!("page-{number}"))
}

fn page(scene: &HookContext, next: &str) -> ActionSequence {
    single_message(scene.result(&json!({ "tools": tools(), "nextCursor": next })))
}

pub(super) fn empty_cursor(scene: &HookContext) -> ActionSequence {
    match scene.request.params.get("cursor") {
        None => page(scene, ""),
        Some(_) => single_message(
            scene.tools(&[tool("last", "Stands on the page after the empty cursor.")]),
        ),
    }
}
