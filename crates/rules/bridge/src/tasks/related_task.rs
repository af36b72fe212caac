//! The `_meta` mark that relates a message to a task; only 2025-11-25 has it.

use bytes::Bytes;
use toolgate_wire::meta::RELATED_TASK;
use toolgate_wire::{JsonEdit, Span, scan, string};

/// Adds the mark to the `_meta` of an object (a result, or the params of a question).
pub fn add_related_task(message: &[u8], task: &str) -> Option<Bytes> {
    let mark = format!("{{\"taskId\":{}}}", string::encode(task));
    let edit = JsonEdit::new(message);
    let edit = match scan::member(message, "_meta") {
        Some(meta) if meta.slice(message).starts_with(b"{") => {
            edit.set_member(meta, RELATED_TASK, mark)
        }
        _ => {
            let meta = format!("{{\"{RELATED_TASK}\":{mark}}}");
            edit.set_member(Span::of_object(message), "_meta", meta)
        }
    };
    edit.finish().ok()
}

/// Removes the mark from the `_meta` of an object.
pub fn remove_related_task(message: &[u8]) -> Option<Bytes> {
    let edit = JsonEdit::new(message);
    let edit = match scan::member(message, "_meta") {
        Some(meta) if meta.slice(message).starts_with(b"{") => {
            edit.delete_member(meta, RELATED_TASK)
        }
        _ => edit,
    };
    edit.finish().ok()
}
