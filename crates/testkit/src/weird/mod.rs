//! A server that sends what no schema foresees, in spellings of its own, and shows the bytes it
//! was sent: the peer for tests that nothing is changed on the way.
//!
//! Its messages are the literals of [`texts`], never re-encoded. It is not hostile: everything it
//! sends is valid JSON-RPC, and lists are short.

pub mod texts;

use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::rpc::{self, Call, Fault, Notification, Options, Outcome, Revision, Service, lock};

/// One client's session with the weird server.
pub struct Weird {
    newest: Revision,
    agreed: Mutex<Option<Revision>>,
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
    rpc::serve(&options, move |_| Arc::new(Weird { newest, agreed: Mutex::default() })).await
}

#[derive(Deserialize)]
struct Spelled<'a> {
    name: Option<String>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

impl Weird {
    fn initialize(&self, call: &Call) -> Outcome {
        let params = call.params.value().unwrap_or_default();
        let wanted = params["protocolVersion"].as_str().unwrap_or_default();
        let revision = self.newest.agree(wanted);
        *lock(&self.agreed) = Some(revision);
        let (version, rest) = (revision.as_str(), texts::INITIALIZED);
        Outcome::Result(format!(r#"{{"protocolVersion": "{version}", {rest}}}"#))
    }

    async fn call_tool(&self, call: &Call) -> Outcome {
        let spelled: Spelled<'_> = match serde_json::from_str(call.params.raw()) {
            Ok(spelled) => spelled,
            Err(error) => return Err(Fault::invalid_params(error.to_string())).into(),
        };
        match spelled.name.as_deref().unwrap_or_default() {
            "weird_result" | "weird_escaped" => Outcome::Result(texts::RESULT.to_owned()),
            "weird_error" => Outcome::Error(texts::ERROR.to_owned()),
            "weird_echo" => shown(json!({
                "params": call.params.raw(),
                "arguments": spelled.arguments.map(RawValue::get),
            })),
            "weird_notes" => {
                for (method, params) in texts::NOTES {
                    call.notify_raw(method, params);
                }
                Outcome::Result(texts::RESULT.to_owned())
            }
            "weird_ask" => match call.ask_raw("elicitation/create", texts::QUESTION).await {
                Ok(answer) => shown(json!({ "answer": answer })),
                Err(error) => shown(json!({ "error": error })),
            },
            unknown => Err(Fault::invalid_params(format!("Unknown tool: {unknown}"))).into(),
        }
    }
}

/// A tool result that shows texts as texts, so that no decoder between here and the test can
/// change what they spell.
fn shown(texts: Value) -> Outcome {
    let block = json!({ "type": "text", "text": texts.to_string() });
    Ok(json!({ "content": [block], "structuredContent": texts })).into()
}

impl Service for Weird {
    async fn call(self: Arc<Self>, call: Call) -> Outcome {
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
            other => return Err(Fault::method_not_found(other)).into(),
        };
        Outcome::Result(text.to_owned())
    }

    fn notified(self: Arc<Self>, _notification: Notification) {}

    fn revision(&self) -> Option<Revision> {
        *lock(&self.agreed)
    }
}
