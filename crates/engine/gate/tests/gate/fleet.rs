//! A gate, servers made of a function, and a caller.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::{BoxFuture, FutureExt as _};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};
use tokio::sync::mpsc;
use toolgate_exposure::NamingOptions;
use toolgate_fleet::{BuiltInServer, DRAIN_LIMIT, Fleet, FleetBuilder, FleetServer};
use toolgate_gate::{Caller, CallerId, Client, Gate, GateError, GatewaySettings};
use toolgate_launch::{LaunchHelperProgram, Launcher};
use toolgate_model::{
    CapabilityKind, DeclaredProfile, GovernanceSettings, Origin, PoolScope, PrefixMode, Profile,
    Profiles, ServerName, ServerSpec, TransportSpec,
};
use toolgate_session::{Answer, Interactor, Question};
use toolgate_wire::{Era, Frame, MessageLimits, Revision};

type Handler = dyn Fn(&str, &Value) -> Value + Send + Sync;

/// A server whose answers a function gives. Requests are noted, notifications can be sent.
#[derive(Clone)]
pub struct Played {
    revision: Revision,
    capabilities: Value,
    handler: Arc<Handler>,
    pub seen: Arc<Mutex<Vec<Value>>>,
    connections: Arc<Mutex<Vec<mpsc::UnboundedSender<Value>>>>,
}

impl Played {
    pub fn new(
        capabilities: Value,
        handler: impl Fn(&str, &Value) -> Value + Send + Sync + 'static,
    ) -> Self {
        Self {
            revision: Revision::LATEST_LEGACY,
            capabilities,
            handler: Arc::new(handler),
            seen: Arc::default(),
            connections: Arc::default(),
        }
    }

    /// The same server in another revision.
    pub fn speaking(self, revision: Revision) -> Self {
        Self { revision, ..self }
    }

    /// Sends a notification on every connection.
    pub fn notify(&self, method: &str, params: Value) {
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        for connection in self.connections.lock().unwrap().iter() {
            let _ = connection.send(message.clone());
        }
    }

    /// Sends a notification on one connection, by the order in which they came.
    pub fn notify_on(&self, connection: usize, method: &str, params: Value) {
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        let _ = self.connections.lock().unwrap()[connection].send(message);
    }

    pub fn count(&self, method: &str) -> usize {
        self.seen.lock().unwrap().iter().filter(|message| message["method"] == method).count()
    }

    pub fn connections(&self) -> usize {
        self.connections.lock().unwrap().len()
    }

    /// The answer to a request; none yet to one that opens a stream.
    fn answer(&self, message: &Value) -> Option<Value> {
        let info = json!({ "name": "p", "version": "1" });
        let capabilities = &self.capabilities;
        Some(match message["method"].as_str().unwrap() {
            "initialize" => json!({ "protocolVersion": self.revision.as_str(),
                "capabilities": capabilities, "serverInfo": info }),
            "server/discover" => json!({ "supportedVersions": [self.revision.as_str()],
                "capabilities": capabilities, "resultType": "complete", "ttlMs": 0,
                "cacheScope": "public", "_meta": { "io.modelcontextprotocol/serverInfo": info } }),
            "subscriptions/listen" => return None,
            method => (self.handler)(method, &message["params"]),
        })
    }

    fn respond(&self, message: &Value) -> Option<Value> {
        let (id, method) = (message.get("id")?, message.get("method")?);
        let Some(result) = self.answer(message) else {
            let own = json!({ "io.modelcontextprotocol/subscriptionId": id });
            let params =
                json!({ "_meta": own, "notifications": message["params"]["notifications"] });
            assert_eq!(method, "subscriptions/listen");
            return Some(json!({ "jsonrpc": "2.0", "params": params,
                "method": "notifications/subscriptions/acknowledged" }));
        };
        Some(match result.get("error").filter(|_| result.get("taskId").is_none()) {
            Some(error) => json!({ "jsonrpc": "2.0", "id": id, "error": error }),
            None => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        })
    }
}

impl BuiltInServer for Played {
    fn era(&self) -> Era {
        self.revision.era()
    }

    fn serve(&self, pipe: DuplexStream) {
        let (input, mut output) = tokio::io::split(pipe);
        let (send, mut waiting) = mpsc::unbounded_channel::<Value>();
        self.connections.lock().unwrap().push(send.clone());
        tokio::spawn(async move {
            while let Some(message) = waiting.recv().await {
                if output.write_all(format!("{message}\n").as_bytes()).await.is_err() {
                    return;
                }
            }
        });
        let server = self.clone();
        tokio::spawn(async move {
            let mut lines = BufReader::new(input).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                let message: Value = serde_json::from_str(&line).unwrap();
                server.seen.lock().unwrap().push(message.clone());
                let Some(answer) = server.respond(&message) else { continue };
                // A result may say after how many seconds it is given.
                match answer["result"]["after"].as_u64() {
                    None => drop(send.send(answer)),
                    Some(seconds) => {
                        let send = send.clone();
                        tokio::spawn(async move {
                            tokio::time::sleep(Duration::from_secs(seconds)).await;
                            let _ = send.send(answer);
                        });
                    }
                }
            }
        });
    }
}

/// A fleet of played servers, all of them up, and the gate before it.
pub async fn gate(
    servers: &[(&str, &Played)],
    manner: impl ChosenSettings,
) -> (Arc<Gate>, Arc<Fleet>) {
    let (gate, fleet) = empty(manner);
    for (name, server) in servers {
        enlist(&fleet, name, *server, PoolScope::Shared).await;
    }
    fleet.wait_settled(|_| true).await;
    (gate, fleet)
}

/// The settings of a gate under test, or the part of them that a test chooses.
pub trait ChosenSettings {
    fn settings(self) -> GatewaySettings;
}

impl ChosenSettings for GatewaySettings {
    fn settings(self) -> GatewaySettings {
        self
    }
}

impl ChosenSettings for NamingOptions {
    fn settings(self) -> GatewaySettings {
        GatewaySettings { style: self, ..GatewaySettings::default() }
    }
}

impl ChosenSettings for PrefixMode {
    fn settings(self) -> GatewaySettings {
        NamingOptions { prefix: self, ..NamingOptions::default() }.settings()
    }
}

/// Applies other settings to a gate, with the servers it has.
pub async fn apply_settings(gate: &Gate, fleet: &Fleet, manner: impl ChosenSettings) {
    let present = fleet.catalogs(None).into_iter();
    let present = present.map(|offered| FleetServer::clone(&offered.fleet_server)).collect();
    gate.apply(present, manner.settings(), &GovernanceSettings::default()).await;
}

pub fn empty(manner: impl ChosenSettings) -> (Arc<Gate>, Arc<Fleet>) {
    let launcher = Launcher::new(LaunchHelperProgram::none());
    let fleet = Arc::new(
        FleetBuilder { launcher, store: None, roots: Vec::new(), drain: DRAIN_LIMIT }.build(),
    );
    (Gate::new(fleet.clone(), manner.settings()), fleet)
}

pub async fn enlist<S>(fleet: &Fleet, name: &str, server: &S, pool: PoolScope)
where
    S: BuiltInServer + Clone + 'static,
{
    fleet.add_server(member(ServerSpec { pool, ..spec(name) }, server)).await;
}

/// The declaration of a played server.
pub fn spec(name: &str) -> ServerSpec {
    ServerSpec::new(ServerName::new(name).unwrap(), TransportSpec::BuiltIn)
}

/// A played server as the fleet is told of it.
pub fn member<S: BuiltInServer + Clone + 'static>(spec: ServerSpec, server: &S) -> FleetServer {
    let built_in: Option<Arc<dyn BuiltInServer>> = Some(Arc::new(server.clone()));
    FleetServer { built_in, ..FleetServer::from_spec(spec, Origin::built_in()) }
}

/// A server with tools of these names, whose calls are answered with their arguments.
pub fn with_tools(names: &[&str]) -> Played {
    let tools: Vec<_> = names.iter().map(|name| tool(name, "")).collect();
    with_definitions(json!(tools))
}

/// A tool that takes anything.
pub fn tool(name: &str, description: &str) -> Value {
    json!({ "name": name, "description": description, "inputSchema": { "type": "object" } })
}

/// A server with these tools, whose calls are answered with their params.
pub fn with_definitions(tools: Value) -> Played {
    Played::new(json!({ "tools": {} }), move |method, params| match method {
        "tools/list" => json!({ "tools": tools }),
        _ => json!({ "content": [], "structuredContent": params }),
    })
}

/// A caller who sees what a profile sees.
pub fn seeing(profile: &str, revision: Revision) -> Arc<Caller> {
    let id = CallerId::fresh();
    let nobody = Arc::new(Nobody(id));
    let caller = Caller::new(id, Client::default(), revision, Bytes::from_static(b"{}"), nobody);
    Arc::new(caller.with_profile(profile.into()))
}

/// These profiles, declared.
pub fn profiles<const N: usize>(profiles: [(&str, Profile); N]) -> Profiles {
    let declared = profiles.into_iter().map(|(name, profile)| {
        (name.to_owned(), DeclaredProfile { profile, origin: Origin::built_in() })
    });
    Profiles { declared: declared.collect(), ..Profiles::default() }
}

/// The definitions a caller is sent of a kind.
pub async fn listed(gate: &Gate, kind: CapabilityKind, caller: &Caller) -> Vec<Value> {
    let list = gate.list(kind, caller).await;
    let list: Value = serde_json::from_slice(&list).unwrap();
    list[kind.json_keys().0].as_array().unwrap().clone()
}

/// The names of the tools a caller is sent.
pub async fn tools(gate: &Gate, caller: &Caller) -> Vec<String> {
    let listed = listed(gate, CapabilityKind::Tool, caller).await;
    listed.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

pub struct Nobody(CallerId);

impl Nobody {
    /// Who stands behind this caller.
    pub fn of(caller: CallerId) -> Self {
        Self(caller)
    }
}

impl Interactor for Nobody {
    fn scope(&self) -> CallerId {
        self.0
    }
    fn tell(&self, _: Frame) {}
    fn ask(&self, _: Question) -> BoxFuture<'_, Answer> {
        Box::pin(std::future::ready(Answer::Unsupported))
    }
}

pub fn caller() -> Arc<Caller> {
    caller_of(Revision::LATEST_LEGACY)
}

pub fn caller_of(revision: Revision) -> Arc<Caller> {
    let id = CallerId::fresh();
    let nobody = Arc::new(Nobody(id));
    let capabilities = Bytes::from_static(b"{}");
    Arc::new(Caller::new(id, Client::default(), revision, capabilities, nobody))
}

/// Passes a request; gives the result or the error of the server, or the refusal of the gate.
pub async fn pass(gate: &Gate, caller: &Arc<Caller>, method: &str, params: Value) -> Outcome {
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let frame = Frame::parse(request.to_string().into(), &MessageLimits::default()).unwrap();
    let answer = gate.pass(&frame, caller, Arc::new(Nobody(caller.id))).await;
    let answer = answer?;
    Ok(serde_json::from_slice(answer.result().or(answer.error()).unwrap()).unwrap())
}

pub type Outcome = Result<Value, GateError>;

/// Waits until everything that has happened is told, on a clock that stands still: it moves on when
/// nobody has anything left to do, and by more than the time for which changes are gathered.
pub async fn all_is_told() {
    tokio::time::sleep(Duration::from_millis(300)).await;
}

/// What a future gives at once; it must wait for nothing.
pub fn without_waiting<T>(done: impl Future<Output = T>) -> T {
    done.now_or_never().expect("it waits for something")
}

/// Runs on one thread, with one more for blocking work, as [`lets_others_pass`] needs it.
pub fn with_one_blocking_thread(test: impl Future<Output = ()>) {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().max_blocking_threads(1).build().unwrap().block_on(test);
}

/// Whether another task runs on this thread before `done` is ready. The only blocking thread is held
/// until that task has run, so that work on it cannot be finished before.
pub async fn lets_others_pass<T>(done: impl Future<Output = T>) -> (T, bool) {
    let (release, held) = std::sync::mpsc::channel::<()>();
    let holding = tokio::task::spawn_blocking(move || held.recv());
    let mut release = Some(release);
    let others = async {
        tokio::task::yield_now().await;
        release = None;
        std::future::pending::<()>().await;
    };
    let done = tokio::select! {
        biased;
        done = done => done,
        () = others => unreachable!(),
    };
    let passed = release.take().is_none();
    holding.await.unwrap().unwrap_err();
    (done, passed)
}
