//! Connections that dawdle are cut, and meanwhile nobody else waits (T20).

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::json;
use toolgate_e2e::count;
use toolgate_e2e::gateway::{GatewaySetup, stdio_entry, testkit};
use toolgate_e2e::http::EndpointUrl;

/// How long a dawdling connection may live: a head has ten seconds, a silent body fifteen.
const CUT: Duration = Duration::from_secs(20);

/// Waits until the other side has closed; an answer before that (408) is fine.
fn is_cut(mut stream: TcpStream) -> bool {
    stream.set_read_timeout(Some(CUT)).unwrap();
    let mut rest = Vec::new();
    match stream.read_to_end(&mut rest) {
        Ok(_) => true,
        Err(error) => error.kind() == ErrorKind::ConnectionReset,
    }
}

#[test]
fn unfinished_heads_and_bodies_are_cut_while_others_are_served() {
    let fixture = testkit("fixture", &["--stdio"]).unwrap();
    let setup = GatewaySetup::new(&stdio_entry("fixture", &fixture, &[])).unwrap();
    let gateway = setup.serve().unwrap();
    let endpoint = EndpointUrl::parse(&gateway.url).unwrap();
    let client = gateway.client_with(&["fixture__test_simple_text"]).unwrap();
    let host = format!("Host: {}\r\n", endpoint.authority);
    let beginnings = [
        "POST /mcp HTTP/1.1\r\n".to_owned(),
        format!("POST /mcp HTTP/1.1\r\n{host}X-Slow: "),
        format!(
            "POST /mcp HTTP/1.1\r\n{host}Content-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: 1000\r\n\r\n{{"
        ),
    ];
    let dawdling: Vec<TcpStream> = (0..count(2000))
        .map(|number| {
            let mut stream = endpoint.connect().unwrap();
            stream.write_all(beginnings[number % beginnings.len()].as_bytes()).unwrap();
            stream
        })
        .collect();
    // A call that waits for one of them is answered once it is cut.
    let last = dawdling.last().unwrap();
    last.set_nonblocking(true).unwrap();
    for _ in 0..50 {
        let answer = client.call("fixture__test_simple_text", &json!({})).unwrap();
        assert!(answer.get("result").is_some(), "{answer}");
        let still = last.peek(&mut [0]).map_err(|error| error.kind());
        assert_eq!(still, Err(ErrorKind::WouldBlock), "it was cut before the call was answered");
    }
    last.set_nonblocking(false).unwrap();
    let begun = Instant::now();
    // The last of each kind; they were opened together and are cut together.
    let newest = dawdling.into_iter().enumerate().rev().take(beginnings.len());
    for (number, stream) in newest {
        assert!(is_cut(stream), "{:?} is still open", beginnings[number % beginnings.len()]);
    }
    assert!(begun.elapsed() < CUT, "{:?}", begun.elapsed());
}

#[test]
fn a_head_without_end_is_refused() {
    let setup = GatewaySetup::new("").unwrap();
    let gateway = setup.serve().unwrap();
    let endpoint = EndpointUrl::parse(&gateway.url).unwrap();
    let mut stream = endpoint.connect().unwrap();
    let line = format!("X-Flood: {}\r\n", "x".repeat(1000));
    let head = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n", endpoint.authority);
    stream.write_all(head.as_bytes()).unwrap();
    // The gateway stops reading long before this; then our writes fail, and that is the refusal.
    let flooded = (0..10_000).try_for_each(|_| stream.write_all(line.as_bytes()));
    let mut answer = String::new();
    _ = stream.read_to_string(&mut answer);
    let refused = answer.starts_with("HTTP/1.1 4");
    assert!(refused || flooded.is_err(), "ten megabytes of head were read: {answer}");
    assert_eq!(endpoint.send("GET", &[], b"").map(|response| response.status / 100).unwrap(), 4);
    let health = EndpointUrl { path: "/healthz".to_owned(), ..endpoint };
    assert_eq!(health.send("GET", &[], b"").unwrap().status, 200);
}
