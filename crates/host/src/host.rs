//! The host: the servers with their status, what they offer, and calls to them.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;
use tokio::sync::broadcast;
use toolgate_exposure::{CostReport, Exposure, cost_report};
use toolgate_fleet::{ConnectReport, Fleet, FleetEvent, FleetServer, ServerStatus};
use toolgate_gate::{Caller, CallerId, Client, Gate, ToolSearchHit};
use toolgate_launch::{TreeGuarantee, withheld_variables};
use toolgate_model::{
    CapabilityId, CapabilityKind, DiscoveryStatus, Origin, ServerName, ServerSpec, TransportSpec,
};
use toolgate_session::{Answer, Interactor, Question};
use toolgate_wire::{Frame, MessageLimits, Revision, build, method, string, view};

use crate::builtin_servers::BuiltinServers;
use crate::{FleetApplyReport, HostBuilder, HostError, Plan};

/// All servers of a user behind one gate. Cheap to clone.
#[derive(Clone)]
pub struct Host {
    pub(crate) fleet: Arc<Fleet>,
    gate: Arc<Gate>,
    builtin_servers: Arc<BuiltinServers>,
    guarantee: TreeGuarantee,
    caller: Arc<Caller>,
    pub(crate) interactor: Arc<dyn Interactor>,
}

/// One capability as listed, under its exposed name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedCapability {
    /// The exposed name, used for calls.
    pub name: String,
    /// The server's description, which is untrusted text.
    pub description: String,
    /// The definition as listed, as raw JSON.
    pub definition: Bytes,
}

impl Host {
    /// Returns a builder for a host.
    pub fn builder() -> HostBuilder {
        HostBuilder::default()
    }

    pub(crate) fn new(
        fleet: Arc<Fleet>,
        gate: Arc<Gate>,
        roster: Arc<BuiltinServers>,
        guarantee: TreeGuarantee,
        interactor: Option<Arc<dyn Interactor>>,
    ) -> Result<Self, HostError> {
        let id = CallerId::fresh();
        let port = interactor.unwrap_or_else(|| Arc::new(DecliningInteractor(id)));
        let client =
            Client { name: "toolgate-host".into(), version: env!("CARGO_PKG_VERSION").into() };
        let capabilities = fleet.shared_tenant().capabilities;
        let revision = Revision::LATEST_LEGACY;
        let profile = gate.choose_profile(roster.profile.as_deref(), &client)?;
        let caller = Caller::new(id, client, revision, capabilities, port.clone());
        let caller = Arc::new(caller.with_profile(profile));
        Ok(Self { fleet, gate, builtin_servers: roster, guarantee, caller, interactor: port })
    }

    /// Returns a caller with this profile and client name, whose client can show forms. Used to
    /// preview decisions.
    pub(crate) fn hypothetical_caller(
        &self,
        profile: &str,
        client: &str,
    ) -> Result<Arc<Caller>, HostError> {
        let client = Client { name: client.to_owned(), ..Client::default() };
        let id = CallerId::fresh();
        let profile = self.gate.choose_profile(Some(profile), &client)?;
        let capabilities = Bytes::from_static(br#"{"elicitation":{}}"#);
        let revision = Revision::LATEST_LEGACY;
        let caller = Caller::new(id, client, revision, capabilities, self.interactor.clone());
        Ok(Arc::new(caller.with_profile(profile)))
    }

    /// Returns the gate, for programs that create their own callers.
    pub fn gate(&self) -> &Arc<Gate> {
        &self.gate
    }

    /// Returns how reliably the servers' process trees end together with this process.
    pub fn guarantee(&self) -> TreeGuarantee {
        self.guarantee
    }

    /// Returns the current status of all servers, ordered by name.
    pub fn servers(&self) -> Vec<ServerStatus> {
        self.fleet.status()
    }

    /// Returns the progress of the initial discovery.
    pub fn discovery(&self) -> DiscoveryStatus {
        self.fleet.discovery()
    }

    /// Waits until every server has connected or failed.
    pub async fn wait_settled(&self) {
        self.fleet.wait_settled(|_| true).await;
    }

    /// Waits until every server without a known catalog has connected or failed.
    pub async fn wait_discovered(&self) {
        self.fleet.wait_discovered().await;
    }

    /// Waits until one server has connected or failed, and returns its status.
    pub async fn wait_server_settled(&self, name: &str) -> Result<ServerStatus, HostError> {
        self.fleet.wait_settled(|status| status.spec.name.as_str() == name).await;
        let found = self.fleet.status().into_iter().find(|it| it.spec.name.as_str() == name);
        found.ok_or_else(|| HostError::NoServer(name.to_owned()))
    }

    /// Returns a receiver for all server events from now on.
    pub fn events(&self) -> broadcast::Receiver<FleetEvent> {
        self.fleet.events()
    }

    /// Adds a server and starts it in the background. Replaces a server with the same name; calls
    /// in progress on that one can finish.
    pub async fn add(&self, spec: ServerSpec) {
        let member = FleetServer::from_spec(spec, Origin::built_in());
        let _turn = self.builtin_servers.change_lock.lock().await;
        self.builtin_servers.add(member.clone());
        self.fleet.add_server(self.builtin_servers.prepare_server(member)).await;
    }

    /// Applies a plan and reports what changed. Unchanged servers keep running. Calls in progress
    /// on a changed server finish on the old process, up to the drain limit. Servers added in code
    /// stay.
    pub async fn apply(&self, plan: &Plan) -> FleetApplyReport {
        let _turn = self.builtin_servers.change_lock.lock().await;
        let (members, manner) =
            (self.builtin_servers.all_servers(plan), self.builtin_servers.gateway_settings(plan));
        let applied = self.gate.apply(members, manner, &plan.settings.governance).await;
        self.fleet.set_roots(&self.builtin_servers.roots(plan));
        applied
    }

    /// Returns the names of this process's environment variables that a server does not get.
    pub fn withheld_variables(&self, name: &str) -> Vec<String> {
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
        withheld_variables(ours, &named, &stdio.env_inherit)
    }

    /// Removes a server. It shuts down after its calls in progress. Returns false if there is no
    /// such server.
    pub async fn remove(&self, name: &str) -> bool {
        let Ok(name) = ServerName::new(name) else { return false };
        let _turn = self.builtin_servers.change_lock.lock().await;
        self.builtin_servers.added.lock().remove(&name);
        self.fleet.remove_server(&name).await
    }

    /// Opens a separate connection to a server and reports every phase.
    pub async fn diagnose(&self, name: &str) -> Result<ConnectReport, HostError> {
        let missing = || HostError::NoServer(name.to_owned());
        let name = ServerName::new(name).map_err(|_| missing())?;
        self.fleet.test_connection(&name).await.map_err(|_| missing())
    }

    /// Returns what callers of a profile see, under which names, at what cost, and by which rule.
    pub fn exposure(&self, profile: &str) -> Result<Arc<Exposure>, HostError> {
        Ok(self.gate.exposure(profile)?)
    }

    /// Returns the token cost of a profile's tool list, as sent and in the alternative exposures.
    pub fn tool_list_cost(&self, profile: &str) -> Result<CostReport, HostError> {
        let exposure = self.exposure(profile)?;
        let offered = self.fleet.catalogs(None);
        let known: HashMap<_, _> = offered
            .iter()
            .flat_map(|offered| {
                let server = &offered.fleet_server.spec.name;
                let tools = offered.checked.catalog.definitions(CapabilityKind::Tool).iter();
                tools.map(move |tool| ((server, &*tool.name), &tool.raw[..]))
            })
            .collect();
        let about = |id: &CapabilityId| known.get(&(&id.server, &*id.name)).copied();
        Ok(cost_report(&exposure, &about))
    }

    /// Searches the tools that callers of a profile see. The best match comes first.
    pub async fn search(
        &self,
        profile: &str,
        query: &str,
        limit: usize,
    ) -> Result<Vec<ToolSearchHit>, HostError> {
        Ok(self.gate.search(profile, query, limit).await?)
    }

    /// Returns the exposed URI of a resource of this server, whether or not the server lists it.
    /// Returns `None` if the server is unknown.
    pub fn uri_for(&self, server: &str, uri: &str) -> Option<String> {
        self.gate.uri_of(&self.caller, &ServerName::new(server).ok()?, uri)
    }

    /// Lists all tools under their exposed names.
    pub async fn tools(&self) -> Vec<ListedCapability> {
        self.list(CapabilityKind::Tool).await
    }

    /// Lists all capabilities of one kind under their exposed names.
    pub async fn list(&self, kind: CapabilityKind) -> Vec<ListedCapability> {
        let list = self.gate.list(kind, &self.caller).await;
        parse_list(kind, &list)
    }

    /// Calls a tool by its exposed name and returns the result object as the server sent it.
    pub async fn call(&self, tool: &str, arguments: &Value) -> Result<Value, HostError> {
        let params = format!("{{\"name\":{},\"arguments\":{arguments}}}", string::encode(tool));
        self.request(method::TOOLS_CALL, &params).await
    }

    /// Reads a resource by its exposed URI.
    pub async fn read(&self, uri: &str) -> Result<Value, HostError> {
        let params = format!("{{\"uri\":{}}}", string::encode(uri));
        self.request(method::RESOURCES_READ, &params).await
    }

    /// Gets a prompt by its exposed name.
    pub async fn prompt(&self, prompt: &str, arguments: &Value) -> Result<Value, HostError> {
        let params = format!("{{\"name\":{},\"arguments\":{arguments}}}", string::encode(prompt));
        self.request(method::PROMPTS_GET, &params).await
    }

    async fn request(&self, method: &str, params: &str) -> Result<Value, HostError> {
        let request = build::request("0", method, Some(params.as_bytes()));
        let request = Frame::parse(request, &MessageLimits::default())?;
        let answer = self.gate.pass(&request, &self.caller, self.interactor.clone()).await?;
        if let Some(error) = answer.error().and_then(view::RpcError::of) {
            return Err(HostError::ServerError {
                code: error.code.unwrap_or_default(),
                message: error.message.unwrap_or_default().into_owned(),
            });
        }
        // The caller wants the whole value, so load it into memory.
        let answer =
            toolgate_transport::spool::load_frame(answer).await.map_err(HostError::LargeAnswer)?;
        Ok(serde_json::from_slice(answer.result().unwrap_or(b"null"))?)
    }

    /// Shuts down every server gracefully and then closes the journal.
    pub async fn close(&self) {
        self.fleet.close().await;
        if let Err(error) = self.gate.close_stores().await {
            tracing::error!(target: "toolgate::host", "{error}");
        }
    }
}

/// Parses the definitions of a prepared list.
fn parse_list(kind: CapabilityKind, list: &Bytes) -> Vec<ListedCapability> {
    use toolgate_wire::scan;
    let (array, named) = kind.json_keys();
    let Some(array) = scan::member(list, array) else { return Vec::new() };
    let definitions = scan::elements(array.slice(list)).map(|element| element.within(array));
    let exposure = |span: toolgate_wire::Span| {
        let definition = list.slice(span.start()..span.end());
        let text = |key| scan::member_text(&definition, key).map(|text| text.into_owned());
        let (name, description) = (text(named)?, text("description").unwrap_or_default());
        Some(ListedCapability { name, description, definition })
    };
    definitions.filter_map(exposure).collect()
}

/// Ignores notifications and declines all questions.
struct DecliningInteractor(CallerId);

impl Interactor for DecliningInteractor {
    fn scope(&self) -> CallerId {
        self.0
    }

    fn tell(&self, _event: Frame) {}

    fn ask(&self, _question: Question) -> futures_util::future::BoxFuture<'_, Answer> {
        Box::pin(std::future::ready(Answer::Unsupported))
    }
}
