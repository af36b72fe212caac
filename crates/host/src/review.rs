//! What the operator reviews: findings in the texts of servers, changed definitions, and the
//! decisions to expect.

pub use toolgate_findings::{Finding as TextFinding, FindingSeverity};
use toolgate_findings::{find_across_servers, find_in_server};
use toolgate_gate::DecisionForecast;

pub use toolgate_pins::PinStatus;

use crate::{Host, HostError};

impl Host {
    /// Returns the findings in the texts of all servers, from their last known catalogs.
    pub fn text_findings(&self) -> Vec<TextFinding> {
        let servers = self.servers();
        let known: Vec<_> = servers
            .iter()
            .filter_map(|status| Some((&status.spec.name, &**status.catalog.as_ref()?)))
            .collect();
        let alone = known.iter().flat_map(|(server, catalog)| find_in_server(server, catalog));
        alone.chain(find_across_servers(&known)).collect()
    }

    /// Returns what would be decided about every capability of a profile, for a client that can
    /// show forms.
    pub fn preview_decisions(&self, profile: &str) -> Result<Vec<DecisionForecast>, HostError> {
        let caller = self.hypothetical_caller(profile, "")?;
        Ok(self.gate().forecast_decisions(&caller, &self.interactor)?)
    }
}
