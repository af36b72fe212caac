//! The model APIs, one file each: how to read a request and how to write a turn. Answers contain
//! only what agents read.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use serde_json::{Value, json};

use super::script::{ModelConversation, ModelTurn};

/// A model API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ModelApi {
    Anthropic,
    Chat,
    Gemini,
    Responses,
}

impl ModelApi {
    /// The API of a path.
    pub(super) fn of(path: &str) -> Option<Self> {
        match path {
            _ if path.ends_with("/messages") => Some(Self::Anthropic),
            _ if path.ends_with("/chat/completions") => Some(Self::Chat),
            _ if path.ends_with("/responses") => Some(Self::Responses),
            _ if path.ends_with("enerateContent") => Some(Self::Gemini),
            _ => None,
        }
    }

    /// What a request says.
    pub(super) fn read(self, request: &Value) -> ModelConversation {
        match self {
            Self::Anthropic => anthropic::read(request),
            Self::Chat => chat::read(request),
            Self::Gemini => gemini::read(request),
            Self::Responses => responses::read(request),
        }
    }

    /// Whether the answer is to be a stream.
    pub(super) fn streams(self, path: &str, request: &Value) -> bool {
        match self {
            Self::Gemini => path.ends_with("streamGenerateContent"),
            _ => request["stream"] == true,
        }
    }

    /// A turn as one answer.
    pub(super) fn whole(self, turn: &ModelTurn) -> Value {
        match self {
            Self::Anthropic => anthropic::whole(turn),
            Self::Chat => chat::whole(turn),
            Self::Gemini => gemini::whole(turn),
            Self::Responses => responses::whole(turn),
        }
    }

    /// A turn as server-sent events.
    pub(super) fn stream(self, turn: &ModelTurn) -> String {
        match self {
            Self::Anthropic => named_events(&anthropic::events(turn)),
            Self::Chat => events(&chat::chunks(turn)) + "data: [DONE]\n\n",
            Self::Gemini => events(&[gemini::whole(turn)]),
            Self::Responses => named_events(&responses::events(turn)),
        }
    }
}

fn events(all: &[Value]) -> String {
    all.iter().map(|event| format!("data: {event}\n\n")).collect()
}

/// Events that are named by their `type`.
fn named_events(all: &[Value]) -> String {
    let named = |event: &Value| {
        let name = event["type"].as_str().unwrap_or_default();
        format!("event: {name}\ndata: {event}\n\n")
    };
    all.iter().map(named).collect()
}

/// The items of a list; none where there is no list.
fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The text of content, however an API nests it.
fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(text).collect::<Vec<_>>().join("\n"),
        Value::Object(part) => ["text", "content", "output"]
            .iter()
            .find_map(|key| part.get(*key))
            .map_or_else(|| content.to_string(), text),
        _ => String::new(),
    }
}

/// A tool call's id.
fn call_id(number: usize) -> String {
    format!("call_{number}")
}

/// What every API counts.
fn usage(input: &str, output: &str) -> Value {
    json!({ input: 1, output: 1, "total_tokens": 2 })
}
