//! A server for tests that messages pass unchanged: it sends unusual messages in unusual spellings
//! and returns the bytes it received.
//!
//! Its messages are the literals of [`texts`], never re-encoded. It is not hostile: everything it
//! sends is valid JSON-RPC, and lists are short.

pub mod texts;

use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::rpc::{
    self, LegacyRevision, Options, ResponseOutcome, TestCall, TestNotification, TestRpcError,
    TestService, lock,
};

/// The session of one client with the weird server.
pub struct WeirdSession {
    newest: LegacyRevision,
    agreed: Mutex<Option<LegacyRevision>>,
}

/// Runs the server as its command line says.
pub async fn main(arguments: impl IntoIterator<Item = String>) -> ExitCode {
    let options = match Options::parse(arguments) {
        Ok(options) => options,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let newest = options.revision;
    rpc::serve(&options, move |_| Arc::new(WeirdSession { newest, agreed: Mutex::default() })).await
}

/// The parameters of `tools/call` as raw JSON.
#[derive(Deserialize)]
struct RawToolCall<'a> {
    name: Option<String>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

impl WeirdSession {
    fn initialize(&self, call: &TestCall) -> ResponseOutcome {
        let params = call.params.value().unwrap_or_default();
        let wanted = params["protocolVersion"].as_str().unwrap_or_default();
        let revision = self.newest.agree(wanted);
        *lock(&self.agreed) = Some(revision);
        let (version, rest) = (revision.as_str(), texts::INITIALIZED);
        ResponseOutcome::Result(format!(r#"{{"protocolVersion": "{version}", {rest}}}"#))
    }

    async fn call_tool(&self, call: &TestCall) -> ResponseOutcome {
        let spelled: RawToolCall<'_> = match serde_json::from_str(call.params.raw()) {
            Ok(spelled) => spelled,
            Err(error) => return Err(TestRpcError::invalid_params(error.to_string())).into(),
        };
        match spelled.name.as_deref().unwrap_or_default() {
            "weird_result" | "weird_escaped" => ResponseOutcome::Result(texts::RESULT.to_owned()),
            "weird_error" => ResponseOutcome::Error(texts::ERROR.to_owned()),
            "weird_echo" => raw_text_result(json!({
                "params": call.params.raw(),
                "arguments": spelled.arguments.map(RawValue::get),
            })),
            "weird_notes" => {
                for (method, params) in texts::NOTES {
                    call.notify_raw(method, params);
                }
                ResponseOutcome::Result(texts::RESULT.to_owned())
            }
            "weird_ask" => match call.ask_raw("elicitation/create", texts::QUESTION).await {
                Ok(answer) => raw_text_result(json!({ "answer": answer })),
                Err(error) => raw_text_result(json!({ "error": error })),
            },
            unknown => Err(TestRpcError::invalid_params(format!("Unknown tool: {unknown}"))).into(),
        }
    }
}

/// A tool result that shows texts as texts, so that no decoder between here and the test can
/// change what they spell.
fn raw_text_result(texts: Value) -> ResponseOutcome {
    let block = json!({ "type": "text", "text": texts.to_string() });
    Ok(json!({ "content": [block], "structuredContent": texts })).into()
}

impl TestService for WeirdSession {
    async fn call(self: Arc<Self>, call: TestCall) -> ResponseOutcome {
        let text = match call.method.as_str() {
            "initialize" => return self.initialize(&call),
            "tools/call" => return self.call_tool(&call).await,
            "ping" => "{}",
            "tools/list" => texts::TOOLS,
            "prompts/list" => texts::PROMPTS,
            "prompts/get" => texts::PROMPT,
            "resources/list" => texts::RESOURCES,
            "resources/templates/list" => texts::TEMPLATES,
            "resources/read" => texts::CONTENTS,
            other => return Err(TestRpcError::method_not_found(other)).into(),
        };
        ResponseOutcome::Result(text.to_owned())
    }

    fn on_notification(self: Arc<Self>, _notification: TestNotification) {}

    fn revision(&self) -> Option<LegacyRevision> {
        *lock(&self.agreed)
    }
}
