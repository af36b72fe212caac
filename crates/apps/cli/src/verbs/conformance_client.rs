//! `conformance-client`: the client for the official MCP conformance suite.
//!
//! It uses the gateway's own client code. The suite names the scenario in the environment and runs
//! the server.

use std::sync::Arc;

use bytes::Bytes;
use clap::Args;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use toolgate_host::{
    Answer, CallerId, CapabilityKind, FailurePhase, Host, HttpSpec, Interactor, PrefixMode,
    Question, QuestionKind, ServerName, ServerSpec, ServerState, TransportSpec,
};
use toolgate_wire::Frame;

use crate::exit::{ErrorCode, Exit, OrFail as _, Result, cli_error};
use crate::interactor::default_answers;

const SCENARIO: &str = "MCP_CONFORMANCE_SCENARIO";
const CONTEXT: &str = "MCP_CONFORMANCE_CONTEXT";

/// The arguments of `toolgate conformance-client`.
#[derive(Debug, Args)]
pub struct ConformanceClientArgs {
    /// Endpoint of the suite's server
    url: String,
}

pub async fn run(options: &ConformanceClientArgs) -> Result<Exit> {
    let scenario =
        std::env::var(SCENARIO).map_err(|_| cli_error!(CliUsage, "{SCENARIO} is not set"))?;
    let host = connect(&options.url).await?;
    let played = run_scenario(&scenario, &host).await;
    host.close().await;
    played.map(|()| Exit::Done)
}

async fn connect(url: &str) -> Result<Host> {
    let name = ServerName::new("suite")?;
    let http = HttpSpec { url: url.to_owned(), ..HttpSpec::default() };
    let spec = ServerSpec::new(name, TransportSpec::Http(http));
    let builder = Host::builder().server(spec).prefix(PrefixMode::Never);
    let host = builder.interactor(Arc::new(DefaultsInteractor)).start().await?;
    let status = host.wait_server_settled("suite").await?;
    match &status.state {
        ServerState::Connected => Ok(host),
        // The handshake succeeded, but the server cannot list anything. Some scenarios need no
        // more than that.
        ServerState::Failed(failure) if failure.phase == FailurePhase::List => Ok(host),
        state => Err(cli_error!(
            ServerFailed,
            "cannot connect: {}",
            state.reason().unwrap_or_else(|| state.as_str().to_owned())
        )),
    }
}

async fn run_scenario(scenario: &str, host: &Host) -> Result<()> {
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
        "http-standard-headers" => use_all_capabilities(host).await?,
        "http-custom-headers" => {
            for (tool, arguments) in requested_calls()? {
                call(host, &tool, arguments).await?;
            }
        }
        // Calls every listed tool: tools that must not be called must not be listed.
        "http-invalid-tool-headers" => {
            for tool in host.tools().await {
                call(host, &tool.name, json!({ "region": "here" })).await?;
            }
        }
        other => {
            return Err(cli_error!(CliUsage, "no scenario named `{other}`"));
        }
    }
    Ok(())
}

async fn call(host: &Host, tool: &str, arguments: Value) -> Result<()> {
    host.call(tool, &arguments).await?;
    Ok(())
}

/// Calls every tool, reads every resource, renders every prompt.
async fn use_all_capabilities(host: &Host) -> Result<()> {
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

/// Returns the calls that the suite requests in the environment.
fn requested_calls() -> Result<Vec<(String, Value)>> {
    let context = std::env::var(CONTEXT).unwrap_or_default();
    let context: Value = serde_json::from_str(&context)
        .or_fail(ErrorCode::CliUsage, format_args!("{CONTEXT} is not valid JSON"))?;
    let calls = context["toolCalls"].as_array().into_iter().flatten();
    let named = |call: &Value| Some((call["name"].as_str()?.to_owned(), call["arguments"].clone()));
    Ok(calls.filter_map(named).collect())
}

async fn input_schema(host: &Host, tool: &str) -> Result<Value> {
    let tools = host.tools().await;
    let found = tools.into_iter().find(|exposure| exposure.name == tool);
    let found = found.ok_or_else(|| cli_error!(CallUnknown, "no tool named `{tool}`"))?;
    let definition: Value = serde_json::from_slice(&found.definition)
        .or_fail(ErrorCode::CallBadAnswer, format_args!("the definition of `{tool}` is invalid"))?;
    Ok(definition["inputSchema"].clone())
}

/// An interactor that accepts every form with its default values.
struct DefaultsInteractor;

impl Interactor for DefaultsInteractor {
    fn scope(&self) -> CallerId {
        CallerId(1)
    }

    fn tell(&self, _event: Frame) {}

    fn capabilities(&self) -> Bytes {
        Bytes::from_static(br#"{"elicitation":{"form":{}}}"#)
    }

    fn ask(&self, question: Question) -> BoxFuture<'_, Answer> {
        let answer = match question.kind {
            QuestionKind::Form => {
                let params = question.frame.params().unwrap_or(b"{}");
                let params: Value = serde_json::from_slice(params).unwrap_or_default();
                let content = default_answers(&params["requestedSchema"]);
                let accepted = json!({ "action": "accept", "content": content });
                Answer::Result(accepted.to_string().into())
            }
            kind => Answer::declined(kind),
        };
        Box::pin(std::future::ready(answer))
    }
}
