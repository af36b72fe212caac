//! What the headers of a request ask and say.

use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use toolgate_wire::{Era, Revision};

use super::answer::Refused;
use crate::modern::Label;
use crate::session::Carriage;

/// The session a request belongs to.
pub(crate) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
/// The revision of a request.
const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// The last event a client saw.
pub(crate) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Refuses a body that is not declared to be JSON: a page can send any other type without asking.
pub(crate) fn json_body(headers: &HeaderMap) -> Result<(), Refused> {
    let media = only(headers, &CONTENT_TYPE).map(|value| essence(value.as_bytes()));
    match media {
        Some(media) if media.eq_ignore_ascii_case(b"application/json") => Ok(()),
        _ => Err(Refused::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "the body must be application/json",
        )),
    }
}

/// The header, if it was sent exactly once.
pub(crate) fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a HeaderValue> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?;
    values.next().is_none().then_some(first)
}

/// Whether a header was sent more than once.
pub(crate) fn named_twice(headers: &HeaderMap, name: &HeaderName) -> bool {
    headers.get_all(name).iter().nth(1).is_some()
}

/// What the headers say of the revision of a message.
pub(crate) fn label(headers: &HeaderMap) -> Label<'_> {
    let version = only(headers, &PROTOCOL_VERSION).and_then(|version| version.to_str().ok());
    version.map_or(Label::Unclear, |version| Label::Version(version.trim()))
}

/// Refuses a revision that has no sessions, or is not served here. One that differs from the
/// session's is tolerated: released clients send it.
pub(crate) fn known_version(headers: &HeaderMap) -> Result<(), Refused> {
    let Some(version) = headers.get(PROTOCOL_VERSION) else { return Ok(()) };
    let revision = version.to_str().ok().and_then(|version| version.parse::<Revision>().ok());
    match revision.map(Revision::era) {
        Some(Era::Legacy) => Ok(()),
        Some(Era::Modern) | None => {
            Err(Refused::new(StatusCode::BAD_REQUEST, "this MCP-Protocol-Version is not served"))
        }
    }
}

/// What kinds of answer a client takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Accept {
    /// Both, as the specification wants.
    Both,
    /// A bare answer.
    Json,
    /// An event stream: it takes nothing else, or names it first.
    Events,
}

impl Accept {
    /// Reads `Accept`. Only a client that takes neither is refused; one that says nothing takes
    /// everything. The order in which both are named is a wish, unless weights say otherwise.
    pub(crate) fn of(headers: &HeaderMap) -> Result<Self, Refused> {
        let lines = || headers.get_all(ACCEPT).iter();
        let ranges = || lines().flat_map(|line| line.as_bytes().split(|byte| *byte == b','));
        let first = |family: &[u8], member: &[u8]| {
            ranges().position(|range| !refused(range) && covers(range, family, member))
        };
        let weighed = || ranges().any(|range| weight(range).is_some());
        match (first(b"application/", b"json"), first(b"text/", b"event-stream")) {
            (Some(json), Some(events)) if events < json && !weighed() => Ok(Self::Events),
            (Some(_), Some(_)) => Ok(Self::Both),
            (Some(_), None) => Ok(Self::Json),
            (None, Some(_)) => Ok(Self::Events),
            (None, None) if lines().next().is_none() => Ok(Self::Both),
            (None, None) => Err(Refused::new(
                StatusCode::NOT_ACCEPTABLE,
                "the client must accept application/json or text/event-stream",
            )),
        }
    }

    /// Refuses a client that takes no event stream, where there is nothing else to give.
    pub(crate) fn needs_events(self) -> Result<(), Refused> {
        match self {
            Self::Both | Self::Events => Ok(()),
            Self::Json => Err(Refused::new(
                StatusCode::NOT_ACCEPTABLE,
                "the client must accept text/event-stream",
            )),
        }
    }

    /// Whether something can be said before the answer.
    pub(crate) fn carriage(self) -> Carriage {
        match self {
            Self::Both | Self::Events => Carriage::Streaming,
            Self::Json => Carriage::AnswerOnly,
        }
    }
}

/// The media type without its parameters.
fn essence(value: &[u8]) -> &[u8] {
    let end = value.iter().position(|byte| *byte == b';').unwrap_or(value.len());
    value.get(..end).unwrap_or_default().trim_ascii()
}

/// How much a range is wanted (`;q=0.5`), if it says.
fn weight(range: &[u8]) -> Option<&[u8]> {
    range.split(|byte| *byte == b';').skip(1).find_map(|parameter| {
        let parameter = parameter.trim_ascii();
        parameter.strip_prefix(b"q=").or_else(|| parameter.strip_prefix(b"Q="))
    })
}

/// Whether a range is listed as the one thing not wanted (`;q=0`).
fn refused(range: &[u8]) -> bool {
    weight(range).is_some_and(|weight| weight.iter().all(|byte| matches!(byte, b'0' | b'.')))
}

fn covers(range: &[u8], family: &[u8], member: &[u8]) -> bool {
    let range = essence(range);
    if range == b"*/*" {
        return true;
    }
    let Some((head, rest)) = range.split_at_checked(family.len()) else { return false };
    head.eq_ignore_ascii_case(family) && (rest == b"*" || rest.eq_ignore_ascii_case(member))
}

/// `application/json`.
pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json");
/// `text/event-stream`.
pub(crate) const EVENT_STREAM: HeaderValue = HeaderValue::from_static("text/event-stream");

#[cfg(test)]
mod tests {
    use super::*;

    fn accept(text: &str) -> Option<Accept> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, text.parse().unwrap());
        Accept::of(&headers).ok()
    }

    #[test]
    fn a_client_is_refused_only_if_it_takes_neither_kind_of_answer() {
        assert_eq!(accept("application/json, text/event-stream"), Some(Accept::Both));
        assert_eq!(accept("*/*"), Some(Accept::Both));
        assert_eq!(accept("Application/JSON;charset=utf-8"), Some(Accept::Json));
        assert_eq!(accept("application/*"), Some(Accept::Json));
        assert_eq!(accept("text/event-stream"), Some(Accept::Events));
        assert_eq!(accept("application/json;q=0, text/*"), Some(Accept::Events));
        assert_eq!(accept("text/html"), None);
        assert_eq!(Accept::of(&HeaderMap::new()).ok(), Some(Accept::Both));
    }

    #[test]
    fn a_client_that_names_streams_first_wants_them() {
        assert_eq!(accept("text/event-stream, application/json"), Some(Accept::Events));
        assert_eq!(accept("text/html, text/event-stream, */*"), Some(Accept::Events));
        let weighed = "text/event-stream;q=0.5, application/json";
        assert_eq!(accept(weighed), Some(Accept::Both), "weights count, the order does not");
        let refused = "text/event-stream;q=0, application/json, text/event-stream";
        assert_eq!(accept(refused), Some(Accept::Both));
    }

    #[test]
    fn only_json_bodies_are_taken() {
        let mut headers = HeaderMap::new();
        assert!(json_body(&headers).is_err());
        for (media, taken) in [
            ("application/json", true),
            ("application/json; charset=utf-8", true),
            ("text/plain", false),
            ("application/jsonp", false),
        ] {
            headers.insert(CONTENT_TYPE, media.parse().unwrap());
            assert_eq!(json_body(&headers).is_ok(), taken, "{media}");
        }
        headers.insert(CONTENT_TYPE, JSON);
        headers.append(CONTENT_TYPE, "text/plain".parse().unwrap());
        assert!(json_body(&headers).is_err(), "both at once");
    }
}
