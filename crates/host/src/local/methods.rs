//! The methods of a local server.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_wire::{Frame, Revision, code, method};

use super::client::InProcessConnection;
use super::complete::ArgumentCompleters;
use super::handler::MethodResult;
use super::{ClientHandle, CompletionRequest, InProcessServerParts, ToolCall, string_arguments};

/// Answers one request.
pub(super) async fn answer(
    parts: &InProcessServerParts,
    link: &Arc<InProcessConnection>,
    frame: &Frame,
) -> MethodResult {
    let params: Value =
        serde_json::from_slice(frame.params().unwrap_or(b"{}")).unwrap_or_else(|_| json!({}));
    match frame.method().unwrap_or_default().as_ref() {
        method::INITIALIZE => {
            link.set_capabilities(&params["capabilities"]);
            Ok(welcome(parts, &params))
        }
        method::PING | method::LOGGING_SET_LEVEL => Ok(json!({})),
        method::TOOLS_LIST => Ok(list("tools", parts.tools.iter().map(|it| &it.definition))),
        method::TOOLS_CALL => call(parts, link, &params).await,
        method::RESOURCES_LIST => Ok(list("resources", parts.resource_definitions(false))),
        method::RESOURCES_TEMPLATES_LIST => {
            Ok(list("resourceTemplates", parts.resource_definitions(true)))
        }
        method::RESOURCES_READ => read(parts, &params).await,
        method::PROMPTS_LIST => Ok(list("prompts", parts.prompts.iter().map(|it| &it.definition))),
        method::PROMPTS_GET => prompt(parts, &params).await,
        method::COMPLETION_COMPLETE if has_completions(parts) => complete(parts, &params).await,
        other => Err((code::METHOD_NOT_FOUND, format!("unknown method: {other}"))),
    }
}

impl InProcessServerParts {
    fn resource_definitions(&self, templates: bool) -> impl Iterator<Item = &Value> {
        let chosen = self.resources.iter().filter(move |it| it.is_template == templates);
        chosen.map(|it| &it.definition)
    }
}

/// Returns the result of a list method.
fn list<'a>(key: &str, definitions: impl Iterator<Item = &'a Value>) -> Value {
    json!({ key: definitions.collect::<Vec<_>>() })
}

fn welcome(parts: &InProcessServerParts, params: &Value) -> Value {
    let asked = params["protocolVersion"].as_str().and_then(|text| text.parse::<Revision>().ok());
    let legacy = asked.filter(|revision| *revision <= Revision::LATEST_LEGACY);
    let mut capabilities = json!({ "tools": {}, "resources": {}, "prompts": {} });
    if has_completions(parts) {
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

/// Returns true if any argument can be completed.
fn has_completions(parts: &InProcessServerParts) -> bool {
    let prompts = parts.prompts.iter().map(|it| &it.completers);
    let mut all = prompts.chain(parts.resources.iter().map(|it| &it.completers));
    all.any(|completers| !completers.0.is_empty())
}

async fn call(
    parts: &InProcessServerParts,
    link: &Arc<InProcessConnection>,
    params: &Value,
) -> MethodResult {
    let name = params["name"].as_str().unwrap_or_default();
    let tool = parts.tools.iter().find(|tool| tool.name() == name);
    let tool = tool.ok_or_else(|| (code::INVALID_PARAMS, format!("Unknown tool: {name}")))?;
    let arguments = params.get("arguments").cloned().unwrap_or_else(|| json!({}));
    Ok(tool.run(ToolCall { arguments, client: ClientHandle::of(link, params) }).await)
}

async fn read(parts: &InProcessServerParts, params: &Value) -> MethodResult {
    let uri = params["uri"].as_str().unwrap_or_default();
    let fitting = parts.resources.iter().filter_map(|it| Some((it, it.fits(uri)?)));
    // An individual resource takes precedence over a template.
    match fitting.min_by_key(|(it, _)| it.is_template) {
        Some((resource, values)) => resource.read(uri, values).await,
        None => Err((code::RESOURCE_NOT_FOUND, format!("Resource not found: {uri}"))),
    }
}

async fn prompt(parts: &InProcessServerParts, params: &Value) -> MethodResult {
    let name = params["name"].as_str().unwrap_or_default();
    let prompt = parts.prompts.iter().find(|prompt| prompt.name == name);
    let prompt = prompt.ok_or_else(|| (code::INVALID_PARAMS, format!("Unknown prompt: {name}")))?;
    prompt.get(&params["arguments"]).await
}

async fn complete(parts: &InProcessServerParts, params: &Value) -> MethodResult {
    let completers = find_completers(parts, &params["ref"])?;
    let argument = &params["argument"];
    let (Some(name), Some(value)) = (argument["name"].as_str(), argument["value"].as_str()) else {
        return Err((code::INVALID_PARAMS, "`argument` must have a name and a value".into()));
    };
    let others =
        string_arguments(&params["context"]["arguments"]).map_err(|fault| fault.error(name))?;
    completers.complete(name, CompletionRequest { value: value.to_owned(), others }).await
}

/// Returns the completers of the prompt or template that a reference names.
fn find_completers<'p>(
    parts: &'p InProcessServerParts,
    about: &Value,
) -> MethodResult<&'p ArgumentCompleters> {
    let text = |key: &str| about[key].as_str().unwrap_or_default();
    let prompt = || parts.prompts.iter().find(|it| it.name == text("name"));
    let template = || parts.resources.iter().find(|it| it.is_template && it.uri == text("uri"));
    let found = match text("type") {
        "ref/prompt" => prompt().map(|it| &it.completers),
        "ref/resource" => template().map(|it| &it.completers),
        _ => None,
    };
    found.ok_or_else(|| {
        (code::INVALID_PARAMS, format!("no prompt or resource template matches {about}"))
    })
}
