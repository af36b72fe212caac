//! Anthropic Messages.

use serde_json::{Value, json};

use super::{call_id, items, text, usage};
use crate::model::script::{ModelConversation, ModelRequestTool, ModelTurn};

pub(super) fn read(request: &Value) -> ModelConversation {
    let tools = items(&request["tools"]).filter_map(|tool| tool["name"].as_str());
    let blocks = items(&request["messages"]).flat_map(|message| items(&message["content"]));
    let results = blocks.filter(|block| block["type"] == "tool_result");
    ModelConversation {
        tools: tools
            .map(|name| ModelRequestTool { name: name.to_owned(), namespace: None })
            .collect(),
        results: results.map(|block| text(&block["content"])).collect(),
    }
}

pub(super) fn whole(turn: &ModelTurn) -> Value {
    let (content, stop) = match turn {
        ModelTurn::Say(text) => (json!({ "type": "text", "text": text }), "end_turn"),
        ModelTurn::Call { tool, arguments, number } => {
            let id = call_id(*number);
            let call =
                json!({ "type": "tool_use", "id": id, "name": tool.name, "input": arguments });
            (call, "tool_use")
        }
    };
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "scripted",
        "content": [content], "stop_reason": stop, "stop_sequence": null,
        "usage": usage("input_tokens", "output_tokens"),
    })
}

pub(super) fn events(turn: &ModelTurn) -> Vec<Value> {
    let mut message = whole(turn);
    let stop = message["stop_reason"].take();
    let mut block = message["content"][0].take();
    message["content"] = json!([]);
    let delta = match turn {
        ModelTurn::Say(text) => {
            block["text"] = json!("");
            json!({ "type": "text_delta", "text": text })
        }
        ModelTurn::Call { arguments, .. } => {
            block["input"] = json!({});
            json!({ "type": "input_json_delta", "partial_json": arguments.to_string() })
        }
    };
    vec![
        json!({ "type": "message_start", "message": message }),
        json!({ "type": "content_block_start", "index": 0, "content_block": block }),
        json!({ "type": "content_block_delta", "index": 0, "delta": delta }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({
            "type": "message_delta", "usage": { "output_tokens": 1 },
            "delta": { "stop_reason": stop, "stop_sequence": null },
        }),
        json!({ "type": "message_stop" }),
    ]
}
