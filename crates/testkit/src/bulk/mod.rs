//! A server whose one tool returns as much as it is asked for, in every shape a result can have.
//!
//! What it returns is determined by shape and size alone ([`result`]), so that a test knows every
//! byte of it. It is an honest server: it is only its results that are large.

mod shapes;

use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use serde_json::json;

use crate::rpc::{self, Call, Fault, Notification, Options, Outcome, Revision, Service, lock};

pub use shapes::{NEEDLE, result, text};

/// One client's session with it.
pub struct Bulk {
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
    rpc::serve(&options, move |_| Arc::new(Bulk { newest, agreed: Mutex::default() })).await
}

impl Bulk {
    fn initialize(&self, call: &Call) -> Outcome {
        let params = call.params.value().unwrap_or_default();
        let wanted = params["protocolVersion"].as_str().unwrap_or_default();
        let revision = self.newest.agree(wanted);
        *lock(&self.agreed) = Some(revision);
        Ok(json!({
            "protocolVersion": revision.as_str(),
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "toolgate-bulk", "version": "1" },
        }))
        .into()
    }

    fn call_tool(&self, call: &Call) -> Outcome {
        let params = call.params.value().unwrap_or_default();
        let arguments = &params["arguments"];
        let bytes = arguments["bytes"].as_u64().and_then(|bytes| usize::try_from(bytes).ok());
        match (arguments["shape"].as_str(), bytes) {
            (Some(shape), Some(bytes)) => match result(shape, bytes) {
                Some(text) => Outcome::Result(text),
                None => Err(Fault::invalid_params(format!("no such shape: {shape}"))).into(),
            },
            _ => Err(Fault::invalid_params("a shape and a number of bytes are wanted")).into(),
        }
    }
}

impl Service for Bulk {
    async fn call(self: Arc<Self>, call: Call) -> Outcome {
        match call.method.as_str() {
            "initialize" => self.initialize(&call),
            "tools/call" => self.call_tool(&call),
            "tools/list" => Ok(json!({ "tools": [{
                "name": "bulk",
                "description": "Returns much.",
                "inputSchema": {
                    "type": "object",
                    "properties": {
                        "shape": { "type": "string", "enum": shapes::ALL },
                        "bytes": { "type": "integer" },
                    },
                    "required": ["shape", "bytes"],
                },
                "outputSchema": { "type": "object" },
            }] }))
            .into(),
            "ping" => Ok(json!({})).into(),
            other => Err(Fault::method_not_found(other)).into(),
        }
    }

    fn notified(self: Arc<Self>, _notification: Notification) {}

    fn revision(&self) -> Option<Revision> {
        *lock(&self.agreed)
    }
}
