//! A server with one tool that returns results of any requested size and shape.
//!
//! Shape and size alone determine a result ([`result`]), so a test knows every byte of it. Apart
//! from its large results, the server behaves normally.

mod shapes;

use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use serde_json::json;

use crate::rpc::{
    self, LegacyRevision, Options, ResponseOutcome, TestCall, TestNotification, TestRpcError,
    TestService, lock,
};

pub use shapes::{NEEDLE, result, text};

/// The session of one client with the bulk server.
pub struct BulkSession {
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
    rpc::serve(&options, move |_| Arc::new(BulkSession { newest, agreed: Mutex::default() })).await
}

impl BulkSession {
    fn initialize(&self, call: &TestCall) -> ResponseOutcome {
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

    fn call_tool(&self, call: &TestCall) -> ResponseOutcome {
        let params = call.params.value().unwrap_or_default();
        let arguments = &params["arguments"];
        let bytes = arguments["bytes"].as_u64().and_then(|bytes| usize::try_from(bytes).ok());
        match (arguments["shape"].as_str(), bytes) {
            (Some(shape), Some(bytes)) => match result(shape, bytes) {
                Some(text) => ResponseOutcome::Result(text),
                None => Err(TestRpcError::invalid_params(format!("no such shape: {shape}"))).into(),
            },
            _ => {
                Err(TestRpcError::invalid_params("a shape and a number of bytes are wanted")).into()
            }
        }
    }
}

impl TestService for BulkSession {
    async fn call(self: Arc<Self>, call: TestCall) -> ResponseOutcome {
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
            other => Err(TestRpcError::method_not_found(other)).into(),
        }
    }

    fn on_notification(self: Arc<Self>, _notification: TestNotification) {}

    fn revision(&self) -> Option<LegacyRevision> {
        *lock(&self.agreed)
    }
}
