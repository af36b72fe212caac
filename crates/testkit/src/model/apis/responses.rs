//! OpenAI Responses.

use serde_json::{Value, json};

use super::{call_id, items, text, usage};
use crate::model::script::{Conversation, Tool, Turn};

pub(super) fn read(request: &Value) -> Conversation {
    let results = items(&request["input"]).filter(|item| item["type"] == "function_call_output");
    Conversation {
        tools: items(&request["tools"]).flat_map(named).collect(),
        results: results.map(|item| text(&item["output"])).collect(),
    }
}

/// A tool, or those of a namespace.
fn named(entry: &Value) -> Vec<Tool> {
    let name = |tool: &Value| tool["name"].as_str().unwrap_or_default().to_owned();
    if entry["type"] != "namespace" {
        return vec![Tool { name: name(entry), namespace: None }];
    }
    let namespace = Some(name(entry));
    let tools = items(&entry["tools"]);
    tools.map(|tool| Tool { name: name(tool), namespace: namespace.clone() }).collect()
}

fn item(turn: &Turn) -> Value {
    match turn {
        Turn::Say(text) => json!({
            "type": "message", "id": "message_1", "role": "assistant", "status": "completed",
            "content": [{ "type": "output_text", "text": text, "annotations": [] }],
        }),
        Turn::Call { tool, arguments, number } => {
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

pub(super) fn whole(turn: &Turn) -> Value {
    json!({
        "id": "response_1", "object": "response", "status": "completed", "model": "scripted",
        "output": [item(turn)], "usage": usage("input_tokens", "output_tokens"),
    })
}

pub(super) fn events(turn: &Turn) -> Vec<Value> {
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
