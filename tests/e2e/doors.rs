//! Who may speak to the port at all: Host and Origin, before anything else (T16).

use std::io::Write;

use serde_json::json;
use toolgate_e2e::gateway::Setup;
use toolgate_e2e::http::{Endpoint, Response, request};
use toolgate_e2e::mcp::{REVISION, initialize};

/// A request to `target` with these headers; the body is a valid `initialize`.
fn knock(endpoint: &Endpoint, target: &str, headers: &[(&str, &str)]) -> Response {
    let body = initialize(REVISION, &json!({}));
    let length = body.len().to_string();
    let always = [
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
        ("Content-Length", length.as_str()),
        ("Connection", "close"),
    ];
    let all: Vec<_> = headers.iter().chain(&always).copied().collect();
    endpoint.exchange(&request("POST", target, &all, body.as_bytes())).unwrap()
}

#[test]
fn only_the_machine_itself_may_ask() {
    let setup = Setup::new("").unwrap();
    let gateway = setup.serve().unwrap();
    let endpoint = Endpoint::parse(&gateway.url).unwrap();
    let own = endpoint.authority.clone();
    let port = own.rsplit(':').next().unwrap().to_owned();
    let at = |host: &str| format!("{host}:{port}");
    let status = |headers: &[(&str, &str)]| knock(&endpoint, &endpoint.path, headers).status;

    for host in [own.clone(), at("localhost"), at("LOCALHOST")] {
        assert_eq!(status(&[("Host", &host)]), 200, "Host: {host}");
    }
    for origin in [format!("http://{own}"), format!("http://{}", at("localhost"))] {
        assert_eq!(status(&[("Host", &own), ("Origin", &origin)]), 200, "Origin: {origin}");
    }

    for host in [
        "evil.example".to_owned(),
        at("evil.example"),
        at("localhost.evil.example"),
        at("127.0.0.1.nip.example"),
        at("127.0.0.1@evil.example"),
        at("0.0.0.0"),
        "127.0.0.1:1".to_owned(),
        "localhost:1".to_owned(),
        String::new(),
        at("127.0.0.1 "),
        format!("{own}/evil"),
        at("[::ffff:127.0.0.1"),
    ] {
        let got = status(&[("Host", &host)]);
        assert!([400, 403, 421].contains(&got), "Host: {host:?} was answered with {got}");
    }
    for origin in [
        "null".to_owned(),
        "http://evil.example".to_owned(),
        format!("http://{}", at("evil.example")),
        format!("http://{}", at("localhost.evil.example")),
        "http://127.0.0.1:1".to_owned(),
        format!("file://{own}"),
        format!("http://{own}.evil.example"),
        String::new(),
    ] {
        let got = status(&[("Host", &own), ("Origin", &origin)]);
        assert_eq!(got, 403, "Origin: {origin:?}");
    }
}

#[test]
fn a_missing_doubled_or_contradicted_host_is_refused() {
    let setup = Setup::new("").unwrap();
    let gateway = setup.serve().unwrap();
    let endpoint = Endpoint::parse(&gateway.url).unwrap();
    let own = endpoint.authority.as_str();
    let refused = |response: Response, what: &str| {
        let status = response.status;
        assert!([400, 403, 421].contains(&status), "{what} was answered with {status}");
    };
    refused(knock(&endpoint, &endpoint.path, &[]), "no Host");
    let twice = [("Host", own), ("Host", "evil.example")];
    refused(knock(&endpoint, &endpoint.path, &twice), "two Hosts");
    let foreign = "http://evil.example/mcp";
    refused(knock(&endpoint, foreign, &[("Host", own)]), "a foreign authority in the target");
}

#[test]
fn every_path_is_behind_the_same_door() {
    let setup = Setup::new("").unwrap();
    let gateway = setup.serve().unwrap();
    let endpoint = Endpoint::parse(&gateway.url).unwrap();
    let get = |target: &str, host: &str| {
        let headers = [("Host", host), ("Accept", "*/*"), ("Connection", "close")];
        endpoint.exchange(&request("GET", target, &headers, b"")).unwrap().status
    };
    assert_eq!(get("/healthz", &endpoint.authority), 200);
    for target in ["/healthz", "/mcp", "/", "/nothing-here"] {
        let status = get(target, "evil.example");
        assert!([400, 403, 421].contains(&status), "{target}: {status}");
    }
    let mut options = endpoint.connect().unwrap();
    let preflight = request(
        "OPTIONS",
        "/mcp",
        &[
            ("Host", &endpoint.authority),
            ("Origin", "http://evil.example"),
            ("Connection", "close"),
        ],
        b"",
    );
    options.write_all(&preflight).unwrap();
    let answer = Response::read(options).unwrap();
    assert_eq!(answer.header("access-control-allow-origin"), None);
    assert_eq!(answer.status, 403);
}

#[test]
fn a_form_post_from_a_page_is_refused() {
    let setup = Setup::new("").unwrap();
    let gateway = setup.serve().unwrap();
    let endpoint = Endpoint::parse(&gateway.url).unwrap();
    let body = initialize(REVISION, &json!({}));
    for kind in ["text/plain", "application/x-www-form-urlencoded", ""] {
        let headers = [("Content-Type", kind), ("Accept", "application/json, text/event-stream")];
        let status = endpoint.send("POST", &headers, body.as_bytes()).unwrap().status;
        assert!((400..500).contains(&status), "Content-Type {kind:?}: {status}");
    }
}
