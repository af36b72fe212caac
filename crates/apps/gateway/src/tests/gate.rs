//! The gateway with the real gate and a tool of this process.

use serde_json::json;
use toolgate_host::{Host, Tool};

use super::client::{call, request};
use crate::{Gateway, Options};

#[tokio::test]
async fn a_request_reaches_a_real_tool_and_its_answer_the_client() {
    let schema = json!({"type": "object"});
    let greet = Tool::new("greet", "Greets", schema, |_| async {
        Ok::<_, String>("hello".to_owned().into())
    });
    let host = Host::builder().tool(greet).start().await.unwrap();
    let gateway = Gateway::new(host.gate().clone(), Options::default());
    let (http, shutdown, serving) = super::serve(gateway).await;
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
