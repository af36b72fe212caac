//! The conformance fixture as a client meets it, on both carriers.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panic")]

mod support;

use serde_json::{Value, json};
use support::{Http, Server, body, events, request, text};

const FIXTURE: &str = env!("CARGO_BIN_EXE_fixture");

async fn open() -> Server {
    let capabilities =
        json!({ "sampling": {}, "elicitation": { "form": {}, "url": {} }, "roots": {} });
    Server::open(FIXTURE, &[], capabilities).await
}

#[tokio::test]
async fn the_revision_asked_for_is_agreed_to_unless_the_server_is_pinned_below_it() {
    for (flags, agreed) in [(&[][..], "2025-11-25"), (&["--revision", "2025-06-18"], "2025-06-18")]
    {
        let mut server = Server::start(FIXTURE, &[&["--stdio"], flags].concat());
        let opened = server.ask(0, "initialize", support::initialize(json!({}))).await;
        assert_eq!(opened["result"]["protocolVersion"], agreed);
        assert_eq!(opened["result"]["capabilities"].get("tasks").is_some(), flags.is_empty());
    }
}

#[tokio::test]
async fn nothing_but_ping_is_answered_before_initialize() {
    let mut server = Server::start(FIXTURE, &["--stdio"]);
    assert_eq!(server.ask(1, "tools/list", json!({})).await["error"]["code"], -32600);
    assert_eq!(server.ask(2, "ping", json!({})).await["result"], json!({}));
}

#[tokio::test]
async fn the_pages_of_a_list_are_the_whole_list() {
    let mut whole = open().await;
    let mut paged = Server::open(FIXTURE, &["--page", "4"], json!({})).await;
    let list = whole.ask(1, "tools/list", json!({})).await["result"]["tools"].clone();
    let (mut tools, mut params) = (Vec::new(), json!({}));
    loop {
        let page = paged.ask(1, "tools/list", params).await["result"].clone();
        assert!(page["tools"].as_array().unwrap().len() <= 4);
        tools.extend(page["tools"].as_array().unwrap().clone());
        let Some(cursor) = page.get("nextCursor") else { break };
        params = json!({ "cursor": cursor });
    }
    assert_eq!(Value::from(tools), list);
}

#[tokio::test]
async fn echo_gives_back_the_arguments_as_they_were_spelled() {
    let mut server = open().await;
    let arguments = r#"{"b": 1.0, "a":"\u0065"}"#;
    let params = format!(r#"{{"name":"test_echo","arguments":{arguments}}}"#);
    let call = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
    server.send_line(&call).await;
    assert_eq!(text(&server.next_with("id", 1).await), arguments);
}

#[tokio::test]
async fn an_elicitation_reaches_the_client_and_its_answer_the_tool() {
    let mut server = open().await;
    let call = json!({ "name": "test_elicitation", "arguments": { "message": "Who?" } });
    server.send(&request(1, "tools/call", call)).await;
    let question = server.next_with("method", "elicitation/create").await;
    assert_eq!(question["params"]["message"], "Who?");
    let answer = json!({ "action": "accept", "content": { "username": "ada" } });
    server.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer })).await;
    let answered = server.next_with("id", 1).await;
    assert_eq!(text(&answered), r#"User response: action: accept, content: {"username":"ada"}"#);
}

#[tokio::test]
async fn a_client_is_not_asked_for_what_it_has_not_declared() {
    let mut server = Server::open(FIXTURE, &[], json!({ "elicitation": {} })).await;
    for tool in ["test_sampling", "test_list_roots", "test_url_elicitation_required"] {
        let answer = server.call(1, tool, json!({})).await;
        assert_eq!(answer["result"]["isError"], true, "{tool}");
    }
}

#[tokio::test]
async fn a_cancelled_call_is_counted_and_never_answered() {
    let mut server = open().await;
    let call = json!({ "name": "test_slow", "arguments": { "seconds": 60 } });
    server.send(&request(1, "tools/call", call)).await;
    let cancelled = json!({ "requestId": 1 });
    let notification =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled });
    server.send(&notification).await;
    let mut counted = Value::Null;
    for id in 2.. {
        let count = json!({ "name": "test_cancelled_count" });
        server.send(&request(id, "tools/call", count)).await;
        let answer = server.next().await;
        assert_eq!(answer["id"], id, "the cancelled call was answered");
        counted = answer["result"]["structuredContent"]["cancelled"].clone();
        if counted != 0 {
            break;
        }
    }
    assert_eq!(counted, 1);
}

#[tokio::test]
async fn roots_are_learned_outside_any_call_when_the_server_was_told_to() {
    let mut server = Server::open(FIXTURE, &["--ask-roots"], json!({ "roots": {} })).await;
    let question = server.next_with("method", "roots/list").await;
    let roots = json!([{ "uri": "file:///somewhere" }]);
    let answer = json!({ "roots": roots });
    server.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer })).await;
    let mut known = server.call(1, "test_known_roots", json!({})).await;
    while known["result"]["isError"] == true {
        known = server.call(1, "test_known_roots", json!({})).await;
    }
    assert_eq!(text(&known), roots.to_string());
}

#[tokio::test]
async fn a_question_is_taken_back_when_its_call_is_cancelled() {
    let mut server = open().await;
    server.send(&request(1, "tools/call", json!({ "name": "test_list_roots" }))).await;
    let question = server.next_with("method", "roots/list").await;
    let cancelled = json!({ "requestId": 1 });
    let notification =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled });
    server.send(&notification).await;
    let taken_back = server.next_with("method", "notifications/cancelled").await;
    assert_eq!(taken_back["params"]["requestId"], question["id"]);
}

#[tokio::test]
async fn a_page_to_visit_is_demanded_until_it_was_visited() {
    let mut server = open().await;
    let refused = server.call(1, "test_url_elicitation_required", json!({})).await;
    assert_eq!(refused["error"]["code"], -32042);
    let page = &refused["error"]["data"]["elicitations"][0];
    let over = server.next_with("method", "notifications/elicitation/complete").await;
    assert_eq!(over["params"]["elicitationId"], page["elicitationId"]);
    let answer = server.call(2, "test_url_elicitation_required", json!({})).await;
    assert_eq!(text(&answer), "The page was visited");
}

#[tokio::test]
async fn changes_are_told_to_those_who_want_to_know() {
    let mut server = open().await;
    let watched = json!({ "uri": "test://watched-resource" });
    server.ask(1, "resources/subscribe", watched.clone()).await;
    server.send(&request(2, "tools/call", json!({ "name": "test_touch_watched" }))).await;
    let updated = server.next_with("method", "notifications/resources/updated").await;
    assert_eq!(updated["params"], watched);
    let add = json!({ "name": "test_add_tool", "arguments": { "name": "later" } });
    server.send(&request(3, "tools/call", add)).await;
    server.next_with("method", "notifications/tools/list_changed").await;
    assert_eq!(text(&server.call(4, "later", json!({})).await), "I am the added tool later.");
}

#[tokio::test]
async fn a_task_outlives_its_call_and_asks_through_its_result() {
    let mut server = open().await;
    let arguments = json!({ "milliseconds": 1, "ending": "asking" });
    let call = json!({ "name": "test_tool_with_task", "arguments": arguments, "task": {} });
    let started = server.ask(1, "tools/call", call).await["result"]["task"].clone();
    let task = json!({ "taskId": started["taskId"] });
    server.send(&request(2, "tasks/result", task.clone())).await;
    let question = server.next_with("method", "elicitation/create").await;
    let related = &question["params"]["_meta"]["io.modelcontextprotocol/related-task"];
    assert_eq!(related["taskId"], started["taskId"]);
    let answer = json!({ "action": "decline" });
    server.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer })).await;
    let result = server.next_with("id", 2).await;
    assert_eq!(text(&result), r#"The person said: {"action":"decline"}"#);
    assert_eq!(server.ask(3, "tasks/get", task.clone()).await["result"]["status"], "completed");
    assert_eq!(server.ask(4, "tasks/cancel", task).await["error"]["code"], -32602);
}

#[tokio::test]
async fn a_cancelled_task_ends_at_once() {
    let mut server = open().await;
    let arguments = json!({ "milliseconds": 60_000 });
    let call = json!({ "name": "test_tool_with_task", "arguments": arguments, "task": {} });
    let started = server.ask(1, "tools/call", call).await["result"]["task"].clone();
    let task = json!({ "taskId": started["taskId"] });
    assert_eq!(server.ask(2, "tasks/cancel", task.clone()).await["result"]["status"], "cancelled");
    assert!(server.ask(3, "tasks/result", task).await["error"].is_object());
}

#[tokio::test]
async fn a_tool_that_is_only_a_task_is_never_called_at_once() {
    let mut server = open().await;
    assert_eq!(server.call(1, "failing_job", json!({})).await["error"]["code"], -32601);
    let call = json!({ "name": "failing_job", "arguments": {}, "task": { "ttl": 60_000 } });
    let started = server.ask(2, "tools/call", call).await["result"]["task"].clone();
    let task = json!({ "taskId": started["taskId"] });
    assert_eq!(server.ask(3, "tasks/result", task.clone()).await["result"]["isError"], true);
    assert_eq!(server.ask(4, "tasks/get", task).await["result"]["status"], "failed");
    assert_eq!(text(&server.call(5, "greet", json!({ "name": "Ada" })).await), "Hello, Ada!");
}

#[tokio::test]
async fn a_tool_may_ask_before_it_becomes_a_task() {
    let mut server = open().await;
    let call = json!({ "name": "test_tool_with_task", "arguments": {}, "task": {} });
    server.send(&request(1, "tools/call", call)).await;
    let question = server.next_with("method", "elicitation/create").await;
    let answer = json!({ "action": "accept", "content": { "name": "Ada" } });
    server.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer })).await;
    let started = server.next_with("id", 1).await["result"]["task"].clone();
    let result = server.ask(2, "tasks/result", json!({ "taskId": started["taskId"] })).await;
    assert_eq!(text(&result), "The task is done, Ada");
}

#[tokio::test]
async fn a_run_is_counted_before_anything_is_asked() {
    let file = format!("{}/runs-{}", env!("CARGO_TARGET_TMPDIR"), std::process::id());
    let capabilities = json!({ "elicitation": {} });
    let mut server = Server::open(FIXTURE, &["--count", &file], capabilities).await;
    let call = json!({ "name": "count_runs", "arguments": { "key": "k" } });
    for runs in 1..=2 {
        server.send(&request(9, "tools/call", call.clone())).await;
        let question = server.next_with("method", "elicitation/create").await;
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "k\n".repeat(runs));
        let answer = json!({ "action": "accept", "content": { "go": true } });
        server.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer })).await;
        let ended = server.next_with("id", 9).await;
        assert_eq!(ended["result"]["structuredContent"]["runs"], runs);
    }
    std::fs::remove_file(file).unwrap();
}

#[tokio::test]
async fn batches_are_taken_in_the_one_revision_that_has_them() {
    let batch = json!([request(1, "ping", json!({})), request(2, "ping", json!({}))]);
    let mut server = open().await;
    server.send(&batch).await;
    assert_eq!(server.next().await["error"]["code"], -32600);
    let mut server = Server::open(FIXTURE, &["--revision", "2025-03-26"], json!({})).await;
    server.send(&batch).await;
    assert_eq!(server.next().await.as_array().map(Vec::len), Some(2));
}

#[tokio::test]
async fn a_call_whose_stream_closed_is_answered_on_the_way_back() {
    let client = Http::open(FIXTURE, &[]).await;
    let call = request(1, "tools/call", json!({ "name": "test_reconnection" }));
    let cut = body(client.post(&call).await).await;
    assert!(cut.contains("retry: 500\n") && events(&cut).is_empty(), "{cut}");
    let seen = cut.strip_prefix("id: ").and_then(|rest| rest.split_once('\n')).unwrap().0;
    let resumed = client.send("GET", &[("last-event-id", seen)], String::new()).await;
    let answer: Value = serde_json::from_str(&events(&body(resumed).await)[0]).unwrap();
    assert_eq!(text(&answer), "Reconnection test completed successfully");
}

#[tokio::test]
async fn a_stream_that_was_read_to_its_end_is_not_begun_again() {
    let client = Http::open(FIXTURE, &[]).await;
    let answer = body(client.post(&request(1, "ping", json!({}))).await).await;
    let seen = answer.lines().filter_map(|line| line.strip_prefix("id: ")).next_back().unwrap();
    let resumed = client.send("GET", &[("last-event-id", seen)], String::new()).await;
    assert_eq!(resumed.status(), 204);
}

#[tokio::test]
async fn a_forgotten_session_is_not_found_and_a_new_one_can_be_opened() {
    let mut client = Http::open(FIXTURE, &["--json", "--forget-sessions-after", "2"]).await;
    let ping = request(1, "ping", json!({}));
    for status in [200, 200, 404] {
        assert_eq!(client.post(&ping).await.status(), status);
    }
    client.initialize().await;
    assert_eq!(client.post(&ping).await.status(), 200);
}

#[tokio::test]
async fn a_deleted_session_is_dead_and_a_missing_one_is_a_bad_request() {
    let mut client = Http::open(FIXTURE, &[]).await;
    let ping = request(1, "ping", json!({}));
    assert_eq!(client.send("DELETE", &[], String::new()).await.status(), 200);
    assert_eq!(client.post(&ping).await.status(), 404);
    client.session = None;
    assert_eq!(client.post(&ping).await.status(), 400);
}

#[tokio::test]
async fn a_foreign_host_or_origin_is_refused() {
    let client = Http::start(FIXTURE, &[]).await;
    let open = request(0, "initialize", support::initialize(json!({}))).to_string();
    for header in [("host", "evil.example.com"), ("origin", "http://evil.example.com")] {
        assert_eq!(client.send("POST", &[header], open.clone()).await.status(), 403);
    }
    let local = ("origin", "http://localhost:1");
    assert_eq!(client.send("POST", &[local], open).await.status(), 200);
}

#[tokio::test]
async fn a_message_for_nobodys_request_waits_for_the_clients_stream() {
    let client = Http::open(FIXTURE, &["--json"]).await;
    let add = json!({ "name": "test_add_tool", "arguments": { "name": "later" } });
    assert_eq!(client.post(&request(1, "tools/call", add)).await.status(), 200);
    let mut stream = client.send("GET", &[], String::new()).await.into_body();
    let mut seen = String::new();
    while !seen.contains("notifications/tools/list_changed") {
        let frame = http_body_util::BodyExt::frame(&mut stream).await.unwrap().unwrap();
        seen.push_str(std::str::from_utf8(frame.data_ref().unwrap()).unwrap());
    }
}
