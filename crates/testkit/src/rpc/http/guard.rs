//! Checks the headers of a request before its body is read.

use http::header::{ACCEPT, CONTENT_TYPE, HOST, ORIGIN};
use http::{HeaderMap, HeaderValue, StatusCode};

use super::body::HttpRefusal;
use crate::rpc::revision::LegacyRevision;

const SESSION: &str = "mcp-session-id";

/// The result of a header check: nothing, or the refusal to send.
type HeaderCheckResult = Result<(), HttpRefusal>;

/// Refuses requests that a rebound name or a foreign web page may have sent.
pub fn check_local(headers: &HeaderMap) -> HeaderCheckResult {
    let host = text(headers, HOST.as_str()).unwrap_or_default();
    let origin = text(headers, ORIGIN.as_str());
    let origin_is_local =
        origin.is_none_or(|origin| origin.strip_prefix("http://").is_some_and(is_local));
    match is_local(host) && origin_is_local {
        true => Ok(()),
        false => Err(HttpRefusal::Said(StatusCode::FORBIDDEN, "Host and Origin must be local")),
    }
}

fn is_local(authority: &str) -> bool {
    let name = match authority.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => authority,
    };
    matches!(name, "127.0.0.1" | "localhost" | "[::1]")
}

/// A version header, if present, must name a revision we know.
pub fn version(headers: &HeaderMap) -> HeaderCheckResult {
    match text(headers, "mcp-protocol-version").map(LegacyRevision::parse) {
        Some(None) => {
            Err(HttpRefusal::Said(StatusCode::BAD_REQUEST, "unknown MCP-Protocol-Version"))
        }
        _ => Ok(()),
    }
}

/// What a POST must say about itself and about the answers it takes.
pub fn check_post_headers(headers: &HeaderMap) -> HeaderCheckResult {
    let content = text(headers, CONTENT_TYPE.as_str()).unwrap_or_default();
    if content.split(';').next().is_none_or(|kind| kind.trim() != "application/json") {
        return Err(HttpRefusal::Said(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "application/json is wanted",
        ));
    }
    accepts(headers, "application/json")?;
    accepts(headers, "text/event-stream")
}

/// The client must take this kind of answer.
pub fn accepts(headers: &HeaderMap, kind: &str) -> HeaderCheckResult {
    let accepted = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    match accepted.flat_map(|line| line.split(',')).any(|part| part.trim().starts_with(kind)) {
        true => Ok(()),
        false => Err(HttpRefusal::Said(
            StatusCode::NOT_ACCEPTABLE,
            "Accept lacks what would be answered",
        )),
    }
}

/// The session the client names.
pub fn session(headers: &HeaderMap) -> Option<String> {
    text(headers, SESSION).map(str::to_owned)
}

/// The last event the client has seen.
pub fn last_event(headers: &HeaderMap) -> Option<&str> {
    text(headers, "last-event-id")
}

/// Names the session in a response.
pub fn put_session(headers: &mut HeaderMap, id: &str) {
    if let Ok(value) = HeaderValue::from_str(id) {
        headers.insert(SESSION, value);
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_local_names_are_local() {
        for name in ["127.0.0.1", "127.0.0.1:80", "localhost:8080", "[::1]:1", "[::1]"] {
            assert!(is_local(name), "{name}");
        }
        for name in ["evil.example.com", "127.0.0.1.evil.example.com", "localhost.evil:80", ""] {
            assert!(!is_local(name), "{name}");
        }
    }
}
