//! Tools for writing rules: checks them, replays recorded calls and explains decisions.
//!
//! Everything here only reads files and state. No server is started and no person is asked.

mod check;
mod replay;

pub use check::{PolicyCheckReport, check};
pub use replay::{ChangedDecision, PolicyReplay, ReplayOutcome};
pub use toolgate_gate::{CallExplanation, CallHypothesis, DecisionOutcome};
pub use toolgate_model::Effect;

use toolgate_config::PlanEntry;
use toolgate_model::{ConfigScope, GovernanceSettings, Origin, RuleSet, RuleSpec};
use toolgate_policy::Policy;
pub use toolgate_policy::RuleExplanation;

use crate::setup::read_files;
use crate::{ConfigSources, Host, HostError};

impl Host {
    /// Explains what would be decided about a call, with everything for and against it. Returns
    /// `None` if there is no such server.
    pub fn explain(&self, what: &CallHypothesis<'_>) -> Result<Option<CallExplanation>, HostError> {
        let caller = self.hypothetical_caller(what.profile, what.client)?;
        Ok(self.gate().explain(what, &caller, &self.interactor)?)
    }
}

/// Returns the rules for these servers, as the gate uses them.
fn policy_for_entries(policy: &Policy, entries: &[PlanEntry]) -> Policy {
    let proposed = entries.iter().filter(|entry| entry.origin.scope == ConfigScope::Project);
    let policy = policy.with_servers(entries.iter().map(|entry| &entry.spec.name));
    policy.with_proposed_servers(proposed.map(|entry| &entry.spec.name))
}

/// Returns what is wrong with a rule, if anything.
pub fn rule_problem(effect: Effect, rule: &str) -> Option<String> {
    let rules = vec![(effect, RuleSpec::from(rule.to_owned()))];
    let set = RuleSet { origin: Origin::built_in(), mode: None, rules };
    let alone = GovernanceSettings { rules: vec![set], ..GovernanceSettings::default() };
    Policy::compile(&alone).1.into_iter().next().map(|invalid| invalid.message)
}

/// Reads the rules of one file alone. Also returns the problems found in it.
pub fn read_rules(
    options: &ConfigSources,
    file: std::path::PathBuf,
) -> Result<(GovernanceSettings, Vec<toolgate_model::Diagnostic>), HostError> {
    let alone = ConfigSources { config: Some(file), project_dir: None, ..options.clone() };
    let plan = read_files(&alone)?;
    Ok((plan.settings.governance, plan.diagnostics))
}
