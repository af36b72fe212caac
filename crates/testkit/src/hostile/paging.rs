//! Modes with endless lists (T32), and one with a list that only looks endless.
//!
//! Each page is small; the number of pages does the harm.

use std::sync::atomic::Ordering;

use serde_json::json;

use super::action::{HostileActionSequence, single_message};
use super::context::HookContext;
use super::ordinary::{tool, tools};

pub(super) fn same_cursor(scene: &HookContext) -> HostileActionSequence {
    page(scene, "again")
}

pub(super) fn fresh_cursor(scene: &HookContext) -> HostileActionSequence {
    // Any counter will do, and nothing else counts in this mode.
    let number = scene.shared.triggered.fetch_add(1, Ordering::Relaxed);
    page(scene, &format!("page-{number}"))
}

fn page(scene: &HookContext, next: &str) -> HostileActionSequence {
    single_message(scene.result(&json!({ "tools": tools(), "nextCursor": next })))
}

pub(super) fn empty_cursor(scene: &HookContext) -> HostileActionSequence {
    match scene.request.params.get("cursor") {
        None => page(scene, ""),
        Some(_) => single_message(
            scene.tools(&[tool("last", "Stands on the page after the empty cursor.")]),
        ),
    }
}
