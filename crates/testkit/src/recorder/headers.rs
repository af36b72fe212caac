//! Checks the MCP headers of a client's HTTP requests. Pure HTTP headers are ignored.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::conversation::ConversationKey;
use super::expected_headers::ExpectedHeaders;
use super::log::HttpHead;
use super::schemas::SchemaRevision;

/// The parts of a client's HTTP request that determine its headers.
pub(super) struct ClientHeaderCheck<'a> {
    pub(super) head: &'a HttpHead,
    pub(super) place: &'a ConversationKey,
    pub(super) message: Option<&'a Value>,
    /// The revision of the message.
    pub(super) revision: SchemaRevision,
    /// What `initialize` agreed upon before.
    pub(super) agreed: Option<SchemaRevision>,
    pub(super) mirrors: &'a ExpectedHeaders,
}

impl ClientHeaderCheck<'_> {
    /// What is missing or wrong.
    pub(super) fn problems(&self) -> Vec<String> {
        let mut found = Vec::new();
        let is_post = self.head.method.as_deref() == Some("POST");
        if is_post && !self.value("content-type").starts_with("application/json") {
            found.push("Content-Type: not application/json".to_owned());
        }
        // The oldest transport knows no other header.
        if matches!(self.place, ConversationKey::Endpoint(_)) {
            return found;
        }
        if is_post {
            let accepts = self.value("accept");
            let both = ["application/json", "text/event-stream"];
            found.extend(
                both.iter()
                    .filter(|media_type| !accepts.contains(**media_type))
                    .map(|media_type| format!("Accept: without {media_type}")),
            );
        }
        match self.message {
            Some(message) if self.revision.is_modern() => self.modern(message, &mut found),
            _ => found.extend(self.legacy()),
        }
        found
    }

    fn modern(&self, message: &Value, found: &mut Vec<String>) {
        let method = message["method"].as_str().unwrap_or_default();
        let mut must_be = |header: &str, expected: &str| {
            let value = decoded(self.value(header));
            if value.as_deref() != Some(expected) {
                found.push(format!("{header}: {value:?} instead of {expected:?}"));
            }
        };
        must_be("mcp-protocol-version", self.revision.as_str());
        must_be("mcp-method", method);
        let params = &message["params"];
        let name = match method {
            "tools/call" | "prompts/get" => &params["name"],
            "resources/read" => &params["uri"],
            "tasks/get" | "tasks/update" | "tasks/cancel" => &params["taskId"],
            _ => &Value::Null,
        };
        if let Some(name) = name.as_str() {
            must_be("mcp-name", name);
            for (header, value) in self.mirrors.headers_for_call(name, &params["arguments"]) {
                must_be(header, &value);
            }
        }
        if self.head.headers.contains_key("mcp-session-id") {
            found.push("mcp-session-id: there are no sessions".to_owned());
        }
    }

    fn legacy(&self) -> Option<String> {
        let agreed = self.agreed.filter(|agreed| *agreed >= SchemaRevision::V2025_06_18)?;
        let value = self.value("mcp-protocol-version");
        (value != agreed.as_str())
            .then(|| format!("mcp-protocol-version: {value:?} instead of \"{agreed}\""))
    }

    fn value(&self, header: &str) -> &str {
        self.head.headers.get(header).map_or("", String::as_str)
    }
}

/// A header value without its encoding; nothing if that is broken.
fn decoded(value: &str) -> Option<String> {
    let encoded = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
    match encoded {
        Some(encoded) => String::from_utf8(STANDARD.decode(encoded).ok()?).ok(),
        None => Some(value.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn problems(headers: &[(&str, &str)], message: &Value) -> Vec<String> {
        let usual = [
            ("accept", "application/json, text/event-stream"),
            ("content-type", "application/json"),
            ("mcp-protocol-version", "2026-07-28"),
        ];
        let all = usual.iter().chain(headers);
        let headers = all.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let head = HttpHead { method: Some("POST".to_owned()), headers, ..HttpHead::default() };
        let place = ConversationKey::Exchange("1-1".to_owned(), 1);
        let mut mirrors = ExpectedHeaders::default();
        let text = json!({ "type": "string", "x-mcp-header": "Text" });
        let schema = json!({ "properties": { "text": text } });
        mirrors.learn(&json!({ "tools": [{ "name": "grüße", "inputSchema": schema }] }));
        let sent = ClientHeaderCheck {
            head: &head,
            place: &place,
            message: Some(message),
            revision: SchemaRevision::V2026_07_28,
            agreed: None,
            mirrors: &mirrors,
        };
        sent.problems()
    }

    #[test]
    fn a_modern_request_repeats_method_and_name_in_its_headers() {
        let call = json!({ "method": "tools/call", "params": { "name": "grüße" } });
        let good = [("mcp-method", "tools/call"), ("mcp-name", "=?base64?Z3LDvMOfZQ==?=")];
        assert_eq!(problems(&good, &call), Vec::<String>::new());
        assert_eq!(problems(&good[..1], &call).len(), 1);
        assert_eq!(problems(&[("mcp-method", "tools/list"), good[1]], &call).len(), 1);
        assert_eq!(problems(&[good[0], good[1], ("mcp-session-id", "s")], &call).len(), 1);
        assert_eq!(problems(&[good[0], ("mcp-name", "=?base64?!?=")], &call).len(), 1);
        assert_eq!(problems(&[good[0], good[1], ("accept", "*/*")], &call).len(), 2);
    }

    #[test]
    fn a_modern_call_repeats_the_arguments_its_tool_wants_repeated() {
        let params = json!({ "name": "grüße", "arguments": { "text": "hi" } });
        let call = json!({ "method": "tools/call", "params": params });
        let named = [("mcp-method", "tools/call"), ("mcp-name", "=?base64?Z3LDvMOfZQ==?=")];
        assert_eq!(problems(&named, &call).len(), 1);
        assert_eq!(problems(&[named[0], named[1], ("mcp-param-text", "ho")], &call).len(), 1);
        let told = [named[0], named[1], ("mcp-param-text", "hi")];
        assert_eq!(problems(&told, &call), Vec::<String>::new());
    }
}
