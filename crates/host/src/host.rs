//! The host: servers and how they stand, what they offer, calls to them.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;
use tokio::sync::broadcast;
use toolgate_exposure::{Exposure, Ledger, ledger};
use toolgate_fleet::{Fleet, FleetEvent, Member, Report, ServerStatus};
use toolgate_gate::{Caller, CallerId, Client, Found, Gate};
use toolgate_launch::{TreeGuarantee, withheld};
use toolgate_model::{
    CapabilityId, CapabilityKind, Discovery, Origin, ServerName, ServerSpec, TransportSpec,
};
use toolgate_session::{Answer, Interactor, Question};
use toolgate_wire::{Frame, Limits, Revision, build, method, string, view};

use crate::roster::Roster;
use crate::{Applied, CallerScope, HostBuilder, HostError, Plan};

/// Every server of a user behind one gate. Cheap to clone.
#[derive(Clone)]
pub struct Host {
    fleet: Arc<Fleet>,
    gate: Arc<Gate>,
    roster: Arc<Roster>,
    guarantee: TreeGuarantee,
    caller: Arc<Caller>,
    port: Arc<dyn Interactor>,
}

/// How all servers stand.
#[derive(Debug, Clone)]
pub struct Overview {
    /// How far the first look at all of them has come.
    pub discovery: Discovery,
    /// Each of them, by name.
    pub servers: Vec<ServerStatus>,
}

/// One capability as it is listed, under the name it is exposed by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The name to call it by.
    pub name: String,
    /// What it is for, in its server's words: untrusted text.
    pub description: String,
    /// The definition as it is listed, raw JSON.
    pub definition: Bytes,
}

impl Host {
    /// Begins a host.
    pub fn builder() -> HostBuilder {
        HostBuilder::default()
    }

    pub(crate) fn new(
        fleet: Arc<Fleet>,
        gate: Arc<Gate>,
        roster: Arc<Roster>,
        guarantee: TreeGuarantee,
        interactor: Option<Arc<dyn Interactor>>,
    ) -> Result<Self, HostError> {
        let id = CallerId::fresh();
        let port = interactor.unwrap_or_else(|| Arc::new(Declining(id.scope())));
        let client =
            Client { name: "toolgate-host".into(), version: env!("CARGO_PKG_VERSION").into() };
        let capabilities = fleet.everybody().capabilities;
        let revision = Revision::LATEST_LEGACY;
        let profile = gate.choose(roster.profile.as_deref(), &client);
        let profile = profile.map_err(HostError::NoProfile)?;
        let caller = Caller::new(id, client, revision, capabilities, port.clone());
        let caller = Arc::new(caller.seeing(profile));
        Ok(Self { fleet, gate, roster, guarantee, caller, port })
    }

    /// A caller with this profile and a client of this name, of whom nothing else is known but that
    /// the client shows forms.
    pub(crate) fn stranger(
        &self,
        profile: &str,
        client: &str,
    ) -> Result<(Arc<Caller>, Arc<dyn Interactor>), HostError> {
        let client = Client { name: client.to_owned(), ..Client::default() };
        let id = CallerId::fresh();
        let profile = self.gate.choose(Some(profile), &client).map_err(HostError::NoProfile)?;
        let capabilities = Bytes::from_static(br#"{"elicitation":{}}"#);
        let revision = Revision::LATEST_LEGACY;
        let caller = Caller::new(id, client, revision, capabilities, self.port.clone());
        Ok((Arc::new(caller.seeing(profile)), self.port.clone()))
    }

    pub(crate) fn fleet(&self) -> &Arc<Fleet> {
        &self.fleet
    }

    /// The gate, for those who bring callers of their own.
    pub fn gate(&self) -> &Arc<Gate> {
        &self.gate
    }

    /// How surely a server's processes end with this one.
    pub fn guarantee(&self) -> TreeGuarantee {
        self.guarantee
    }

    /// How all servers stand now.
    pub fn servers(&self) -> Overview {
        Overview { discovery: self.fleet.discovery(), servers: self.fleet.status() }
    }

    /// Waits until every server is up, or has failed to come up.
    pub async fn settled(&self) {
        self.fleet.settled(|_| true).await;
    }

    /// Waits until every server of which nothing was known is up, or has failed to come up.
    pub async fn first_seen(&self) {
        self.fleet.first_seen().await;
    }

    /// Waits until one server is up, or has failed to come up, and says how it stands.
    pub async fn settled_one(&self, name: &str) -> Result<ServerStatus, HostError> {
        self.fleet.settled(|status| status.spec.name.as_str() == name).await;
        let found = self.fleet.status().into_iter().find(|it| it.spec.name.as_str() == name);
        found.ok_or_else(|| HostError::NoServer(name.to_owned()))
    }

    /// What happens to servers from now on.
    pub fn events(&self) -> broadcast::Receiver<FleetEvent> {
        self.fleet.events()
    }

    /// Adds a server and starts it in the background; one of the same name is replaced, after the
    /// calls under way on it.
    pub async fn add(&self, spec: ServerSpec) {
        let member = Member::plain(spec, Origin::built_in());
        let _turn = self.roster.turn.lock().await;
        self.roster.add(member.clone());
        self.fleet.enlist(self.roster.taken(member)).await;
    }

    /// Takes everything as the plan has it now, and says what that changed. Servers that are
    /// declared as before are not touched; calls under way on others finish on the old process, up
    /// to the drain limit. What was added in code stays.
    pub async fn apply(&self, plan: &Plan) -> Applied {
        let _turn = self.roster.turn.lock().await;
        let (members, manner) = (self.roster.members(plan), self.roster.manner(plan));
        let applied = self.gate.apply(members, manner, &plan.settings.governance).await;
        self.fleet.set_roots(&self.roster.roots(plan));
        applied
    }

    /// Names of this process's variables that the process of a server is not given.
    pub fn withheld(&self, name: &str) -> Vec<String> {
        let servers = self.fleet.status();
        let spec = servers.iter().find(|it| it.spec.name.as_str() == name).map(|it| &it.spec);
        let Some(TransportSpec::Stdio(stdio)) = spec.map(|spec| &spec.transport) else {
            return Vec::new();
        };
        let ours = std::env::vars_os();
        let ours = ours.filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.to_string_lossy().into_owned()))
        });
        let named = stdio.env.keys().map(|name| (name.clone(), String::new())).collect();
        withheld(ours, &named, &stdio.env_inherit)
    }

    /// Removes a server; it ends after the calls under way on it. `false` if there was none.
    pub async fn remove(&self, name: &str) -> bool {
        let Ok(name) = ServerName::new(name) else { return false };
        let _turn = self.roster.turn.lock().await;
        self.roster.remove(&name);
        self.fleet.dismiss(&name).await
    }

    /// Brings a server up on a connection of its own and reports every phase of it.
    pub async fn doctor(&self, name: &str) -> Result<Report, HostError> {
        let missing = || HostError::NoServer(name.to_owned());
        let name = ServerName::new(name).map_err(|_| missing())?;
        self.fleet.examine(&name).await.map_err(|_| missing())
    }

    /// Fails if there is no profile of this name.
    pub fn knows_profile(&self, name: &str) -> Result<(), HostError> {
        let known = self.gate.choose(Some(name), &self.caller.client);
        known.map(drop).map_err(HostError::NoProfile)
    }

    /// What callers of a profile see, under which names, at what cost, and because of which rule.
    pub fn exposure(&self, profile: &str) -> Result<Arc<Exposure>, HostError> {
        self.gate.exposure(profile).map_err(HostError::NoProfile)
    }

    /// What the list of tools of a profile costs, as it is sent and as it could be.
    pub fn ledger(&self, profile: &str) -> Result<Ledger, HostError> {
        let exposure = self.exposure(profile)?;
        let offered = self.fleet.catalogs(None);
        let known: HashMap<_, _> = offered
            .iter()
            .flat_map(|offered| {
                let server = &offered.member.spec.name;
                let tools = offered.known.catalog.of(CapabilityKind::Tool).iter();
                tools.map(move |tool| ((server, &*tool.name), &tool.raw[..]))
            })
            .collect();
        let about = |id: &CapabilityId| known.get(&(&id.server, &*id.name)).copied();
        Ok(ledger(&exposure, &about))
    }

    /// The tools that callers of a profile see and that fit a query best, the best first.
    pub async fn search(
        &self,
        profile: &str,
        query: &str,
        limit: usize,
    ) -> Result<Vec<Found>, HostError> {
        self.gate.search_as(profile, query, limit).await.map_err(HostError::NoProfile)
    }

    /// The name a server's own capability is exposed under.
    pub fn exposed(&self, server: &str, kind: CapabilityKind, name: &str) -> Option<String> {
        let server = ServerName::new(server).ok()?;
        self.gate.name_of(&self.caller, &CapabilityId { server, kind, name: name.into() })
    }

    /// The URI that leads to a resource of this server and no other, whether the server lists it or
    /// not; `None` if the server is unknown.
    pub fn uri_for(&self, server: &str, uri: &str) -> Option<String> {
        self.gate.uri_of(&self.caller, &ServerName::new(server).ok()?, uri)
    }

    /// Every tool, under its exposed name.
    pub async fn tools(&self) -> Vec<Listed> {
        self.list(CapabilityKind::Tool).await
    }

    /// Everything of one kind, under its exposed name.
    pub async fn list(&self, kind: CapabilityKind) -> Vec<Listed> {
        let list = self.gate.list(kind, &self.caller).await;
        listed(kind, &list)
    }

    /// Calls a tool by its exposed name and gives the result object as the server sent it.
    pub async fn call(&self, tool: &str, arguments: &Value) -> Result<Value, HostError> {
        let params = format!("{{\"name\":{},\"arguments\":{arguments}}}", string::encode(tool));
        self.request(method::TOOLS_CALL, &params).await
    }

    /// Reads a resource by the URI it is listed under.
    pub async fn read(&self, uri: &str) -> Result<Value, HostError> {
        let params = format!("{{\"uri\":{}}}", string::encode(uri));
        self.request(method::RESOURCES_READ, &params).await
    }

    /// Fills in a prompt by its exposed name.
    pub async fn prompt(&self, prompt: &str, arguments: &Value) -> Result<Value, HostError> {
        let params = format!("{{\"name\":{},\"arguments\":{arguments}}}", string::encode(prompt));
        self.request(method::PROMPTS_GET, &params).await
    }

    async fn request(&self, method: &str, params: &str) -> Result<Value, HostError> {
        let request = build::request("0", method, Some(params.as_bytes()));
        let request = Frame::parse(request, &Limits::default())?;
        let answer = self.gate.pass(&request, &self.caller, self.port.clone()).await;
        let answer = answer.map_err(HostError::Refused)?;
        if let Some(error) = answer.error().and_then(view::RpcError::of) {
            return Err(HostError::Answered {
                code: error.code.unwrap_or_default(),
                message: error.message.unwrap_or_default().into_owned(),
            });
        }
        // Whoever wants a value has room for it.
        let answer = toolgate_transport::spool::whole(answer).await.map_err(HostError::Unread)?;
        Ok(serde_json::from_slice(answer.result().unwrap_or(b"null"))?)
    }

    /// Ends every server, in good manners, and then the journal.
    pub async fn close(&self) {
        self.fleet.close().await;
        if let Err(error) = self.gate.close_books().await {
            tracing::error!(target: "toolgate::host", "failed to {error}");
        }
    }
}

/// The definitions of a prepared list.
fn listed(kind: CapabilityKind, list: &Bytes) -> Vec<Listed> {
    use toolgate_wire::scan;
    let (array, named) = kind.members();
    let Some(array) = scan::member(list, array) else { return Vec::new() };
    let definitions = scan::elements(array.of(list)).map(|element| element.within(array));
    let exposure = |span: toolgate_wire::Span| {
        let definition = list.slice(span.start()..span.end());
        let text = |key| scan::text(&definition, key).map(|text| text.into_owned());
        let (name, description) = (text(named)?, text("description").unwrap_or_default());
        Some(Listed { name, description, definition })
    };
    definitions.filter_map(exposure).collect()
}

/// Tells nobody and says no.
struct Declining(CallerScope);

impl Interactor for Declining {
    fn scope(&self) -> CallerScope {
        self.0
    }

    fn tell(&self, _event: Frame) {}

    fn ask(&self, _question: Question) -> futures_util::future::BoxFuture<'_, Answer> {
        Box::pin(std::future::ready(Answer::Unsupported))
    }
}
