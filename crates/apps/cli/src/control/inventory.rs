//! What one server offers: its own definitions, byte for byte, beside the names they are exposed
//! under.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use toolgate_host::{CapabilityId, CapabilityKind, Exposure, Row, Seen, ServerState, ServerStatus};

use super::exposed;
use crate::exit::Failure;

/// What one server offers.
#[derive(Debug, Serialize, Deserialize)]
pub struct Inventory {
    /// Its declared name.
    pub server: String,
    /// How it stands.
    pub state: String,
    /// Why, where there is something to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The revision both sides agreed on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// What it wants models to know: untrusted text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Its tools.
    pub tools: Vec<Offer>,
    /// Its resources.
    pub resources: Vec<Offer>,
    /// Its resource templates.
    pub templates: Vec<Offer>,
    /// Its prompts.
    pub prompts: Vec<Offer>,
}

/// One capability.
#[derive(Debug, Serialize, Deserialize)]
pub struct Offer {
    /// The server's own name for it, or its URI.
    pub name: String,
    /// What its server's declaration calls it instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
    /// What callers with the profile call it; none if they are not shown it.
    pub exposed: Option<String>,
    /// Why they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden: Option<String>,
    /// As the server defines it.
    pub definition: Box<RawValue>,
}

impl Inventory {
    pub(super) fn of(exposure: &Exposure, status: &ServerStatus) -> Self {
        let catalog = status.catalog.as_ref();
        let server = status.spec.name.as_str();
        let rows: HashMap<_, _> =
            exposed::rows(exposure, server).map(|row| (&row.id, row)).collect();
        let offers = |kind: CapabilityKind| {
            let definitions = catalog.into_iter().flat_map(|catalog| catalog.of(kind));
            let offer = definitions.filter_map(|definition| {
                let (server, name) = (status.spec.name.clone(), definition.name.clone());
                let row = rows.get(&CapabilityId { server, kind, name });
                let definition = serde_json::from_slice(&definition.raw).ok()?;
                Some(Offer::of(definition, row.copied()?))
            });
            offer.collect()
        };
        Self {
            server: server.to_owned(),
            state: status.state.as_str().to_owned(),
            reason: reason(&status.state),
            protocol: catalog.map(|catalog| catalog.protocol.to_string()),
            instructions: catalog.and_then(|catalog| catalog.instructions.clone()),
            tools: offers(CapabilityKind::Tool),
            resources: offers(CapabilityKind::Resource),
            templates: offers(CapabilityKind::Template),
            prompts: offers(CapabilityKind::Prompt),
        }
    }

    /// Fails if the server cannot be used at all, however often it is tried.
    pub fn usable(&self) -> Result<(), Failure> {
        let why = self.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
        let what = format!("use server `{}`: it is {}{why}", self.server, self.state);
        match self.state.as_str() {
            "blocked" => Err(Failure::refused(what)),
            "disabled" => Err(Failure::failed(what).hint("set `enabled = true` in its entry")),
            "needs-auth" => Err(Failure::failed(what)),
            "failed" if self.protocol.is_none() => {
                let hint = format!("`toolgate doctor {}` shows every step", self.server);
                Err(Failure::failed(what).hint(hint))
            }
            _ => Ok(()),
        }
    }

    /// A capability by the server's own name, by the one it is exposed under, or by its alias.
    pub fn find<'a>(
        &self,
        offers: &'a [Offer],
        what: &str,
        name: &str,
    ) -> Result<&'a Offer, Failure> {
        let own = offers.iter().find(|offer| offer.name == name);
        let exposed = || offers.iter().find(|offer| offer.exposed.as_deref() == Some(name));
        let alias = || offers.iter().find(|offer| offer.alias.as_deref() == Some(name));
        own.or_else(exposed).or_else(alias).ok_or_else(|| {
            let hint = format!("`toolgate discover {}` lists what it offers", self.server);
            Failure::failed(format!("find a {what} named `{name}` on `{}`", self.server)).hint(hint)
        })
    }
}

impl Offer {
    fn of(definition: Box<RawValue>, row: &Row) -> Self {
        let hidden = row.seen == Seen::Hidden;
        Self {
            name: row.id.name.to_string(),
            alias: row.alias.as_deref().map(str::to_owned),
            // What rules always refuse keeps its name, so that the gate refuses it on record.
            exposed: row.exposed.as_deref().map(str::to_owned),
            hidden: hidden.then(|| row.because.to_string()),
            definition,
        }
    }

    /// What callers call it.
    pub fn exposed(&self) -> Result<&str, Failure> {
        let hidden = || {
            let why = self.hidden.as_deref().unwrap_or("it has no name that may be shown");
            Failure::refused(format!("use `{}`: it is hidden: {why}", self.name))
        };
        self.exposed.as_deref().ok_or_else(hidden)
    }
}

/// A failure with its hint, in one text.
fn reason(state: &ServerState) -> Option<String> {
    let hint = match state {
        ServerState::Failed(failure) | ServerState::Disconnected(failure) => failure.hint.as_ref(),
        _ => None,
    };
    let reason = state.reason()?;
    Some(hint.map_or(reason.clone(), |hint| format!("{reason} ({hint})")))
}
