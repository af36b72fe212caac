//! A gate that does what the name of the called tool says.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use bytes::Bytes;
use futures_util::future::join_all;
use tokio::sync::{Notify, Semaphore, broadcast};
use toolgate_host::keys::AccessKeyring;
use toolgate_host::{
    Answer, Caller, CallerId, Client, GateError, GateEvent, Interactor, Question, QuestionKind,
    ServerName,
};
use toolgate_model::{CapabilityKind, ErrorCode};
use toolgate_wire::mcp_headers::ArgumentHeader;
use toolgate_wire::view::LogLevel;
use toolgate_wire::{Frame, MessageLimits, build, method, scan};

/// The scripted side. Its methods are those of the gate that the gateway uses.
pub struct Script {
    events: broadcast::Sender<GateEvent>,
    /// Each permit lets one waiting call go on.
    pub(super) go: Semaphore,
    /// A waiting call has begun.
    pub(super) begun: Notify,
    /// A waiting call was dropped before its end.
    pub(super) dropped: Notify,
    /// A waiting call has come to its end.
    pub(super) finished: Notify,
    pub(super) released: Mutex<Vec<CallerId>>,
    /// A caller was released.
    pub(super) release: Notify,
    pub(super) levels: Mutex<Vec<LogLevel>>,
    pub(super) callers: Mutex<Vec<Arc<Caller>>>,
    pub(super) tools: Bytes,
    /// Subscriptions taken and ended: method and URI.
    pub(super) subscriptions: Mutex<Vec<(String, String)>>,
    /// Subscriptions were taken or ended.
    pub(super) subscribed: Notify,
    /// What is configured to answer `roots/list`.
    pub(super) roots: Mutex<Option<Bytes>>,
    keys: OnceLock<Arc<AccessKeyring>>,
    /// Whether the posture is one that requires keys.
    pub(super) requires_key: AtomicBool,
}

/// The profiles there are. A client that calls itself by the name of one is configured to have it.
const PROFILES: [&str; 3] = ["default", "reader", "writer"];

/// The methods the servers behind the scripted gate have.
const KNOWN: [&str; 8] = [
    method::TOOLS_CALL,
    method::PROMPTS_GET,
    method::RESOURCES_READ,
    method::COMPLETION_COMPLETE,
    method::RESOURCES_SUBSCRIBE,
    method::RESOURCES_UNSUBSCRIBE,
    method::TASKS_GET,
    "ext/known",
];

/// Tells when a call is dropped.
struct Watch<'a>(&'a Script, bool);

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if self.1 { self.0.finished.notify_one() } else { self.0.dropped.notify_one() }
    }
}

impl Script {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            events: broadcast::channel(64).0,
            go: Semaphore::new(0),
            begun: Notify::new(),
            dropped: Notify::new(),
            finished: Notify::new(),
            released: Mutex::default(),
            release: Notify::new(),
            levels: Mutex::default(),
            callers: Mutex::default(),
            subscriptions: Mutex::default(),
            subscribed: Notify::new(),
            roots: Mutex::default(),
            keys: OnceLock::new(),
            requires_key: AtomicBool::new(false),
            tools: Bytes::from(format!(r#"{{"tools":[{}]}}"#, "0,".repeat(50_000) + "0")),
        })
    }

    /// A new key for a caller, as the value of `Authorization`.
    pub(super) async fn key(&self, name: &str) -> String {
        if self.keys.get().is_none() {
            let _ = self.keys.set(toolgate_host::keys::in_memory().await.unwrap());
        }
        let (_, secret) = self.keys.get().unwrap().add(name, None).await.unwrap().unwrap();
        format!("Bearer {secret}")
    }

    pub(super) fn emit(&self, event: GateEvent) {
        self.events.send(event).unwrap();
    }

    /// Reports a changed list to all callers.
    pub(super) fn list_changed(&self, kind: CapabilityKind) {
        self.emit(GateEvent::ListChanged { kind, profile: None, caller: None });
    }

    /// Returns the profiles of the callers, in order.
    pub(super) fn seen_by(&self) -> Vec<String> {
        let callers = self.callers.lock().unwrap();
        callers.iter().map(|caller| caller.profile.to_string()).collect()
    }

    pub(crate) async fn pass(
        &self,
        request: &Frame,
        caller: &Arc<Caller>,
        port: Arc<dyn Interactor>,
    ) -> Result<Frame, GateError> {
        self.callers.lock().unwrap().push(caller.clone());
        let called = request.method().unwrap().into_owned();
        if !KNOWN.contains(&called.as_str()) {
            return Err(refusal(-32601, &format!("Method not found: {called}")));
        }
        if called.ends_with("subscribe") {
            return self.subscribe(called, request.name().unwrap().into_owned());
        }
        match request.name().as_deref() {
            Some("wait") => self.wait().await,
            Some("progress-then-wait") => {
                port.tell(progress(request, 1));
                self.wait().await
            }
            Some("progress") => {
                (1..=3).for_each(|step| port.tell(progress(request, step)));
                Ok(result(r#"{"content":[],"said":3}"#))
            }
            Some("log") => {
                for level in ["debug", "info", "error"] {
                    port.tell(log(level));
                }
                Ok(result("{}"))
            }
            Some("ask") => {
                let kind =
                    scan::member_text(request.params().unwrap(), "ask").unwrap().into_owned();
                Ok(result(&format!("{{\"answer\":{:?}}}", text(port.ask(question(&kind)).await))))
            }
            Some("ask-all") => {
                let questions = ["form", "sampling"]
                    .map(|kind| Question { key: Some(format!("the-{kind}")), ..question(kind) });
                Ok(answers(port.ask_all(questions.into()).await))
            }
            Some("ask-at-once") => {
                let (one, other) = (port.ask(question("form")), port.ask(question("roots")));
                Ok(answers(join_all([one, other]).await))
            }
            Some("ask-in-turn") => {
                let first = port.ask(question("form")).await;
                port.tell(progress(request, 1));
                Ok(answers(vec![first, port.ask(question("form")).await]))
            }
            Some("ask-and-wait") => {
                let mut watch = Watch(self, false);
                let answer = port.ask(question("form")).await;
                watch.1 = true;
                Ok(answers(vec![answer]))
            }
            Some("ask-then-wait") => {
                port.ask(question("form")).await;
                self.wait().await
            }
            Some("ask-url-by-key") => {
                let question = Question { key: Some("visit".into()), ..question("url") };
                Ok(answers(vec![port.ask(question).await]))
            }
            Some("ask-then-progress") => {
                let answer = port.ask(question("form")).await;
                port.tell(progress(request, 2));
                Ok(answers(vec![answer]))
            }
            Some("who") => {
                let level = port.level().map_or("none", LogLevel::as_str);
                let capabilities = port.capabilities();
                let capabilities = std::str::from_utf8(&capabilities).unwrap();
                Ok(result(&format!(r#"{{"level":"{level}","capabilities":{capabilities}}}"#)))
            }
            Some("samples") => {
                let answer = text(port.ask(question("sampling")).await);
                Ok(result(&format!(r#"{{"isError":true,"said":"{answer}"}}"#)))
            }
            Some("needs-sampling") => Err(refusal(-32021, "sampling is needed")),
            Some("give-up-asking") => {
                tokio::select! {
                    _ = port.ask(question("form")) => {}
                    _ = self.go.acquire() => {}
                }
                Ok(result("{}"))
            }
            Some("refused") => Err(refusal(-32602, "Unknown tool: refused")),
            Some("large") => Ok(result(&format!("{{\"text\":{:?}}}", "x".repeat(3 << 20)))),
            _ => Ok(result(std::str::from_utf8(request.params().unwrap()).unwrap())),
        }
    }

    fn subscribe(&self, called: String, uri: String) -> Result<Frame, GateError> {
        if uri == "test://nobody" {
            return Err(refusal(-32602, "no such resource"));
        }
        self.subscriptions.lock().unwrap().push((called, uri));
        self.subscribed.notify_one();
        Ok(result("{}"))
    }

    async fn wait(&self) -> Result<Frame, GateError> {
        let mut watch = Watch(self, false);
        self.begun.notify_one();
        self.go.acquire().await.unwrap().forget();
        watch.1 = true;
        Ok(result(r#"{"waited":true}"#))
    }

    pub(crate) fn choose_profile(
        &self,
        asked: Option<&str>,
        client: &Client,
    ) -> Result<Arc<str>, GateError> {
        let configured = PROFILES.contains(&client.name.as_str()).then_some(client.name.as_str());
        let profile = asked.or(configured).unwrap_or("default");
        match PROFILES.contains(&profile) {
            true => Ok(profile.into()),
            false => Err(refusal(-32602, &format!("no profile {profile}; there are {PROFILES:?}"))),
        }
    }

    pub(crate) async fn list(&self, kind: CapabilityKind, _: &Caller) -> Bytes {
        match kind {
            CapabilityKind::Tool => self.tools.clone(),
            kind => Bytes::from(format!("{{\"{kind}s\":[]}}")),
        }
    }

    pub(crate) async fn await_start(&self) {}

    pub(crate) fn capabilities(&self, _: &Caller) -> Bytes {
        Bytes::from_static(
            br#"{"tools":{"listChanged":true},"resources":{"listChanged":true,"subscribe":true},
                "extensions":{"io.modelcontextprotocol/tasks":{}},"logging":{}}"#,
        )
    }

    pub(crate) fn instructions(&self, _: &Caller) -> Option<String> {
        Some("be \"kind\"".into())
    }

    pub(crate) fn has_open_tasks(&self, _: CallerId) -> bool {
        false
    }

    pub(crate) fn header_rules(
        &self,
        _: &Caller,
        request: &Frame,
    ) -> Option<Arc<[ArgumentHeader]>> {
        let rule = |name: &str| ArgumentHeader {
            header: format!("mcp-param-{name}"),
            path: vec![name.to_owned()],
        };
        (request.name().as_deref() == Some("mirrored"))
            .then(|| [rule("region"), rule("count")].into())
    }

    pub(crate) fn roots(&self) -> Option<Bytes> {
        self.roots.lock().unwrap().clone()
    }

    pub(crate) fn set_level(&self, _: CallerId, level: LogLevel) {
        self.levels.lock().unwrap().push(level);
    }

    pub(crate) fn watch_task(&self, _: &Caller, _: &str) -> bool {
        true
    }

    pub(crate) fn release(&self, caller: CallerId) {
        self.released.lock().unwrap().push(caller);
        self.release.notify_one();
    }

    pub(crate) fn keys(&self) -> Option<&Arc<AccessKeyring>> {
        self.keys.get()
    }

    pub(crate) fn requires_key(&self) -> bool {
        self.requires_key.load(Ordering::Relaxed)
    }

    pub(crate) fn events(&self) -> broadcast::Receiver<GateEvent> {
        self.events.subscribe()
    }
}

pub(super) fn frame(bytes: Bytes) -> Frame {
    Frame::parse(bytes, &MessageLimits::default()).unwrap()
}

fn refusal(code: i32, message: &str) -> GateError {
    let data = Some(Bytes::from_static(b"[1]"));
    GateError { rpc_code: code, data, ..GateError::new(ErrorCode::CallServerError, message) }
}

fn answers(answers: Vec<Answer>) -> Frame {
    let answers: Vec<_> = answers.into_iter().map(text).collect();
    result(&format!("{{\"answers\":{answers:?}}}"))
}

fn result(result: &str) -> Frame {
    frame(build::response("4711", result.as_bytes()))
}

fn progress(request: &Frame, step: u32) -> Frame {
    let token = request.progress_token().map_or("0".to_owned(), |token| token.raw().to_owned());
    let params = format!(r#"{{"progressToken":{token},"progress":{step}}}"#);
    frame(build::notification(method::PROGRESS, Some(params.as_bytes())))
}

pub(super) fn log(level: &str) -> Frame {
    let params = format!(r#"{{"level":"{level}","data":"of {level}"}}"#);
    frame(build::notification(method::MESSAGE, Some(params.as_bytes())))
}

fn question(kind: &str) -> Question {
    let (kind, name, params) = match kind {
        "form" => (QuestionKind::Form, method::ELICITATION_CREATE, r#"{"message":"?"}"#),
        "url" => (QuestionKind::Url, method::ELICITATION_CREATE, r#"{"mode":"url"}"#),
        "sampling" => {
            (QuestionKind::Sampling, method::SAMPLING_CREATE_MESSAGE, r#"{"maxTokens":5}"#)
        }
        _ => (QuestionKind::Roots, method::ROOTS_LIST, "{}"),
    };
    let frame = frame(build::request("99", name, Some(params.as_bytes())));
    Question { server: ServerName::new("scripted").unwrap(), kind, key: None, frame }
}

fn text(answer: Answer) -> String {
    match answer {
        Answer::Result(result) => String::from_utf8(result.to_vec()).unwrap(),
        Answer::Failure { code, message, .. } => format!("{code} {message}"),
        Answer::Unsupported => "unsupported".into(),
    }
}
