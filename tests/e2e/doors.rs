//! Who may speak to the port at all: Host and Origin, before anything else (T16).

use std::io::Write;

use serde_json::json;
use toolgate_e2e::gateway::GatewaySetup;
use toolgate_e2e::http::{EndpointUrl, RawHttpResponse, request};
use toolgate_e2e::mcp::{REVISION, initialize, post};

/// A request to `target` with these headers; the body is a valid `initialize`.
fn knock(endpoint: &EndpointUrl, target: &str, headers: &[(&str, &str)]) -> RawHttpResponse {
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
    let setup = GatewaySetup::new("").unwrap();
    let gateway = setup.serve().unwrap();
    let endpoint = EndpointUrl::parse(&gateway.url).unwrap();
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
    let setup = GatewaySetup::new("").unwrap();
    let gateway = setup.serve().unwrap();
    let endpoint = EndpointUrl::parse(&gateway.url).unwrap();
    let own = endpoint.authority.as_str();
    let refused = |response: RawHttpResponse, what: &str| {
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
    let setup = GatewaySetup::new("").unwrap();
    let gateway = setup.serve().unwrap();
    let endpoint = EndpointUrl::parse(&gateway.url).unwrap();
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
    let answer = RawHttpResponse::read(options).unwrap();
    assert_eq!(answer.header("access-control-allow-origin"), None);
    assert_eq!(answer.status, 403);
}

/// The status of a request that opens a session, in a chunked body, with these headers before it.
fn chunked(endpoint: &EndpointUrl, headers: &[(&str, &str)]) -> u16 {
    let body = initialize(REVISION, &json!({}));
    let body = format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    let always = [
        ("Host", endpoint.authority.as_str()),
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
        ("Connection", "close"),
    ];
    let all: Vec<_> = always.iter().chain(headers).copied().collect();
    endpoint.exchange(&request("POST", &endpoint.path, &all, body.as_bytes())).unwrap().status
}

#[test]
fn a_body_that_is_framed_twice_is_refused() {
    let setup = GatewaySetup::new("").unwrap();
    let gateway = setup.serve().unwrap();
    let endpoint = EndpointUrl::parse(&gateway.url).unwrap();
    let (chunks, length) = (("Transfer-Encoding", "chunked"), ("Content-Length", "5"));
    assert_eq!(chunked(&endpoint, &[chunks]), 200);
    for both in [[length, chunks], [chunks, length], [chunks, ("content-length", "0")]] {
        assert_eq!(chunked(&endpoint, &both), 400, "{both:?}");
    }
}

#[test]
fn a_request_that_names_two_sessions_is_refused() {
    let setup = GatewaySetup::new("").unwrap();
    let gateway = setup.serve().unwrap();
    let (client, other) = (gateway.client().unwrap(), gateway.client().unwrap());
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
    assert_eq!(client.post(&ping).unwrap().status, 200);
    for second in [client.session.as_str(), other.session.as_str(), "other"] {
        let mut headers = client.headers();
        headers.push(("Mcp-Session-Id", second));
        let status = post(&client.endpoint, &headers, &ping).unwrap().status;
        assert_eq!(status, 400, "{second}");
        headers.push(("Accept", "text/event-stream"));
        for method in ["GET", "DELETE"] {
            let status = client.endpoint.send(method, &headers, b"").unwrap().status;
            assert_eq!(status, 400, "{method} {second}");
        }
    }
    assert_eq!(client.post(&ping).unwrap().status, 200, "the session goes on");
}

#[test]
fn a_page_of_another_site_opens_no_stream_and_no_session() {
    let setup = GatewaySetup::new("").unwrap();
    let gateway = setup.serve().unwrap();
    let endpoint = EndpointUrl::parse(&gateway.url).unwrap();
    let own = endpoint.authority.as_str();
    let stream = |site: &[(&str, &str)]| {
        let always = [("Host", own), ("Accept", "image/*,*/*;q=0.8"), ("Connection", "close")];
        let all: Vec<_> = always.iter().chain(site).copied().collect();
        endpoint.exchange(&request("GET", "/sse", &all, b"")).unwrap().status
    };
    let session = |site: &[(&str, &str)]| {
        let all: Vec<_> = [("Host", own)].iter().chain(site).copied().collect();
        knock(&endpoint, &endpoint.path, &all).status
    };
    let site = |site| ("Sec-Fetch-Site", site);
    let (same, origin) = (site("same-origin"), format!("http://{own}"));
    for allowed in [&[][..], &[site("none")], &[same], &[site("cross-site"), ("Origin", &origin)]] {
        assert_eq!((stream(allowed), session(allowed)), (200, 200), "{allowed:?}");
    }
    for refused in [&[site("cross-site")][..], &[site("same-site")], &[same, site("cross-site")]] {
        assert_eq!((stream(refused), session(refused)), (403, 403), "{refused:?}");
    }
}

#[test]
fn a_form_post_from_a_page_is_refused() {
    let setup = GatewaySetup::new("").unwrap();
    let gateway = setup.serve().unwrap();
    let endpoint = EndpointUrl::parse(&gateway.url).unwrap();
    let body = initialize(REVISION, &json!({}));
    for kind in ["text/plain", "application/x-www-form-urlencoded", ""] {
        let headers = [("Content-Type", kind), ("Accept", "application/json, text/event-stream")];
        let status = endpoint.send("POST", &headers, body.as_bytes()).unwrap().status;
        assert!((400..500).contains(&status), "Content-Type {kind:?}: {status}");
    }
}
