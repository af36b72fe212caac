//! The weird server's bytes are its literals, on both carriers and in both directions.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panic")]

mod support;

use serde_json::json;
use serde_json::value::RawValue;
use support::{Http, Server, body, events, request};
use toolgate_testkit::rpc::stdio::on_one_line;
use toolgate_testkit::weird::texts;

const WEIRD: &str = env!("CARGO_BIN_EXE_weird");

const LISTS: [(&str, &str); 6] = [
    ("tools/list", texts::TOOLS),
    ("prompts/list", texts::PROMPTS),
    ("prompts/get", texts::PROMPT),
    ("resources/list", texts::RESOURCES),
    ("resources/templates/list", texts::TEMPLATES),
    ("resources/read", texts::CONTENTS),
];

#[tokio::test]
async fn every_text_arrives_byte_for_byte() {
    let mut stdio = Server::open(WEIRD, &[], json!({})).await;
    let sse = Http::open(WEIRD, &[]).await;
    let plain = Http::open(WEIRD, &["--json"]).await;
    for (method, text) in LISTS {
        let asked = request(1, method, json!({}));
        let expected = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{text}}}"#);
        stdio.send(&asked).await;
        assert_eq!(stdio.line().await, on_one_line(&expected));
        assert_eq!(events(&body(sse.post(&asked).await).await), [expected.as_str()]);
        assert_eq!(body(plain.post(&asked).await).await, expected);
    }
}

#[tokio::test]
async fn every_text_is_valid_json_and_not_what_an_encoder_would_write() {
    let more = [texts::RESULT, texts::ERROR, texts::QUESTION];
    for text in LISTS.map(|(_, text)| text).into_iter().chain(more) {
        let raw: Box<RawValue> = serde_json::from_str(text).expect(text);
        assert_eq!(raw.get(), text);
        let recoded =
            serde_json::from_str::<serde_json::Value>(text).map(|value| value.to_string());
        assert!(recoded.is_err() || recoded.is_ok_and(|recoded| recoded != on_one_line(text)));
    }
}

#[tokio::test]
async fn echo_shows_the_very_bytes_it_was_sent() {
    let mut server = Server::open(WEIRD, &[], json!({})).await;
    let arguments = r#"{ "z":1e400,"a" :[ -0, 1.0,1E5,12345678901234567890123], "\u0065":"\/" }"#;
    let params = format!(r#"{{"arguments":{arguments}, "name":"w\u0065ird_echo"}}"#);
    let call = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
    server.send_line(&call).await;
    let shown = server.next_with("id", 1).await["result"]["structuredContent"].clone();
    assert_eq!(shown, json!({ "params": params, "arguments": arguments }));
}

#[tokio::test]
async fn the_clients_answer_is_shown_as_it_was_spelled() {
    let capabilities = json!({ "elicitation": {} });
    let mut server = Server::open(WEIRD, &[], capabilities).await;
    server.send(&request(1, "tools/call", json!({ "name": "weird_ask" }))).await;
    let question = server.line().await;
    assert!(question.contains(&on_one_line(texts::QUESTION)), "{question}");
    let answer = r#"{"content":{"n": 1e400},"action":"acc\u0065pt", "x":-0}"#;
    server.send_line(&format!(r#"{{"jsonrpc":"2.0","id":0,"result":{answer}}}"#)).await;
    let shown = server.next_with("id", 1).await["result"]["structuredContent"].clone();
    assert_eq!(shown, json!({ "answer": answer }));
}
