//! What callers with a profile see, and by which rule.
//!
//! The rows come from the gate. The gate exposes nothing of unusable servers; their known
//! capabilities appear here as hidden, with the state of the server as the reason.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use toolgate_host::{
    CapabilityId, CapabilityKind, CostReport, DecisionForecast, Exposure, ExposureEntry, Host,
    HostError, ServerState, ServerStatus, TokenCost, Visibility, tokens,
};

/// All capabilities as callers with a profile see them.
#[derive(Debug, Serialize, Deserialize)]
pub struct ExposureReport {
    /// The profile.
    pub profile: String,
    /// Every capability, by server, kind and name.
    pub lines: Vec<ExposureRowJson>,
    /// The token cost of the profile's tool list.
    pub totals: TokenTotals,
    /// Servers without a known catalog.
    pub unknown: Vec<ServerWithoutCatalog>,
    /// Findings for the operator.
    pub findings: Vec<String>,
}

/// The exposure of one capability.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ExposureRowJson {
    /// The server.
    pub server: String,
    /// The kind of capability.
    pub kind: String,
    /// The server's own name of it, or its URI.
    pub name: String,
    /// The alias from the server's declaration.
    pub alias: Option<String>,
    /// The exposed name.
    pub exposed: Option<String>,
    /// Whether callers can find it, in the list or by search.
    pub visible: bool,
    /// Whether it is in the list.
    pub listed: bool,
    /// The rule that decided, and its file.
    pub because: String,
    /// Its tags.
    pub tags: Vec<String>,
    /// The token cost of its definition.
    pub tokens: u32,
    /// The decision about a call of it; `None` if its server is unusable.
    #[serde(default)]
    pub decision: Option<DecisionJson>,
}

/// The decision about a call, without regard to its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecisionJson {
    /// The effect for the caller: `allow`, `ask` or `deny`.
    pub effect: String,
    /// The exact outcome: `allowed`, `client-approves`, `form`, `operator` or `refused`.
    #[serde(default)]
    pub outcome: String,
    /// The reason of the decision.
    pub because: String,
    /// Through which channel approval is asked for, if it is: `client`, `elicitation` or
    /// `operator`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<String>,
}

impl From<DecisionForecast> for DecisionJson {
    fn from(forecast: DecisionForecast) -> Self {
        let DecisionForecast { outcome, because, .. } = forecast;
        let via = outcome.via().map(|via| via.as_str().to_owned());
        let effect = outcome.effect().as_str().to_owned();
        Self { effect, outcome: outcome.as_str().to_owned(), because, via }
    }
}

/// The token cost of a tool list: the stable shape of `exposure --totals --json`.
#[derive(Debug, Serialize, Deserialize)]
pub struct TokenTotals {
    /// The profile.
    pub profile: String,
    /// How its tools are exposed.
    pub expose: String,
    /// The cost of each server's tools.
    pub servers: Vec<TokenSum>,
    /// The cost of the whole list, including the gateway's own tools if they are listed.
    pub list: TokenSum,
}

/// The token cost of a set of tools.
#[derive(Debug, Serialize, Deserialize)]
pub struct TokenSum {
    /// The server, or `None` for the whole list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The number of visible tools.
    pub tools: usize,
    /// The cost if every definition is listed.
    pub all: u64,
    /// The cost if no definition is listed and tools are found by search.
    pub search: u64,
    /// The cost if definitions are listed while they are few, and one line per tool otherwise.
    pub auto: u64,
    /// The cost as the list is sent.
    pub sent: u64,
}

impl TokenTotals {
    fn of(profile: &str, exposure: &Exposure, costs: &CostReport) -> Self {
        let servers = costs.servers.iter().map(|(server, cost)| {
            let tools = costs.tools.keys().filter(|id| id.server == *server).count();
            TokenSum { server: Some(server.to_string()), ..TokenSum::of(tools, *cost) }
        });
        Self {
            profile: profile.to_owned(),
            expose: exposure.expose.as_str().to_owned(),
            servers: servers.collect(),
            list: TokenSum::of(costs.tools.len(), costs.profile),
        }
    }
}

impl TokenSum {
    fn of(tools: usize, cost: TokenCost) -> Self {
        let TokenCost { all, search, auto, sent } = cost;
        Self { server: None, tools, all, search, auto, sent }
    }
}

/// A server without a known catalog.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ServerWithoutCatalog {
    /// Its name.
    pub server: String,
    /// Its state, with the reason if there is one.
    pub state: String,
    /// Whether it is usable, so that starting it would yield its catalog.
    pub usable: bool,
}

impl ExposureReport {
    pub(super) fn of(host: &Host, profile: &str) -> Result<Self, HostError> {
        let exposure = host.exposure(profile)?;
        let servers = host.servers();
        let forecasts = host.preview_decisions(profile)?.into_iter();
        let decisions: HashMap<CapabilityId, _> =
            forecasts.map(|it| (it.id.clone(), DecisionJson::from(it))).collect();
        let rows = exposure.entries.iter();
        let mut lines: Vec<_> =
            rows.map(|row| ExposureRowJson::of(row, decisions.get(&row.id).cloned())).collect();
        lines.extend(servers.iter().filter(|it| is_unusable(&it.state)).flat_map(unusable_rows));
        lines.sort_by(|a, b| (&a.server, &a.kind, &a.name).cmp(&(&b.server, &b.kind, &b.name)));
        Ok(Self {
            profile: profile.to_owned(),
            lines,
            totals: TokenTotals::of(profile, &exposure, &host.tool_list_cost(profile)?),
            unknown: unknown_servers(&servers),
            findings: exposure.findings.clone(),
        })
    }
}

/// Returns the servers without a known catalog.
pub(super) fn unknown_servers(servers: &[ServerStatus]) -> Vec<ServerWithoutCatalog> {
    let unknown = servers.iter().filter(|status| status.catalog.is_none());
    let unknown = unknown.map(|status| ServerWithoutCatalog {
        server: status.spec.name.to_string(),
        state: match status.state.reason() {
            Some(reason) => format!("{}: {reason}", status.state.as_str()),
            None => status.state.as_str().to_owned(),
        },
        usable: !is_unusable(&status.state),
    });
    unknown.collect()
}

/// Returns true if a server may not be used, even if its catalog is known.
fn is_unusable(state: &ServerState) -> bool {
    matches!(state, ServerState::Blocked(_) | ServerState::Disabled | ServerState::NeedsAuth(_))
}

fn unusable_rows(status: &ServerStatus) -> Vec<ExposureRowJson> {
    let because = format!("its server is {} ({})", status.state.as_str(), status.origin);
    let definitions = CapabilityKind::ALL.into_iter().flat_map(|kind| {
        let known = status.catalog.iter().flat_map(move |catalog| catalog.definitions(kind));
        known.map(move |definition| (kind, definition))
    });
    let rows = definitions.map(|(kind, definition)| ExposureRowJson {
        server: status.spec.name.to_string(),
        kind: kind.as_str().to_owned(),
        name: definition.name.to_string(),
        because: because.clone(),
        tokens: tokens(&definition.raw),
        ..ExposureRowJson::default()
    });
    rows.collect()
}

impl ExposureRowJson {
    fn of(row: &ExposureEntry, decision: Option<DecisionJson>) -> Self {
        Self {
            server: row.id.server.to_string(),
            kind: row.id.kind.as_str().to_owned(),
            name: row.id.name.to_string(),
            alias: row.alias.as_deref().map(str::to_owned),
            exposed: row.exposed.as_deref().map(str::to_owned),
            visible: row.visibility != Visibility::Hidden,
            listed: row.visibility == Visibility::Listed,
            because: row.because.to_string(),
            tags: row.tags.clone(),
            tokens: row.tokens,
            decision,
        }
    }
}
