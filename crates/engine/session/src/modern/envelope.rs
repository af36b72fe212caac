//! The envelope: the `_meta` keys of a modern request. It is added for a modern server and removed
//! for a legacy one.
//!
//! A request that already has an envelope keeps it.

use bytes::Bytes;
use toolgate_wire::view::LogLevel;
use toolgate_wire::{Frame, JsonEdit, Revision, Span, build, meta, method, scan, string};

use crate::Interactor;
use crate::interactor::SAMPLING;

/// The revision used with modern servers.
pub(crate) const MODERN_REVISION: Revision = Revision::V2026_07_28;

/// The `clientInfo` of the gateway.
const CLIENT_INFO: &str =
    concat!(r#"{"name":"toolgate","version":""#, env!("CARGO_PKG_VERSION"), r#""}"#);

/// The members of `params` that only a modern server knows.
const ROUND: [&str; 2] = ["inputResponses", "requestState"];

/// Builds the `_meta` object of a request of the gateway itself.
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
    let version = format!("\"{MODERN_REVISION}\"");
    let level = level.map(|level| (meta::LOG_LEVEL, Bytes::from(format!("\"{level}\""))));
    [
        (meta::PROTOCOL_VERSION, Bytes::from(version)),
        (meta::CLIENT_INFO, Bytes::from_static(CLIENT_INFO.as_bytes())),
        (meta::CLIENT_CAPABILITIES, Bytes::copy_from_slice(capabilities)),
    ]
    .into_iter()
    .chain(level)
}

/// Adds the envelope to a request of a legacy caller or of the gateway itself.
pub(crate) fn add_envelope<'a>(
    edit: JsonEdit<'a>,
    frame: &'a Frame,
    port: &dyn Interactor,
) -> JsonEdit<'a> {
    let (capabilities, level) = (port.capabilities(), port.level());
    let is_object = |span: &Span| span.slice(frame.bytes()).starts_with(b"{");
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
        // `task` of 2025-11-25 means something else to a modern server.
        Some(params) if frame.is(method::TOOLS_CALL) => edit.delete_member(params, "task"),
        _ => edit,
    }
}

/// Removes `sampling`, or its `context`, from a modern caller's envelope if the interactor does not
/// have it.
pub(crate) fn restrict_envelope<'a>(
    edit: JsonEdit<'a>,
    frame: &'a Frame,
    port: &dyn Interactor,
) -> JsonEdit<'a> {
    let declared = frame.meta_span().and_then(|meta| {
        let at = scan::member(meta.slice(frame.bytes()), meta::CLIENT_CAPABILITIES)?;
        Some(at.within(meta))
    });
    let Some(declared) = declared else { return edit };
    let Some(sampling) = scan::member(declared.slice(frame.bytes()), SAMPLING) else { return edit };
    let offered = port.capabilities();
    let context = |raw: &[u8]| scan::member(raw, "context").is_some();
    match scan::member(&offered, SAMPLING).map(|at| at.slice(&offered)) {
        None => edit.delete_member(declared, SAMPLING),
        Some(offered)
            if !context(offered) && context(sampling.within(declared).slice(frame.bytes())) =>
        {
            edit.delete_member(sampling.within(declared), "context")
        }
        Some(_) => edit,
    }
}

/// Removes the envelope from a request of a modern caller.
pub(crate) fn remove_envelope<'a>(edit: JsonEdit<'a>, frame: &'a Frame) -> JsonEdit<'a> {
    let edit = remove_meta_keys(edit, frame, &meta::CLIENT_KEYS);
    match frame.params_span() {
        Some(params) => ROUND.iter().fold(edit, |edit, key| edit.delete_member(params, key)),
        None => edit,
    }
}

/// Removes keys from `_meta`, and `_meta` itself if it becomes empty.
pub(crate) fn remove_meta_keys<'a>(
    edit: JsonEdit<'a>,
    frame: &'a Frame,
    keys: &[&str],
) -> JsonEdit<'a> {
    let (Some(params), Some(at)) = (frame.params_span(), frame.meta_span()) else { return edit };
    let stays = |key: &str| !keys.contains(&key);
    match scan::members(at.slice(frame.bytes())).any(|(key, _)| stays(&key)) {
        true => keys.iter().fold(edit, |edit, key| edit.delete_member(at, key)),
        false => edit.delete_member(params, "_meta"),
    }
}

/// Converts the capabilities of a legacy client to the modern form.
pub(crate) fn modern_capabilities(declared: &[u8]) -> Bytes {
    let mut object = String::from("{");
    for (key, value) in scan::members(declared) {
        let value = match key.as_ref() {
            "tasks" => continue,
            "roots" => "{}".into(),
            _ => String::from_utf8_lossy(value.slice(declared)),
        };
        let comma = if object.len() > 1 { "," } else { "" };
        object.push_str(&format!("{comma}{}:{value}", string::encode(&key)));
    }
    object.push('}');
    object.into()
}

/// Builds a complete request of the gateway itself.
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
