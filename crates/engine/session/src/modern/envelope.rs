//! What a modern request says of itself in `_meta`: put on for a modern server, taken off for a
//! legacy one.
//!
//! A request that already wears it is not touched: whoever sent it speaks for himself.

use bytes::Bytes;
use toolgate_wire::view::LogLevel;
use toolgate_wire::{Edit, Frame, Revision, Span, Splice, build, meta, method, scan, string};

use crate::Interactor;
use crate::interactor::SAMPLING;

/// The revision we speak to modern servers.
pub(crate) const SPOKEN: Revision = Revision::V2026_07_28;

/// Who we are.
const INFO: &str = concat!(r#"{"name":"toolgate","version":""#, env!("CARGO_PKG_VERSION"), r#""}"#);

/// Members of `params` that only a modern server knows.
const ROUND: [&str; 2] = ["inputResponses", "requestState"];

/// `_meta` of a request of our own.
pub(crate) fn meta(capabilities: &[u8], level: Option<LogLevel>) -> Vec<u8> {
    let mut object = Vec::with_capacity(256 + capabilities.len());
    object.push(b'{');
    for (key, value) in members(capabilities, level) {
        if object.len() > 1 {
            object.push(b',');
        }
        for part in [b"\"", key.as_bytes(), b"\":", &value[..]] {
            object.extend_from_slice(part);
        }
    }
    object.push(b'}');
    object
}

fn members(
    capabilities: &[u8],
    level: Option<LogLevel>,
) -> impl Iterator<Item = (&'static str, Bytes)> {
    let version = format!("\"{SPOKEN}\"");
    let level = level.map(|level| (meta::LOG_LEVEL, Bytes::from(format!("\"{level}\""))));
    [
        (meta::PROTOCOL_VERSION, Bytes::from(version)),
        (meta::CLIENT_INFO, Bytes::from_static(INFO.as_bytes())),
        (meta::CLIENT_CAPABILITIES, Bytes::copy_from_slice(capabilities)),
    ]
    .into_iter()
    .chain(level)
}

/// Puts the envelope on a request of a legacy caller, or of our own.
pub(crate) fn dress<'a>(edit: Edit<'a>, frame: &'a Frame, port: &dyn Interactor) -> Edit<'a> {
    let (capabilities, level) = (port.capabilities(), port.level());
    let is_object = |span: &Span| span.of(frame.bytes()).starts_with(b"{");
    let edit = match (frame.meta_span().filter(is_object), frame.params_span()) {
        (Some(at), _) => members(&capabilities, level)
            .fold(edit, |edit, (key, value)| edit.set_member(at, key, value)),
        (None, Some(params)) => edit.set_member(params, "_meta", meta(&capabilities, level)),
        (None, None) => {
            let params = [b"{\"_meta\":", &meta(&capabilities, level)[..], b"}"].concat();
            edit.insert_member(frame.span(), "params", params)
        }
    };
    match frame.params_span() {
        // The `task` of 2025-11-25: what is asked for so is not what it would be given.
        Some(params) if frame.is(method::TOOLS_CALL) => edit.delete_member(params, "task"),
        _ => edit,
    }
}

/// Takes out of a modern caller's own envelope that its model can be asked, where the port between
/// it and the server does not say so.
pub(crate) fn undeclare<'a>(edit: Edit<'a>, frame: &'a Frame, port: &dyn Interactor) -> Edit<'a> {
    let declared = frame.meta_span().and_then(|meta| {
        let at = scan::member(meta.of(frame.bytes()), meta::CLIENT_CAPABILITIES)?;
        Some(at.within(meta))
    });
    let Some(declared) = declared else { return edit };
    let Some(sampling) = scan::member(declared.of(frame.bytes()), SAMPLING) else { return edit };
    let offered = port.capabilities();
    let context = |raw: &[u8]| scan::member(raw, "context").is_some();
    match scan::member(&offered, SAMPLING).map(|at| at.of(&offered)) {
        None => edit.delete_member(declared, SAMPLING),
        Some(offered)
            if !context(offered) && context(sampling.within(declared).of(frame.bytes())) =>
        {
            edit.delete_member(sampling.within(declared), "context")
        }
        Some(_) => edit,
    }
}

/// Takes the envelope off a request of a modern caller.
pub(crate) fn strip<'a>(edit: Edit<'a>, frame: &'a Frame) -> Edit<'a> {
    let edit = without(edit, frame, &meta::ENVELOPE);
    match frame.params_span() {
        Some(params) => ROUND.iter().fold(edit, |edit, key| edit.delete_member(params, key)),
        None => edit,
    }
}

/// Removes keys from `_meta`, and `_meta` itself where nothing is left.
pub(crate) fn without<'a>(edit: Edit<'a>, frame: &'a Frame, keys: &[&str]) -> Edit<'a> {
    let (Some(params), Some(at)) = (frame.params_span(), frame.meta_span()) else { return edit };
    let stays = |key: &str| !keys.contains(&key);
    match scan::members(at.of(frame.bytes())).any(|(key, _)| stays(&key)) {
        true => keys.iter().fold(edit, |edit, key| edit.delete_member(at, key)),
        false => edit.delete_member(params, "_meta"),
    }
}

/// What a legacy client declares, as a modern one says it.
pub(crate) fn modern_capabilities(declared: &[u8]) -> Bytes {
    let mut object = String::from("{");
    for (key, value) in scan::members(declared) {
        let value = match key.as_ref() {
            "tasks" => continue,
            "roots" => "{}".into(),
            _ => String::from_utf8_lossy(value.of(declared)),
        };
        let comma = if object.len() > 1 { "," } else { "" };
        object.push_str(&format!("{comma}{}:{value}", string::encode(&key)));
    }
    object.push('}');
    object.into()
}

/// Client capabilities that include the tasks extension.
pub(crate) fn with_tasks(capabilities: &[u8]) -> Bytes {
    let whole = Span::new(0, capabilities.len());
    let edit = Splice::new(capabilities);
    let edit = match scan::member(capabilities, "extensions") {
        Some(extensions) => edit.set_member(extensions, meta::TASKS_EXTENSION, b"{}"),
        None => {
            let tasks = format!("{{\"{}\":{{}}}}", meta::TASKS_EXTENSION);
            edit.insert_member(whole, "extensions", tasks)
        }
    };
    edit.finish().unwrap_or_else(|_| Bytes::copy_from_slice(capabilities))
}

/// A request of our own, complete.
pub(crate) fn request(id: &str, method: &str, members: &str, capabilities: &[u8]) -> Bytes {
    let comma = if members.is_empty() { "" } else { "," };
    let meta = meta(capabilities, None);
    let params =
        [b"{", members.as_bytes(), comma.as_bytes(), b"\"_meta\":", &meta[..], b"}"].concat();
    build::request(id, method, Some(&params))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_capabilities_lose_what_modern_servers_do_not_know() {
        let legacy = br#"{"roots":{"listChanged":true},"tasks":{"list":{}},"sampling":{"x":1}}"#;
        assert_eq!(modern_capabilities(legacy), r#"{"roots":{},"sampling":{"x":1}}"#);
        assert_eq!(modern_capabilities(b""), "{}");
    }
}
