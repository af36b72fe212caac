//! Content blocks a revision does not know, said in words.
//!
//! Unknown members of a message are legal everywhere; an unknown block breaks old clients. So
//! audio before 2025-03-26 and resource links before 2025-06-18 become text that says what stood
//! there. Blocks nobody here knows pass as they came: somebody may.

use std::borrow::Cow;
use std::sync::Arc;

use toolgate_wire::large::Aside;
use toolgate_wire::{Revision, Span, method, scan, string};

use crate::{Passage, words};

/// The blocks of a result that must change: where, and what stands there instead.
pub(crate) fn degraded(
    result: &[u8],
    passage: &Passage<'_>,
    aside: Option<&Arc<Aside>>,
) -> Vec<(Span, String)> {
    if passage.to.resource_links() || passage.from < passage.to {
        return Vec::new();
    }
    let of_message =
        |message: Span| Some(scan::member(message.of(result), "content")?.within(message));
    let blocks: Vec<Span> = match passage.method {
        method::TOOLS_CALL => elements(result, "content").collect(),
        method::PROMPTS_GET => elements(result, "messages").filter_map(of_message).collect(),
        // What an extension calls so is its own.
        _ => return Vec::new(),
    };
    let change = |at: Span| Some((at, in_words(at.of(result), passage.to, aside)?));
    blocks.into_iter().filter_map(change).collect()
}

/// The text block that stands for a block this revision does not know; `None` if it knows it, or
/// nobody does.
pub(crate) fn in_words(block: &[u8], to: Revision, aside: Option<&Arc<Aside>>) -> Option<String> {
    let text = match scan::text(block, "type")?.as_ref() {
        "audio" if !to.audio() => audio(block, aside),
        "resource_link" if !to.resource_links() => link(block, aside),
        _ => return None,
    };
    Some(said(&text, block))
}

/// A text block in the place of another, with what was said about that one.
pub(crate) fn said(text: &str, block: &[u8]) -> String {
    let mut words = format!(r#"{{"type":"text","text":{}"#, string::encode(text));
    for key in ["annotations", "_meta"] {
        if let Some(raw) = raw(block, key) {
            words.push_str(&format!(r#","{key}":{raw}"#));
        }
    }
    words.push('}');
    words
}

/// A string for words; one that lies beside is too long for them.
fn short<'a>(block: &'a [u8], key: &str, aside: Option<&Arc<Aside>>) -> Option<Cow<'a, str>> {
    let raw = scan::member(block, key)?.of(block);
    match aside.and_then(|aside| aside.hole(raw)) {
        Some(_) => Some("…".into()),
        None => string::decode(raw),
    }
}

fn audio(block: &[u8], aside: Option<&Arc<Aside>>) -> String {
    let data = scan::member(block, "data").map_or(&b"\"\""[..], |at| at.of(block));
    let len = aside.map_or(data.len() as u64, |aside| aside.len_of(data));
    let padding = data.iter().rev().skip(1).take_while(|byte| **byte == b'=').count() as u64;
    let bytes = words::decoded_size(len.saturating_sub(2)).saturating_sub(padding);
    let kind = short(block, "mimeType", aside).unwrap_or("unknown type".into());
    format!("[audio, {kind}, {bytes} bytes: left out, this client cannot take it]")
}

fn link(block: &[u8], aside: Option<&Arc<Aside>>) -> String {
    let member = |key| short(block, key, aside);
    let name = member("title").or_else(|| member("name")).unwrap_or_default();
    let uri = member("uri").unwrap_or_default();
    let size = raw(block, "size").map(|size| format!("{size} bytes").into());
    let facts: Vec<_> = member("mimeType").into_iter().chain(size).collect();
    let facts = match facts.is_empty() {
        true => String::new(),
        false => format!(" ({})", facts.join(", ")),
    };
    let about = member("description").map(|about| format!(": {about}")).unwrap_or_default();
    format!("[resource \"{name}\" at {uri}{facts}{about}]")
}

pub(crate) fn raw<'a>(object: &'a [u8], key: &str) -> Option<&'a str> {
    std::str::from_utf8(scan::member(object, key)?.of(object)).ok()
}

pub(crate) fn elements<'a>(object: &'a [u8], key: &str) -> impl Iterator<Item = Span> + 'a {
    let array = scan::member(object, key).unwrap_or(Span::new(0, 0));
    scan::elements(array.of(object)).map(move |element| element.within(array))
}
