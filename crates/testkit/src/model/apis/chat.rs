//! OpenAI chat completions.

use serde_json::{Value, json};

use super::{call_id, items, text, usage};
use crate::model::script::{ModelConversation, ModelRequestTool, ModelTurn};

pub(super) fn read(request: &Value) -> ModelConversation {
    let tools = items(&request["tools"]).filter_map(|tool| tool["function"]["name"].as_str());
    let results = items(&request["messages"]).filter(|message| message["role"] == "tool");
    ModelConversation {
        tools: tools
            .map(|name| ModelRequestTool { name: name.to_owned(), namespace: None })
            .collect(),
        results: results.map(|message| text(&message["content"])).collect(),
    }
}

/// The message, and why it ends.
fn message(turn: &ModelTurn) -> (Value, &'static str) {
    match turn {
        ModelTurn::Say(text) => (json!({ "role": "assistant", "content": text }), "stop"),
        ModelTurn::Call { tool, arguments, number } => {
            let function = json!({ "name": tool.name, "arguments": arguments.to_string() });
            let call = json!({
                "index": 0, "id": call_id(*number), "type": "function", "function": function,
            });
            let message = json!({ "role": "assistant", "content": null, "tool_calls": [call] });
            (message, "tool_calls")
        }
    }
}

fn answer(object: &str, choice: &Value) -> Value {
    json!({
        "id": "chat_1", "object": object, "created": 1, "model": "scripted",
        "choices": [choice], "usage": usage("prompt_tokens", "completion_tokens"),
    })
}

pub(super) fn whole(turn: &ModelTurn) -> Value {
    let (message, stop) = message(turn);
    let choice = json!({ "index": 0, "message": message, "finish_reason": stop });
    answer("chat.completion", &choice)
}

pub(super) fn chunks(turn: &ModelTurn) -> Vec<Value> {
    let (message, stop) = message(turn);
    let deltas = [(message, Value::Null), (json!({}), json!(stop))];
    deltas
        .map(|(delta, stop)| {
            let choice = json!({ "index": 0, "delta": delta, "finish_reason": stop });
            answer("chat.completion.chunk", &choice)
        })
        .to_vec()
}
