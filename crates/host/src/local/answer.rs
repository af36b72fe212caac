//! What a local server answers, method by method.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_wire::{Frame, Revision, code, method};

use super::client::Link;
use super::complete::Completers;
use super::{Client, Completing, Parts, ToolCall, texts};

/// A result, or the code and message of an error.
pub(super) type Answer = Result<Value, (i32, String)>;

/// Answers one request.
pub(super) async fn answer(parts: &Parts, link: &Arc<Link>, frame: &Frame) -> Answer {
    let params: Value =
        serde_json::from_slice(frame.params().unwrap_or(b"{}")).unwrap_or_else(|_| json!({}));
    match frame.method().unwrap_or_default().as_ref() {
        method::INITIALIZE => {
            link.greeted(&params["capabilities"]);
            Ok(welcome(parts, &params))
        }
        method::PING | method::LOGGING_SET_LEVEL => Ok(json!({})),
        method::TOOLS_LIST => {
            let tools: Vec<_> = parts.tools.iter().map(|it| it.definition()).collect();
            Ok(json!({ "tools": tools }))
        }
        method::TOOLS_CALL => call(parts, link, &params).await,
        method::RESOURCES_LIST => {
            let resources: Vec<_> = parts.resources.iter().map(|it| it.definition()).collect();
            Ok(json!({ "resources": resources }))
        }
        method::RESOURCES_TEMPLATES_LIST => {
            let templates: Vec<_> = parts.templates.iter().map(|it| it.definition()).collect();
            Ok(json!({ "resourceTemplates": templates }))
        }
        method::RESOURCES_READ => read(parts, &params).await,
        method::PROMPTS_LIST => {
            let prompts: Vec<_> = parts.prompts.iter().map(|it| it.definition()).collect();
            Ok(json!({ "prompts": prompts }))
        }
        method::PROMPTS_GET => prompt(parts, &params).await,
        method::COMPLETION_COMPLETE if completes(parts) => complete(parts, &params).await,
        other => Err((code::METHOD_NOT_FOUND, format!("unknown method: {other}"))),
    }
}

fn welcome(parts: &Parts, params: &Value) -> Value {
    let asked = params["protocolVersion"].as_str().and_then(|text| text.parse::<Revision>().ok());
    let legacy = asked.filter(|revision| *revision <= Revision::LATEST_LEGACY);
    let mut capabilities = json!({ "tools": {}, "resources": {}, "prompts": {} });
    if completes(parts) {
        capabilities["completions"] = json!({});
    }
    let mut welcome = json!({
        "protocolVersion": legacy.unwrap_or(Revision::LATEST_LEGACY).as_str(),
        "capabilities": capabilities,
        "serverInfo": { "name": parts.name, "version": env!("CARGO_PKG_VERSION") },
    });
    if let Some(text) = &parts.instructions {
        welcome["instructions"] = json!(text);
    }
    welcome
}

/// Whether anything can be completed.
fn completes(parts: &Parts) -> bool {
    let prompts = parts.prompts.iter().map(|it| &it.completers);
    let mut all = prompts.chain(parts.templates.iter().map(|it| &it.completers));
    all.any(|completers| !completers.is_empty())
}

async fn call(parts: &Parts, link: &Arc<Link>, params: &Value) -> Answer {
    let name = params["name"].as_str().unwrap_or_default();
    let tool = parts.tools.iter().find(|tool| tool.name() == name);
    let tool = tool.ok_or_else(|| (code::INVALID_PARAMS, format!("Unknown tool: {name}")))?;
    let arguments = params.get("arguments").cloned().unwrap_or_else(|| json!({}));
    Ok(tool.run(ToolCall { arguments, client: Client::of(link, params) }).await)
}

async fn read(parts: &Parts, params: &Value) -> Answer {
    let uri = params["uri"].as_str().unwrap_or_default();
    if let Some(resource) = parts.resources.iter().find(|resource| resource.uri == uri) {
        return resource.read().await;
    }
    let fitting = parts.templates.iter().find_map(|it| Some((it, it.fits(uri)?)));
    match fitting {
        Some((template, values)) => template.read(uri, values).await,
        None => Err((code::RESOURCE_NOT_FOUND, format!("Resource not found: {uri}"))),
    }
}

async fn prompt(parts: &Parts, params: &Value) -> Answer {
    let name = params["name"].as_str().unwrap_or_default();
    let prompt = parts.prompts.iter().find(|prompt| prompt.name == name);
    let prompt = prompt.ok_or_else(|| (code::INVALID_PARAMS, format!("Unknown prompt: {name}")))?;
    prompt.get(&params["arguments"]).await
}

async fn complete(parts: &Parts, params: &Value) -> Answer {
    let completers = referred(parts, &params["ref"])?;
    let argument = &params["argument"];
    let (Some(name), Some(value)) = (argument["name"].as_str(), argument["value"].as_str()) else {
        return Err((code::INVALID_PARAMS, "`argument` must have a name and a value".into()));
    };
    let others = texts(&params["context"]["arguments"]).map_err(|fault| fault.error(name))?;
    completers.complete(name, Completing { value: value.to_owned(), others }).await
}

/// Whose argument is typed.
fn referred<'p>(parts: &'p Parts, about: &Value) -> Result<&'p Completers, (i32, String)> {
    let text = |key: &str| about[key].as_str().unwrap_or_default();
    let prompt = || parts.prompts.iter().find(|it| it.name == text("name"));
    let template = || parts.templates.iter().find(|it| it.uri == text("uri"));
    let found = match text("type") {
        "ref/prompt" => prompt().map(|it| &it.completers),
        "ref/resource" => template().map(|it| &it.completers),
        _ => None,
    };
    found.ok_or_else(|| (code::INVALID_PARAMS, format!("nothing here is {about}")))
}
