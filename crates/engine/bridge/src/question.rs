//! A server's question as a client of an older revision understands it.
//!
//! Before 2025-11-25 a message to a model is one block, a call of a tool is none, and a choice with
//! titles is spelled in two lists. Unknown members are legal and stay: a client that does not know
//! `tools` offers the model none. What an older form cannot hold (a choice of several) stays, too:
//! to refuse it is the client's right.

use std::borrow::Cow;

use toolgate_wire::{Edit, Frame, Revision, Span, Splice, method, scan, string};

use crate::content::{elements, in_words, raw, said};

/// A server's request as a client of this revision may be sent it.
pub fn question(asked: Frame, to: Revision) -> Frame {
    let Some(params) = asked.params_span().filter(|_| !to.sampling_tools()) else { return asked };
    let edit = match asked.method().as_deref() {
        Some(method::SAMPLING_CREATE_MESSAGE) => sampling(&asked, params, to),
        Some(method::ELICITATION_CREATE) => form(&asked, params),
        _ => None,
    };
    edit.and_then(|edit| edit.frame().ok()).unwrap_or(asked)
}

/// The messages to a model, one block each.
fn sampling(asked: &Frame, params: Span, to: Revision) -> Option<Edit<'_>> {
    let at = scan::member(params.of(asked.bytes()), "messages")?.within(params);
    let all = at.of(asked.bytes());
    let messages = scan::elements(all).flat_map(|message| messages(message.of(all), to));
    let messages: Vec<_> = messages.collect();
    Some(asked.edit().replace(at, format!("[{}]", messages.join(","))))
}

/// The messages that say what one did.
fn messages(message: &[u8], to: Revision) -> Vec<String> {
    let whole = || vec![String::from_utf8_lossy(message).into_owned()];
    let Some(at) = scan::member(message, "content") else { return whole() };
    let content = at.of(message);
    let blocks = match content.starts_with(b"[") {
        true => scan::elements(content).flat_map(|block| blocks(block.of(content), to)).collect(),
        false => blocks(content, to),
    };
    let with = |block: &String| Splice::new(message).replace(at, block).finish().ok();
    let with = |block: String| Some(String::from_utf8_lossy(&with(&block)?).into_owned());
    blocks.into_iter().filter_map(with).collect()
}

/// The blocks that say what one did. The result of a tool is its own content under a headline.
fn blocks(block: &[u8], to: Revision) -> Vec<String> {
    let text = |key| scan::text(block, key).unwrap_or_default();
    match text("type").as_ref() {
        "tool_use" => {
            let input = raw(block, "input").unwrap_or("{}");
            vec![said(&format!("[call {} of tool {}: {input}]", text("id"), text("name")), block)]
        }
        "tool_result" => {
            let failed = raw(block, "isError") == Some("true");
            let how = if failed { "error" } else { "result" };
            let headline = format!("[{how} of call {}]", text("toolUseId"));
            let inner = elements(block, "content").flat_map(|inner| blocks(inner.of(block), to));
            std::iter::once(said(&headline, block)).chain(inner).collect()
        }
        "resource" => vec![said(&embedded(block), block)],
        _ => {
            let as_it_is = || String::from_utf8_lossy(block).into_owned();
            vec![in_words(block, to, None).unwrap_or_else(as_it_is)]
        }
    }
}

/// What the result of a tool may embed, and a message of these revisions may not.
fn embedded(block: &[u8]) -> String {
    let member = |key| {
        let at = scan::pointer(block, &["resource", key])?;
        string::decode(at.of(block)).map(|text| text.into_owned())
    };
    let uri = member("uri").unwrap_or_default();
    let text = member("text").unwrap_or_else(|| "left out, it is no text".into());
    format!("[resource at {uri}]\n{text}")
}

/// A form whose titled choices are spelled as an enumeration with names.
fn form(asked: &Frame, params: Span) -> Option<Edit<'_>> {
    let bytes = asked.bytes();
    let path = ["requestedSchema", "properties"];
    let properties = scan::pointer(params.of(bytes), &path)?.within(params);
    let fields = scan::members(properties.of(bytes)).map(|(_, field)| field.within(properties));
    Some(fields.fold(asked.edit(), |edit, field| titled(edit, bytes, field)))
}

fn titled<'a>(edit: Edit<'a>, bytes: &[u8], field: Span) -> Edit<'a> {
    let raw = field.of(bytes);
    let choices = || elements(raw, "oneOf").map(|choice| choice.of(raw));
    let value = |choice| scan::text(choice, "const");
    let name = |choice| scan::text(choice, "title").or_else(|| value(choice));
    match (list(choices().map(value)), list(choices().map(name))) {
        (Some(values), Some(names)) => edit
            .delete_member(field, "oneOf")
            .set_member(field, "enum", values)
            .set_member(field, "enumNames", names),
        _ => edit,
    }
}

/// An array of texts; `None` if one is missing, or there is none.
fn list<'a>(texts: impl Iterator<Item = Option<Cow<'a, str>>>) -> Option<String> {
    let texts: Vec<_> = texts.map(|text| Some(string::encode(&text?))).collect::<Option<_>>()?;
    (!texts.is_empty()).then(|| format!("[{}]", texts.join(",")))
}
