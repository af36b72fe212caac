//! The rules, for whoever writes them: what is wrong with them, and what they would have decided.
//!
//! Everything here reads files and the state and nothing else: no server is started, and nobody is
//! asked. What would be decided about one call now is told by the gate ([`Host::explain`]).

mod check;
mod replay;

pub use check::{Checked, check};
pub use replay::{Otherwise, Replay, Replayed};
pub use toolgate_gate::{Explanation, Hypothesis, Voice};
pub use toolgate_model::Effect;

use toolgate_model::Governance;

use crate::{Host, HostError, SetupOptions};

impl Host {
    /// What would be decided about a call, and everything that speaks for and against it. `None` if
    /// there is no such server.
    pub fn explain(&self, what: &Hypothesis<'_>) -> Result<Option<Explanation>, HostError> {
        self.gate().explain(what).map_err(HostError::NoProfile)
    }
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
