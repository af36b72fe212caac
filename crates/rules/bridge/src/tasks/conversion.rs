//! Converts task objects and the results that carry them between the two formats.
//!
//! Members that neither format defines pass unchanged.

use std::borrow::Cow;
use std::time::Duration;

use bytes::Bytes;
use toolgate_wire::{JsonEdit, Span, scan, string};

use super::view::duration_keys;
use super::{TaskFormat, TaskStatus};

/// Members that the extension puts beside a task and 2025-11-25 does not.
const BESIDE: [&str; 5] = ["resultType", "inputRequests", "result", "error", "requestState"];

/// The size in bytes above which a remembered task object loses its undefined members.
const LARGE: usize = 16 << 10;

/// Returns the task object in the response to a call, if the response is a task.
pub fn task_in_result(result: &[u8], form: TaskFormat) -> Option<&[u8]> {
    match form {
        TaskFormat::Session => {
            let task = scan::member(result, "task")?.slice(result);
            scan::member_text(task, "taskId").map(|_| task)
        }
        TaskFormat::Extension => {
            let kind = scan::member_text(result, "resultType");
            (kind.as_deref() == Some("task")).then_some(result)
        }
    }
}

/// Returns the response to a call that became a task.
pub fn creation_result(task: &[u8], from: TaskFormat, to: TaskFormat) -> Option<Bytes> {
    let task = convert_task(task, from, to)?;
    match to {
        TaskFormat::Session => Some([b"{\"task\":", &task[..], b"}"].concat().into()),
        TaskFormat::Extension => JsonEdit::new(&task)
            .insert_member(Span::of_object(&task), "resultType", br#""task""#)
            .finish()
            .ok(),
    }
}

/// Returns the result of `tasks/get` in the extension, for a task object of either format. `detail`
/// is the member it inlines: `inputRequests`, `result` or `error`.
pub fn detailed_result(
    task: &[u8],
    from: TaskFormat,
    status: TaskStatus,
    detail: Option<(&str, &[u8])>,
) -> Option<Bytes> {
    let task = convert_task(task, from, TaskFormat::Extension)?;
    let status = format!("\"{}\"", status.as_str());
    let edit = JsonEdit::new(&task).set_member(Span::of_object(&task), "status", status);
    let edit = edit.set_member(Span::of_object(&task), "resultType", br#""complete""#);
    let edit = match detail {
        Some((key, value)) => edit.insert_member(Span::of_object(&task), key, value),
        None => edit,
    };
    edit.finish().ok()
}

/// Returns a task object to remember, without the members beside it. Members that its format does
/// not define are dropped if the object is large.
pub fn compact_task(task: &[u8], form: TaskFormat) -> Option<Bytes> {
    let bare = convert_task(task, form, form)?;
    if bare.len() <= LARGE {
        return Some(bare);
    }
    let (ttl, poll) = duration_keys(form);
    let named = ["taskId", "status", "createdAt", "lastUpdatedAt", ttl, poll];
    let member = |key: &str| {
        let value = std::str::from_utf8(scan::member(task, key)?.slice(task)).ok()?;
        (value.len() <= LARGE / named.len()).then(|| format!("\"{key}\":{value}"))
    };
    let named: Vec<_> = named.into_iter().filter_map(member).collect();
    Some(format!("{{{}}}", named.join(",")).into())
}

/// Returns the questions in a `tasks/get` result of the extension: key, method, params.
pub fn input_requests(task: &[u8]) -> Vec<(String, String, Bytes)> {
    let Some(asked) = scan::member(task, "inputRequests") else { return Vec::new() };
    let asked = asked.slice(task);
    let question = |(key, span): (Cow<'_, str>, Span)| {
        let question = span.slice(asked);
        let method = scan::member_text(question, "method")?.into_owned();
        let params = scan::member(question, "params").map_or(&b"{}"[..], |at| at.slice(question));
        Some((key.into_owned(), method, Bytes::copy_from_slice(params)))
    };
    scan::members(asked).filter_map(question).collect()
}

/// Converts a task object: the result of `tasks/get` and `tasks/cancel` in 2025-11-25, and the
/// content of notifications in both formats.
pub fn convert_task(task: &[u8], from: TaskFormat, to: TaskFormat) -> Option<Bytes> {
    let mut edit = JsonEdit::new(task);
    for key in BESIDE {
        edit = edit.delete_member(Span::of_object(task), key);
    }
    if from != to {
        if TaskStatus::from_task(task).is_none() {
            // An unknown status counts as working; a client might reject it.
            edit = edit.set_member(Span::of_object(task), "status", br#""working""#);
        }
        let ((ttl, poll), (their_ttl, their_poll)) = (duration_keys(to), duration_keys(from));
        let value = |key| scan::member(task, key).map(|span| span.slice(task));
        edit = edit
            .delete_member(Span::of_object(task), their_ttl)
            .delete_member(Span::of_object(task), their_poll);
        edit = edit.insert_member(Span::of_object(task), ttl, value(their_ttl).unwrap_or(b"null"));
        if let Some(value) = value(their_poll) {
            edit = edit.insert_member(Span::of_object(task), poll, value);
        }
    }
    edit.finish().ok()
}

/// Returns the task object of a call that completed at once, in the extension's format.
pub fn completed_task(id: &str, now: &str, ttl: Duration) -> Bytes {
    let (id, now) = (string::encode(id), string::encode(now));
    let times = format!("\"createdAt\":{now},\"lastUpdatedAt\":{now}");
    let ttl = ttl.as_millis();
    format!("{{\"taskId\":{id},\"status\":\"completed\",{times},\"ttlMs\":{ttl}}}").into()
}

/// Returns a task object of the extension's format with the status `cancelled`.
pub fn cancelled_task(task: &[u8], now: &str) -> Option<Bytes> {
    let task = convert_task(task, TaskFormat::Extension, TaskFormat::Extension)?;
    let edit = JsonEdit::new(&task).set_member(Span::of_object(&task), "status", br#""cancelled""#);
    edit.set_member(Span::of_object(&task), "lastUpdatedAt", string::encode(now)).finish().ok()
}

/// Returns the params of the extension's notification that corresponds to this `tasks/get` result.
pub fn notification_params(detailed: &[u8]) -> Option<Bytes> {
    JsonEdit::new(detailed).delete_member(Span::of_object(detailed), "resultType").finish().ok()
}
