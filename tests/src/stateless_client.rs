//! The plainest client of the modern era: every request says who it is and what it can, and is
//! answered alone.
//!
//! It answers nothing by itself: a test that is asked something sees the question, and decides.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use crate::http::{EndpointUrl, RawHttpResponse};
use crate::mcp;

/// The revision it speaks.
pub const REVISION: &str = "2026-07-28";

/// A client that has no session.
pub struct StatelessTestClient {
    endpoint: EndpointUrl,
    credential: Option<String>,
    capabilities: Value,
    next: AtomicU64,
}

impl StatelessTestClient {
    /// Whoever holds this credential, with these client capabilities.
    pub fn new(url: &str, credential: Option<&str>, capabilities: Value) -> io::Result<Self> {
        let (endpoint, credential) = (EndpointUrl::parse(url)?, credential.map(str::to_owned));
        Ok(Self { endpoint, credential, capabilities, next: AtomicU64::new(1) })
    }

    /// Sends a request and gives back the whole answer, result or error.
    pub fn request(&self, method: &str, params: &Value) -> io::Result<Value> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        mcp::answer(self.post(id, method, params)?, &json!(id))
    }

    /// Calls a tool.
    pub fn call(&self, tool: &str, arguments: &Value) -> io::Result<Value> {
        self.request("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    /// Calls a tool again, with answers and the state they belong to.
    pub fn retry(
        &self,
        (tool, arguments): (&str, &Value),
        answers: &Value,
        state: &str,
    ) -> io::Result<Value> {
        let mut params = json!({"name": tool, "arguments": arguments});
        params["inputResponses"] = answers.clone();
        params["requestState"] = state.into();
        self.request("tools/call", &params)
    }

    /// Posts a request with its envelope and the headers that mirror it.
    pub fn post(&self, id: u64, method: &str, params: &Value) -> io::Result<RawHttpResponse> {
        let mut params = params.clone();
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = REVISION.into();
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
        let info = json!({"name": "toolgate-e2e", "version": "0"});
        params["_meta"]["io.modelcontextprotocol/clientInfo"] = info;
        let named = params["name"].as_str().or_else(|| params["uri"].as_str()).map(str::to_owned);
        let mut headers = vec![("Mcp-Protocol-Version", REVISION), ("Mcp-Method", method)];
        headers.extend(named.iter().map(|name| ("Mcp-Name", name.as_str())));
        headers.extend(self.credential.iter().map(|holder| ("Authorization", holder.as_str())));
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        mcp::post(&self.endpoint, &headers, &message.to_string())
    }
}
