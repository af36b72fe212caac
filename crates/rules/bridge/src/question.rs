//! Translates a server's question for a client of an older revision.
//!
//! Before 2025-11-25 a message to a model has one block, tool calls have no block, and a choice
//! with titles is spelled as two lists. Unknown members are legal and stay: a client that does not
//! know `tools` offers the model none. What an older form cannot express (a choice of several)
//! stays, too, and the client may reject it.

use std::borrow::Cow;

use toolgate_wire::{Frame, JsonEdit, Revision, Span, method, scan, string};

use crate::content::{describe_block, member_elements, raw_member, text_block};

/// Translates a server's request for a client of this revision.
pub fn translate_question(question: Frame, to: Revision) -> Frame {
    let Some(params) = question.params_span().filter(|_| !to.has_sampling_tools()) else {
        return question;
    };
    let edit = match question.method().as_deref() {
        Some(method::SAMPLING_CREATE_MESSAGE) => translate_sampling(&question, params, to),
        Some(method::ELICITATION_CREATE) => translate_form(&question, params),
        _ => None,
    };
    edit.and_then(|edit| edit.finish_frame().ok()).unwrap_or(question)
}

/// Splits the messages to a model into messages with one block each.
fn translate_sampling(question: &Frame, params: Span, to: Revision) -> Option<JsonEdit<'_>> {
    let at = scan::member(params.slice(question.bytes()), "messages")?.within(params);
    let all = at.slice(question.bytes());
    let messages = scan::elements(all).flat_map(|message| split_message(message.slice(all), to));
    let messages: Vec<_> = messages.collect();
    Some(question.edit().replace(at, format!("[{}]", messages.join(","))))
}

/// Splits one message into messages with one block each.
fn split_message(message: &[u8], to: Revision) -> Vec<String> {
    let whole = || vec![String::from_utf8_lossy(message).into_owned()];
    let Some(at) = scan::member(message, "content") else { return whole() };
    let content = at.slice(message);
    let blocks = match content.starts_with(b"[") {
        true => scan::elements(content)
            .flat_map(|block| translate_block(block.slice(content), to))
            .collect(),
        false => translate_block(content, to),
    };
    let with = |block: &String| JsonEdit::new(message).replace(at, block).finish().ok();
    let with = |block: String| Some(String::from_utf8_lossy(&with(&block)?).into_owned());
    blocks.into_iter().filter_map(with).collect()
}

/// Translates one block. The result of a tool becomes a headline followed by its content.
fn translate_block(block: &[u8], to: Revision) -> Vec<String> {
    let text = |key| scan::member_text(block, key).unwrap_or_default();
    match text("type").as_ref() {
        "tool_use" => {
            let input = raw_member(block, "input").unwrap_or("{}");
            vec![text_block(
                &format!("[call {} of tool {}: {input}]", text("id"), text("name")),
                block,
            )]
        }
        "tool_result" => {
            let failed = raw_member(block, "isError") == Some("true");
            let how = if failed { "error" } else { "result" };
            let headline = format!("[{how} of call {}]", text("toolUseId"));
            let inner = member_elements(block, "content")
                .flat_map(|inner| translate_block(inner.slice(block), to));
            std::iter::once(text_block(&headline, block)).chain(inner).collect()
        }
        "resource" => vec![text_block(&describe_embedded(block), block)],
        _ => {
            let as_it_is = || String::from_utf8_lossy(block).into_owned();
            vec![describe_block(block, to, None).unwrap_or_else(as_it_is)]
        }
    }
}

/// Describes an embedded resource, which tool results may contain but messages of these revisions
/// may not.
fn describe_embedded(block: &[u8]) -> String {
    let member = |key| {
        let at = scan::pointer(block, &["resource", key])?;
        string::decode(at.slice(block)).map(|text| text.into_owned())
    };
    let uri = member("uri").unwrap_or_default();
    let text = member("text").unwrap_or_else(|| "[binary content omitted]".into());
    format!("[resource at {uri}]\n{text}")
}

/// Spells the titled choices of a form as an enumeration with names.
fn translate_form(question: &Frame, params: Span) -> Option<JsonEdit<'_>> {
    let bytes = question.bytes();
    let path = ["requestedSchema", "properties"];
    let properties = scan::pointer(params.slice(bytes), &path)?.within(params);
    let fields = scan::members(properties.slice(bytes)).map(|(_, field)| field.within(properties));
    Some(fields.fold(question.edit(), |edit, field| translate_choices(edit, bytes, field)))
}

fn translate_choices<'a>(edit: JsonEdit<'a>, bytes: &[u8], field: Span) -> JsonEdit<'a> {
    let raw = field.slice(bytes);
    let choices = || member_elements(raw, "oneOf").map(|choice| choice.slice(raw));
    let value = |choice| scan::member_text(choice, "const");
    let name = |choice| scan::member_text(choice, "title").or_else(|| value(choice));
    match (encode_list(choices().map(value)), encode_list(choices().map(name))) {
        (Some(values), Some(names)) => edit
            .delete_member(field, "oneOf")
            .set_member(field, "enum", values)
            .set_member(field, "enumNames", names),
        _ => edit,
    }
}

/// Encodes an array of texts. Returns `None` if one is missing or there are none.
fn encode_list<'a>(texts: impl Iterator<Item = Option<Cow<'a, str>>>) -> Option<String> {
    let texts: Vec<_> = texts.map(|text| Some(string::encode(&text?))).collect::<Option<_>>()?;
    (!texts.is_empty()).then(|| format!("[{}]", texts.join(",")))
}
