//! Reports the token cost of a profile's tool list in each exposure mode.
//!
//! This module only adds up; `deferral` decides what is deferred.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use toolgate_model::{CapabilityId, CapabilityKind, ExposureMode, ServerName};

use crate::summary::{DefinitionLookup, ToolSummaryLines};
use crate::{Exposure, Visibility};

/// The tokens sent before the first question, per exposure mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TokenCost {
    /// The cost if every definition is listed.
    pub all: u64,
    /// The cost if none is listed.
    pub search: u64,
    /// The cost in `auto` mode: all definitions if there are few, otherwise a line about each.
    pub auto: u64,
    /// The cost as sent to this profile.
    pub sent: u64,
}

/// The token costs of a tool list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CostReport {
    /// The cost of every visible tool.
    pub tools: BTreeMap<CapabilityId, TokenCost>,
    /// The cost of each server's tools.
    pub servers: BTreeMap<ServerName, TokenCost>,
    /// The cost of the whole list, including the gateway's own tools.
    pub profile: TokenCost,
}

impl AddAssign for TokenCost {
    fn add_assign(&mut self, other: Self) {
        self.all += other.all;
        self.search += other.search;
        self.auto += other.auto;
        self.sent += other.sent;
    }
}

/// Computes the token costs of an exposure.
pub fn cost_report(exposure: &Exposure, about: DefinitionLookup<'_>) -> CostReport {
    let visible = || {
        let tools = exposure.entries.iter().filter(|row| row.id.kind == CapabilityKind::Tool);
        tools.filter(|row| row.visibility != Visibility::Hidden)
    };
    let many = visible().count() > ExposureMode::AUTO_LIMIT;
    let lines = ToolSummaryLines::of(visible(), about, exposure.room).lines.into_iter();
    let lines: BTreeMap<_, _> = lines.map(|line| (line.id, line.tokens)).collect();
    let mut report = CostReport::default();
    for row in visible() {
        let whole = u64::from(row.tokens);
        let line = u64::from(lines.get(&row.id).copied().unwrap_or_default());
        let auto = if many { line } else { whole };
        let sent = match row.visibility {
            Visibility::Listed => whole,
            _ if exposure.summarised => line,
            _ => 0,
        };
        let cost = TokenCost { all: whole, search: 0, auto, sent };
        report.tools.insert(row.id.clone(), cost);
        *report.servers.entry(row.id.server.clone()).or_default() += cost;
        report.profile += cost;
    }
    let own = |searching: bool| u64::from(exposure.own.listed(searching));
    report.profile += TokenCost {
        all: own(false),
        search: own(!report.tools.is_empty()),
        auto: own(many),
        sent: own(exposure.searching),
    };
    report
}
