//! Answers one message. The id and the echoed text keep their original spelling.
//!
//! Framing is left to the stdio and HTTP transports.

use std::borrow::Cow;

use bytes::Bytes;
use http::StatusCode;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{EchoCatalog, TestEra};

const MODERN: &str = "2026-07-28";

const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// A response in two parts, so that prepared bytes are shared instead of copied.
#[derive(Debug)]
pub struct EchoResponse {
    pub(super) head: Bytes,
    pub(super) tail: Bytes,
    /// Whether this answers an `initialize`, and so opens a session.
    pub(super) opens: bool,
    /// What HTTP says about it.
    pub(super) status: StatusCode,
}

/// The echo server without a transport.
#[derive(Debug)]
pub struct EchoServer {
    catalog: EchoCatalog,
}

/// A request, as far as the server reads it.
#[derive(Deserialize)]
struct EchoRequest<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

/// The parameters of `initialize`.
#[derive(Deserialize)]
struct EchoInitializeParams<'a> {
    #[serde(borrow, rename = "protocolVersion")]
    version: Cow<'a, str>,
}

/// The parameters of `tools/call`.
#[derive(Deserialize)]
struct EchoCallParams<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    arguments: EchoArguments<'a>,
}

/// The arguments of the `echo` tool.
#[derive(Default, Deserialize)]
struct EchoArguments<'a> {
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    bytes: Option<usize>,
}

impl EchoServer {
    /// A server with these tools.
    pub fn new(catalog: EchoCatalog) -> Self {
        EchoServer { catalog }
    }

    /// What to answer, or nothing for a notification.
    pub fn answer(&self, message: &[u8]) -> Option<EchoResponse> {
        let message: EchoRequest<'_> = match serde_json::from_slice(message) {
            Ok(message) => message,
            Err(_) => return Some(self.failure("null", -32700, "the message is not JSON-RPC")),
        };
        let (id, method) = (message.id?.get(), message.method?);
        let params = message.params.map_or("{}", RawValue::get);
        Some(match (&*method, self.catalog.era) {
            ("tools/call", _) => self.call(id, params),
            ("tools/list", _) => success(id, self.catalog.list_tail.clone()),
            ("initialize", TestEra::Legacy) => initialize(id, params),
            ("ping", TestEra::Legacy) => success(id, Bytes::from_static(b"{}}")),
            ("server/discover", TestEra::Modern) => success(id, discover_result()),
            _ => self.failure(id, -32601, "no such method"),
        })
    }

    fn call(&self, id: &str, params: &str) -> EchoResponse {
        let Ok(call) = serde_json::from_str::<EchoCallParams<'_>>(params) else {
            return self.failure(id, -32602, "a call needs a name and an object of arguments");
        };
        match (&*call.name, call.arguments) {
            ("echo", EchoArguments { text: Some(text), .. }) => self.text_response(id, text.get()),
            ("blob", EchoArguments { bytes: Some(bytes), .. }) => {
                success(id, self.catalog.blob_tail(bytes))
            }
            (name, _) if name.starts_with("tool_") => self.text_response(id, "\"no records\""),
            ("echo" | "blob", _) => self.failure(id, -32602, "the tool's argument is missing"),
            _ => self.failure(id, -32602, "no such tool"),
        }
    }

    fn text_response(&self, id: &str, text: &str) -> EchoResponse {
        let mark = self.catalog.era.result_suffix();
        let tail = format!(r#"{{"content":[{{"type":"text","text":{text}}}]{mark}}}}}"#);
        success(id, Bytes::from(tail))
    }

    fn failure(&self, id: &str, code: i32, message: &str) -> EchoResponse {
        let head = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"{message}"}}}}"#
        );
        let status = match (self.catalog.era, code) {
            (TestEra::Legacy, _) => StatusCode::OK,
            (TestEra::Modern, -32601) => StatusCode::NOT_FOUND,
            (TestEra::Modern, _) => StatusCode::BAD_REQUEST,
        };
        EchoResponse { head: Bytes::from(head), tail: Bytes::new(), opens: false, status }
    }
}

fn initialize(id: &str, params: &str) -> EchoResponse {
    let asked =
        serde_json::from_str::<EchoInitializeParams<'_>>(params).map(|opening| opening.version);
    let version = asked
        .ok()
        .and_then(|asked| LEGACY.into_iter().find(|known| *known == asked))
        .unwrap_or("2025-11-25");
    let tail = format!(
        r#"{{"protocolVersion":"{version}","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"toolgate-echo","version":"{}"}}}}}}"#,
        env!("CARGO_PKG_VERSION"),
    );
    EchoResponse { opens: true, ..success(id, Bytes::from(tail)) }
}

fn discover_result() -> Bytes {
    let mark = TestEra::Modern.cacheable_result_suffix();
    Bytes::from(format!(
        r#"{{"supportedVersions":["{MODERN}"],"capabilities":{{"tools":{{}}}},"_meta":{{"io.modelcontextprotocol/serverInfo":{{"name":"toolgate-echo","version":"{}"}}}}{mark}}}}}"#,
        env!("CARGO_PKG_VERSION"),
    ))
}

/// `tail` is the result with the brace that closes the answer.
fn success(id: &str, tail: Bytes) -> EchoResponse {
    let head = Bytes::from(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"#));
    EchoResponse { head, tail, opens: false, status: StatusCode::OK }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(message: &str) -> String {
        answer_in(TestEra::Legacy, message)
    }

    fn answer_in(era: TestEra, message: &str) -> String {
        let answer = EchoServer::new(EchoCatalog::of(3, era)).answer(message.as_bytes()).unwrap();
        String::from_utf8([answer.head, answer.tail].concat()).unwrap()
    }

    #[test]
    fn an_id_and_a_text_come_back_as_they_were_spelled() {
        let call = r#"{"jsonrpc":"2.0","id":1e0,"method":"tools/call","params":{"name":"\u0065cho","arguments":{"text":"\u00e9"}}}"#;
        assert_eq!(
            answer(call),
            r#"{"jsonrpc":"2.0","id":1e0,"result":{"content":[{"type":"text","text":"\u00e9"}]}}"#
        );
    }

    #[test]
    fn a_known_version_is_agreed_to_and_an_unknown_one_gets_the_newest_legacy() {
        for (asked, agreed) in [("2024-11-05", "2024-11-05"), ("2031-01-01", "2025-11-25")] {
            let opening = format!(
                r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{asked}"}}}}"#
            );
            let answer: serde_json::Value = serde_json::from_str(&answer(&opening)).unwrap();
            assert_eq!(answer["result"]["protocolVersion"], agreed);
        }
    }

    #[test]
    fn the_modern_form_has_discovery_and_result_types_and_no_initialize() {
        let ask = |method: &str| {
            let params = r#"{"name":"echo","arguments":{"text":"x"}}"#;
            let message =
                format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
            serde_json::from_str::<serde_json::Value>(&answer_in(TestEra::Modern, &message))
                .unwrap()
        };
        assert_eq!(ask("server/discover")["result"]["supportedVersions"][0], MODERN);
        for method in ["server/discover", "tools/list", "tools/call"] {
            assert_eq!(ask(method)["result"]["resultType"], "complete", "{method}");
        }
        assert_eq!(ask("initialize")["error"]["code"], -32601);
        let echo = EchoServer::new(EchoCatalog::of(3, TestEra::Modern));
        let unknown = echo.answer(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).unwrap();
        assert_eq!(unknown.status, StatusCode::NOT_FOUND);
    }

    #[test]
    fn a_notification_gets_no_answer() {
        let echo = EchoServer::new(EchoCatalog::of(3, TestEra::Legacy));
        assert!(
            echo.answer(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).is_none()
        );
    }
}
