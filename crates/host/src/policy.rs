//! The rules, for whoever writes them: what is wrong with them, and what they would have decided.
//!
//! Everything here reads files and the state and nothing else: no server is started, and nobody is
//! asked. What would be decided about one call now is told by the gate ([`Host::explain`]).

mod check;
mod replay;

pub use check::{Checked, check};
pub use replay::{Otherwise, Replay, Replayed};
pub use toolgate_gate::{Explanation, Hypothesis, Outcome, Voice};
pub use toolgate_model::Effect;

use toolgate_config::Entry;
use toolgate_model::{Governance, Scope};
use toolgate_policy::Policy;

use crate::{Host, HostError, SetupOptions};

impl Host {
    /// What would be decided about a call, and everything that speaks for and against it. `None` if
    /// there is no such server.
    pub fn explain(&self, what: &Hypothesis<'_>) -> Result<Option<Explanation>, HostError> {
        let (caller, port) = self.stranger(what.profile, what.client)?;
        self.gate().explain(what, &caller, &port).map_err(HostError::NoProfile)
    }
}

/// The rules among these servers, as the gate has them.
fn rules_among(policy: &Policy, entries: &[Entry]) -> Policy {
    let proposed = entries.iter().filter(|entry| entry.origin.scope == Scope::Project);
    let policy = policy.knowing(entries.iter().map(|entry| &entry.spec.name));
    policy.proposing(proposed.map(|entry| &entry.spec.name))
}

/// The rules of one file, as if it were the only one; with what is wrong with it.
pub fn rules_of(
    options: &SetupOptions,
    file: std::path::PathBuf,
) -> Result<(Governance, Vec<toolgate_model::Diagnostic>), HostError> {
    let alone = SetupOptions { config: Some(file), project_dir: None, ..options.clone() };
    let plan = alone.read_files()?;
    Ok((plan.settings.governance, plan.diagnostics))
}
