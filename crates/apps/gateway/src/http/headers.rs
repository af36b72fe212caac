//! Reads the headers of a request: content type, protocol version and `Accept`.

use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use toolgate_wire::{Era, Revision};

use crate::exchange::ResponseMode;
use crate::modern::VersionHeader;
use crate::rejection::Rejection;

/// The session that a request belongs to.
pub(crate) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
/// The revision of a request.
const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// The id of the last event that a client saw.
pub(crate) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Rejects a body that is not declared as JSON. A web page can send any other type without a
/// preflight request.
pub(crate) fn require_json_body(headers: &HeaderMap) -> Result<(), Rejection> {
    let media = single_value(headers, &CONTENT_TYPE).map(|value| essence(value.as_bytes()));
    match media {
        Some(media) if media.eq_ignore_ascii_case(b"application/json") => Ok(()),
        _ => Err(Rejection::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "Content-Type must be application/json",
        )),
    }
}

/// Returns the value of a header that was sent exactly once.
pub(crate) fn single_value<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
) -> Option<&'a HeaderValue> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?;
    values.next().is_none().then_some(first)
}

/// Returns true if a header was sent more than once.
pub(crate) fn is_repeated(headers: &HeaderMap, name: &HeaderName) -> bool {
    headers.get_all(name).iter().nth(1).is_some()
}

/// Returns the protocol version that the headers name.
pub(crate) fn version_header(headers: &HeaderMap) -> VersionHeader<'_> {
    let version =
        single_value(headers, &PROTOCOL_VERSION).and_then(|version| version.to_str().ok());
    version.map_or(VersionHeader::Unclear, |version| VersionHeader::Version(version.trim()))
}

/// Rejects a revision without sessions, or one that the gateway does not support. A legacy revision
/// other than the session's is accepted, because released clients send it.
pub(crate) fn check_legacy_version(headers: &HeaderMap) -> Result<(), Rejection> {
    let Some(version) = headers.get(PROTOCOL_VERSION) else { return Ok(()) };
    let revision = version.to_str().ok().and_then(|version| version.parse::<Revision>().ok());
    match revision.map(Revision::era) {
        Some(Era::Legacy) => Ok(()),
        Some(Era::Modern) | None => Err(Rejection::new(
            StatusCode::BAD_REQUEST,
            "this MCP-Protocol-Version is not supported here",
        )),
    }
}

/// The kinds of response that a client accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AcceptHeader {
    /// JSON and event streams, as the specification requires.
    Both,
    /// JSON only.
    Json,
    /// Event streams only, or event streams named before JSON.
    Events,
}

impl AcceptHeader {
    /// Parses `Accept`. Rejects only a client that accepts neither kind. Without the header, a
    /// client accepts both. The order of the two expresses a preference unless there are weights.
    pub(crate) fn parse(headers: &HeaderMap) -> Result<Self, Rejection> {
        let lines = || headers.get_all(ACCEPT).iter();
        let ranges = || lines().flat_map(|line| line.as_bytes().split(|byte| *byte == b','));
        let first = |family: &[u8], member: &[u8]| {
            ranges().position(|range| !is_refused(range) && covers(range, family, member))
        };
        let weighed = || ranges().any(|range| weight(range).is_some());
        match (first(b"application/", b"json"), first(b"text/", b"event-stream")) {
            (Some(json), Some(events)) if events < json && !weighed() => Ok(Self::Events),
            (Some(_), Some(_)) => Ok(Self::Both),
            (Some(_), None) => Ok(Self::Json),
            (None, Some(_)) => Ok(Self::Events),
            (None, None) if lines().next().is_none() => Ok(Self::Both),
            (None, None) => Err(Rejection::new(
                StatusCode::NOT_ACCEPTABLE,
                "the client must accept application/json or text/event-stream",
            )),
        }
    }

    /// Rejects a client that accepts no event stream, for requests that have no other answer.
    pub(crate) fn require_events(self) -> Result<(), Rejection> {
        match self {
            Self::Both | Self::Events => Ok(()),
            Self::Json => Err(Rejection::new(
                StatusCode::NOT_ACCEPTABLE,
                "the client must accept text/event-stream",
            )),
        }
    }

    /// Returns whether messages can be sent before the answer.
    pub(crate) fn response_mode(self) -> ResponseMode {
        match self {
            Self::Both | Self::Events => ResponseMode::Streaming,
            Self::Json => ResponseMode::AnswerOnly,
        }
    }
}

/// Returns the media type without its parameters.
fn essence(value: &[u8]) -> &[u8] {
    let end = value.iter().position(|byte| *byte == b';').unwrap_or(value.len());
    value.get(..end).unwrap_or_default().trim_ascii()
}

/// Returns the weight of a media range (`;q=0.5`), if it has one.
fn weight(range: &[u8]) -> Option<&[u8]> {
    range.split(|byte| *byte == b';').skip(1).find_map(|parameter| {
        let parameter = parameter.trim_ascii();
        parameter.strip_prefix(b"q=").or_else(|| parameter.strip_prefix(b"Q="))
    })
}

/// Returns true if a media range has weight zero (`;q=0`).
fn is_refused(range: &[u8]) -> bool {
    weight(range).is_some_and(|weight| weight.iter().all(|byte| matches!(byte, b'0' | b'.')))
}

fn covers(range: &[u8], family: &[u8], member: &[u8]) -> bool {
    let range = essence(range);
    if range == b"*/*" {
        return true;
    }
    strip_prefix_ignore_case(range, family)
        .is_some_and(|rest| rest == b"*" || rest.eq_ignore_ascii_case(member))
}

/// Returns the rest of a text that starts with `prefix` in any case.
pub(crate) fn strip_prefix_ignore_case<'a>(text: &'a [u8], prefix: &[u8]) -> Option<&'a [u8]> {
    let (head, rest) = text.split_at_checked(prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then_some(rest)
}

/// `application/json`.
pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json");
/// `text/event-stream`.
pub(crate) const EVENT_STREAM: HeaderValue = HeaderValue::from_static("text/event-stream");

#[cfg(test)]
mod tests {
    use super::*;

    fn accept(text: &str) -> Option<AcceptHeader> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, text.parse().unwrap());
        AcceptHeader::parse(&headers).ok()
    }

    #[test]
    fn a_client_is_refused_only_if_it_takes_neither_kind_of_answer() {
        assert_eq!(accept("application/json, text/event-stream"), Some(AcceptHeader::Both));
        assert_eq!(accept("*/*"), Some(AcceptHeader::Both));
        assert_eq!(accept("Application/JSON;charset=utf-8"), Some(AcceptHeader::Json));
        assert_eq!(accept("application/*"), Some(AcceptHeader::Json));
        assert_eq!(accept("text/event-stream"), Some(AcceptHeader::Events));
        assert_eq!(accept("application/json;q=0, text/*"), Some(AcceptHeader::Events));
        assert_eq!(accept("text/html"), None);
        assert_eq!(AcceptHeader::parse(&HeaderMap::new()).ok(), Some(AcceptHeader::Both));
    }

    #[test]
    fn a_client_that_names_streams_first_wants_them() {
        assert_eq!(accept("text/event-stream, application/json"), Some(AcceptHeader::Events));
        assert_eq!(accept("text/html, text/event-stream, */*"), Some(AcceptHeader::Events));
        let weighed = "text/event-stream;q=0.5, application/json";
        assert_eq!(accept(weighed), Some(AcceptHeader::Both), "weights count, the order does not");
        let refused = "text/event-stream;q=0, application/json, text/event-stream";
        assert_eq!(accept(refused), Some(AcceptHeader::Both));
    }

    #[test]
    fn only_json_bodies_are_taken() {
        let mut headers = HeaderMap::new();
        assert!(require_json_body(&headers).is_err());
        for (media, taken) in [
            ("application/json", true),
            ("application/json; charset=utf-8", true),
            ("text/plain", false),
            ("application/jsonp", false),
        ] {
            headers.insert(CONTENT_TYPE, media.parse().unwrap());
            assert_eq!(require_json_body(&headers).is_ok(), taken, "{media}");
        }
        headers.insert(CONTENT_TYPE, JSON);
        headers.append(CONTENT_TYPE, "text/plain".parse().unwrap());
        assert!(require_json_body(&headers).is_err(), "both at once");
    }
}
