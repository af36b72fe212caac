//! Everything a local server can do, through the gate, for callers of both eras.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // tests

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::sync::Notify;
use toolgate_host::local::{
    Completion, HandlerError, InProcessServer, Prompt, PromptMessage, RequestToClientError,
    Resource, ToolOutput,
};
use toolgate_host::{
    Answer, Caller, CallerId, CapabilityKind, Client, Host, Interactor, Question, QuestionKind,
    Tool, Value, json,
};
use toolgate_wire::{Frame, MessageLimits, Revision, build};

/// Nothing here takes this long unless it hangs.
const LIMIT: Duration = Duration::from_secs(30);
const ERAS: [Revision; 2] = [Revision::LATEST_LEGACY, Revision::V2026_07_28];

/// Somebody who calls, with a model of his own or without.
struct Person {
    id: CallerId,
    model: bool,
    told: Mutex<Vec<Value>>,
    asked: AtomicUsize,
    was_asked: Notify,
}

impl Interactor for Person {
    fn scope(&self) -> CallerId {
        self.id
    }

    fn tell(&self, event: Frame) {
        let params = serde_json::from_slice(event.params().unwrap()).unwrap();
        self.told.lock().unwrap().push(params);
    }

    fn ask(&self, question: Question) -> BoxFuture<'_, Answer> {
        assert_eq!(question.kind, QuestionKind::Sampling);
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.was_asked.notify_one();
        Box::pin(async move {
            if !self.model {
                return Answer::Unsupported;
            }
            let params: Value = serde_json::from_slice(question.frame.params().unwrap()).unwrap();
            let text = params["messages"][0]["content"]["text"].as_str().unwrap();
            if text == "wait" {
                std::future::pending::<()>().await;
            }
            let said = json!({ "type": "text", "text": format!("{text}, indeed") });
            let result = json!({ "role": "assistant", "content": said, "model": "m" });
            Answer::Result(result.to_string().into())
        })
    }

    fn capabilities(&self) -> bytes::Bytes {
        capabilities(self.model)
    }
}

fn capabilities(model: bool) -> bytes::Bytes {
    bytes::Bytes::from_static(if model { br#"{"sampling":{}}"# } else { b"{}" })
}

struct Stage {
    host: Host,
    caller: Arc<Caller>,
    person: Arc<Person>,
}

impl Stage {
    async fn new(server: InProcessServer, revision: Revision, model: bool) -> Self {
        let host = Host::builder().context(server, || true).start().await.unwrap();
        host.wait_settled().await;
        let id = CallerId::fresh();
        let (told, asked) = (Mutex::default(), AtomicUsize::new(0));
        let was_asked = Notify::new();
        let person = Arc::new(Person { id, model, told, asked, was_asked });
        let port: Arc<dyn Interactor> = person.clone();
        let caller = Caller::new(id, Client::default(), revision, capabilities(model), port);
        Self { host, caller: Arc::new(caller), person }
    }

    /// The result, or the error object.
    async fn request(&self, method: &str, params: Value) -> Result<Value, Value> {
        let request = build::request("7", method, Some(params.to_string().as_bytes()));
        let request = Frame::parse(request, &MessageLimits::default()).unwrap();
        let answer = self.host.gate().pass(&request, &self.caller, self.person.clone()).await;
        let answer = match answer {
            Ok(answer) => answer,
            Err(refusal) => return Err(json!({ "code": refusal.rpc_code })),
        };
        let value = |raw: &[u8]| serde_json::from_slice(raw).unwrap();
        answer.error().map_or_else(|| Ok(value(answer.result().unwrap())), |it| Err(value(it)))
    }

    async fn call(&self, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        self.request("tools/call", params).await.unwrap()
    }

    async fn list(&self, kind: CapabilityKind) -> Value {
        let list = self.host.gate().list(kind, &self.caller).await;
        serde_json::from_slice(&list).unwrap()
    }
}

fn object() -> Value {
    json!({ "type": "object" })
}

fn context() -> InProcessServer {
    InProcessServer::new("test")
}

#[tokio::test]
async fn a_tool_says_all_there_is_to_say_of_it_and_gives_both_forms() {
    let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
    let tool = Tool::new("count", "Counts", object(), |_| async {
        Ok::<_, &str>(ToolOutput::Both {
            text: "there are 2".into(),
            structured: json!({ "n": 2 }),
        })
    });
    let tool = tool
        .title("Count them")
        .output_schema(schema.clone())
        .read_only()
        .annotations(json!({ "openWorldHint": false }))
        .meta(json!({ "example.com/x": 1 }));
    for revision in ERAS {
        let stage = Stage::new(context().tools([tool.clone()]), revision, false).await;
        let listed = &stage.list(CapabilityKind::Tool).await["tools"][0];
        assert_eq!((&listed["name"], &listed["title"]), (&json!("count"), &json!("Count them")));
        assert_eq!(listed["outputSchema"], schema);
        let hints = json!({ "readOnlyHint": true, "openWorldHint": false });
        assert_eq!(listed["annotations"], hints);
        assert_eq!(listed["_meta"]["example.com/x"], 1);
        let result = stage.call("count", json!({})).await;
        assert_eq!(result["content"][0]["text"], "there are 2");
        assert_eq!(result["structuredContent"], json!({ "n": 2 }));
    }
}

#[tokio::test]
async fn a_function_that_fails_or_breaks_is_told_and_harms_nobody() {
    let fails =
        Tool::new("fails", "", object(), |_| async { Err::<ToolOutput, _>("no such thing") });
    let breaks = Tool::new("breaks", "", object(), |call| async move {
        let list: Vec<u8> = Vec::new();
        let at = call.arguments["at"].as_u64().unwrap_or_default() as usize;
        Ok::<ToolOutput, String>(list[at].to_string().into())
    });
    for revision in ERAS {
        let tools = [fails.clone(), breaks.clone()];
        let stage = Stage::new(context().tools(tools), revision, false).await;
        let broken = json!({ "name": "breaks", "arguments": {} });
        let error = stage.request("tools/call", broken).await.unwrap_err();
        assert_eq!(error["code"], -32603);
        let failed = stage.call("fails", json!({})).await;
        assert_eq!(failed["isError"], true);
        assert_eq!(failed["content"][0]["text"], "no such thing");
    }
}

fn library() -> InProcessServer {
    let reads = Arc::new(AtomicUsize::new(0));
    let status = Resource::new("t://status", "status", "How it stands", move || {
        let number = reads.fetch_add(1, Ordering::Relaxed);
        async move { Ok::<_, HandlerError>(format!("read {number} times before")) }
    });
    let search =
        Resource::template("t://search{?query,limit}", "search", "Finds", |values| async move {
            let query =
                values.get("query").ok_or(HandlerError::Invalid("`query` is missing".into()))?;
            match query.as_str() {
                "nothing" => Err(HandlerError::NotFound),
                "trouble" => Err("it did not work".into()),
                query => Ok(format!("{query} {:?}", values.get("limit"))),
            }
        });
    let search = search.mime_type("text/markdown").complete("query", |typed| async move {
        let limit = typed.others.get("limit").cloned().unwrap_or_default();
        Ok::<_, HandlerError>(vec![format!("{}{limit}", typed.value)].into())
    });
    let prompt = Prompt::new("sum up", "Sums up", |arguments| async move {
        let about = arguments.get("about").cloned().unwrap_or_default();
        let style = arguments.get("style").map_or("briefly", String::as_str);
        let said = vec![
            PromptMessage::user(format!("sum up {about} {style}")),
            PromptMessage::assistant("so"),
        ];
        Ok::<_, HandlerError>(said)
    });
    let prompt = prompt
        .title("Sum it up")
        .argument("about", "What", true)
        .argument("style", "How", false)
        .complete("style", |_| async {
            let values: Vec<_> = (0..120).map(|n| format!("style {n}")).collect();
            Ok::<_, HandlerError>(Completion::from(values))
        });
    let annotated = json!({ "audience": ["user"], "priority": 0.5 });
    context()
        .resource(status.mime_type("text/plain").annotations(annotated).title("Status"))
        .resource(search)
        .prompt(prompt)
}

#[tokio::test]
async fn resources_are_made_when_they_are_read() {
    for revision in ERAS {
        let stage = Stage::new(library(), revision, false).await;
        let listed = &stage.list(CapabilityKind::Resource).await["resources"][0];
        assert_eq!((&listed["uri"], &listed["title"]), (&json!("t://status"), &json!("Status")));
        assert_eq!(listed["annotations"]["priority"], 0.5);
        let templates = &stage.list(CapabilityKind::Template).await["resourceTemplates"][0];
        assert_eq!(templates["uriTemplate"], "t://search{?query,limit}");
        assert_eq!(templates["mimeType"], "text/markdown");
        let read = async |uri: &str| stage.request("resources/read", json!({ "uri": uri })).await;
        for number in 0..2 {
            let contents = read("t://status").await.unwrap()["contents"][0].clone();
            assert_eq!(contents["text"], format!("read {number} times before"));
            assert_eq!(contents["mimeType"], "text/plain");
        }
        let found = read("t://search?limit=3&x=1&query=a%20%26%20b").await.unwrap();
        assert_eq!(found["contents"][0]["text"], "a & b Some(\"3\")");
        assert_eq!(found["contents"][0]["uri"], "t://search?limit=3&x=1&query=a%20%26%20b");
        let missing = if revision == Revision::LATEST_LEGACY { -32002 } else { -32602 };
        for (uri, code) in [
            ("t://search", -32602),
            ("t://search?query=nothing", missing),
            ("t://search?query=%ff", missing),
            ("t://search?query=trouble", -32603),
        ] {
            assert_eq!(read(uri).await.unwrap_err()["code"], code, "{uri} {revision}");
        }
    }
}

#[tokio::test]
async fn prompts_have_arguments_and_both_are_completed() {
    for revision in ERAS {
        let stage = Stage::new(library(), revision, false).await;
        let listed = &stage.list(CapabilityKind::Prompt).await["prompts"][0];
        let name = listed["name"].as_str().unwrap();
        assert_eq!(listed["title"], "Sum it up");
        assert_eq!(listed["arguments"][0]["required"], true);
        let get = async |arguments: Value| {
            let params = json!({ "name": name, "arguments": arguments });
            stage.request("prompts/get", params).await
        };
        let got = get(json!({ "about": "it" })).await.unwrap();
        assert_eq!(got["messages"][0]["content"]["text"], "sum up it briefly");
        assert_eq!(got["messages"][1]["role"], "assistant");
        assert_eq!(get(json!({ "style": "long" })).await.unwrap_err()["code"], -32602);

        let complete = async |about: Value, argument: &str, others: Value| {
            let argument = json!({ "name": argument, "value": "ab" });
            let context = json!({ "arguments": others });
            let params = json!({ "ref": about, "argument": argument, "context": context });
            stage.request("completion/complete", params).await.map(|it| it["completion"].clone())
        };
        let prompt = json!({ "type": "ref/prompt", "name": name });
        let styles = complete(prompt.clone(), "style", json!({})).await.unwrap();
        assert_eq!(styles["values"].as_array().unwrap().len(), 100);
        assert_eq!((&styles["total"], &styles["hasMore"]), (&json!(120), &json!(true)));
        let none = complete(prompt, "about", json!({})).await.unwrap();
        assert_eq!(none["values"], json!([]));
        let template = json!({ "type": "ref/resource", "uri": "t://search{?query,limit}" });
        let queries = complete(template, "query", json!({ "limit": "7" })).await.unwrap();
        assert_eq!(queries["values"], json!(["ab7"]));
        let nobody = json!({ "type": "ref/prompt", "name": "nobody" });
        assert_eq!(complete(nobody, "x", json!({})).await.unwrap_err()["code"], -32602);
    }
}

/// A tool that has the caller's model put its question, and tells how far it is.
fn asking() -> InProcessServer {
    let ask = Tool::new("ask", "", object(), |call| async move {
        call.client.progress(1.0, Some(2.0), "asking");
        let text = call.arguments["text"].as_str().unwrap_or_default();
        let message = json!({ "role": "user", "content": { "type": "text", "text": text } });
        let params = json!({ "messages": [message], "maxTokens": 100 });
        let limit = Duration::from_millis(if text == "wait" { 50 } else { 60_000 });
        match call.client.sample(&params, limit).await {
            Ok(said) => Ok(said["content"]["text"].as_str().unwrap_or_default().into()),
            Err(RequestToClientError::TimedOut) => Ok("too late".into()),
            Err(RequestToClientError::Refused { .. } | RequestToClientError::Unsupported) => {
                Ok("by myself".into())
            }
            Err(error) => Err(error),
        }
    });
    context().tools([ask])
}

#[tokio::test]
async fn a_tool_asks_its_callers_model_and_tells_how_far_it_is() {
    for revision in ERAS {
        let stage = Stage::new(asking(), revision, true).await;
        let meta = json!({ "progressToken": "mine" });
        let params = json!({ "name": "ask", "arguments": { "text": "hm" }, "_meta": meta });
        let answer = stage.request("tools/call", params).await.unwrap();
        assert_eq!(answer["content"][0]["text"], "hm, indeed");
        let told = stage.person.told.lock().unwrap().clone();
        assert_eq!(told.len(), 1, "{told:?}");
        assert_eq!(
            (&told[0]["progressToken"], &told[0]["progress"]),
            (&json!("mine"), &json!(1.0))
        );
        assert_eq!(told[0]["message"], "asking");
        assert_eq!(stage.person.asked.load(Ordering::Relaxed), 1);
        let late = stage.call("ask", json!({ "text": "wait" })).await;
        assert_eq!(late["content"][0]["text"], "too late");
        let alone = Stage::new(asking(), revision, false).await;
        let answer = alone.call("ask", json!({ "text": "hm" })).await;
        assert_eq!(answer["content"][0]["text"], "by myself");
        assert!(alone.person.told.lock().unwrap().is_empty(), "nobody wanted to know");
    }
}

#[tokio::test]
async fn a_call_that_is_given_up_is_dropped_where_it_waits() {
    struct Dropped(Arc<Notify>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.notify_one();
        }
    }
    let ended = Arc::new(Notify::new());
    let seen = ended.clone();
    let waits = Tool::new("waits", "", object(), move |call| {
        let guard = Dropped(seen.clone());
        async move {
            let message = json!({ "role": "user", "content": { "type": "text", "text": "wait" } });
            let params = json!({ "messages": [message], "maxTokens": 1 });
            let answer = call.client.sample(&params, Duration::from_secs(60)).await;
            drop(guard);
            answer.map(ToolOutput::from)
        }
    });
    let stage = Stage::new(context().tools([waits]), Revision::LATEST_LEGACY, true).await;
    tokio::select! {
        answer = stage.call("waits", json!({})) => panic!("nobody answers it: {answer}"),
        () = stage.person.was_asked.notified() => {}
    }
    assert_eq!(stage.person.asked.load(Ordering::Relaxed), 1);
    tokio::time::timeout(LIMIT, ended.notified()).await.unwrap();
}
