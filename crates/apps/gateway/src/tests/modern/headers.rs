//! Headers that repeat the body: everything that does not agree is refused before the gate.

use serde_json::{Value, json};

use super::{Stage, call, request};
use crate::tests::client::Http;

/// Status and code of a message under these headers; the id must come back.
async fn judged(http: &Http, message: &Value) -> (u16, i64) {
    let reply = http.post(message.clone()).await;
    let status = reply.status();
    let answer = reply.json().await;
    assert_eq!(answer["id"], message["id"]);
    (status, answer["error"]["code"].as_i64().unwrap_or_default())
}

const AGREED: (u16, i64) = (200, 0);
const MISMATCH: (u16, i64) = (400, -32020);

#[tokio::test]
async fn version_method_and_name_must_agree() {
    let stage = Stage::plain().await;
    let message = call(7, "echo");
    let good = stage.http.labelled(&message);
    let encoded = |text: &str| toolgate_wire::mcp_headers::encode(text).into_owned();
    assert_eq!(judged(&good, &message).await, AGREED);
    for (header, other) in
        [("mcp-protocol-version", "2025-11-25"), ("mcp-method", "ping"), ("mcp-name", "safe")]
    {
        let own = match header {
            "mcp-protocol-version" => "2026-07-28",
            "mcp-method" => "tools/call",
            _ => "echo",
        };
        let rows = [
            (good.with(header, ""), "missing"),
            (good.with(header, other), "another"),
            (good.and(header, own), "twice the same"),
            (good.and(header, other), "twice"),
            (good.with(header, &own.to_uppercase()), "another case"),
            (good.with(header, "=?base64?!!!?="), "broken base64"),
            (good.with(header, "=?base64?ZWNobw?="), "base64 without padding"),
        ];
        for (http, what) in rows {
            // The version has no letters to be in another case.
            if header == "mcp-protocol-version" && what == "another case" {
                continue;
            }
            assert_eq!(judged(&http, &message).await, MISMATCH, "{header}: {what}");
        }
    }
    assert!(stage.script.callers.lock().unwrap().len() == 1, "nothing else reached the gate");
    assert_eq!(judged(&good.with("mcp-name", "  echo "), &message).await, AGREED);
    assert_eq!(judged(&good.with("mcp-name", "=?base64?ZWNobw==?="), &message).await, AGREED);
    let foreign = call(8, "Zürich");
    let named = good.with("mcp-name", &encoded("Zürich"));
    assert_eq!(judged(&named, &foreign).await, AGREED);
    let cased = stage.http.labelled(&message).with("mcp-name", "").and("MCP-NAME", "echo");
    assert_eq!(judged(&cased, &message).await, AGREED);
}

#[tokio::test]
async fn every_kind_of_name_is_repeated() {
    let stage = Stage::plain().await;
    let rows = [
        request(1, "prompts/get", json!({"name": "p"})),
        request(2, "resources/read", json!({"uri": "test://r"})),
        request(3, "tasks/get", json!({"taskId": "t"})),
    ];
    for message in rows {
        let good = stage.http.labelled(&message);
        assert_eq!(judged(&good, &message).await, AGREED, "{message}");
        assert_eq!(judged(&good.with("mcp-name", ""), &message).await, MISMATCH, "{message}");
        assert_eq!(judged(&good.with("mcp-name", "x"), &message).await, MISMATCH, "{message}");
    }
    let list = request(4, "tools/list", json!({}));
    let odd = stage.http.labelled(&list).with("mcp-name", "anything");
    assert_eq!(odd.post(list).await.status(), 200, "a list is about nothing");
}

#[tokio::test]
async fn marked_arguments_are_repeated_as_the_tool_wants_it() {
    let stage = Stage::plain().await;
    let message = |arguments: Value| {
        request(1, "tools/call", json!({"name": "mirrored", "arguments": arguments}))
    };
    let both = message(json!({"region": "eu", "count": 42, "other": true}));
    let good =
        stage.http.labelled(&both).with("mcp-param-region", "eu").with("mcp-param-count", "42");
    let rows = [
        (good.clone(), AGREED),
        (good.with("mcp-param-count", "42.0"), AGREED),
        (good.with("mcp-param-region", "=?base64?ZXU=?="), AGREED),
        (good.with("mcp-param-unknown", "=?base64?!?="), AGREED),
        (good.with("mcp-param-region", ""), MISMATCH),
        (good.with("mcp-param-region", "us"), MISMATCH),
        (good.with("mcp-param-region", "EU"), MISMATCH),
        (good.and("mcp-param-region", "eu"), MISMATCH),
        (good.with("mcp-param-region", "=?base64?ZXU?="), MISMATCH),
        (good.with("mcp-param-count", "43"), MISMATCH),
    ];
    for (http, expected) in rows {
        assert_eq!(judged(&http, &both).await, expected, "{http:?}");
    }
    let none = message(json!({"region": null}));
    let bare = stage.http.labelled(&none);
    assert_eq!(judged(&bare, &none).await, AGREED, "nothing to repeat");
    assert_eq!(judged(&bare.with("mcp-param-region", "eu"), &none).await, MISMATCH);
    let other = call(2, "echo");
    let odd = stage.http.labelled(&other).with("mcp-param-region", "eu");
    assert_eq!(judged(&odd, &other).await, AGREED, "another tool wants nothing repeated");
}
