//! Which era a server is of: every kind of evidence, on both carriers.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolgate_session::{Session, SessionError};
use toolgate_wire::{Era, Revision};

use crate::http::HttpServer;
use crate::peer::{Notebook, Server, TIMEOUTS, discovered, greet, initialized};

/// How a server answers the question for its era.
enum Says {
    Result(Value),
    Error(i64, Value),
}

/// What becomes of the connection.
#[derive(Debug, PartialEq)]
enum Becomes {
    Modern,
    Legacy,
    /// An error that says so.
    Error(&'static str),
}

/// What servers say, and what that means; on HTTP an error comes as a refusal.
fn table() -> Vec<(Says, Becomes)> {
    use Becomes::{Error, Legacy, Modern};
    let versions = |versions: Value| json!({ "supportedVersions": versions, "capabilities": {} });
    let supported = |versions: Value| json!({ "supported": versions, "requested": "2026-07-28" });
    let needs = json!({ "requiredCapabilities": { "sampling": {} } });
    vec![
        (Says::Result(discovered(&json!({}))), Modern),
        (Says::Result(versions(json!(["2025-11-25", "2026-07-28", "2027-01-01"]))), Modern),
        (Says::Result(versions(json!(["2025-06-18"]))), Legacy),
        (Says::Result(versions(json!(["2099-01-01"]))), Error("2099-01-01")),
        (Says::Result(json!({})), Legacy),
        (Says::Error(-32601, json!(null)), Legacy),
        (Says::Error(-32602, json!({})), Legacy),
        (Says::Error(-32000, json!(null)), Legacy),
        (Says::Error(-32022, supported(json!(["2025-11-25"]))), Legacy),
        (Says::Error(-32022, supported(json!(["2099-01-01"]))), Error("2099-01-01")),
        (Says::Error(-32021, needs.clone()), Error("-32021")),
        (Says::Error(-32020, json!(null)), Error("-32020")),
        (Says::Error(-32004, supported(json!(["2099-01-01"]))), Error("2099-01-01")),
        (Says::Error(-32003, needs), Error("-32003")),
        (Says::Error(-32001, json!(null)), Legacy),
        (Says::Error(-32004, json!({ "other": 1 })), Legacy),
    ]
}

fn outcome(opened: &Result<Session, SessionError>, expected: &Becomes) {
    match (opened, expected) {
        (Ok(session), Becomes::Modern) => {
            assert_eq!(session.handshake().protocol, Revision::V2026_07_28);
        }
        (Ok(session), Becomes::Legacy) => {
            assert_eq!(session.handshake().protocol, Revision::V2025_06_18);
        }
        (Err(error), Becomes::Error(part)) => {
            assert!(error.to_string().contains(part), "{error}");
        }
        (Ok(session), expected) => panic!("{:?} for {expected:?}", session.handshake()),
        (Err(error), expected) => panic!("{error} for {expected:?}"),
    }
}

async fn initialize(server: &mut Server) {
    let hello = server.expect("initialize").await;
    server.answer(&hello, initialized("2025-06-18", &json!({}))).await;
    server.expect("notifications/initialized").await;
}

#[tokio::test]
async fn on_a_pipe_what_the_server_says_decides() {
    for (says, becomes) in table() {
        let (opening, mut server, _) = greet(None);
        let played = async {
            let asked = server.expect("server/discover").await;
            match says {
                Says::Result(result) => server.answer(&asked, result).await,
                Says::Error(code, data) => server.refuse(&asked, code, data).await,
            }
            if becomes == Becomes::Legacy {
                initialize(&mut server).await;
            }
        };
        let (opened, ()) = tokio::join!(opening, played);
        outcome(&opened, &becomes);
    }
}

#[tokio::test]
async fn on_http_what_the_server_says_decides() {
    for (says, becomes) in table() {
        let mut server = HttpServer::start().await;
        let opening = server.greet(None, &Arc::new(Notebook::default()));
        let played = async {
            let asked = server.expect("server/discover").await;
            assert_eq!(asked.header("mcp-protocol-version"), Some("2026-07-28"));
            assert_eq!(asked.header("mcp-method"), Some("server/discover"));
            match says {
                Says::Result(result) => asked.answer(result).await,
                Says::Error(code, data) => asked.refuse(400, code, data).await,
            }
            if becomes == Becomes::Legacy {
                play_legacy(&mut server).await;
            }
        };
        let (opened, ()) = tokio::join!(opening, played);
        outcome(&opened, &becomes);
    }
}

async fn play_legacy(server: &mut HttpServer) {
    let hello = server.expect("initialize").await;
    assert_eq!(hello.header("mcp-protocol-version"), None);
    assert_eq!(hello.header("mcp-method"), None);
    hello.answer(initialized("2025-06-18", &json!({}))).await;
    server.expect("notifications/initialized").await.reply(202, "").await;
    let standing = server.next().await;
    assert_eq!(standing.verb, "GET");
    standing.reply(405, "").await;
}

#[tokio::test]
async fn the_question_says_who_asks_in_the_modern_way() {
    let (opening, mut server, _) = greet(None);
    let played = async {
        let asked = server.expect("server/discover").await;
        let meta = &asked["params"]["_meta"];
        assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
        assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "toolgate");
        assert_eq!(meta["io.modelcontextprotocol/clientCapabilities"], json!({ "roots": {} }));
        server.answer(&asked, discovered(&json!({ "tools": {} }))).await;
    };
    let (opened, ()) = tokio::join!(opening, played);
    let session = opened.unwrap();
    let welcome = session.handshake();
    assert!(welcome.declares("tools"));
    assert_eq!(welcome.server_info, r#"{"name":"played","version":"2"}"#);
    assert_eq!(welcome.instructions.as_deref(), Some("be kind"));
}

#[tokio::test]
async fn a_refused_version_that_is_spoken_after_all_is_asked_for_once_more() {
    for stubborn in [false, true] {
        let mut server = HttpServer::start().await;
        let opening = server.greet(None, &Arc::new(Notebook::default()));
        let played = async {
            let asked = server.expect("server/discover").await;
            let supported = json!({ "supported": ["2026-07-28"], "requested": "x" });
            asked.refuse(400, -32022, supported.clone()).await;
            let again = server.expect("server/discover").await;
            match stubborn {
                true => again.refuse(400, -32022, supported).await,
                false => again.answer(discovered(&json!({}))).await,
            }
        };
        let (opened, ()) = tokio::join!(opening, played);
        assert_eq!(opened.is_err(), stubborn);
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_silent_on_a_pipe_is_greeted_there_and_its_late_answer_is_a_stray() {
    let (opening, mut server, _) = greet(None);
    let played = async {
        let asked = server.expect("server/discover").await;
        let hello = server.expect("initialize").await;
        server.answer(&asked, discovered(&json!({}))).await;
        server.answer(&hello, initialized("2025-06-18", &json!({}))).await;
        server.expect("notifications/initialized").await;
        server
    };
    let (opened, mut server) = tokio::join!(opening, played);
    outcome(&opened, &Becomes::Legacy);
    drop(opened);
    assert!(server.is_left().await, "the question was cancelled");
}

/// Whether the connection is to be opened anew in this era, for this reason.
fn reopens(opened: Result<Session, SessionError>, era: Era, why: &str) {
    match opened {
        Err(SessionError::Reopen { era: told, source }) => {
            assert_eq!(told, era);
            assert!(source.to_string().contains(why), "{source}");
        }
        Err(error) => panic!("{error}"),
        Ok(session) => panic!("{:?}", session.handshake()),
    }
}

#[tokio::test(start_paused = true)]
async fn a_modern_server_that_starts_slowly_is_modern_on_a_connection_without_the_wrong_greeting() {
    for lingers in [true, false] {
        let (opening, mut server, _) = greet(None);
        let played = async {
            let asked = server.expect("server/discover").await;
            let hello = server.expect("initialize").await;
            server.answer(&asked, discovered(&json!({}))).await;
            server.refuse(&hello, -32022, json!(null)).await;
            lingers.then_some(server)
        };
        let (opened, _server) = tokio::join!(opening, played);
        reopens(opened, Era::Modern, "-32022");
    }
}

#[tokio::test(start_paused = true)]
async fn a_modern_server_need_not_answer_the_wrong_greeting() {
    let (opening, mut server, _) = greet(None);
    let began = tokio::time::Instant::now();
    let played = async {
        let asked = server.expect("server/discover").await;
        server.expect("initialize").await;
        server.answer(&asked, discovered(&json!({}))).await;
        server
    };
    let (opened, _server) = tokio::join!(opening, played);
    reopens(opened, Era::Modern, "within 2 s");
    assert_eq!(began.elapsed(), Duration::from_secs(4));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_hangs_is_waited_for_no_longer_than_any() {
    for answers_the_probe in [false, true] {
        let (opening, mut server, _) = greet(None);
        let began = tokio::time::Instant::now();
        let played = async {
            let asked = server.expect("server/discover").await;
            if answers_the_probe {
                server.refuse(&asked, -32601, json!(null)).await;
            }
            server.expect("initialize").await;
            server
        };
        let (opened, _server) = tokio::join!(opening, played);
        let Err(SessionError::TimedOut(after)) = opened else { panic!("it does not just hang") };
        assert_eq!((after, began.elapsed()), (TIMEOUTS.start(), TIMEOUTS.start()));
    }
}

#[tokio::test]
async fn a_server_that_does_not_survive_the_question_is_told_apart() {
    let (opening, mut server, _) = greet(None);
    let died = async {
        server.expect("server/discover").await;
        drop(server);
    };
    let (opened, ()) = tokio::join!(opening, died);
    reopens(opened, Era::Legacy, "closed its output");

    let (opening, mut server, _) = greet(None);
    let sulked = async {
        let asked = server.expect("server/discover").await;
        server.refuse(&asked, -32601, json!(null)).await;
        let hello = server.expect("initialize").await;
        server.refuse(&hello, -32600, json!(null)).await;
    };
    let (opened, ()) = tokio::join!(opening, sulked);
    reopens(opened, Era::Legacy, "-32600");
}

#[tokio::test]
async fn a_greeting_refused_without_an_id_is_a_refusal_of_a_modern_server_only() {
    for (code, refused) in [(-32000, false), (-32022, true)] {
        let mut server = HttpServer::start().await;
        let opening = server.greet(Some(Era::Legacy), &Arc::new(Notebook::default()));
        let error = json!({ "code": code, "message": "no" });
        let body = json!({ "jsonrpc": "2.0", "id": null, "error": error }).to_string();
        let played = async { server.expect("initialize").await.reply(400, &body).await };
        let (opened, ()) = tokio::join!(opening, played);
        match opened {
            Err(SessionError::Refused { code: told, .. }) => assert!(refused && told == code),
            Err(SessionError::Status { status: 400, .. }) => assert!(!refused),
            Err(error) => panic!("{error}"),
            Ok(_) => panic!("let in"),
        }
    }
}

#[tokio::test]
async fn on_http_how_a_server_fares_is_no_evidence() {
    for status in [500, 502, 503, 408, 429] {
        let mut server = HttpServer::start().await;
        let opening = server.greet(None, &Arc::new(Notebook::default()));
        let played = async { server.next().await.refuse(status, -32601, json!(null)).await };
        let (opened, ()) = tokio::join!(opening, played);
        let Err(SessionError::Status { status: told, .. }) = opened else { panic!("{status}") };
        assert_eq!(told, status);
    }
    for status in [401, 403] {
        let mut server = HttpServer::start().await;
        let opening = server.greet(None, &Arc::new(Notebook::default()));
        let played = async { server.next().await.reply(status, "").await };
        let (opened, ()) = tokio::join!(opening, played);
        assert!(matches!(opened, Err(SessionError::NeedsAuth { .. })), "{status}");
    }
    for (status, body) in [(400, "Bad session"), (404, ""), (405, ""), (202, "")] {
        let mut server = HttpServer::start().await;
        let opening = server.greet(None, &Arc::new(Notebook::default()));
        let played = async {
            server.next().await.reply(status, body).await;
            play_legacy(&mut server).await;
        };
        let (opened, ()) = tokio::join!(opening, played);
        outcome(&opened, &Becomes::Legacy);
    }
}

#[tokio::test]
async fn a_server_known_to_be_modern_is_never_greeted_as_a_legacy_one() {
    let (opening, mut server, _) = greet(Some(Era::Modern));
    let played = async {
        let asked = server.expect("server/discover").await;
        server.refuse(&asked, -32601, json!(null)).await;
        server
    };
    let (opened, mut server) = tokio::join!(opening, played);
    assert!(matches!(opened, Err(SessionError::Protocol(_))));
    assert!(server.is_left().await);
}

#[tokio::test]
async fn a_server_known_to_be_legacy_is_asked_nothing() {
    let (opening, mut server, _) = greet(Some(Era::Legacy));
    let (opened, ()) = tokio::join!(opening, initialize(&mut server));
    outcome(&opened, &Becomes::Legacy);
}

#[tokio::test(start_paused = true)]
async fn silence_on_http_is_an_outage() {
    let mut server = HttpServer::start().await;
    let opening = server.greet(None, &Arc::new(Notebook::default()));
    let (opened, asked) = tokio::join!(opening, server.next());
    let Err(SessionError::TimedOut(after)) = opened else { panic!("not an outage") };
    assert_eq!(after, Duration::from_secs(5));
    asked.closed().await;
}
