//! Estimates token costs, in one place.

use toolgate_search::tokens::estimate;

/// The token costs of the gateway's own tools. A budget has to leave room for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OwnToolCosts {
    /// The cost of the tools that find others, without a summary. They are listed if tools are
    /// deferred.
    pub finding: u32,
    /// The cost of the tools that are always listed.
    pub always: u32,
}

impl OwnToolCosts {
    /// Returns the cost of the listed tools, with or without those that find others.
    pub(crate) fn listed(self, searching: bool) -> u32 {
        let finding = if searching { self.finding } else { 0 };
        self.always.saturating_add(finding)
    }
}

/// Returns the token cost of a definition under its exposed name.
pub(crate) fn with_name(tokens: u32, raw: &str, exposed: &str) -> u32 {
    if raw == exposed {
        return tokens;
    }
    let (more, less) = (estimate(exposed.as_bytes()), estimate(raw.as_bytes()));
    tokens.saturating_add(more).saturating_sub(less)
}
