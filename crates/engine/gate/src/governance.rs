//! The active governance: rules, posture, approvers, and the maximum age of a list.
//!
//! It is replaced as a whole, and every view is built with one version. A call is decided by the
//! version of its view, so a reload applies from the next call on.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use toolgate_model::{ApprovalChannel, CapabilityId, GovernanceSettings, Posture, ServerName};
use toolgate_policy::{CapabilityRules, Policy};

use crate::decide::ApprovalContext;
use crate::{Gate, KEY_CALLER, OPERATOR};

/// The maximum age of a list when a capability in it is called, in the governed posture and
/// otherwise.
const RECHECK_GOVERNED: Duration = Duration::from_secs(10);
const RECHECK: Duration = Duration::from_secs(60);

/// The most capabilities other than tools whose rules are cached.
const KEPT: usize = 256;

/// Rules and governance settings, ready for use.
pub(crate) struct ActiveGovernance {
    pub(crate) settings: GovernanceSettings,
    pub(crate) policy: Policy,
    /// The servers the rules were compiled for, and whether a project file declares each.
    servers: BTreeMap<ServerName, bool>,
    /// Whether untrusted content makes some tools require approval.
    pub(crate) taint_enabled: bool,
    /// The maximum age of a list when a capability in it is called.
    pub(crate) recheck: Duration,
    rule_cache: Mutex<RuleCache>,
}

/// Cached rules for recently used capabilities other than tools, with the tags they were prepared
/// for. Rules for tools are in the view.
type RuleCache = HashMap<CapabilityId, (Vec<String>, Arc<CapabilityRules>)>;

impl ActiveGovernance {
    /// Compiles the settings; logs rules that cannot be understood.
    fn of(settings: &GovernanceSettings) -> Self {
        let (policy, bad) = Policy::compile(settings);
        for rule in bad {
            tracing::warn!(target: "toolgate::gate", origin = %rule.origin, "{}", rule.message);
        }
        let governed = settings.posture == Posture::Governed;
        let recheck = settings.recheck.unwrap_or(if governed { RECHECK_GOVERNED } else { RECHECK });
        Self {
            settings: settings.clone(),
            policy,
            servers: BTreeMap::new(),
            taint_enabled: settings.taint.unwrap_or(governed),
            recheck,
            rule_cache: Mutex::default(),
        }
    }

    /// Returns the same governance for these servers. A rule that allows never applies to two of
    /// them, and never to one that a project file declares.
    fn for_servers(&self, servers: BTreeMap<ServerName, bool>) -> Self {
        let proposed = servers.iter().filter(|(_, proposed)| **proposed).map(|(name, _)| name);
        let policy = self.policy.with_servers(servers.keys()).with_proposed_servers(proposed);
        let (settings, rule_cache) = (self.settings.clone(), Mutex::default());
        Self { settings, policy, servers, rule_cache, ..*self }
    }

    /// Returns the rules that can apply to a capability other than a tool. They are cached, because
    /// resources are often read repeatedly.
    pub(crate) fn prepared_rules(
        &self,
        id: &CapabilityId,
        tags: &[String],
    ) -> Arc<CapabilityRules> {
        let mut kept = self.rule_cache.lock();
        if let Some((_, rules)) = kept.get(id).filter(|(with, _)| with == tags) {
            return rules.clone();
        }
        if kept.len() >= KEPT {
            kept.clear();
        }
        let rules = Arc::new(self.policy.prepare(id, tags));
        kept.insert(id.clone(), (tags.to_vec(), rules.clone()));
        rules
    }

    pub(crate) fn is_governed(&self) -> bool {
        self.settings.posture == Posture::Governed
    }
}

/// Returns who approves a call. `written` says whether a rule or setting requires approval; without
/// one, the client's own approval is enough.
///
/// A client can approve by itself and choose any name, so in the governed posture only listed keys
/// count.
pub(crate) fn approver_for(
    settings: &GovernanceSettings,
    asker: &ApprovalContext<'_>,
    written: bool,
) -> ApprovalChannel {
    if let Some(via) = listed_approver(settings, asker) {
        return via;
    }
    if settings.posture == Posture::Governed {
        return ApprovalChannel::Operator;
    }
    match settings.approvals.via {
        _ if *asker.person == *OPERATOR => ApprovalChannel::Client, // typed by the operator
        Some(via) => via,
        None if !written => ApprovalChannel::Client,
        None if asker.shows_forms => ApprovalChannel::Elicitation,
        None => ApprovalChannel::Operator,
    }
}

/// Returns the approver listed for the caller's key (`key:NAME`) or for its client's name.
fn listed_approver(
    settings: &GovernanceSettings,
    asker: &ApprovalContext<'_>,
) -> Option<ApprovalChannel> {
    let clients = &settings.approvals.clients;
    let by_key = || clients.get(asker.person).filter(|_| is_key(asker.person));
    let by_name = || {
        let is_governed = settings.posture == Posture::Governed;
        clients.get(asker.client).filter(|_| !is_governed && !is_key(asker.client))
    };
    by_key().or_else(by_name).copied()
}

fn is_key(name: &str) -> bool {
    name.starts_with(KEY_CALLER)
}

impl Default for ActiveGovernance {
    fn default() -> Self {
        Self::of(&GovernanceSettings::default())
    }
}

impl Gate {
    /// Applies new governance settings from the next call on.
    pub fn set_governance(&self, settings: &GovernanceSettings) {
        if let Some(governing) = self.changed_governance(settings) {
            self.governance.store(governing);
            self.fleet.request_rebuild();
        }
    }

    /// Compiles the settings; `None` if they equal the active ones.
    pub(crate) fn changed_governance(
        &self,
        settings: &GovernanceSettings,
    ) -> Option<Arc<ActiveGovernance>> {
        let differs = self.governance.load().settings != *settings;
        differs.then(|| Arc::new(ActiveGovernance::of(settings)))
    }

    /// Returns true if HTTP callers need a key, even on this machine.
    pub fn requires_key(&self) -> bool {
        self.governance.load().is_governed()
    }

    /// Returns the active governance, compiled for the current servers.
    pub(crate) fn current_governance(&self) -> Arc<ActiveGovernance> {
        let servers = self.fleet.project_declarations();
        let now = self.governance.load_full();
        if now.servers == servers {
            return now;
        }
        self.governance.rcu(|now| now.for_servers(servers.clone()));
        self.governance.load_full()
    }
}
