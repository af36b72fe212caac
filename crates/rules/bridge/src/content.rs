//! Replaces content blocks that a revision does not know by text.
//!
//! Unknown members of a message are legal in every revision, but an unknown block breaks old
//! clients. So audio before 2025-03-26 and resource links before 2025-06-18 become text that
//! describes them. Blocks of unknown types pass unchanged, because the client may know them.

use std::borrow::Cow;
use std::sync::Arc;

use toolgate_wire::large::DetachedValues;
use toolgate_wire::{Revision, Span, method, scan, string};

use crate::{ResponseTranslation, describe};

/// Returns the blocks of a result that must change: their spans and replacements.
pub(crate) fn text_replacements(
    result: &[u8],
    translation: &ResponseTranslation<'_>,
    detached: Option<&Arc<DetachedValues>>,
) -> Vec<(Span, String)> {
    if translation.to.has_resource_links() || translation.from < translation.to {
        return Vec::new();
    }
    let of_message =
        |message: Span| Some(scan::member(message.slice(result), "content")?.within(message));
    let blocks: Vec<Span> = match translation.method {
        method::TOOLS_CALL => member_elements(result, "content").collect(),
        method::PROMPTS_GET => member_elements(result, "messages").filter_map(of_message).collect(),
        // In other methods, members of these names belong to extensions.
        _ => return Vec::new(),
    };
    let change = |at: Span| Some((at, describe_block(at.slice(result), translation.to, detached)?));
    blocks.into_iter().filter_map(change).collect()
}

/// Returns the text block that replaces a block unknown to this revision. Returns `None` if the
/// revision knows the block, or no revision does.
pub(crate) fn describe_block(
    block: &[u8],
    to: Revision,
    detached: Option<&Arc<DetachedValues>>,
) -> Option<String> {
    let text = match scan::member_text(block, "type")?.as_ref() {
        "audio" if !to.has_audio() => describe_audio(block, detached),
        "resource_link" if !to.has_resource_links() => describe_link(block, detached),
        _ => return None,
    };
    Some(text_block(&text, block))
}

/// Makes a text block that replaces another, with that block's annotations and `_meta`.
pub(crate) fn text_block(text: &str, block: &[u8]) -> String {
    let mut words = format!(r#"{{"type":"text","text":{}"#, string::encode(text));
    for key in ["annotations", "_meta"] {
        if let Some(raw) = raw_member(block, key) {
            words.push_str(&format!(r#","{key}":{raw}"#));
        }
    }
    words.push('}');
    words
}

/// Returns a string member, or an ellipsis if the value was removed because of its size.
fn short_text<'a>(
    block: &'a [u8],
    key: &str,
    detached: Option<&Arc<DetachedValues>>,
) -> Option<Cow<'a, str>> {
    let raw = scan::member(block, key)?.slice(block);
    match detached.and_then(|detached| detached.resolve_placeholder(raw)) {
        Some(_) => Some("…".into()),
        None => string::decode(raw),
    }
}

fn describe_audio(block: &[u8], detached: Option<&Arc<DetachedValues>>) -> String {
    let data = scan::member(block, "data").map_or(&b"\"\""[..], |at| at.slice(block));
    let len = detached.map_or(data.len() as u64, |detached| detached.value_len(data));
    let padding = data.iter().rev().skip(1).take_while(|byte| **byte == b'=').count() as u64;
    let bytes = describe::decoded_size(len.saturating_sub(2)).saturating_sub(padding);
    let kind = short_text(block, "mimeType", detached).unwrap_or("unknown type".into());
    format!("[audio, {kind}, {bytes} bytes: omitted, this client does not support audio]")
}

fn describe_link(block: &[u8], detached: Option<&Arc<DetachedValues>>) -> String {
    let member = |key| short_text(block, key, detached);
    let name = member("title").or_else(|| member("name")).unwrap_or_default();
    let uri = member("uri").unwrap_or_default();
    let size = raw_member(block, "size").map(|size| format!("{size} bytes").into());
    let facts: Vec<_> = member("mimeType").into_iter().chain(size).collect();
    let facts = match facts.is_empty() {
        true => String::new(),
        false => format!(" ({})", facts.join(", ")),
    };
    let about = member("description").map(|about| format!(": {about}")).unwrap_or_default();
    format!("[resource \"{name}\" at {uri}{facts}{about}]")
}

pub(crate) fn raw_member<'a>(object: &'a [u8], key: &str) -> Option<&'a str> {
    std::str::from_utf8(scan::member(object, key)?.slice(object)).ok()
}

pub(crate) fn member_elements<'a>(object: &'a [u8], key: &str) -> impl Iterator<Item = Span> + 'a {
    let array = scan::member(object, key).unwrap_or(Span::new(0, 0));
    scan::elements(array.slice(object)).map(move |element| element.within(array))
}
