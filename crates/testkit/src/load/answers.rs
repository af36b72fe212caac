//! Finds and verifies the answer in a response body, either JSON or an event stream.
//!
//! It is strict: a second answer, a foreign id or an `error` member is a failed call.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::echo::TestEra;

/// A JSON-RPC response with a result of type `R`.
#[derive(Deserialize)]
struct ResultResponse<'a, R> {
    id: Option<u64>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    result: Option<R>,
    error: Option<ErrorObject>,
}

/// The error of a failed response.
#[derive(Debug, Deserialize)]
struct ErrorObject {
    code: i64,
    message: String,
}

/// The parts of a tool result that are compared.
#[derive(Deserialize)]
pub(super) struct ToolCallResult<'a> {
    #[serde(borrow)]
    content: Vec<TextContent<'a>>,
    #[serde(default, rename = "isError")]
    is_error: bool,
    #[serde(borrow, rename = "resultType")]
    result_type: Option<Cow<'a, str>>,
}

/// A text block of a tool result.
#[derive(Deserialize)]
struct TextContent<'a> {
    #[serde(borrow)]
    text: Cow<'a, str>,
}

/// One page of a tool list.
#[derive(Deserialize)]
pub(super) struct ToolPage {
    pub(super) tools: Vec<IgnoredAny>,
    #[serde(rename = "nextCursor")]
    pub(super) next: Option<String>,
}

/// The result that answers request `id`, read from a whole response body.
pub(super) fn result<'a, R: Deserialize<'a>>(
    body: &'a [u8],
    is_stream: bool,
    id: u64,
) -> Result<R, String> {
    if !is_stream {
        return envelope(body, id)?.ok_or_else(|| "the body holds no answer".to_owned());
    }
    let mut found = None;
    for data in events(body) {
        if let Some(result) = envelope(data, id)?
            && found.replace(result).is_some()
        {
            return Err(format!("request {id} was answered twice"));
        }
    }
    found.ok_or_else(|| format!("the stream ended without an answer to request {id}"))
}

/// The result in one message; nothing if the message is a notification or a request.
fn envelope<'a, R: Deserialize<'a>>(message: &'a [u8], id: u64) -> Result<Option<R>, String> {
    let envelope: ResultResponse<'a, R> =
        serde_json::from_slice(message).map_err(|error| format!("unreadable answer: {error}"))?;
    if envelope.method.is_some() {
        return Ok(None);
    }
    if envelope.id != Some(id) {
        return Err(format!("request {id} was answered with id {:?}", envelope.id));
    }
    match (envelope.result, envelope.error) {
        (Some(result), None) => Ok(Some(result)),
        (_, Some(error)) => Err(format!("error {}: {}", error.code, error.message)),
        (None, None) => Err("the answer has neither result nor error".to_owned()),
    }
}

/// The data of each event. Every MCP message is one JSON text without a raw newline, so an event's
/// data is one line; an empty one is a primer and carries no message.
fn events(body: &[u8]) -> impl Iterator<Item = &[u8]> {
    body.split(|byte| *byte == b'\n')
        .filter_map(|line| line.strip_prefix(b"data:"))
        .map(<[u8]>::trim_ascii)
        .filter(|data| !data.is_empty())
}

impl ToolCallResult<'_> {
    /// Whether the result is exactly one text, this one, in the form of this era.
    pub(super) fn expect_text(&self, expected: &str, era: TestEra) -> Result<(), String> {
        let complete = era == TestEra::Legacy || self.result_type.as_deref() == Some("complete");
        match self.content.as_slice() {
            _ if !complete => Err(format!("a result of type {:?}", self.result_type)),
            _ if self.is_error => Err("the tool reported an error".to_owned()),
            [only] if only.text == expected => Ok(()),
            [only] => Err(format!("the text differs ({} bytes came back)", only.text.len())),
            several => Err(format!("{} content items instead of one", several.len())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(body: &str, is_stream: bool) -> Result<(), String> {
        result::<ToolCallResult<'_>>(body.as_bytes(), is_stream, 7)?
            .expect_text("hi", TestEra::Legacy)
    }

    #[test]
    fn a_modern_result_says_that_it_is_complete() {
        let modern = GOOD.replace("}]}", r#"}],"resultType":"complete"}"#);
        let check = |body: &str| {
            result::<ToolCallResult<'_>>(body.as_bytes(), false, 7)?
                .expect_text("hi", TestEra::Modern)
        };
        assert_eq!(check(&modern), Ok(()));
        assert!(check(GOOD).unwrap_err().contains("of type"));
    }

    const GOOD: &str =
        r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"hi"}]}}"#;

    #[test]
    fn an_answer_is_found_in_json_and_among_the_events_of_a_stream() {
        assert_eq!(text(GOOD, false), Ok(()));
        let stream = format!(
            "id: 1\ndata:\n\n: beat\n\nevent: message\ndata: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}}\n\ndata: {GOOD}\r\n\n"
        );
        assert_eq!(text(&stream, true), Ok(()));
    }

    #[test]
    fn a_wrong_answer_is_an_error() {
        let bad = [
            (GOOD.replace(":7", ":8"), "answered with id"),
            (GOOD.replace("hi", "ho"), "differs"),
            (GOOD.replace("}]}", r#"}],"isError":true}"#), "reported an error"),
            (r#"{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"no"}}"#.into(), "error -1"),
            (r#"{"jsonrpc":"2.0","id":7}"#.into(), "neither"),
            ("not json".into(), "unreadable"),
        ];
        for (body, because) in bad {
            let error = text(&body, false).unwrap_err();
            assert!(error.contains(because), "{body}: {error}");
        }
        let twice = format!("data: {GOOD}\n\ndata: {GOOD}\n\n");
        assert!(text(&twice, true).unwrap_err().contains("twice"));
        assert!(text("data:\n\n", true).unwrap_err().contains("without an answer"));
    }
}
