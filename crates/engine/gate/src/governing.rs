//! What decides now: the rules, the posture, who approves, and how old a list may be.
//!
//! It is replaced whole, and every view is made under one of them: a call is decided by the rules its
//! view was made under, and a reload holds from the next call on.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use toolgate_model::{Approvals, CapabilityId, Governance, Posture, ServerName, Via};
use toolgate_policy::{Policy, Prepared};
use toolgate_wire::scan;

use crate::decide::Asker;
use crate::{Caller, Gate, KEY_CALLER, OPERATOR};

/// How old a list may be when something of it is called, in the governed posture and otherwise.
const RECHECK_GOVERNED: Duration = Duration::from_secs(10);
const RECHECK: Duration = Duration::from_secs(60);

/// For how many things that are no tools the rules are kept.
const KEPT: usize = 256;

/// Everything that decides, ready for use.
pub(crate) struct Governing {
    said: Governance,
    pub(crate) policy: Policy,
    /// The servers among which it is settled what rules mean, and whether a project's file
    /// declares them.
    servers: BTreeMap<ServerName, bool>,
    /// Whether untrusted content makes some tools be asked about.
    pub(crate) taints: bool,
    /// How old a list may be when something of it is called.
    pub(crate) recheck: Duration,
    kept: Mutex<Kept>,
}

/// The rules about what was asked for of late and is no tool: those a view has ready. With the tags
/// they were looked for with.
type Kept = HashMap<CapabilityId, (Vec<String>, Arc<Prepared>)>;

impl Governing {
    /// Understands what is said; a rule that cannot be understood is told.
    fn of(said: &Governance) -> Self {
        let (policy, bad) = Policy::of(said);
        for rule in bad {
            tracing::warn!(target: "toolgate::gate", origin = %rule.origin, "{}", rule.message);
        }
        let governed = said.posture == Posture::Governed;
        let recheck = said.recheck.unwrap_or(if governed { RECHECK_GOVERNED } else { RECHECK });
        let taints = said.taint.unwrap_or(governed);
        let (servers, kept) = (BTreeMap::new(), Mutex::default());
        Self { said: said.clone(), policy, servers, taints, recheck, kept }
    }

    /// The same among these servers: a rule that allows never means two of them, and none that a
    /// project's file declares.
    fn among(&self, servers: BTreeMap<ServerName, bool>) -> Self {
        let proposed = servers.iter().filter(|(_, proposed)| **proposed).map(|(name, _)| name);
        let policy = self.policy.knowing(servers.keys()).proposing(proposed);
        let said = self.said.clone();
        let kept = Mutex::default();
        Self { said, policy, servers, taints: self.taints, recheck: self.recheck, kept }
    }

    /// The rules that can be about something that is no tool. Whoever reads a resource often reads
    /// it again.
    pub(crate) fn prepared(&self, id: &CapabilityId, tags: &[String]) -> Arc<Prepared> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
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

    pub(crate) fn posture(&self) -> Posture {
        self.said.posture
    }

    pub(crate) fn is_governed(&self) -> bool {
        self.posture() == Posture::Governed
    }

    pub(crate) fn approvals(&self) -> &Approvals {
        &self.said.approvals
    }

    pub(crate) fn said(&self) -> &Governance {
        &self.said
    }
}

/// Who approves what somebody wants to do. `written`: whether somebody wrote that it is to be asked
/// about; where nobody did, the client's own approval is enough.
///
/// A client can say yes by itself, and call itself anything, so in the governed posture only keys
/// count that are listed.
pub(crate) fn who_approves(said: &Governance, asker: &Asker<'_>, written: bool) -> Via {
    if let Some(via) = listed(said, asker) {
        return via;
    }
    if said.posture == Posture::Governed {
        return Via::Operator;
    }
    match said.approvals.via {
        _ if *asker.person == *OPERATOR => Via::Client, // typed by the operator
        Some(via) => via,
        None if !written => Via::Client,
        None if asker.shows_forms => Via::Elicitation,
        None => Via::Operator,
    }
}

/// What is listed for the caller's key (`key:NAME`), or for what its client calls itself.
fn listed(said: &Governance, asker: &Asker<'_>) -> Option<Via> {
    let clients = &said.approvals.clients;
    let by_key = || clients.get(asker.person).filter(|_| is_key(asker.person));
    let by_name = || {
        let is_governed = said.posture == Posture::Governed;
        clients.get(asker.client).filter(|_| !is_governed && !is_key(asker.client))
    };
    by_key().or_else(by_name).copied()
}

fn is_key(name: &str) -> bool {
    name.starts_with(KEY_CALLER)
}

impl Default for Governing {
    fn default() -> Self {
        Self::of(&Governance::default())
    }
}

/// Whether a caller's client shows forms to its user. One that says `elicitation` and no more can.
pub(crate) fn can_be_asked(caller: &Caller) -> bool {
    let capabilities = &caller.capabilities[..];
    let Some(at) = scan::member(capabilities, "elicitation") else { return false };
    let elicitation = at.of(capabilities);
    scan::member(elicitation, "form").is_some() || scan::member(elicitation, "url").is_none()
}

impl Gate {
    /// Decides by this from the next call on.
    pub fn govern(&self, said: &Governance) {
        if let Some(governing) = self.governing_of(said) {
            self.governing.store(governing);
            self.fleet.renew();
        }
    }

    /// What would decide by this; `None` if that is what decides now.
    pub(crate) fn governing_of(&self, said: &Governance) -> Option<Arc<Governing>> {
        let differs = self.governing.load().said != *said;
        differs.then(|| Arc::new(Governing::of(said)))
    }

    /// Whether callers over HTTP must have a key, also on this machine.
    pub fn requires_key(&self) -> bool {
        self.governing.load().is_governed()
    }

    /// What decides now, among the servers there are now.
    pub(crate) fn governing(&self) -> Arc<Governing> {
        let servers = self.fleet.declared();
        let now = self.governing.load_full();
        if now.servers == servers {
            return now;
        }
        self.governing.rcu(|now| now.among(servers.clone()));
        self.governing.load_full()
    }
}
