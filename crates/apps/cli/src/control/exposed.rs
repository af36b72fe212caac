//! What callers with a profile see, and because of which rule.
//!
//! It is what the gate decided. Of servers that may not be used the gate shows nothing; what is
//! remembered of them is told here as hidden, with how they stand.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use toolgate_host::{
    CapabilityId, CapabilityKind, Cost, Exposure, Host, HostError, Ledger, Outlook, Row, Seen,
    ServerState, ServerStatus, tokens,
};

/// Everything there is, as callers with a profile see it.
#[derive(Debug, Serialize, Deserialize)]
pub struct Exposed {
    /// The profile.
    pub profile: String,
    /// Every capability, by server, kind and name.
    pub lines: Vec<Line>,
    /// What its list of tools costs.
    pub totals: Totals,
    /// Servers of which nothing is known.
    pub unknown: Vec<Unknown>,
    /// What an operator should know.
    pub findings: Vec<String>,
}

/// One capability.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Line {
    /// Whose it is.
    pub server: String,
    /// What it is.
    pub kind: String,
    /// The server's own name for it, or its URI.
    pub name: String,
    /// What its server's declaration calls it instead.
    pub alias: Option<String>,
    /// The name it is seen under.
    pub exposed: Option<String>,
    /// Whether it is seen, listed or by searching.
    pub visible: bool,
    /// Whether it is in the list.
    pub listed: bool,
    /// Which rule of which file decided.
    pub because: String,
    /// What it bears.
    pub tags: Vec<String>,
    /// What its definition costs whoever is sent it.
    pub tokens: u32,
    /// What a call of it would be decided as; none where nothing is decided: its server may not be
    /// used.
    #[serde(default)]
    pub decision: Option<Decision>,
}

/// What a call would be decided as, its arguments left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// What its caller would meet: `allow`, `ask` or `deny`.
    pub effect: String,
    /// The same more exactly: `allowed`, `client-approves`, `form`, `operator` or `refused`.
    #[serde(default)]
    pub outcome: String,
    /// Because of what.
    pub because: String,
    /// Who would be asked, where somebody would: `client`, `elicitation` or `operator`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<String>,
}

impl From<Outlook> for Decision {
    fn from(outlook: Outlook) -> Self {
        let Outlook { outcome, because, .. } = outlook;
        let via = outcome.via().map(|via| via.as_str().to_owned());
        let effect = outcome.effect().as_str().to_owned();
        Self { effect, outcome: outcome.as_str().to_owned(), because, via }
    }
}

/// What a list of tools costs, in tokens: the stable shape of `exposure --totals --json`.
#[derive(Debug, Serialize, Deserialize)]
pub struct Totals {
    /// The profile.
    pub profile: String,
    /// How its tools are exposed.
    pub expose: String,
    /// The tools of each server.
    pub servers: Vec<Sum>,
    /// The whole list, with the gateway's own tools where they are in it.
    pub list: Sum,
}

/// What some tools cost.
#[derive(Debug, Serialize, Deserialize)]
pub struct Sum {
    /// Whose they are; none: the whole list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// How many are visible.
    pub tools: usize,
    /// With every definition listed.
    pub all: u64,
    /// With none.
    pub search: u64,
    /// With all while they are few, else a line about each.
    pub auto: u64,
    /// As they are sent.
    pub sent: u64,
}

impl Totals {
    fn of(profile: &str, exposure: &Exposure, ledger: &Ledger) -> Self {
        let servers = ledger.servers.iter().map(|(server, cost)| {
            let tools = ledger.tools.keys().filter(|id| id.server == *server).count();
            Sum { server: Some(server.to_string()), ..Sum::of(tools, *cost) }
        });
        Self {
            profile: profile.to_owned(),
            expose: exposure.expose.as_str().to_owned(),
            servers: servers.collect(),
            list: Sum::of(ledger.tools.len(), ledger.profile),
        }
    }
}

impl Sum {
    fn of(tools: usize, cost: Cost) -> Self {
        let Cost { all, search, auto, sent } = cost;
        Self { server: None, tools, all, search, auto, sent }
    }
}

/// A server of which nothing is known.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Unknown {
    /// Its name.
    pub server: String,
    /// How it stands.
    pub state: String,
    /// Whether it may be used, so that looking would help.
    pub usable: bool,
}

impl Exposed {
    pub(super) fn of(host: &Host, profile: &str) -> Result<Self, HostError> {
        let exposure = host.exposure(profile)?;
        let servers = host.servers().servers;
        let outlook = host.outlook(profile)?.into_iter();
        let decided: HashMap<CapabilityId, _> =
            outlook.map(|it| (it.id.clone(), Decision::from(it))).collect();
        let line = |row: &Row| Line { decision: decided.get(&row.id).cloned(), ..Line::from(row) };
        let mut lines: Vec<_> = exposure.rows.iter().map(line).collect();
        lines.extend(servers.iter().filter(|it| is_barred(&it.state)).flat_map(barred));
        lines.sort_by(|a, b| (&a.server, &a.kind, &a.name).cmp(&(&b.server, &b.kind, &b.name)));
        Ok(Self {
            profile: profile.to_owned(),
            lines,
            totals: Totals::of(profile, &exposure, &host.ledger(profile)?),
            unknown: unknown(&servers),
            findings: exposure.findings.clone(),
        })
    }
}

/// What of one server's capabilities is seen.
pub(super) fn rows<'e>(exposure: &'e Exposure, server: &str) -> impl Iterator<Item = &'e Row> {
    exposure.rows.iter().filter(move |row| row.id.server.as_str() == server)
}

/// The servers of which nothing is known.
pub(super) fn unknown(servers: &[ServerStatus]) -> Vec<Unknown> {
    let nothing = servers.iter().filter(|status| status.catalog.is_none());
    let unknown = nothing.map(|status| Unknown {
        server: status.spec.name.to_string(),
        state: match status.state.reason() {
            Some(reason) => format!("{}: {reason}", status.state.as_str()),
            None => status.state.as_str().to_owned(),
        },
        usable: !is_barred(&status.state),
    });
    unknown.collect()
}

/// Whether a server may not be used, whatever is known of it.
fn is_barred(state: &ServerState) -> bool {
    matches!(state, ServerState::Blocked(_) | ServerState::Disabled | ServerState::NeedsAuth(_))
}

fn barred(status: &ServerStatus) -> Vec<Line> {
    let because = format!("its server is {} ({})", status.state.as_str(), status.origin);
    let line = |kind: CapabilityKind, name: &str, raw: &[u8]| Line {
        server: status.spec.name.to_string(),
        kind: kind.as_str().to_owned(),
        name: name.to_owned(),
        alias: None,
        exposed: None,
        visible: false,
        listed: false,
        because: because.clone(),
        tags: Vec::new(),
        tokens: tokens(raw),
        decision: None,
    };
    let definitions = CapabilityKind::ALL.into_iter().flat_map(|kind| {
        let known = status.catalog.iter().flat_map(move |catalog| catalog.of(kind));
        known.map(move |definition| (kind, definition))
    });
    definitions.map(|(kind, it)| line(kind, &it.name, &it.raw)).collect()
}

impl From<&Row> for Line {
    fn from(row: &Row) -> Self {
        Self {
            server: row.id.server.to_string(),
            kind: row.id.kind.as_str().to_owned(),
            name: row.id.name.to_string(),
            alias: row.alias.as_deref().map(str::to_owned),
            exposed: row.exposed.as_deref().map(str::to_owned),
            visible: row.seen != Seen::Hidden,
            listed: row.seen == Seen::Listed,
            because: row.because.to_string(),
            tags: row.tags.clone(),
            tokens: row.tokens,
            decision: None,
        }
    }
}
