//! The plainest MCP client: one legacy session over Streamable HTTP, messages as JSON.
//!
//! For tests that look at the gateway's own behaviour, where an SDK would stand in the way. What a
//! released SDK makes of the gateway is tested with the SDKs themselves.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::http::{EndpointUrl, RawHttpResponse, StreamEvents};
use crate::{broken, within};

/// The revision it speaks unless told otherwise.
pub const REVISION: &str = "2025-11-25";

/// A session.
pub struct TestClient {
    /// Where it is connected.
    pub endpoint: EndpointUrl,
    /// The id the gateway gave the session.
    pub session: String,
    credential: Option<String>,
    next: AtomicU64,
}

impl TestClient {
    /// Opens a session that can answer nothing.
    pub fn connect(url: &str) -> io::Result<Self> {
        Self::connect_with(url, &json!({}))
    }

    /// Opens a session with these client capabilities.
    pub fn connect_with(url: &str, capabilities: &Value) -> io::Result<Self> {
        Self::connect_as(None, url, capabilities)
    }

    /// Opens a session as whoever holds this credential.
    pub fn connect_as(
        credential: Option<String>,
        url: &str,
        capabilities: &Value,
    ) -> io::Result<Self> {
        let endpoint = EndpointUrl::parse(url)?;
        let bearer = credential.iter().map(|credential| ("Authorization", credential.as_str()));
        let bearer: Vec<_> = bearer.collect();
        let response = post(&endpoint, &bearer, &initialize(REVISION, capabilities))?;
        let session = response.header("mcp-session-id").map(str::to_owned);
        let answer = answer(response, &json!(0))?;
        let session = session.ok_or_else(|| broken(format!("no session: {answer}")))?;
        let client = Self { endpoint, session, credential, next: AtomicU64::new(1) };
        client.notify("notifications/initialized", &json!({}))?;
        Ok(client)
    }

    /// Sends a request and gives back the whole answer, result or error.
    pub fn request(&self, method: &str, params: &Value) -> io::Result<Value> {
        let id = self.next_id();
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        answer(self.post(&message.to_string())?, &json!(id))
    }

    /// Calls a tool.
    pub fn call(&self, tool: &str, arguments: &Value) -> io::Result<Value> {
        self.request("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    /// Starts a call that is answered with a stream; gives its id and what the stream brings.
    pub fn begin(
        &self,
        tool: &str,
        arguments: &Value,
        token: &str,
    ) -> io::Result<(u64, StreamEvents)> {
        let id = self.next_id();
        let meta = json!({"progressToken": token});
        let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
        let response = self.post(&call.to_string())?;
        match response.streams() {
            true => Ok((id, response.events())),
            false => Err(broken(format!("{tool} was not answered with a stream"))),
        }
    }

    /// The exposed names of all tools.
    pub fn tools(&self) -> io::Result<Vec<String>> {
        let id = self.next_id();
        let message = json!({"jsonrpc": "2.0", "id": id, "method": "tools/list", "params": {}});
        let text = answer_text(self.post(&message.to_string())?, &json!(id))?;
        let tools = member(&text, "result").and_then(|result| member(&result, "tools"));
        let tools: Option<Vec<Box<RawValue>>> =
            tools.and_then(|tools| serde_json::from_str(&tools).ok());
        let tools = tools.ok_or_else(|| broken(format!("no tools: {text}")))?;
        let name = |tool: &RawValue| serde_json::from_str(&member(tool.get(), "name")?).ok();
        Ok(tools.iter().filter_map(|tool| name(tool)).collect())
    }

    /// Waits until all these tools are listed.
    pub fn await_tools(&self, wanted: &[&str], limit: Duration) -> io::Result<()> {
        let mut listed = Ok(Vec::new());
        let complete = within(limit, || {
            listed = self.tools();
            let known = listed.as_deref().unwrap_or_default();
            wanted.iter().all(|tool| known.iter().any(|name| name == tool))
        });
        if complete { Ok(()) } else { Err(broken(format!("{wanted:?} are not among {listed:?}"))) }
    }

    /// Sends a notification.
    pub fn notify(&self, method: &str, params: &Value) -> io::Result<()> {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        let response = self.post(&message.to_string())?;
        match response.status {
            202 => Ok(()),
            status => Err(broken(format!("{method} was answered with {status}"))),
        }
    }

    /// Posts a message as it is written, within the session.
    pub fn post(&self, message: &str) -> io::Result<RawHttpResponse> {
        post(&self.endpoint, &self.headers(), message)
    }

    /// An id no other request of this session has.
    pub fn next_id(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// The headers that say which session this is, and whose.
    pub fn headers(&self) -> Vec<(&str, &str)> {
        let mut headers =
            vec![("Mcp-Session-Id", self.session.as_str()), ("Mcp-Protocol-Version", REVISION)];
        headers.extend(self.credential.iter().map(|holder| ("Authorization", holder.as_str())));
        headers
    }
}

/// An `initialize` request with id 0.
pub fn initialize(revision: &str, capabilities: &Value) -> String {
    json!({
        "jsonrpc": "2.0",
        "id": 0,
        "method": "initialize",
        "params": {
            "protocolVersion": revision,
            "capabilities": capabilities,
            "clientInfo": {"name": "toolgate-e2e", "version": "0"},
        },
    })
    .to_string()
}

/// Posts a message with the headers every client sends, and these.
pub fn post(
    endpoint: &EndpointUrl,
    headers: &[(&str, &str)],
    message: &str,
) -> io::Result<RawHttpResponse> {
    let always =
        [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];
    let all: Vec<_> = always.iter().chain(headers).copied().collect();
    endpoint.send("POST", &all, message.as_bytes())
}

/// The message that answers `id`, whether it came alone or in a stream.
pub fn answer(response: RawHttpResponse, id: &Value) -> io::Result<Value> {
    let text = answer_text(response, id)?;
    serde_json::from_str(&text).map_err(|error| broken(format!("no JSON: {error}: {text}")))
}

/// The same, as the bytes came.
pub fn answer_text(response: RawHttpResponse, id: &Value) -> io::Result<String> {
    if !response.streams() {
        return response.text();
    }
    for event in response.events() {
        let data = event?.data;
        let spelled = member(&data, "id").and_then(|spelled| serde_json::from_str(&spelled).ok());
        if spelled.as_ref() == Some(id) && member(&data, "method").is_none() {
            return Ok(data);
        }
    }
    Err(broken("the stream ended without the answer"))
}

/// A member of a message as it is spelled: a number no machine type holds stays what it is.
pub fn member(message: &str, name: &str) -> Option<String> {
    let members: HashMap<String, Box<RawValue>> = serde_json::from_str(message).ok()?;
    members.get(name).map(|value| value.get().to_owned())
}
