//! OpenAI Responses.

use serde_json::{Value, json};

use super::{call_id, items, text, usage};
use crate::model::script::{ModelConversation, ModelRequestTool, ModelTurn};

pub(super) fn read(request: &Value) -> ModelConversation {
    let results = items(&request["input"]).filter(|item| item["type"] == "function_call_output");
    ModelConversation {
        tools: items(&request["tools"]).flat_map(named).collect(),
        results: results.map(|item| text(&item["output"])).collect(),
    }
}

/// A tool, or those of a namespace.
fn named(entry: &Value) -> Vec<ModelRequestTool> {
    let name = |tool: &Value| tool["name"].as_str().unwrap_or_default().to_owned();
    if entry["type"] != "namespace" {
        return vec![ModelRequestTool { name: name(entry), namespace: None }];
    }
    let namespace = Some(name(entry));
    let tools = items(&entry["tools"]);
    tools.map(|tool| ModelRequestTool { name: name(tool), namespace: namespace.clone() }).collect()
}

fn item(turn: &ModelTurn) -> Value {
    match turn {
        ModelTurn::Say(text) => json!({
            "type": "message", "id": "message_1", "role": "assistant", "status": "completed",
            "content": [{ "type": "output_text", "text": text, "annotations": [] }],
        }),
        ModelTurn::Call { tool, arguments, number } => {
            let id = call_id(*number);
            let mut call = json!({
                "type": "function_call", "id": id, "call_id": id, "status": "completed",
                "name": tool.name, "arguments": arguments.to_string(),
            });
            if let Some(namespace) = &tool.namespace {
                call["namespace"] = json!(namespace);
            }
            call
        }
    }
}

pub(super) fn whole(turn: &ModelTurn) -> Value {
    json!({
        "id": "response_1", "object": "response", "status": "completed", "model": "scripted",
        "output": [item(turn)], "usage": usage("input_tokens", "output_tokens"),
    })
}

pub(super) fn events(turn: &ModelTurn) -> Vec<Value> {
    let (done, item) = (whole(turn), item(turn));
    let mut begun = done.clone();
    begun["status"] = json!("in_progress");
    begun["output"] = json!([]);
    vec![
        json!({ "type": "response.created", "response": begun }),
        json!({ "type": "response.output_item.added", "output_index": 0, "item": item }),
        json!({ "type": "response.output_item.done", "output_index": 0, "item": item }),
        json!({ "type": "response.completed", "response": done }),
    ]
}
