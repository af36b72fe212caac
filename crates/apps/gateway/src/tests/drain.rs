//! Shutdown of a gateway, and timeouts of slow connections.

use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use toolgate_model::CapabilityKind;

use super::Stage;
use super::client::{call, request};
use crate::{ConnectionTimeouts, Options};

#[tokio::test]
async fn requests_in_flight_finish_before_the_end() {
    let mut stage =
        Stage::new(Options { sse_after: Duration::from_millis(10), ..Options::default() }).await;
    let session = stage.http.session().await;
    let standing = session.get().await.events();
    let streamed = session.post(call(1, "wait")).await.events();
    let plain = tokio::spawn({
        let session = session.with("accept", "application/json");
        async move { session.post(call(2, "wait")).await.json().await }
    });
    stage.script.begun.notified().await;
    stage.script.begun.notified().await;
    stage.end();
    while TcpStream::connect(stage.http.address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    stage.script.go.add_permits(2);
    assert_eq!(streamed.rest().await[0]["result"]["waited"], true);
    assert_eq!(plain.await.unwrap()["result"]["waited"], true);
    standing.rest().await;
    stage.serving.await.unwrap().unwrap();
    assert_eq!(stage.script.released.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn what_does_not_finish_in_time_is_ended() {
    let drain = Duration::from_millis(30);
    let mut stage = Stage::new(Options { drain_timeout: drain, ..Options::default() }).await;
    let session = stage.http.session().await;
    let stuck = tokio::spawn(async move { session.post(call(1, "wait")).await.json().await });
    stage.script.begun.notified().await;
    stage.end();
    assert_eq!(stuck.await.unwrap()["error"]["code"], -32000);
    stage.script.dropped.notified().await;
    stage.serving.await.unwrap().unwrap();
}

/// Returns everything the gateway sends on a connection before closing it.
async fn said(stage: &Stage, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(stage.http.address).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    let mut said = Vec::new();
    // A connection that was reset is closed too.
    let _ = stream.read_to_end(&mut said).await;
    String::from_utf8(said).unwrap()
}

#[tokio::test]
async fn slow_and_idle_connections_are_cut() {
    let short = Duration::from_millis(60);
    let cuts = ConnectionTimeouts {
        head: short,
        idle: short,
        body: short,
        ..ConnectionTimeouts::default()
    };
    let stage = Stage::new(Options { timeouts: cuts, ..Options::default() }).await;
    assert_eq!(said(&stage, b"").await, "", "nothing was asked");
    assert_eq!(said(&stage, b"POST /mcp HTTP/1.1\r\nHost: 127").await, "", "half a head");
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{{",
        stage.http.address
    );
    assert!(said(&stage, head.as_bytes()).await.starts_with("HTTP/1.1 408"), "half a body");
}

#[tokio::test]
async fn an_open_stream_is_not_idle() {
    let short = Duration::from_millis(40);
    let cuts = ConnectionTimeouts { head: short, idle: short, ..ConnectionTimeouts::default() };
    let keep_alive = Duration::from_millis(15);
    let stage = Stage::new(Options { timeouts: cuts, keep_alive, ..Options::default() }).await;
    let session = stage.http.session().await;
    let mut standing = session.get().await.raw();
    let mut seen = String::new();
    while seen.matches(": keep-alive").count() < 20 {
        seen.push_str(&standing.next().await.unwrap());
    }
}

#[tokio::test]
async fn floods_of_headers_are_refused() {
    let stage = Stage::plain().await;
    let many: String = (0..200).map(|n| format!("x-{n}: 1\r\n")).collect();
    let long = format!("x: {}\r\n", "y".repeat(64 << 10));
    for headers in [many, long] {
        let head = format!("GET /mcp HTTP/1.1\r\nHost: {}\r\n{headers}\r\n", stage.http.address);
        assert!(said(&stage, head.as_bytes()).await.starts_with("HTTP/1.1 431"));
    }
}

#[tokio::test]
async fn a_host_that_is_missing_or_twice_is_malformed() {
    let stage = Stage::plain().await;
    let own = format!("Host: {}\r\n", stage.http.address);
    let rows = [
        ("POST /mcp HTTP/1.1\r\n\r\n".to_owned(), "400"),
        ("POST /mcp HTTP/1.0\r\n\r\n".to_owned(), "400"),
        (format!("POST /mcp HTTP/1.1\r\n{own}{own}Connection: close\r\n\r\n"), "400"),
        (format!("POST http://evil.example/mcp HTTP/1.1\r\n{own}Connection: close\r\n\r\n"), "403"),
    ];
    for (head, status) in rows {
        let head = head.replacen("\r\n\r\n", "\r\nConnection: close\r\n\r\n", 1);
        let said = said(&stage, head.as_bytes()).await;
        assert!(said.contains(&format!(" {status} ")), "{head}{said}");
    }
}

#[tokio::test]
async fn slow_peers_make_room_for_others_and_those_served_do_not() {
    let stage = Stage::new(Options { connections: 8, ..Options::default() }).await;
    let session = stage.http.open("2025-11-25", json!({})).await;
    let mut standing = session.get().await.events();
    let host = stage.http.address;
    let body = format!(
        "POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
         Content-Length: 9\r\n\r\n{{"
    );
    let mut slow = Vec::new();
    for begun in ["POST /mcp HT", &body].repeat(16) {
        let mut stream = TcpStream::connect(host).await.unwrap();
        stream.write_all(begun.as_bytes()).await.unwrap();
        slow.push(stream);
    }
    let answered = async { session.post(request(1, "ping")).await.status() };
    let answered = tokio::time::timeout(Duration::from_secs(5), answered).await;
    assert_eq!(answered.expect("sooner than the slow are cut anyway"), 200);
    stage.script.list_changed(CapabilityKind::Tool);
    let ready = standing.message().await.unwrap();
    assert_eq!(ready["params"]["data"]["event"], "session-ready");
    assert_eq!(standing.message().await.unwrap()["method"], "notifications/tools/list_changed");
}
