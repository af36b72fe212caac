//! The mark that ties a message to a task; only the form of 2025-11-25 knows it.

use bytes::Bytes;
use toolgate_wire::meta::RELATED_TASK;
use toolgate_wire::{Splice, scan, string};

use super::form::object;

/// An object (a result, or the params of a question) with the mark in its `_meta`.
pub fn related(message: &[u8], task: &str) -> Option<Bytes> {
    let mark = format!("{{\"taskId\":{}}}", string::encode(task));
    let edit = Splice::new(message);
    let edit = match scan::member(message, "_meta") {
        Some(meta) if meta.of(message).starts_with(b"{") => {
            edit.set_member(meta, RELATED_TASK, mark)
        }
        _ => {
            let meta = format!("{{\"{RELATED_TASK}\":{mark}}}");
            edit.set_member(object(message), "_meta", meta)
        }
    };
    edit.finish().ok()
}

/// The same object without the mark.
pub fn unrelated(message: &[u8]) -> Option<Bytes> {
    let edit = Splice::new(message);
    let edit = match scan::member(message, "_meta") {
        Some(meta) if meta.of(message).starts_with(b"{") => edit.delete_member(meta, RELATED_TASK),
        _ => edit,
    };
    edit.finish().ok()
}
