//! `conformance-client`: the client the official suite asks for, on the upstream code of the
//! gateway. The suite names the scenario in the environment and plays the server.

use std::sync::Arc;

use bytes::Bytes;
use clap::Args;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use toolgate_host::{
    Answer, AskKind, CallerScope, CapabilityKind, Host, HttpSpec, Interactor, Phase, Prefix,
    Question, ServerName, ServerSpec, ServerState, TransportSpec,
};
use toolgate_wire::Frame;

use crate::ask::filled_in;
use crate::exit::{Exit, Failure};

const SCENARIO: &str = "MCP_CONFORMANCE_SCENARIO";
const CONTEXT: &str = "MCP_CONFORMANCE_CONTEXT";

#[derive(Debug, Args)]
pub struct ConformanceClient {
    /// The endpoint of the suite's server
    url: String,
}

pub async fn run(options: &ConformanceClient) -> Result<Exit, Failure> {
    let scenario = std::env::var(SCENARIO)
        .map_err(|_| Failure::usage(format!("find the scenario: {SCENARIO} is not set")))?;
    let host = connect(&options.url).await?;
    let played = play(&scenario, &host).await;
    host.close().await;
    played.map(|()| Exit::Done)
}

async fn connect(url: &str) -> Result<Host, Failure> {
    let name = ServerName::new("suite").map_err(|error| Failure::failed(error.to_string()))?;
    let http = HttpSpec { url: url.to_owned(), ..HttpSpec::default() };
    let spec = ServerSpec::new(name, TransportSpec::Http(http));
    let builder = Host::builder().server(spec).prefix(Prefix::Never);
    let host = builder.interactor(Arc::new(Agreeable)).start().await?;
    let status = host.settled_one("suite").await?;
    match &status.state {
        ServerState::Connected => Ok(host),
        // It spoke with us to the end, and has nothing to offer: some scenarios want no more.
        ServerState::Failed(failure) if failure.phase == Phase::List => Ok(host),
        state => Err(Failure::failed(format!(
            "connect: {}",
            state.reason().unwrap_or_else(|| state.as_str().to_owned())
        ))),
    }
}

async fn play(scenario: &str, host: &Host) -> Result<(), Failure> {
    match scenario {
        "initialize" | "request-metadata" | "json-schema-ref-no-deref" => {
            host.tools().await;
        }
        "tools_call" => call(host, "add_numbers", json!({ "a": 2, "b": 3 })).await?,
        "elicitation-sep1034-client-defaults" => {
            call(host, "test_client_elicitation_defaults", json!({})).await?;
        }
        "sse-retry" => call(host, "test_reconnection", json!({})).await?,
        "json-schema-2020-12-preservation" => {
            let schema = input_schema(host, "json_schema_2020_12_tool").await?;
            call(host, "json_schema_echo", json!({ "schema": schema })).await?;
        }
        "sep-2322-client-request-state" => {
            let echo = call(host, "test_mrtr_echo_state", json!({}));
            let unrelated = call(host, "test_mrtr_unrelated", json!({}));
            let (echo, unrelated) = tokio::join!(echo, unrelated);
            echo.and(unrelated)?;
            call(host, "test_mrtr_no_state", json!({})).await?;
            call(host, "test_mrtr_no_result_type", json!({})).await?;
        }
        "http-standard-headers" => everything(host).await?,
        "http-custom-headers" => {
            for (tool, arguments) in wanted_calls()? {
                call(host, &tool, arguments).await?;
            }
        }
        // Whatever is still listed is called: what must not be called must not be listed.
        "http-invalid-tool-headers" => {
            for tool in host.tools().await {
                call(host, &tool.name, json!({ "region": "here" })).await?;
            }
        }
        other => return Err(Failure::usage(format!("play `{other}`: no such scenario"))),
    }
    Ok(())
}

async fn call(host: &Host, tool: &str, arguments: Value) -> Result<(), Failure> {
    host.call(tool, &arguments).await?;
    Ok(())
}

/// Calls every tool, reads every resource, renders every prompt.
async fn everything(host: &Host) -> Result<(), Failure> {
    for tool in host.tools().await {
        call(host, &tool.name, json!({})).await?;
    }
    for resource in host.list(CapabilityKind::Resource).await {
        host.read(&resource.name).await?;
    }
    for prompt in host.list(CapabilityKind::Prompt).await {
        host.prompt(&prompt.name, &json!({})).await?;
    }
    Ok(())
}

/// The calls the suite asks for.
fn wanted_calls() -> Result<Vec<(String, Value)>, Failure> {
    let context = std::env::var(CONTEXT).unwrap_or_default();
    let context: Value = serde_json::from_str(&context)
        .map_err(|error| Failure::usage(format!("read {CONTEXT}: {error}")))?;
    let calls = context["toolCalls"].as_array().into_iter().flatten();
    let named = |call: &Value| Some((call["name"].as_str()?.to_owned(), call["arguments"].clone()));
    Ok(calls.filter_map(named).collect())
}

async fn input_schema(host: &Host, tool: &str) -> Result<Value, Failure> {
    let tools = host.tools().await;
    let found = tools.into_iter().find(|exposure| exposure.name == tool);
    let found = found.ok_or_else(|| Failure::failed(format!("find the tool `{tool}`")))?;
    let definition: Value = serde_json::from_slice(&found.definition)
        .map_err(|error| Failure::failed(format!("read a definition: {error}")))?;
    Ok(definition["inputSchema"].clone())
}

/// A person who leaves every form as it is filled in.
struct Agreeable;

impl Interactor for Agreeable {
    fn scope(&self) -> CallerScope {
        CallerScope(1)
    }

    fn tell(&self, _event: Frame) {}

    fn capabilities(&self) -> Bytes {
        Bytes::from_static(br#"{"elicitation":{"form":{}}}"#)
    }

    fn ask(&self, question: Question) -> BoxFuture<'_, Answer> {
        let answer = match question.kind {
            AskKind::Form => {
                let params = question.frame.params().unwrap_or(b"{}");
                let params: Value = serde_json::from_slice(params).unwrap_or_default();
                let content = filled_in(&params["requestedSchema"]);
                let accepted = json!({ "action": "accept", "content": content });
                Answer::Result(accepted.to_string().into())
            }
            kind => Answer::declined(kind),
        };
        Box::pin(std::future::ready(answer))
    }
}
