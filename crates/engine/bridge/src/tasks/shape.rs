//! Task objects and the results that carry them, from one form to the other.
//!
//! Members neither form names pass untouched.

use std::borrow::Cow;
use std::time::Duration;

use bytes::Bytes;
use toolgate_wire::{Span, Splice, scan, string};

use super::form::object;
use super::view::members;
use super::{Form, Status};

/// What the extension's form puts beside a task and 2025-11-25 does not have there.
const BESIDE: [&str; 5] = ["resultType", "inputRequests", "result", "error", "requestState"];

/// From how many bytes on a task object is remembered without what its form does not name.
const LARGE: usize = 16 << 10;

/// What `tasks/get` of the extension inlines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail<'a> {
    /// Nothing: it works, or was cancelled.
    Nothing,
    /// What it waits for: an `inputRequests` object.
    Questions(&'a [u8]),
    /// How it ended: the result.
    Result(&'a [u8]),
    /// How it ended: the error object.
    Error(&'a [u8]),
}

/// The task object in the answer to a call, if the answer is a task.
pub fn task_of(result: &[u8], form: Form) -> Option<&[u8]> {
    match form {
        Form::Session => {
            let task = scan::member(result, "task")?.of(result);
            scan::text(task, "taskId").map(|_| task)
        }
        Form::Extension => {
            let kind = scan::text(result, "resultType");
            (kind.as_deref() == Some("task")).then_some(result)
        }
    }
}

/// The answer to a call that became a task.
pub fn created(task: &[u8], from: Form, to: Form) -> Option<Bytes> {
    let task = renamed(task, from, to)?;
    match to {
        Form::Session => Some([b"{\"task\":", &task[..], b"}"].concat().into()),
        Form::Extension => Splice::new(&task)
            .insert_member(object(&task), "resultType", br#""task""#)
            .finish()
            .ok(),
    }
}

/// A task object on its own: what `tasks/get` and `tasks/cancel` of 2025-11-25 answer, and what
/// notifications of both forms carry.
pub fn state(task: &[u8], from: Form, to: Form) -> Option<Bytes> {
    renamed(task, from, to)
}

/// What `tasks/get` of the extension answers, about a task object of either form.
pub fn detailed(task: &[u8], from: Form, status: Status, detail: Detail<'_>) -> Option<Bytes> {
    let task = renamed(task, from, Form::Extension)?;
    let status = format!("\"{}\"", status.as_str());
    let edit = Splice::new(&task).set_member(object(&task), "status", status);
    let edit = edit.set_member(object(&task), "resultType", br#""complete""#);
    let edit = match detail {
        Detail::Nothing => edit,
        Detail::Questions(questions) => {
            edit.insert_member(object(&task), "inputRequests", questions)
        }
        Detail::Result(result) => edit.insert_member(object(&task), "result", result),
        Detail::Error(error) => edit.insert_member(object(&task), "error", error),
    };
    edit.finish().ok()
}

/// A task object to be remembered: what stands beside it goes, and so does what its form does not
/// name where that is much.
pub fn remembered(task: &[u8], form: Form) -> Option<Bytes> {
    let bare = renamed(task, form, form)?;
    if bare.len() <= LARGE {
        return Some(bare);
    }
    let (ttl, poll) = members(form);
    let named = ["taskId", "status", "createdAt", "lastUpdatedAt", ttl, poll];
    let member = |key: &str| {
        let value = std::str::from_utf8(scan::member(task, key)?.of(task)).ok()?;
        (value.len() <= LARGE / named.len()).then(|| format!("\"{key}\":{value}"))
    };
    let named: Vec<_> = named.into_iter().filter_map(member).collect();
    Some(format!("{{{}}}", named.join(",")).into())
}

/// The questions in a `tasks/get` of the extension: key, method, params.
pub fn questions(task: &[u8]) -> Vec<(String, String, Bytes)> {
    let Some(asked) = scan::member(task, "inputRequests") else { return Vec::new() };
    let asked = asked.of(task);
    let question = |(key, span): (Cow<'_, str>, Span)| {
        let question = span.of(asked);
        let method = scan::text(question, "method")?.into_owned();
        let params = scan::member(question, "params").map_or(&b"{}"[..], |at| at.of(question));
        Some((key.into_owned(), method, Bytes::copy_from_slice(params)))
    };
    scan::members(asked).filter_map(question).collect()
}

/// The bare task object with the names of the other form.
fn renamed(task: &[u8], from: Form, to: Form) -> Option<Bytes> {
    let mut edit = Splice::new(task);
    for key in BESIDE {
        edit = edit.delete_member(object(task), key);
    }
    if from != to {
        if Status::of(task).is_none() {
            // What neither form knows counts as work, and a client may refuse to read on.
            edit = edit.set_member(object(task), "status", br#""working""#);
        }
        let ((ttl, poll), (their_ttl, their_poll)) = (members(to), members(from));
        let value = |key| scan::member(task, key).map(|span| span.of(task));
        edit = edit.delete_member(object(task), their_ttl).delete_member(object(task), their_poll);
        edit = edit.insert_member(object(task), ttl, value(their_ttl).unwrap_or(b"null"));
        if let Some(value) = value(their_poll) {
            edit = edit.insert_member(object(task), poll, value);
        }
    }
    edit.finish().ok()
}

/// The task object of a call that was answered at once, in the extension's form.
pub fn finished(id: &str, now: &str, ttl: Duration) -> Bytes {
    let (id, now) = (string::encode(id), string::encode(now));
    let times = format!("\"createdAt\":{now},\"lastUpdatedAt\":{now}");
    let ttl = ttl.as_millis();
    format!("{{\"taskId\":{id},\"status\":\"completed\",{times},\"ttlMs\":{ttl}}}").into()
}

/// A task object of the extension's form, cancelled now.
pub fn stopped(task: &[u8], now: &str) -> Option<Bytes> {
    let task = renamed(task, Form::Extension, Form::Extension)?;
    let edit = Splice::new(&task).set_member(object(&task), "status", br#""cancelled""#);
    edit.set_member(object(&task), "lastUpdatedAt", string::encode(now)).finish().ok()
}

/// What a notification of the extension says, from the `tasks/get` that says the same.
pub fn notified(detailed: &[u8]) -> Option<Bytes> {
    Splice::new(detailed).delete_member(object(detailed), "resultType").finish().ok()
}
