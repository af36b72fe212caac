//! What a profile's list of tools costs, in each way it could be exposed.
//!
//! It only adds up; what is deferred for a budget is decided in `deferral`.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use toolgate_model::{CapabilityId, CapabilityKind, Expose, ServerName};

use crate::summary::{About, Lines};
use crate::{Exposure, Seen};

/// Tokens that would be sent before anything is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cost {
    /// With every definition listed.
    pub all: u64,
    /// With none.
    pub search: u64,
    /// With all while they are few, else a line about each.
    pub auto: u64,
    /// As they are sent to this profile.
    pub sent: u64,
}

/// What a list of tools costs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ledger {
    /// Every visible tool.
    pub tools: BTreeMap<CapabilityId, Cost>,
    /// The tools of each server together.
    pub servers: BTreeMap<ServerName, Cost>,
    /// The whole list, with the gateway's own tools where they are in it.
    pub profile: Cost,
}

impl Cost {
    /// The cost in one mode.
    pub fn of(&self, mode: Expose) -> u64 {
        match mode {
            Expose::All => self.all,
            Expose::Search => self.search,
            Expose::Auto => self.auto,
        }
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.all += other.all;
        self.search += other.search;
        self.auto += other.auto;
        self.sent += other.sent;
    }
}

/// Adds up an exposure.
pub fn ledger(exposure: &Exposure, about: About<'_>) -> Ledger {
    let visible = || {
        let tools = exposure.rows.iter().filter(|row| row.id.kind == CapabilityKind::Tool);
        tools.filter(|row| row.seen != Seen::Hidden)
    };
    let many = visible().count() > Expose::FEW;
    let lines = Lines::of(visible(), about, exposure.room).told.into_iter();
    let lines: BTreeMap<_, _> = lines.map(|line| (line.id, line.tokens)).collect();
    let mut ledger = Ledger::default();
    for row in visible() {
        let whole = u64::from(row.tokens);
        let line = u64::from(lines.get(&row.id).copied().unwrap_or_default());
        let auto = if many { line } else { whole };
        let sent = match row.seen {
            Seen::Listed => whole,
            _ if exposure.summarised => line,
            _ => 0,
        };
        let cost = Cost { all: whole, search: 0, auto, sent };
        ledger.tools.insert(row.id.clone(), cost);
        *ledger.servers.entry(row.id.server.clone()).or_default() += cost;
        ledger.profile += cost;
    }
    let own = |searching: bool| u64::from(exposure.own.listed(searching));
    ledger.profile += Cost {
        all: own(false),
        search: own(!ledger.tools.is_empty()),
        auto: own(many),
        sent: own(exposure.searching),
    };
    ledger
}
