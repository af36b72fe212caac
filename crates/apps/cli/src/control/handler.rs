//! Answers control requests about one host.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::watch;
use toolgate_host::{
    ConfigScope, ConfigSources, FleetApplyReport, Host, ServerName, ServerState, ServerStatus,
    Setup, json,
};
use toolgate_model::ContextSettings;

use super::{
    ConfigFinding, ControlRequest, ExplanationJson, ExposureReport, ResourceCompilePermission,
    RunningGatewayInfo, ServerCapabilityInventory, ServersReport, ToolMatches, checkup, pins,
};
use crate::exit::{CliError, ErrorCode, OrFail as _, Result, cli_error};
use crate::local_context::LocalContext;
use crate::operator::{ControlRequester, OperatorIdentity, OperatorRequirements, OperatorVerifier};
use crate::review::definition_statuses;
use crate::suggest;

/// Answers control requests about one host, and reloads its config files.
pub struct ControlHandler {
    /// The host.
    pub host: Host,
    options: ConfigSources,
    /// The config as last read. A reload holds the lock, so that there is only one at a time.
    setup: tokio::sync::Mutex<Setup>,
    findings: watch::Sender<Arc<[ConfigFinding]>>,
    endpoint: Option<String>,
    /// The local context.
    pub local_context: LocalContext,
    /// The settings of the local context, which change with the files.
    pub context_settings: watch::Sender<ContextSettings>,
    /// The verifier of operators.
    pub operators: OperatorVerifier,
}

/// The result of reloading the config files.
#[derive(Debug, Default)]
pub struct ReloadReport {
    /// The changes to the servers.
    pub applied: FleetApplyReport,
    /// Whether settings outside the servers changed.
    pub settings_changed: bool,
    /// The new and changed servers that are blocked, and why.
    pub blocked: Vec<(ServerName, String)>,
    /// The findings that the files did not have before.
    pub new_findings: Vec<ConfigFinding>,
}

impl ReloadReport {
    /// Returns true if the reload changed nothing.
    pub fn is_unchanged(&self) -> bool {
        self.applied.is_unchanged() && !self.settings_changed && self.new_findings.is_empty()
    }
}

impl ControlHandler {
    /// Returns a handler for a host that was started from `setup`.
    pub fn new(
        host: Host,
        setup: Setup,
        options: ConfigSources,
        endpoint: Option<String>,
        local_context: LocalContext,
        operators: OperatorVerifier,
    ) -> Self {
        let findings = watch::Sender::new(config_findings(&setup).into());
        let context_settings = watch::Sender::new(setup.plan().settings.context.clone());
        let setup = setup.into();
        Self {
            host,
            options,
            setup,
            findings,
            endpoint,
            local_context,
            context_settings,
            operators,
        }
    }

    /// Identifies the requester as the operator, or returns why it is refused.
    pub async fn identify(&self, requester: &ControlRequester) -> Result<OperatorIdentity> {
        let rules = OperatorRequirements::from(self.setup.lock().await.plan());
        self.operators.identify(rules, requester).await
    }

    /// Returns the findings about the config files.
    pub fn findings(&self) -> Arc<[ConfigFinding]> {
        self.findings.borrow().clone()
    }

    /// Returns every file whose change requires a reload, whether it exists or not.
    pub async fn files(&self) -> Vec<PathBuf> {
        self.setup.lock().await.files()
    }

    /// Reads the config files again and applies them. Reloads run one after the other, so the last
    /// one applies the newest content.
    pub async fn reload(&self) -> Result<ReloadReport> {
        let mut setup = self.setup.lock().await;
        let settings = setup.plan().settings.clone();
        if let Err(error) = setup.reload().await {
            let failure = CliError::from(error);
            self.record_reload_failure(&failure);
            return Err(failure);
        }
        self.local_context.refresh().await;
        let applied = self.host.apply(setup.plan()).await;
        let context = &setup.plan().settings.context;
        self.context_settings.send_if_modified(|known| {
            let changed = known != context;
            known.clone_from(context);
            changed
        });
        let (before, now) = (self.findings(), config_findings(&setup));
        let is_new = |it: &&ConfigFinding| !before.iter().any(|old| old.text == it.text);
        let new_findings = now.iter().filter(is_new).cloned().collect();
        self.findings.send_replace(now.into());
        let blocked = self.blocked(&applied);
        let settings_changed = settings != setup.plan().settings;
        Ok(ReloadReport { applied, settings_changed, blocked, new_findings })
    }

    fn blocked(&self, applied: &FleetApplyReport) -> Vec<(ServerName, String)> {
        let touched =
            |name: &ServerName| applied.added.contains(name) || applied.changed.contains(name);
        let servers = self.host.servers().into_iter();
        let reason = |status: ServerStatus| match status.state {
            ServerState::Blocked(block) => Some((status.spec.name, block.to_string())),
            _ => None,
        };
        servers.filter(|status| touched(&status.spec.name)).filter_map(reason).collect()
    }

    /// Adds a finding about a failed reload. It stays until a reload succeeds.
    fn record_reload_failure(&self, failure: &CliError) {
        let text = format!(
            "cannot reload the config files, the previous configuration stays active: {failure}"
        );
        let mut findings = self.findings().to_vec();
        if !findings.iter().any(|finding| finding.text == text) {
            findings.push(ConfigFinding::error(text));
        }
        self.findings.send_replace(findings.into());
    }

    /// Answers a request with JSON. Requests that change something are refused unless the requester
    /// is the operator.
    pub async fn answer(
        &self,
        request: &ControlRequest,
        requester: &ControlRequester,
    ) -> Result<Box<RawValue>> {
        let by = match request {
            ControlRequest::SetPassphrase { new } => {
                let rules = OperatorRequirements::from(self.setup.lock().await.plan());
                let operator = self.operators.set_passphrase(rules, requester, new.clone()).await?;
                self.journal_change("passphrase", operator);
                return to_raw_json(&self.operators.has_passphrase());
            }
            request if request.requires_operator() => {
                let operator = self.identify(requester).await?;
                if let ControlRequest::Authorize { change } = request {
                    self.journal_change(change, operator);
                }
                operator.journal_name()
            }
            _ => String::new(),
        };
        match request {
            ControlRequest::MayChange
            | ControlRequest::Authorize { .. }
            | ControlRequest::SetPassphrase { .. } => to_raw_json(&true),
            ControlRequest::Owner => to_raw_json(&self.gateway_info()),
            ControlRequest::Servers { wait_ms } => {
                self.wait_settled(*wait_ms).await;
                to_raw_json(&ServersReport::of(&self.host, &self.findings()))
            }
            ControlRequest::Profile { name } => {
                self.check_profile(name).await?;
                to_raw_json(&true)
            }
            ControlRequest::Discover { server, profile } => {
                self.check_profile(profile).await?;
                let status = self.host.wait_server_settled(server).await;
                let status = status.map_err(|_| self.unknown_server(server))?;
                to_raw_json(&ServerCapabilityInventory::of(&*self.host.exposure(profile)?, &status))
            }
            ControlRequest::DiscoverAll { profile, wait_ms } => {
                self.check_profile(profile).await?;
                self.wait_settled(*wait_ms).await;
                let exposure = self.host.exposure(profile)?;
                let servers = self.host.servers();
                let all =
                    servers.iter().map(|status| ServerCapabilityInventory::of(&exposure, status));
                to_raw_json(&all.collect::<Vec<_>>())
            }
            ControlRequest::Exposure { profile } => {
                self.check_profile(profile).await?;
                to_raw_json(&ExposureReport::of(&self.host, profile)?)
            }
            ControlRequest::Search { profile, query, limit } => {
                self.check_profile(profile).await?;
                to_raw_json(&ToolMatches::of(&self.host, profile, query, *limit).await?)
            }
            ControlRequest::Uri { server, uri } => to_raw_json(&self.host.uri_for(server, uri)),
            ControlRequest::Compile { server } => {
                let servers = self.host.servers();
                let status = servers.iter().find(|status| status.spec.name.as_str() == server);
                let status = status.ok_or_else(|| self.unknown_server(server))?;
                to_raw_json(&ResourceCompilePermission {
                    allowed: status.spec.compile,
                    trusted: status.spec.trust,
                    proposed: status.origin.scope == ConfigScope::Project,
                })
            }
            ControlRequest::Doctor { server } => {
                let mut servers = self.host.servers();
                if let Some(name) = server {
                    servers.retain(|status| status.spec.name.as_str() == name);
                    if servers.is_empty() {
                        return Err(self.unknown_server(name));
                    }
                }
                to_raw_json(&checkup::check_servers(&self.host, &servers, &self.findings()).await)
            }
            ControlRequest::Standings => to_raw_json(&definition_statuses(&self.host)),
            ControlRequest::Approvals { asked } => {
                let missing = || cli_error!(CliInternal, "this host does not store approvals");
                asked.answer(self.host.gate().approvals().ok_or_else(missing)?, &by).await
            }
            ControlRequest::Untaint { caller } => {
                let cleared = self.host.gate().clear_taint(caller.as_deref());
                let detail = serde_json::json!({ "callers": cleared, "by": by }).to_string();
                self.host.gate().note("taint-cleared", None, &detail);
                to_raw_json(&cleared)
            }
            ControlRequest::Explain(call) => {
                let explanation = ExplanationJson::of(&self.host, call)?;
                to_raw_json(&explanation.ok_or_else(|| self.unknown_server(&call.server))?)
            }
            ControlRequest::Pins { asked } => {
                let setup = self.setup.lock().await.clone();
                pins::answer(&self.host, &setup, asked, &by).await
            }
            ControlRequest::Keys { asked } => {
                let gate = self.host.gate();
                let missing = || cli_error!(CliInternal, "this host does not store access keys");
                let keys = gate.keys().ok_or_else(missing)?;
                asked.answer(keys, |kind, detail| gate.note(kind, None, detail)).await
            }
            ControlRequest::Reconsider { server } => {
                self.reload().await?;
                to_raw_json(&self.setup.lock().await.entry(server).is_ok())
            }
        }
    }

    /// Waits until all servers have started or failed. After this time, servers that are still
    /// starting are reported as such.
    async fn wait_settled(&self, wait_ms: u64) {
        let wait = Duration::from_millis(wait_ms);
        let _ = tokio::time::timeout(wait, self.host.wait_settled()).await;
    }

    /// Records in the journal a change that the operator makes.
    fn journal_change(&self, change: &str, operator: OperatorIdentity) {
        let detail = json!({ "change": change, "by": operator.journal_name() }).to_string();
        self.host.gate().note("operator", None, &detail);
    }

    fn gateway_info(&self) -> RunningGatewayInfo {
        RunningGatewayInfo {
            pid: std::process::id(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            endpoint: self.endpoint.clone(),
            config: self.options.config.clone(),
            project: self.options.project_dir.clone(),
            passphrase: self.operators.has_passphrase(),
        }
    }

    async fn check_profile(&self, name: &str) -> Result<()> {
        suggest::check_profile(self.setup.lock().await.plan(), name)
    }

    fn unknown_server(&self, server: &str) -> CliError {
        let servers = self.host.servers();
        suggest::unknown_server_error(
            server,
            servers.iter().map(|status| status.spec.name.as_str()),
        )
    }
}

fn config_findings(setup: &Setup) -> Vec<ConfigFinding> {
    setup.plan().diagnostics.iter().map(ConfigFinding::from).collect()
}

pub(super) fn to_raw_json(answer: &impl Serialize) -> Result<Box<RawValue>> {
    serde_json::value::to_raw_value(answer)
        .or_fail(ErrorCode::CliInternal, "cannot encode the answer")
}
