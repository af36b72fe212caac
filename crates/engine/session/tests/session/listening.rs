//! Changes a modern server reports: the one listen, its wishes, its losses.

use serde_json::{Value, json};
use toolgate_session::SessionError;

use crate::http::modern_on_http;
use crate::peer::{acknowledged, modern};

fn everything() -> Value {
    json!({
        "tools": { "listChanged": true }, "prompts": {},
        "resources": { "subscribe": true, "listChanged": true },
        "extensions": { "io.modelcontextprotocol/tasks": {} },
    })
}

fn report(listen: &Value, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({ "io.modelcontextprotocol/subscriptionId": listen["id"] });
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

#[tokio::test]
async fn what_the_server_reports_reaches_the_owner_without_our_id() {
    let (_session, _server, notebook, stream) = modern_on_http(everything()).await;
    let mut stream = stream.unwrap();
    let listen = json!({ "id": "listen-1" });
    stream.send(report(&listen, "notifications/tools/list_changed", json!({}))).await;
    stream.send(report(&listen, "notifications/resources/list_changed", json!({}))).await;
    let updated = report(&listen, "notifications/resources/updated", json!({ "uri": "u" }));
    stream.send(updated).await;
    stream.send(report(&listen, "notifications/tasks", json!({ "taskId": "t" }))).await;
    let told = notebook.holding(5).await;
    assert_eq!(
        told,
        [
            "changed tool",
            "changed resource",
            "changed template",
            r#"notifications/resources/updated {"uri":"u"}"#,
            r#"notifications/tasks {"taskId":"t"}"#
        ]
    );
}

#[tokio::test]
async fn a_listen_asks_for_what_is_declared_and_a_wish_opens_a_new_one_before_the_old_ends() {
    let (session, mut server, notebook) = modern(everything()).await;
    let served = async {
        let listen = server.expect("subscriptions/listen").await;
        let filter = json!({ "toolsListChanged": true, "resourcesListChanged": true,
            "resourceSubscriptions": ["file:///é"] });
        assert_eq!(listen["params"]["notifications"], filter);
        assert!(listen["id"].is_string());
        let meta = &listen["params"]["_meta"];
        assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
        server.send(acknowledged(&listen)).await;
        let cancelled = server.expect("notifications/cancelled").await;
        assert_eq!(cancelled["params"]["requestId"], "listen-1");
    };
    let (subscribed, ()) = tokio::join!(session.subscribe("file:///é"), served);
    subscribed.unwrap();
    // Nothing was missed, so nothing is made up.
    assert!(notebook.read().is_empty());
    session.subscribe("file:///é").await.unwrap();

    session.unsubscribe("file:///é").await.unwrap();
    let listen = server.expect("subscriptions/listen").await;
    assert_eq!(listen["params"]["notifications"].get("resourceSubscriptions"), None);
}

#[tokio::test]
async fn tasks_are_watched_with_the_extension_declared() {
    let (session, mut server, _) = modern(everything()).await;
    assert!(session.watch_task("t-1"));
    let listen = server.expect("subscriptions/listen").await;
    assert_eq!(listen["params"]["notifications"]["taskIds"], json!(["t-1"]));
    let declared = &listen["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
    assert_eq!(declared["extensions"], json!({ "io.modelcontextprotocol/tasks": {} }));
    session.unwatch_task("t-1");

    let (session, _server, _) = modern(json!({ "tools": {} })).await;
    assert!(!session.watch_task("t-1"));
}

#[tokio::test]
async fn a_resource_the_server_does_not_honour_is_not_subscribed_to() {
    let (session, mut server, _) = modern(json!({ "resources": { "subscribe": true } })).await;
    let served = async {
        let listen = server.expect("subscriptions/listen").await;
        let mut less = acknowledged(&listen);
        less["params"]["notifications"] = json!({});
        server.send(less).await;
    };
    let (subscribed, ()) = tokio::join!(session.subscribe("u"), served);
    assert!(matches!(subscribed, Err(SessionError::Refused { .. })));
    let (session, _server, _) = modern(json!({ "resources": {} })).await;
    assert!(matches!(session.subscribe("u").await, Err(SessionError::Refused { .. })));
}

#[tokio::test]
async fn a_refused_listen_is_not_asked_for_again_until_the_wishes_change() {
    let (session, mut server, _) = modern(json!({ "resources": { "subscribe": true } })).await;
    for _ in 0..2 {
        let served = async {
            let listen = server.expect("subscriptions/listen").await;
            server.refuse(&listen, -32601, json!(null)).await;
        };
        let (subscribed, ()) = tokio::join!(session.subscribe("u"), served);
        assert!(matches!(subscribed, Err(SessionError::Refused { .. })));
    }
}

#[tokio::test(start_paused = true)]
async fn after_a_loss_everything_may_have_changed() {
    let (session, mut server, notebook) = modern(everything()).await;
    let served = async {
        let listen = server.expect("subscriptions/listen").await;
        server.send(acknowledged(&listen)).await;
        server.expect("notifications/cancelled").await;
        listen
    };
    let (subscribed, listen) = tokio::join!(session.subscribe("u"), served);
    subscribed.unwrap();
    let meta = json!({ "io.modelcontextprotocol/subscriptionId": listen["id"] });
    server.answer(&listen, json!({ "resultType": "complete", "_meta": meta })).await;
    let ended = tokio::time::Instant::now();
    let again = server.expect("subscriptions/listen").await;
    assert_eq!(ended.elapsed().as_millis(), 500);
    assert_eq!(again["params"]["notifications"], listen["params"]["notifications"]);
    server.send(acknowledged(&again)).await;
    let first = notebook.holding(4).await;
    let updated = r#"notifications/resources/updated {"uri":"u"}"#;
    assert_eq!(first, ["changed tool", "changed resource", "changed template", updated]);

    let cancelled = json!({ "requestId": again["id"] });
    let method = "notifications/cancelled";
    server.send(json!({ "jsonrpc": "2.0", "method": method, "params": cancelled })).await;
    server.expect("subscriptions/listen").await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_ends_every_listen_is_left_alone_after_some() {
    let (session, mut server, _) = modern(everything()).await;
    let mut listen = json!({ "id": "listen-1" });
    for _ in 0..5 {
        server.answer(&listen, json!({ "resultType": "complete" })).await;
        listen = server.expect("subscriptions/listen").await;
        server.send(acknowledged(&listen)).await;
    }
    server.answer(&listen, json!({ "resultType": "complete" })).await;
    tokio::time::sleep(std::time::Duration::from_secs(600)).await;
    assert!(session.end_reason().is_none());
    drop(session);
    assert!(server.is_left().await);
}

#[tokio::test]
async fn on_http_a_listen_is_a_stream_of_its_own_that_comes_back_after_a_loss() {
    let (session, mut server, notebook, stream) = modern_on_http(everything()).await;
    drop(stream);
    let listen = server.expect("subscriptions/listen").await;
    assert_eq!(listen.header("mcp-method"), Some("subscriptions/listen"));
    assert_eq!(listen.header("mcp-protocol-version"), Some("2026-07-28"));
    let acknowledgement = acknowledged(&listen.json());
    let mut stream = listen.stream().await;
    stream.send(acknowledgement).await;
    assert_eq!(notebook.holding(3).await, ["changed tool", "changed resource", "changed template"]);

    let served = async {
        let listen = server.expect("subscriptions/listen").await;
        let acknowledgement = acknowledged(&listen.json());
        let mut newer = listen.stream().await;
        newer.send(acknowledgement).await;
        newer
    };
    let (subscribed, newer) = tokio::join!(session.subscribe("u"), served);
    subscribed.unwrap();
    stream.closed().await;
    drop(session);
    newer.closed().await;
}
