//! Lists that do not end (T32), and one that does although it looks as if it did not.
//!
//! Each page is small: the harm is in their number.

use std::sync::atomic::Ordering;

use serde_json::json;

use super::act::{Play, says};
use super::ordinary::{tool, tools};
use super::scene::Scene;

pub(super) fn same_cursor(scene: &Scene) -> Play {
    page(scene, "again")
}

pub(super) fn fresh_cursor(scene: &Scene) -> Play {
    // Any counter will do, and nothing else counts in this mode.
    let number = scene.world.triggered.fetch_add(1, Ordering::Relaxed);
    page(scene, &format!("page-{number}"))
}

fn page(scene: &Scene, next: &str) -> Play {
    says(scene.result(&json!({ "tools": tools(), "nextCursor": next })))
}

pub(super) fn empty_cursor(scene: &Scene) -> Play {
    match scene.request.params.get("cursor") {
        None => page(scene, ""),
        Some(_) => says(scene.tools(&[tool("last", "Stands on the page after the empty cursor.")])),
    }
}
