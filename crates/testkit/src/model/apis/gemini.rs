//! Gemini `generateContent` and `streamGenerateContent`.

use serde_json::{Value, json};

use super::items;
use crate::model::script::{ModelConversation, ModelRequestTool, ModelTurn};

pub(super) fn read(request: &Value) -> ModelConversation {
    let declared = items(&request["tools"]).flat_map(|it| items(&it["functionDeclarations"]));
    let tools = declared.filter_map(|tool| tool["name"].as_str());
    let parts = items(&request["contents"]).flat_map(|content| items(&content["parts"]));
    let results = parts.filter_map(|part| part.get("functionResponse"));
    // The client says `output` or `error`; the text is what matters.
    let said = |response: &Value| {
        let values = response.as_object().into_iter().flat_map(|it| it.values());
        values.filter_map(Value::as_str).collect::<Vec<_>>().join("\n")
    };
    ModelConversation {
        tools: tools
            .map(|name| ModelRequestTool { name: name.to_owned(), namespace: None })
            .collect(),
        results: results.map(|result| said(&result["response"])).collect(),
    }
}

pub(super) fn whole(turn: &ModelTurn) -> Value {
    let part = match turn {
        ModelTurn::Say(text) => json!({ "text": text }),
        ModelTurn::Call { tool, arguments, .. } => {
            json!({ "functionCall": { "name": tool.name, "args": arguments } })
        }
    };
    let content = json!({ "role": "model", "parts": [part] });
    json!({
        "candidates": [{ "index": 0, "content": content, "finishReason": "STOP" }],
        "usageMetadata": {
            "promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2,
        },
    })
}
