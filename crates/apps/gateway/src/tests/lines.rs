//! Clients that send a message per line.

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::task::JoinHandle;
use toolgate_transport::spool::BodyLimits;

use super::client::{call, cancelled, initialize, request};
use super::script::Script;
use crate::{Gateway, GatewayError, Options};
use std::sync::Arc;

/// A client on a pipe.
pub(super) struct Piped {
    pub(super) script: Arc<Script>,
    pub(super) gateway: Gateway,
    pub(super) input: Option<WriteHalf<DuplexStream>>,
    pub(super) output: BufReader<ReadHalf<DuplexStream>>,
    pub(super) serving: JoinHandle<Result<(), GatewayError>>,
}

impl Piped {
    pub(super) fn new(options: Options) -> Self {
        let script = Script::new();
        Self::on(Gateway::new(script.clone(), options), script)
    }

    /// Another client of the same gateway.
    pub(super) fn beside(&self) -> Self {
        Self::on(self.gateway.clone(), self.script.clone())
    }

    pub(super) fn on(gateway: Gateway, script: Arc<Script>) -> Self {
        let serving = gateway.clone();
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (reader, writer) = tokio::io::split(theirs);
        let serving = tokio::spawn(async move {
            serving.serve_lines(reader, writer, std::future::pending()).await
        });
        let (output, input) = tokio::io::split(ours);
        Self { script, gateway, input: Some(input), output: BufReader::new(output), serving }
    }

    pub(super) async fn open(revision: &str, capabilities: Value) -> Self {
        let mut client = Self::new(Options::default());
        client.send(initialize(revision, capabilities)).await;
        assert_eq!(client.next().await["result"]["protocolVersion"], revision);
        client.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        assert_eq!(client.next().await["params"]["data"]["event"], "session-ready");
        client
    }

    pub(super) async fn send(&mut self, message: Value) {
        self.write(&message.to_string()).await;
    }

    async fn write(&mut self, line: &str) {
        self.input.as_mut().unwrap().write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    pub(super) async fn next(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).await.unwrap();
        serde_json::from_str(&line).unwrap()
    }
}

#[tokio::test]
async fn before_initialize_there_is_only_ping() {
    let mut client = Piped::new(Options::default());
    client.send(request(1, "ping")).await;
    assert_eq!(client.next().await["result"], json!({}));
    client.send(request(2, "tools/list")).await;
    assert_eq!(client.next().await["error"]["code"], -32600);
    client.write("nonsense").await;
    assert_eq!(client.next().await["error"]["code"], -32700);
}

#[tokio::test]
async fn requests_run_side_by_side_with_everything_said_meanwhile() {
    let mut client = Piped::open("2025-11-25", json!({"elicitation": {}})).await;
    client.send(call(1, "wait")).await;
    client.send(call(2, "progress")).await;
    for step in 1..=3 {
        assert_eq!(client.next().await["params"]["progress"], step);
    }
    assert_eq!(client.next().await["id"], 2);
    let mut ask = call(3, "ask");
    ask["params"]["ask"] = "form".into();
    client.send(ask).await;
    let question = client.next().await;
    client
        .send(json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}}))
        .await;
    assert_eq!(client.next().await["result"]["answer"], r#"{"action":"decline"}"#);
    client.send(cancelled(1)).await;
    let answer = client.next().await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(1), &json!(-32800)));
}

#[tokio::test]
async fn the_end_of_the_input_cancels_calls_and_lets_lists_finish() {
    let mut client = Piped::open("2025-11-25", json!({})).await;
    client.send(call(1, "wait")).await;
    client.script.begun.notified().await;
    client.send(request(2, "prompts/list")).await;
    client.input.as_mut().unwrap().shutdown().await.unwrap();
    client.script.dropped.notified().await;
    let answers = [client.next().await, client.next().await];
    let of = |id: u32| answers.iter().find(|answer| answer["id"] == id).unwrap();
    assert_eq!(of(1)["error"]["code"], -32000, "{answers:?}");
    assert_eq!(of(2)["result"], json!({"prompts": []}), "{answers:?}");
    client.serving.await.unwrap().unwrap();
    assert_eq!(client.script.released.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_client_that_is_gone_takes_its_session_with_it() {
    let mut client = Piped::open("2025-11-25", json!({})).await;
    client.send(call(1, "progress-then-wait")).await;
    client.script.begun.notified().await;
    let Piped { script, input, output, serving, .. } = client;
    drop((input, output));
    script.go.add_permits(1);
    serving.await.unwrap().unwrap();
    assert_eq!(script.released.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn batches_are_for_the_one_revision_that_has_them() {
    let mut client = Piped::open("2025-03-26", json!({})).await;
    client.send(json!([request(1, "ping"), request(2, "ping")])).await;
    assert_eq!(client.next().await.as_array().unwrap().len(), 2);
    let mut newer = Piped::open("2025-06-18", json!({})).await;
    newer.send(json!([request(1, "ping")])).await;
    assert_eq!(newer.next().await["error"]["code"], -32600);
}

#[tokio::test]
async fn an_oversize_line_fails_its_request_and_no_other() {
    let body = BodyLimits { memory: 32 << 10, total: 64 << 10 };
    let mut client = Piped::new(Options { body, ..Options::default() });
    let long = "x".repeat(100 << 10);
    client.write(&format!(r#"{{"jsonrpc":"2.0","id":5,"method":"ping","x":"{long}"}}"#)).await;
    let answer = client.next().await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(5), &json!(-32600)));
    client.send(request(6, "ping")).await;
    assert_eq!(client.next().await["id"], 6);
}
