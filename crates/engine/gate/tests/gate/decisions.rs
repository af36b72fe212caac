//! Nothing is called that was not decided: the steps of the gate with rules, pins, approvals and a
//! journal, before servers that write down what reaches them.

mod asking;
mod forwarded;
mod pins;
mod recorded;
mod replaced;
mod rules;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use bytes::Bytes as RawBytes;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use toolgate_fleet::{Fleet, FleetEvent};
use toolgate_gate::{Caller, CallerId, Client, Gate};
use toolgate_journal::{self as journal, EntryEvent, Journal, JournalEntry};
use toolgate_model::{
    ConfigScope, Effect, GovernanceSettings, Origin, PolicyMode, Posture, PrefixMode, RuleSet,
    RuleSpec, ServerSpec,
};
use toolgate_session::{Answer, Interactor, Question};
use toolgate_store::{PendingCall, StateStore};
use toolgate_wire::{Frame, MessageLimits, Revision};

use crate::fleet::{Outcome, Played, empty, member, spec};

/// A gate with books in a folder of its own, and one server called `s`.
struct World {
    gate: Arc<Gate>,
    fleet: Arc<Fleet>,
    server: Played,
    decisions: Arc<StateStore>,
    dir: tempfile::TempDir,
}

/// A server whose definitions can be changed under way, with or without telling.
struct Wares(Arc<Mutex<Value>>);

impl Wares {
    fn change(&self, change: impl FnOnce(&mut Value)) {
        change(&mut self.0.lock().unwrap());
    }
}

fn tool(name: &str) -> Value {
    json!({ "name": name, "description": "does it", "inputSchema": { "type": "object" } })
}

fn selling(tools: Value) -> (Played, Wares) {
    let wares = Arc::new(Mutex::new(json!({ "tools": tools })));
    let shown = wares.clone();
    let capabilities = json!({ "tools": { "listChanged": true }, "resources": {}, "prompts": {},
        "extensions": { "a.b/foo": {} } });
    let server = Played::new(capabilities, move |method, params| match method {
        "tools/list" => shown.lock().unwrap().clone(),
        "resources/list" => json!({ "resources": [{ "uri": "x://r", "name": "r" }] }),
        "resources/templates/list" => json!({ "resourceTemplates": [] }),
        "prompts/list" => json!({ "prompts": [{ "name": "p" }] }),
        "resources/read" => json!({ "contents": [] }),
        "prompts/get" => json!({ "messages": [] }),
        _ => json!({ "content": [], "structuredContent": params }),
    });
    (server, Wares(wares))
}

/// Declared in a file of the user's: what is built in is not pinned.
fn from_file() -> Origin {
    let file = Some(Arc::new(PathBuf::from("toolgate.toml")));
    Origin { scope: ConfigScope::User, file, line: 1, column: 1 }
}

impl World {
    async fn new(tools: Value, governance: GovernanceSettings) -> (Self, Wares) {
        Self::with(spec("s"), tools, governance).await
    }

    async fn with(spec: ServerSpec, tools: Value, governance: GovernanceSettings) -> (Self, Wares) {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::new(dir.path().join("journal"));
        Self::writing(dir, Some(Arc::new(journal)), spec, tools, governance).await
    }

    async fn writing(
        dir: tempfile::TempDir,
        journal: Option<Arc<Journal>>,
        spec: ServerSpec,
        tools: Value,
        governance: GovernanceSettings,
    ) -> (Self, Wares) {
        let (server, wares) = selling(tools);
        let (gate, fleet) = empty(PrefixMode::Always);
        gate.set_governance(&governance);
        let decisions: Arc<StateStore> = Arc::new(StateStore::in_memory().await.unwrap());
        gate.open_stores(decisions.clone(), journal).await.unwrap();
        let declared = member(spec, &server);
        fleet.add_server(toolgate_fleet::FleetServer { origin: from_file(), ..declared }).await;
        fleet.wait_settled(|_| true).await;
        (Self { gate, fleet, server, decisions, dir }, wares)
    }

    /// How many tools were called at the server.
    fn calls(&self) -> usize {
        self.server.count("tools/call")
    }

    async fn call(&self, me: &Me, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        self.pass(me, "tools/call", params).await.unwrap()
    }

    async fn pass(&self, me: &Me, method: &str, params: Value) -> Outcome {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let frame = Frame::parse(request.to_string().into(), &MessageLimits::default()).unwrap();
        let answer = self.gate.pass(&frame, &me.caller, me.port.clone()).await?;
        Ok(serde_json::from_slice(answer.result().or(answer.error()).unwrap()).unwrap())
    }

    /// The server says that its tools changed, and is heard: so is what it says after that.
    async fn hear_of_change(&self) {
        let mut events = self.fleet.events();
        self.server.notify("notifications/tools/list_changed", json!({}));
        self.server.notify("notifications/unheard_of", json!({}));
        while !matches!(events.recv().await.unwrap(), FleetEvent::Notified { .. }) {}
    }

    /// Waits until so many calls wait for somebody's decision.
    async fn until_listed(&self, count: usize) -> Vec<PendingCall> {
        let broker = self.gate.approvals().unwrap();
        let mut news = broker.watch();
        loop {
            let listed = broker.list().await.unwrap();
            if listed.len() == count {
                return listed;
            }
            news.changed().await.unwrap();
        }
    }

    /// Everything in the journal, in a word or two each: what, about what.
    async fn journal(&self) -> Vec<String> {
        self.gate.close_stores().await.unwrap();
        self.entries().iter().filter_map(told).collect()
    }

    fn entries(&self) -> Vec<JournalEntry> {
        let folder = self.dir.path().join("journal");
        journal::read(&folder).unwrap().map(|entry| entry.unwrap()).collect()
    }
}

fn told(entry: &JournalEntry) -> Option<String> {
    Some(match &entry.event {
        EntryEvent::Decided(decided) => format!("{} {}", decided.effect, decided.method),
        EntryEvent::Approved { choice, .. } => format!("approved {choice}"),
        EntryEvent::Done { outcome, .. } => format!("done {outcome:?}"),
        EntryEvent::Noted { kind, .. } => format!("noted {kind}"),
        // What a chain says of itself.
        _ => return None,
    })
}

/// The decision in a refused call.
fn decision(result: &Value) -> &Value {
    assert_eq!(result["isError"], true, "{result}");
    &result["_meta"]["dev.toolgate/decision"]
}

fn rules<const N: usize>(rules: [(Effect, &str); N]) -> GovernanceSettings {
    let rules = rules.map(|(effect, about)| (effect, RuleSpec::from(about.to_owned())));
    let set = RuleSet { origin: from_file(), mode: None, rules: rules.to_vec() };
    GovernanceSettings { rules: vec![set], ..GovernanceSettings::default() }
}

fn mode(mode: PolicyMode) -> GovernanceSettings {
    let set = RuleSet { origin: from_file(), mode: Some(mode), rules: Vec::new() };
    GovernanceSettings { rules: vec![set], ..GovernanceSettings::default() }
}

fn governed(governance: GovernanceSettings) -> GovernanceSettings {
    GovernanceSettings { posture: Posture::Governed, ..governance }
}

/// Whoever answers every form with these words, and notes what he was asked.
struct Person {
    scope: CallerId,
    says: Value,
    asked: Mutex<Vec<Question>>,
    meanwhile: Box<dyn Fn() + Send + Sync>,
}

impl Interactor for Person {
    fn scope(&self) -> CallerId {
        self.scope
    }
    fn tell(&self, _: Frame) {}
    fn ask(&self, question: Question) -> BoxFuture<'_, Answer> {
        self.asked.lock().unwrap().push(question);
        (self.meanwhile)();
        let answer = Answer::Result(self.says.to_string().into());
        Box::pin(std::future::ready(answer))
    }
    fn capabilities(&self) -> RawBytes {
        RawBytes::from_static(br#"{"elicitation":{}}"#)
    }
}

fn chooses(choice: &str) -> Value {
    json!({ "action": "accept", "content": { "choice": choice } })
}

/// A caller, and whoever stands behind his calls.
struct Me {
    caller: Arc<Caller>,
    port: Arc<dyn Interactor>,
}

/// A caller with a client that shows forms, and the person before it.
fn with_forms(says: Value, meanwhile: impl Fn() + Send + Sync + 'static) -> (Me, Arc<Person>) {
    let id = CallerId::fresh();
    let (scope, asked, meanwhile) = (id, Mutex::default(), Box::new(meanwhile));
    let person = Arc::new(Person { scope, says, asked, meanwhile });
    let client = Client { name: "form".into(), version: "1".into() };
    let capabilities = RawBytes::from_static(br#"{"elicitation":{}}"#);
    let caller = Caller::new(id, client, Revision::LATEST_LEGACY, capabilities, person.clone());
    (Me { caller: Arc::new(caller), port: person.clone() }, person)
}

/// A caller whose client is called so, and shows no forms.
fn with_client(name: &str) -> Me {
    let id = CallerId::fresh();
    let client = Client { name: name.into(), version: "1".into() };
    let port = Arc::new(crate::fleet::Nobody::of(id));
    let none = RawBytes::from_static(b"{}");
    let caller = Caller::new(id, client, Revision::LATEST_LEGACY, none, port.clone());
    Me { caller: Arc::new(caller), port }
}

/// The same, as whoever approvals know by this name.
fn known_as(person: &str, Me { caller, port }: Me) -> Me {
    let caller = Arc::into_inner(caller).unwrap().with_person(person);
    Me { caller: Arc::new(caller), port }
}
