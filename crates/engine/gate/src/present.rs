//! Step: a server's answer as this caller must see it.
//!
//! Only URIs that two servers share are shown in another form than the server wrote, and only in
//! the places listed here: `contents[].uri`, and in `content[]` and `messages[].content` the `uri`
//! of a link or an embedded resource. Everything else passes untouched.

use std::collections::HashMap;
use std::sync::Arc;

use toolgate_model::CapabilityId;
use toolgate_wire::{Frame, Span, scan, string};

use crate::view::View;

/// Shows the shared URIs in an answer as the lists show them.
pub(crate) fn answer(view: &View, id: &CapabilityId, answer: Frame) -> Frame {
    let Some(tagged) = view.tagged.get(&id.server) else { return answer };
    let Some(result) = answer.result_span() else { return answer };
    let bytes = answer.bytes().clone();
    let mut edit = answer.edit();
    for span in uris(result.of(&bytes)) {
        let span = span.within(result);
        if let Some(shown) = shown(tagged, span.of(&bytes)) {
            edit = edit.replace(span, shown);
        }
    }
    match edit.frame() {
        Ok(frame) => frame,
        Err(_) => answer,
    }
}

/// The same for `notifications/resources/updated`.
pub(crate) fn update(view: &View, server: &toolgate_model::ServerName, frame: Frame) -> Frame {
    let shown = view.tagged.get(server).zip(frame.name_span());
    let shown = shown.and_then(|(tagged, span)| shown_at(tagged, &frame, span));
    match shown.and_then(|(span, shown)| frame.edit().replace(span, shown).frame().ok()) {
        Some(frame) => frame,
        None => frame,
    }
}

fn shown_at(
    tagged: &HashMap<Arc<str>, String>,
    frame: &Frame,
    span: Span,
) -> Option<(Span, String)> {
    Some((span, shown(tagged, span.of(frame.bytes()))?))
}

fn shown(tagged: &HashMap<Arc<str>, String>, raw: &[u8]) -> Option<String> {
    let uri = string::decode(raw)?;
    tagged.get(&*uri).map(|shown| string::encode(shown))
}

/// Every place in a result that names a resource.
fn uris(result: &[u8]) -> Vec<Span> {
    let mut found = Vec::new();
    for contents in array(result, "contents") {
        found.extend(at(contents, result, &["uri"]));
    }
    for content in array(result, "content") {
        found.extend(at(content, result, &["uri"]));
        found.extend(at(content, result, &["resource", "uri"]));
    }
    for message in array(result, "messages") {
        found.extend(at(message, result, &["content", "uri"]));
        found.extend(at(message, result, &["content", "resource", "uri"]));
    }
    found
}

fn array(object: &[u8], key: &str) -> Vec<Span> {
    let Some(array) = scan::member(object, key) else { return Vec::new() };
    scan::elements(array.of(object)).map(|element| element.within(array)).collect()
}

fn at(element: Span, whole: &[u8], path: &[&str]) -> Option<Span> {
    scan::pointer(element.of(whole), path).map(|span| span.within(element))
}

/// The elements of one array of a result that pass a test, as they came.
pub(crate) fn elements_where(
    result: &[u8],
    key: &str,
    keep: impl Fn(&[u8]) -> bool,
) -> Vec<String> {
    let elements = array(result, key).into_iter().map(|element| element.of(result));
    let kept = elements.filter(|element| keep(element));
    kept.map(|element| String::from_utf8_lossy(element).into_owned()).collect()
}
