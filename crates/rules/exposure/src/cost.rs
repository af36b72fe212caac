//! What is sent costs tokens; how many is estimated in one place.

use toolgate_search::tokens::estimate;

/// What the gateway's own tools cost: a budget has to leave room for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OwnTools {
    /// Those that find others, without a summary; they are listed where something is deferred.
    pub finding: u32,
    /// Those that are listed in any case.
    pub always: u32,
}

impl OwnTools {
    /// All that are listed, with those that find others or without.
    pub(crate) fn listed(self, searching: bool) -> u32 {
        let finding = if searching { self.finding } else { 0 };
        self.always.saturating_add(finding)
    }
}

/// What some text of a list costs whoever is sent it.
pub(crate) fn tokens(text: &[u8]) -> u32 {
    estimate(text)
}

/// What a definition costs under another name than its server's.
pub(crate) fn renamed(tokens: u32, raw: &str, exposed: &str) -> u32 {
    if raw == exposed {
        return tokens;
    }
    let (more, less) = (estimate(exposed.as_bytes()), estimate(raw.as_bytes()));
    tokens.saturating_add(more).saturating_sub(less)
}
