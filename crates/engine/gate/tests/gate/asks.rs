//! What servers ask in the middle of calls: what reaches the caller, and in which words.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};
use tokio::sync::{Semaphore, mpsc, oneshot};
use toolgate_fleet::{BuiltInServer, Fleet};
use toolgate_gate::{Caller, CallerId, Client, Gate};
use toolgate_model::{PoolScope, PrefixMode, SamplingLimits, ServerSpec};
use toolgate_session::{Answer, Interactor, Question, QuestionKind};
use toolgate_wire::{Era, Frame, MessageLimits, Revision};

use crate::fleet::{empty, member, spec};

const LEGACY: Revision = Revision::LATEST_LEGACY;
const MODERN: Revision = Revision::V2026_07_28;

/// A server that asks what its caller tells it to ask, and answers with the answers.
#[derive(Clone)]
struct Inquirer {
    revision: Revision,
    /// What it was told its clients can be asked.
    declared: Arc<Mutex<Vec<Value>>>,
}

impl Inquirer {
    fn new(revision: Revision) -> Self {
        Self { revision, declared: Arc::default() }
    }

    fn note(&self, message: &Value) {
        let legacy = message["params"].get("capabilities");
        let modern = message["params"]["_meta"].get("io.modelcontextprotocol/clientCapabilities");
        self.declared.lock().unwrap().extend(legacy.or(modern).cloned());
    }

    fn said(&self, method: &str) -> Option<Value> {
        let info = json!({ "name": "i", "version": "1" });
        let capabilities = json!({ "tools": {} });
        let tool = json!({ "name": "ask", "inputSchema": { "type": "object" } });
        Some(match method {
            "initialize" => json!({ "protocolVersion": self.revision.as_str(),
                "capabilities": capabilities, "serverInfo": info }),
            "server/discover" => json!({ "supportedVersions": [self.revision.as_str()],
                "capabilities": capabilities, "resultType": "complete", "ttlMs": 0,
                "cacheScope": "public", "_meta": { "io.modelcontextprotocol/serverInfo": info } }),
            "tools/list" => json!({ "tools": [tool], "resultType": "complete", "ttlMs": 0,
                "cacheScope": "public" }),
            _ => return None,
        })
    }
}

type Open = Arc<Mutex<HashMap<String, oneshot::Sender<Value>>>>;

/// Puts questions as requests, all at once, and gives what came back.
async fn inquire(questions: Vec<Value>, open: Open, send: mpsc::UnboundedSender<Value>) -> Value {
    static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    let mut waiting = Vec::new();
    for question in questions {
        let id = format!("q{}", NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
        let (answer, coming) = oneshot::channel();
        open.lock().unwrap().insert(id.clone(), answer);
        let mut request = json!({ "jsonrpc": "2.0", "id": id });
        request["method"] = question["method"].clone();
        request["params"] = question["params"].clone();
        send.send(request).unwrap();
        waiting.push(coming);
    }
    let mut answers = Vec::new();
    for coming in waiting {
        answers.push(coming.await.unwrap());
    }
    json!({ "content": [], "structuredContent": { "answers": answers } })
}

impl BuiltInServer for Inquirer {
    fn era(&self) -> Era {
        self.revision.era()
    }

    fn serve(&self, pipe: DuplexStream) {
        let (input, mut output) = tokio::io::split(pipe);
        let (send, mut waiting) = mpsc::unbounded_channel::<Value>();
        tokio::spawn(async move {
            while let Some(message) = waiting.recv().await {
                if output.write_all(format!("{message}\n").as_bytes()).await.is_err() {
                    return;
                }
            }
        });
        let (server, open) = (self.clone(), Open::default());
        tokio::spawn(async move {
            let mut lines = BufReader::new(input).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                let message: Value = serde_json::from_str(&line).unwrap();
                server.note(&message);
                let Some(method) = message["method"].as_str() else {
                    let id = message["id"].as_str().unwrap_or_default();
                    let answer = message.get("result").or(message.get("error")).cloned();
                    if let Some(asked) = open.lock().unwrap().remove(id) {
                        let _ = asked.send(answer.unwrap_or_default());
                    }
                    continue;
                };
                let id = message["id"].clone();
                let answered =
                    move |result: Value| json!({ "jsonrpc": "2.0", "id": id, "result": result });
                if let Some(result) = server.said(method) {
                    send.send(answered(result)).unwrap();
                }
                if method != "tools/call" {
                    continue;
                }
                let params = &message["params"];
                let questions = params["arguments"]["ask"].as_array().unwrap().clone();
                if server.revision.era() == Era::Modern {
                    let numbered = questions.iter().enumerate();
                    let asked: serde_json::Map<_, _> =
                        numbered.map(|(at, it)| (format!("k{at}"), it.clone())).collect();
                    let result = match params.get("inputResponses") {
                        Some(given) => json!({ "content": [], "resultType": "complete",
                            "structuredContent": { "answers": given } }),
                        None => json!({ "resultType": "input_required", "inputRequests": asked,
                            "requestState": "s" }),
                    };
                    send.send(answered(result)).unwrap();
                    continue;
                }
                let (open, send) = (open.clone(), send.clone());
                tokio::spawn(async move {
                    let result = inquire(questions, open, send.clone()).await;
                    let _ = send.send(answered(result));
                });
            }
        });
    }
}

/// Somebody with a model, who answers everything and remembers what he was asked.
struct Willing {
    scope: CallerId,
    asked: Mutex<Vec<Value>>,
    /// How many completions he gives before he is told to go on.
    pace: Semaphore,
}

const CAN: &[u8] =
    br#"{"sampling":{"context":{},"tools":{}},"elicitation":{"form":{},"url":{}},"roots":{}}"#;

impl Interactor for Willing {
    fn scope(&self) -> CallerId {
        self.scope
    }

    fn tell(&self, _: Frame) {}

    fn ask(&self, question: Question) -> BoxFuture<'_, Answer> {
        self.asked.lock().unwrap().push(serde_json::from_slice(question.frame.bytes()).unwrap());
        Box::pin(async move {
            let answer: &[u8] = match question.kind {
                QuestionKind::Sampling => {
                    self.pace.acquire().await.unwrap().forget();
                    br#"{"role":"assistant","model":"m","content":{"type":"text","text":"ok"}}"#
                }
                QuestionKind::Roots => br#"{"roots":[]}"#,
                _ => br#"{"action":"accept","content":{}}"#,
            };
            Answer::Result(Bytes::from_static(answer))
        })
    }

    fn capabilities(&self) -> Bytes {
        Bytes::from_static(CAN)
    }
}

struct World {
    gate: Arc<Gate>,
    _fleet: Arc<Fleet>,
    caller: Arc<Caller>,
    person: Arc<Willing>,
    servers: Vec<Inquirer>,
}

/// Servers of these names and limits, and a caller with patience for so many completions.
async fn world(servers: &[(&str, Option<SamplingLimits>, Revision)], pace: usize) -> World {
    let (gate, fleet) = empty(PrefixMode::default());
    let mut played = Vec::new();
    for (name, sampling, revision) in servers {
        let server = Inquirer::new(*revision);
        let spec = ServerSpec { sampling: *sampling, pool: PoolScope::Shared, ..spec(name) };
        fleet.add_server(member(spec, &server)).await;
        played.push(server);
    }
    fleet.wait_settled(|_| true).await;
    let id = CallerId::fresh();
    let (asked, pace) = (Mutex::default(), Semaphore::new(pace));
    let person = Arc::new(Willing { scope: id, asked, pace });
    let revision = servers.first().map_or(LEGACY, |(.., revision)| *revision);
    let can = Bytes::from_static(CAN);
    let caller = Arc::new(Caller::new(id, Client::default(), revision, can, person.clone()));
    World { gate, _fleet: fleet, caller, person, servers: played }
}

impl World {
    /// Has a server ask these, and gives what it heard.
    async fn ask(&self, server: &str, questions: Value) -> Value {
        let mut params =
            json!({ "name": format!("{server}__ask"), "arguments": { "ask": questions } });
        if self.caller.revision.era() == Era::Modern {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": serde_json::from_slice::<Value>(CAN).unwrap(),
                "io.modelcontextprotocol/clientInfo": { "name": "c", "version": "1" },
            });
        }
        let request =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let frame = Frame::parse(request.to_string().into(), &MessageLimits::default()).unwrap();
        let answer = self.gate.pass(&frame, &self.caller, self.person.clone()).await.unwrap();
        let answer: Value = serde_json::from_slice(answer.bytes()).unwrap();
        match answer.get("error") {
            Some(error) => error.clone(),
            None if answer["result"]["isError"] == true => answer["result"].clone(),
            None => answer["result"]["structuredContent"]["answers"].clone(),
        }
    }

    fn asked(&self) -> Vec<Value> {
        std::mem::take(&mut *self.person.asked.lock().unwrap())
    }
}

fn sampling(tokens: Value) -> Value {
    let message = json!({ "role": "user", "content": { "type": "text", "text": "a\u{200b}b" } });
    json!({ "method": "sampling/createMessage", "params": {
        "messages": [message], "maxTokens": tokens, "includeContext": "allServers" } })
}

fn form(message: &str, properties: Value) -> Value {
    let schema = json!({ "type": "object", "properties": properties });
    json!({ "method": "elicitation/create",
        "params": { "message": message, "requestedSchema": schema } })
}

fn visit(url: &str) -> Value {
    json!({ "method": "elicitation/create", "params": {
        "mode": "url", "message": "log in", "elicitationId": "e", "url": url } })
}

#[tokio::test]
async fn no_model_is_asked_unless_the_entry_allows_it() {
    for revision in [LEGACY, MODERN] {
        let world = world(&[("s", None, revision)], 9).await;
        let heard = world.ask("s", json!([sampling(json!(10))])).await;
        match revision {
            LEGACY => assert_eq!(heard[0]["code"], -32601, "{heard}"),
            _ => assert_eq!(heard["isError"], true, "{heard}"),
        }
        assert!(world.asked().is_empty());
        let declared = world.servers[0].declared.lock().unwrap().clone();
        assert!(!declared.is_empty());
        for told in declared {
            assert!(told.get("sampling").is_none(), "{told}");
            assert!(told.get("elicitation").is_some(), "{told}");
        }
    }
}

#[tokio::test]
async fn a_completion_is_bounded_and_asked_for_without_anything_hidden() {
    for revision in [LEGACY, MODERN] {
        let limits = SamplingLimits { max_tokens: 100, ..SamplingLimits::default() };
        let world = world(&[("s", Some(limits), revision)], 9).await;
        for tokens in [json!(1e9), json!(100), json!(7)] {
            let heard = world.ask("s", json!([sampling(tokens.clone())])).await;
            let given = if revision == LEGACY { &heard[0] } else { &heard["k0"] };
            assert_eq!(given["content"]["text"], "ok", "{heard}");
            let asked = &world.asked()[0]["params"];
            assert_eq!(asked["maxTokens"], tokens.as_f64().unwrap().min(100.0) as u64);
            assert!(asked.get("includeContext").is_none(), "{asked}");
            assert_eq!(asked["messages"][0]["content"]["text"], "ab");
        }
        let declared = world.servers[0].declared.lock().unwrap().clone();
        assert!(declared.iter().any(|it| it["sampling"] == json!({ "tools": {} })));
        assert!(declared.iter().all(|it| it["sampling"].get("context").is_none()), "{declared:?}");
    }
}

#[tokio::test]
async fn the_budget_of_a_day_stops_at_its_end() {
    let few = SamplingLimits { requests_per_day: 3, concurrency: 9, ..SamplingLimits::default() };
    let dear = SamplingLimits { tokens_per_day: 25, concurrency: 9, ..SamplingLimits::default() };
    for (limits, given) in [(few, 3), (dear, 2)] {
        let world = world(&[("s", Some(limits), LEGACY)], 99).await;
        let questions: Vec<_> = (0..16).map(|_| sampling(json!(10))).collect();
        let heard = world.ask("s", json!(questions)).await;
        let granted = heard.as_array().unwrap().iter().filter(|it| it.get("role").is_some());
        assert_eq!(granted.count(), given);
        assert_eq!(world.asked().len(), given);
        let refused = heard.as_array().unwrap().iter().find_map(|it| it["message"].as_str());
        assert!(refused.unwrap().contains("in a day"), "{heard}");
        let again = world.ask("s", json!([sampling(json!(10))])).await;
        assert_eq!(again[0]["code"], -32003, "{again}");
    }
}

#[tokio::test]
async fn completions_are_one_at_a_time_and_not_within_each_other() {
    let limits = Some(SamplingLimits::default());
    let world = Arc::new(world(&[("a", limits, LEGACY), ("b", limits, LEGACY)], 0).await);
    let first = tokio::spawn({
        let world = world.clone();
        async move { world.ask("a", json!([sampling(json!(1)), sampling(json!(1))])).await }
    });
    while world.person.asked.lock().unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    // His model is at work for `a`; what he calls meanwhile may be part of that.
    let within = world.ask("b", json!([sampling(json!(1))])).await;
    assert!(within[0]["message"].as_str().unwrap().contains("already"), "{within}");
    world.person.pace.add_permits(2);
    let heard = first.await.unwrap();
    let granted: Vec<_> =
        heard.as_array().unwrap().iter().map(|it| it.get("role").is_some()).collect();
    assert_eq!(granted.iter().filter(|it| **it).count(), 1, "{heard}");
    let after = world.ask("b", json!([sampling(json!(1))])).await;
    assert_eq!(after[0]["role"], "assistant", "{after}");
}

#[tokio::test]
async fn one_call_does_not_ask_for_ever() {
    let limits = SamplingLimits { concurrency: 99, ..SamplingLimits::default() };
    let world = world(&[("s", Some(limits), LEGACY)], 99).await;
    // No more than 16 may be open at once, so they come in threes.
    for _ in 0..3 {
        let heard = world.ask("s", json!(vec![sampling(json!(1)); 16])).await;
        let granted = heard.as_array().unwrap().iter().filter(|it| it.get("role").is_some());
        assert_eq!(granted.count(), 16, "each call begins anew");
    }
}

#[tokio::test]
async fn a_form_says_whose_it_is_and_asks_for_no_secret() {
    for revision in [LEGACY, MODERN] {
        let world = world(&[("s", None, revision)], 9).await;
        let name = json!({ "name": { "type": "string" } });
        let heard = world.ask("s", json!([form("Who\u{202e} are you?", name)])).await;
        let given = if revision == LEGACY { &heard[0] } else { &heard["k0"] };
        assert_eq!(given["action"], "accept", "{heard}");
        assert_eq!(world.asked()[0]["params"]["message"], "[s] Who are you?");
        for field in ["password", "apiKey", "пароль", "pass\u{200b}word"] {
            let secret = json!({ field: { "type": "string" } });
            let heard = world.ask("s", json!([form("Hello", secret)])).await;
            match revision {
                LEGACY => {
                    let why = heard[0]["message"].as_str().unwrap();
                    assert!(why.contains("asks-for-secret"), "{why}");
                }
                _ => assert_eq!(heard["k0"]["action"], "decline", "{heard}"),
            }
            assert!(world.asked().is_empty(), "{field}");
        }
    }
}

#[tokio::test]
async fn an_address_is_shown_by_its_host_or_not_at_all() {
    for revision in [LEGACY, MODERN] {
        let world = world(&[("s", None, revision)], 9).await;
        world.ask("s", json!([visit("https://example.com/x")])).await;
        let asked = world.asked();
        let params = &asked[0]["params"];
        assert_eq!(params["message"], "[s] asks you to visit example.com: log in");
        assert_eq!(params["url"], "https://example.com/x");
        world.ask("s", json!([visit("https://githսb.com/x")])).await;
        let asked = world.asked();
        let params = &asked[0]["params"];
        assert!(params["message"].as_str().unwrap().contains("visit xn--"), "{params}");
        assert!(params["url"].as_str().unwrap().starts_with("https://xn--"), "{params}");
        for url in
            ["https://github.com@evil.example/", "http://example.com/", "javascript:alert(1)"]
        {
            let heard = world.ask("s", json!([visit(url)])).await;
            let refused = match revision {
                LEGACY => heard[0]["code"] == -32003,
                _ => heard["k0"]["action"] == "decline",
            };
            assert!(refused && world.asked().is_empty(), "{url}: {heard}");
        }
    }
}

#[tokio::test]
async fn roots_are_the_callers_affair() {
    let world = world(&[("s", None, LEGACY)], 9).await;
    let heard = world.ask("s", json!([{ "method": "roots/list", "params": {} }])).await;
    assert_eq!(heard[0], json!({ "roots": [] }));
}
