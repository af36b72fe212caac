//! The gateway with the real gate and a tool of this process.

#![allow(clippy::unwrap_used, reason = "tests")]

#[expect(dead_code, reason = "the unit tests use the rest")]
#[path = "../src/tests/client.rs"]
mod client;

use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use toolgate_gateway::{Gateway, Options};
use toolgate_host::{Host, Tool};

use client::{Http, call, request};

#[tokio::test]
async fn a_request_reaches_a_real_tool_and_its_answer_the_client() {
    let schema = json!({"type": "object"});
    let greet = Tool::new("greet", "Greets", schema, |_| async {
        Ok::<_, String>("hello".to_owned().into())
    });
    let host = Host::builder().tool(greet).start().await.unwrap();
    let gateway = Gateway::new(host.gate().clone(), Options::default());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let http = Http::new(listener.local_addr().unwrap());
    let (shutdown, ended) = oneshot::channel::<()>();
    let serving = tokio::spawn(async move {
        let ended = async { drop(ended.await) };
        gateway.serve_http(listener, ended).await
    });
    let session = http.session().await;
    let list = session.post(request(1, "tools/list")).await.json().await;
    assert_eq!(list["result"]["tools"][0]["name"], "greet");
    let answer = session.post(call("x", "greet")).await.json().await;
    assert_eq!(
        (&answer["id"], &answer["result"]["content"][0]["text"]),
        (&json!("x"), &json!("hello"))
    );
    let unknown = session.post(call(2, "no-such-tool")).await;
    assert_eq!(unknown.status(), 200);
    assert_eq!(unknown.json().await["error"]["code"], -32602);
    drop(shutdown);
    serving.await.unwrap().unwrap();
    host.close().await;
}
