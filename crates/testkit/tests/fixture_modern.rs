//! The conformance fixture as a client of 2026-07-28 meets it, on stdio and on HTTP.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panic")]

mod support;

use http::Response;
use hyper::body::Incoming;
use serde_json::{Value, json};
use support::{Http, Server, body, events, request, text};

const FIXTURE: &str = env!("CARGO_BIN_EXE_fixture");
const TASKS: &str = "io.modelcontextprotocol/tasks";
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// The parameters in the envelope of a client that can do everything.
fn enveloped(mut params: Value) -> Value {
    let capabilities = json!({
        "sampling": {}, "elicitation": { "form": {}, "url": {} }, "roots": {},
        "extensions": { TASKS: {} },
    });
    let meta = &mut params["_meta"];
    meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    if meta.get("io.modelcontextprotocol/clientCapabilities").is_none() {
        meta["io.modelcontextprotocol/clientCapabilities"] = capabilities;
    }
    params
}

fn start() -> Server {
    Server::start(FIXTURE, &["--stdio", "--modern"])
}

async fn ask(server: &mut Server, method: &str, params: Value) -> Value {
    server.ask(1, method, enveloped(params)).await
}

async fn call(server: &mut Server, params: Value) -> Value {
    ask(server, "tools/call", params).await
}

/// The same call with these answers, and with the state the last round gave.
fn next_round(params: &Value, last: &Value, answers: Value) -> Value {
    let mut params = params.clone();
    params["inputResponses"] = answers;
    if let Some(state) = last["result"].get("requestState") {
        params["requestState"] = state.clone();
    }
    params
}

fn accepted(content: Value) -> Value {
    json!({ "action": "accept", "content": content })
}

#[tokio::test]
async fn the_server_tells_its_one_revision_to_clients_of_either_era() {
    let mut server = start();
    let discovered = ask(&mut server, "server/discover", json!({})).await["result"].clone();
    assert_eq!(discovered["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!(discovered["resultType"], "complete");
    assert!(discovered["capabilities"]["extensions"][TASKS].is_object());
    let refused = server.ask(2, "initialize", support::initialize(json!({}))).await;
    assert_eq!(refused["error"]["code"], -32022);
    assert_eq!(refused["error"]["data"]["supported"], json!(["2026-07-28"]));
}

#[tokio::test]
async fn a_request_without_its_envelope_is_not_answered() {
    let mut server = start();
    assert_eq!(server.ask(1, "tools/list", json!({})).await["error"]["code"], -32602);
    let mut params = enveloped(json!({}));
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2099-01-01");
    let refused = server.ask(2, "tools/list", params).await;
    assert_eq!(refused["error"]["data"]["requested"], "2099-01-01");
}

#[tokio::test]
async fn both_eras_offer_the_same_tools_but_for_those_a_session_needs() {
    let mut modern = start();
    let mut legacy = Server::open(FIXTURE, &[], json!({})).await;
    let names = |list: Value| -> Vec<String> {
        let tools = list["result"]["tools"].as_array().unwrap().clone();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    let list = ask(&mut modern, "tools/list", json!({})).await;
    assert_eq!(list["result"]["cacheScope"], "public");
    assert!(!list.to_string().contains("taskSupport"));
    let mut ours = names(list);
    ours.extend(["test_url_elicitation_required", "test_known_roots"].map(str::to_owned));
    assert_eq!(ours, names(legacy.ask(1, "tools/list", json!({})).await));
}

#[tokio::test]
async fn a_question_ends_the_round_and_its_answer_ends_the_call() {
    let mut server = start();
    let params = json!({ "name": "test_elicitation", "arguments": { "message": "Who?" } });
    let round = call(&mut server, params.clone()).await;
    assert_eq!(round["result"]["resultType"], "input_required");
    let question = &round["result"]["inputRequests"]["person"];
    assert_eq!(question["method"], "elicitation/create");
    assert_eq!(question["params"]["message"], "Who?");
    let answers = json!({ "person": accepted(json!({ "username": "ada" })) });
    let answered = call(&mut server, next_round(&params, &round, answers)).await;
    assert_eq!(answered["result"]["resultType"], "complete");
    assert_eq!(text(&answered), r#"User response: action: accept, content: {"username":"ada"}"#);
}

#[tokio::test]
async fn progress_is_told_once_over_all_rounds() {
    let mut server = start();
    let mut params = json!({ "name": "ask_everything", "_meta": { "progressToken": "p" } });
    let rounds = [
        json!({ "name": accepted(json!({ "name": "Ada" })) }),
        json!({ "greeting": {
            "role": "assistant", "model": "m", "content": { "type": "text", "text": "Good day" },
        } }),
        Value::Null,
    ];
    for (round, answers) in rounds.into_iter().enumerate() {
        server.send(&request(1, "tools/call", enveloped(params.clone()))).await;
        let told = server.next().await;
        assert_eq!(told["params"]["progress"], round + 1, "{told}");
        let ended = server.next().await;
        if answers.is_null() {
            assert_eq!(text(&ended), "Ada: Good day");
        } else {
            params = next_round(&params, &ended, answers);
        }
    }
}

#[tokio::test]
async fn a_call_of_several_rounds_is_one_run() {
    let file = format!("{}/modern-runs-{}", env!("CARGO_TARGET_TMPDIR"), std::process::id());
    let mut server = Server::start(FIXTURE, &["--stdio", "--modern", "--count", &file]);
    let params = json!({ "name": "count_runs", "arguments": { "key": "k" } });
    for runs in 1..=2 {
        let asked = call(&mut server, params.clone()).await;
        let wrong = json!({ "nobody_asked": accepted(json!({})) });
        let asked = call(&mut server, next_round(&params, &asked, wrong)).await;
        assert_eq!(asked["result"]["resultType"], "input_required");
        let answers = json!({ "go_on": accepted(json!({ "go": true })) });
        let ended = call(&mut server, next_round(&params, &asked, answers)).await;
        assert_eq!(ended["result"]["structuredContent"]["runs"], runs);
    }
    std::fs::remove_file(file).unwrap();
}

#[tokio::test]
async fn only_what_is_still_unanswered_is_asked_again() {
    let mut server = start();
    let params = json!({ "name": "test_input_required_result_multiple_inputs" });
    let asked = call(&mut server, params.clone()).await;
    assert_eq!(asked["result"]["inputRequests"].as_object().unwrap().len(), 3);
    let answers = json!({ "client_roots": { "roots": [] }, "user_name": { "action": "decline" } });
    let again = call(&mut server, next_round(&params, &asked, answers)).await;
    let open = again["result"]["inputRequests"].as_object().unwrap();
    assert_eq!(open.keys().collect::<Vec<_>>(), ["greeting"]);
}

#[tokio::test]
async fn a_state_of_another_call_or_a_changed_one_is_refused() {
    let mut server = start();
    let params = json!({ "name": "test_input_required_result_request_state" });
    let asked = call(&mut server, params.clone()).await;
    let answers = json!({ "confirm": accepted(json!({ "ok": true })) });
    let good = next_round(&params, &asked, answers);
    let mut elsewhere = good.clone();
    elsewhere["name"] = json!("test_input_required_result_tampered_state");
    let mut changed = good.clone();
    changed["requestState"] = json!(format!("{}x", good["requestState"].as_str().unwrap()));
    for bad in [elsewhere, changed] {
        assert_eq!(call(&mut server, bad).await["error"]["code"], -32602);
    }
    assert_eq!(text(&call(&mut server, good).await), "state-ok, accept");
}

#[tokio::test]
async fn what_a_client_cannot_do_is_named_in_the_refusal() {
    let mut server = start();
    let meta = json!({ "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} } });
    for (tool, required) in [
        ("test_missing_capability", json!({ "sampling": {} })),
        ("test_url_elicitation", json!({ "elicitation": { "url": {} } })),
        ("failing_job", json!({ "extensions": { TASKS: {} } })),
    ] {
        let refused = call(&mut server, json!({ "name": tool, "_meta": meta })).await;
        assert_eq!(refused["error"]["code"], -32021);
        assert_eq!(refused["error"]["data"]["requiredCapabilities"], required);
    }
}

#[tokio::test]
async fn log_lines_are_for_those_who_want_them() {
    let mut server = start();
    let params = json!({ "name": "test_tool_with_logging" });
    server.send(&request(1, "tools/call", enveloped(params.clone()))).await;
    assert_eq!(server.next().await["id"], 1);
    let mut talkative = params;
    talkative["_meta"] = json!({ "io.modelcontextprotocol/logLevel": "debug" });
    server.send(&request(2, "tools/call", enveloped(talkative))).await;
    for _ in 0..3 {
        assert_eq!(server.next().await["method"], "notifications/message");
    }
}

#[tokio::test]
async fn an_unknown_resource_is_an_invalid_parameter() {
    let mut server = start();
    let refused = ask(&mut server, "resources/read", json!({ "uri": "test://nowhere" })).await;
    assert_eq!(refused["error"]["code"], -32602);
    assert_eq!(refused["error"]["data"]["uri"], "test://nowhere");
}

#[tokio::test]
async fn a_listener_hears_what_it_asked_for_and_nothing_else() {
    let mut server = start();
    let wanted = json!({
        "resourceSubscriptions": ["test://watched-resource", "test://nowhere"],
        "toolsListChanged": true,
    });
    let listen = json!({
        "jsonrpc": "2.0", "id": "ear", "method": "subscriptions/listen",
        "params": enveloped(json!({ "notifications": wanted })),
    });
    server.send(&listen).await;
    let acknowledged = server.next().await;
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    let honoured = &acknowledged["params"]["notifications"];
    assert_eq!(honoured["resourceSubscriptions"], json!(["test://watched-resource"]));
    for tool in ["test_trigger_prompt_change", "test_trigger_tool_change", "test_touch_watched"] {
        server.send(&request(1, "tools/call", enveloped(json!({ "name": tool })))).await;
    }
    let mut heard = Vec::new();
    while heard.len() < 2 {
        let message = server.next().await;
        if let Some(method) = message["method"].as_str() {
            assert_eq!(message["params"]["_meta"][SUBSCRIPTION], "ear");
            heard.push(method.to_owned());
        }
    }
    assert_eq!(heard, ["notifications/tools/list_changed", "notifications/resources/updated"]);
}

/// What `tasks/get` says once the task no longer just works.
async fn after_work(server: &mut Server, task: &Value) -> Value {
    loop {
        let got = ask(server, "tasks/get", task.clone()).await["result"].clone();
        if got["status"] != "working" {
            return got;
        }
    }
}

async fn create(server: &mut Server, tool: &str) -> Value {
    let created = call(server, json!({ "name": tool })).await["result"].clone();
    assert_eq!(created["resultType"], "task", "{created}");
    json!({ "taskId": created["taskId"] })
}

fn update(task: &Value, key: &str) -> Value {
    let answers = json!({ key: accepted(json!({ "confirm": true })) });
    json!({ "taskId": task["taskId"], "inputResponses": answers })
}

#[tokio::test]
async fn a_task_tells_its_questions_and_takes_the_answers_one_by_one() {
    let mut server = start();
    let task = create(&mut server, "multi_input").await;
    for left in [2, 1] {
        let asking = after_work(&mut server, &task).await;
        assert_eq!(asking["status"], "input_required");
        let open = asking["inputRequests"].as_object().unwrap();
        assert_eq!(open.len(), left);
        let key = open.keys().next().unwrap();
        let updated = ask(&mut server, "tasks/update", update(&task, key)).await;
        assert_eq!(updated["result"]["resultType"], "complete");
    }
    let ended = after_work(&mut server, &task).await;
    assert_eq!(ended["status"], "completed");
    assert!(ended["result"]["content"].is_array());
}

#[tokio::test]
async fn a_task_that_breaks_down_has_an_error_and_one_that_fails_a_result() {
    let mut server = start();
    let task = create(&mut server, "protocol_error_job").await;
    let broken = after_work(&mut server, &task).await;
    assert_eq!((&broken["status"], &broken["error"]["code"]), (&json!("failed"), &json!(-32603)));
    let task = create(&mut server, "failing_job").await;
    let failed = after_work(&mut server, &task).await;
    assert_eq!(failed["status"], "completed");
    assert_eq!(failed["result"]["isError"], true);
}

#[tokio::test]
async fn a_listener_to_a_task_hears_of_its_end() {
    let mut server = start();
    let task = create(&mut server, "confirm_delete").await;
    let asking = after_work(&mut server, &task).await;
    let listen = json!({ "notifications": { "taskIds": [task["taskId"]] } });
    server.send(&request(7, "subscriptions/listen", enveloped(listen))).await;
    server.next_with("method", "notifications/subscriptions/acknowledged").await;
    let key = asking["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    server.send(&request(8, "tasks/update", enveloped(update(&task, &key)))).await;
    let mut news = server.next_with("method", "notifications/tasks").await;
    while news["params"]["status"] != "completed" {
        news = server.next_with("method", "notifications/tasks").await;
    }
    assert_eq!(text(&news["params"]), "Deleted the file");
    assert_eq!(news["params"]["_meta"][SUBSCRIPTION], 7);
}

#[tokio::test]
async fn a_tool_may_ask_before_it_becomes_a_task() {
    let mut server = start();
    let params = json!({ "name": "test_tool_with_task" });
    let asked = call(&mut server, params.clone()).await;
    assert_eq!(asked["result"]["resultType"], "input_required");
    let answers = json!({ "user_name": accepted(json!({ "name": "Ada" })) });
    let created = call(&mut server, next_round(&params, &asked, answers)).await;
    let task = json!({ "taskId": created["result"]["taskId"] });
    assert_eq!(text(&after_work(&mut server, &task).await), "The task is done, Ada");
}

#[tokio::test]
async fn a_call_cancelled_on_stdio_is_counted_and_never_answered() {
    let mut server = start();
    let slow = json!({ "name": "test_slow", "arguments": { "seconds": 60 } });
    server.send(&request(9, "tools/call", enveloped(slow))).await;
    let cancelled = json!({ "requestId": 9 });
    let notification =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled });
    server.send(&notification).await;
    loop {
        let counted = call(&mut server, json!({ "name": "test_cancelled_count" })).await;
        if counted["result"]["structuredContent"]["cancelled"] == 1 {
            return;
        }
    }
}

async fn post(
    client: &Http,
    method: &str,
    params: Value,
    name: Option<&str>,
) -> Response<Incoming> {
    let mut headers = vec![("mcp-protocol-version", "2026-07-28"), ("mcp-method", method)];
    headers.extend(name.map(|name| ("mcp-name", name)));
    let message = request(1, method, enveloped(params)).to_string();
    client.send("POST", &headers, message).await
}

#[tokio::test]
async fn http_knows_neither_sessions_nor_any_method_but_post() {
    let client = Http::start(FIXTURE, &["--modern"]).await;
    for method in ["GET", "DELETE"] {
        assert_eq!(client.send(method, &[], String::new()).await.status(), 405);
    }
    let discovered = post(&client, "server/discover", json!({}), None).await;
    assert_eq!(discovered.status(), 200);
    assert!(discovered.headers().get("mcp-session-id").is_none());
    assert_eq!(post(&client, "ping", json!({}), None).await.status(), 404);
    let legacy = request(0, "initialize", support::initialize(json!({})));
    assert_eq!(client.post(&legacy).await.status(), 400);
}

#[tokio::test]
async fn headers_that_do_not_say_what_the_body_says_are_refused() {
    let client = Http::start(FIXTURE, &["--modern"]).await;
    let params = json!({ "name": "test_mirrored_argument", "arguments": { "region": "ü" } });
    let message = request(1, "tools/call", enveloped(params)).to_string();
    let common = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "test_mirrored_argument"),
    ];
    for (region, status) in [(None, 400), (Some("u"), 400), (Some("=?base64?w7w=?="), 200)] {
        let mut headers = common.to_vec();
        headers.extend(region.map(|region| ("mcp-param-region", region)));
        let answered = client.send("POST", &headers, message.clone()).await;
        assert_eq!(answered.status(), status);
        let answer: Value = serde_json::from_str(&body(answered).await).unwrap();
        assert_eq!(answer["error"]["code"] == -32020, status == 400);
    }
}

#[tokio::test]
async fn progress_comes_on_the_stream_of_its_request() {
    let client = Http::start(FIXTURE, &["--modern"]).await;
    let name = "test_tool_with_progress";
    let params = json!({ "name": name, "_meta": { "progressToken": 5 } });
    let answered = post(&client, "tools/call", params, Some(name)).await;
    assert_eq!(answered.headers()["content-type"], "text/event-stream");
    let events = events(&body(answered).await);
    assert_eq!(events.len(), 4);
    assert!(events[0].contains(r#""progressToken":5"#), "{}", events[0]);
    assert!(events[3].contains(r#""resultType":"complete""#), "{}", events[3]);
}

#[tokio::test]
async fn a_client_that_leaves_has_cancelled_its_call() {
    let client = Http::start(FIXTURE, &["--modern"]).await;
    let count = "test_cancelled_count";
    let begun = |token: Value| {
        let arguments = json!({ "seconds": 60 });
        json!({ "name": "test_slow", "arguments": arguments, "_meta": { "progressToken": token } })
    };
    let counted = async || {
        let answered = post(&client, "tools/call", json!({ "name": count }), Some(count)).await;
        let answer: Value = serde_json::from_str(&body(answered).await).unwrap();
        answer["result"]["structuredContent"]["cancelled"].as_u64().unwrap()
    };
    drop(post(&client, "tools/call", begun(json!("t")), Some("test_slow")).await);
    while counted().await == 0 {}
    // The same before anything was answered; how long a request is on its way is not ours to say.
    while counted().await == 1 {
        let silent = post(&client, "tools/call", begun(Value::Null), Some("test_slow"));
        let moment = std::time::Duration::from_millis(50);
        assert!(tokio::time::timeout(moment, silent).await.is_err());
    }
}
