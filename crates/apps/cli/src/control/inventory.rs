//! What one server offers: its unchanged definitions with their exposed names.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use toolgate_host::{
    CapabilityId, CapabilityKind, Exposure, ServerState, ServerStatus, Visibility,
};

use crate::exit::{CliError, ErrorCode, Result, cli_error};
use crate::suggest::did_you_mean;

/// What one server offers to callers with a profile.
#[derive(Debug, Serialize, Deserialize)]
pub struct ServerCapabilityInventory {
    /// Its declared name.
    pub server: String,
    /// Its state.
    pub state: String,
    /// The reason of its state, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The negotiated revision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// Its instructions for models: untrusted text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Its tools.
    pub tools: Vec<CapabilityInventoryEntry>,
    /// Its resources.
    pub resources: Vec<CapabilityInventoryEntry>,
    /// Its resource templates.
    pub templates: Vec<CapabilityInventoryEntry>,
    /// Its prompts.
    pub prompts: Vec<CapabilityInventoryEntry>,
}

/// One capability of a server.
#[derive(Debug, Serialize, Deserialize)]
pub struct CapabilityInventoryEntry {
    /// The server's own name of it, or its URI.
    pub name: String,
    /// The alias from the server's declaration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
    /// The exposed name; `None` if the profile does not expose it.
    pub exposed: Option<String>,
    /// Why the profile hides it, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden: Option<String>,
    /// The server's definition.
    pub definition: Box<RawValue>,
}

impl ServerCapabilityInventory {
    pub(super) fn of(exposure: &Exposure, status: &ServerStatus) -> Self {
        let catalog = status.catalog.as_ref();
        let server = &status.spec.name;
        let rows = exposure.entries.iter().filter(|row| row.id.server == *server);
        let rows: HashMap<_, _> = rows.map(|row| (&row.id, row)).collect();
        let entries = |kind: CapabilityKind| {
            let definitions = catalog.into_iter().flat_map(|catalog| catalog.definitions(kind));
            let entries = definitions.filter_map(|definition| {
                let (server, name) = (server.clone(), definition.name.clone());
                let row = rows.get(&CapabilityId { server, kind, name })?;
                Some(CapabilityInventoryEntry {
                    name: row.id.name.to_string(),
                    alias: row.alias.as_deref().map(str::to_owned),
                    // A capability that rules always deny keeps its name, so that the gate records
                    // the denial.
                    exposed: row.exposed.as_deref().map(str::to_owned),
                    hidden: (row.visibility == Visibility::Hidden).then(|| row.because.to_string()),
                    definition: serde_json::from_slice(&definition.raw).ok()?,
                })
            });
            entries.collect()
        };
        Self {
            server: server.to_string(),
            state: status.state.as_str().to_owned(),
            reason: reason_with_hint(&status.state),
            protocol: catalog.map(|catalog| catalog.protocol.to_string()),
            instructions: catalog.and_then(|catalog| catalog.instructions.clone()),
            tools: entries(CapabilityKind::Tool),
            resources: entries(CapabilityKind::Resource),
            templates: entries(CapabilityKind::Template),
            prompts: entries(CapabilityKind::Prompt),
        }
    }

    /// Fails if the server is unusable and another attempt cannot help.
    pub fn check_usable(&self) -> Result<()> {
        let why = self.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
        let what = format!("cannot use server `{}`: it is {}{why}", self.server, self.state);
        match self.state.as_str() {
            "blocked" => Err(CliError::new(ErrorCode::ServerBlocked, what)),
            "disabled" => Err(CliError::new(ErrorCode::ServerDisabled, what)
                .hint("set `enabled = true` in its entry")),
            "needs_auth" => Err(CliError::new(ErrorCode::ConnectAuth, what)),
            "failed" if self.protocol.is_none() => {
                let hint = format!("run `toolgate doctor {}` to see every step", self.server);
                Err(CliError::new(ErrorCode::ServerFailed, what).hint(hint))
            }
            _ => Ok(()),
        }
    }

    /// Finds a capability by the server's own name, by its exposed name or by its alias. `what`
    /// names its kind in the error.
    pub fn find_capability<'a>(
        &self,
        entries: &'a [CapabilityInventoryEntry],
        what: &str,
        name: &str,
    ) -> Result<&'a CapabilityInventoryEntry> {
        let own = entries.iter().find(|entry| entry.name == name);
        let exposed = || entries.iter().find(|entry| entry.exposed.as_deref() == Some(name));
        let alias = || entries.iter().find(|entry| entry.alias.as_deref() == Some(name));
        own.or_else(exposed).or_else(alias).ok_or_else(|| {
            let known: Vec<_> = entries.iter().map(|entry| entry.name.as_str()).collect();
            let hint = format!("run `toolgate discover {}` to list what it offers", self.server);
            cli_error!(CallUnknown, "no {what} named `{name}` on server `{}`", self.server)
                .hint(did_you_mean(name, &known, hint))
        })
    }
}

impl CapabilityInventoryEntry {
    /// Returns the exposed name, or an error if the profile hides the capability.
    pub fn exposed_name(&self) -> Result<&str> {
        let hidden = || {
            let why = self.hidden.as_deref().unwrap_or("it has no exposed name");
            cli_error!(CallHidden, "cannot use `{}`: it is hidden: {why}", self.name)
        };
        self.exposed.as_deref().ok_or_else(hidden)
    }
}

/// Returns the reason of a state, followed by the hint of its failure in parentheses.
fn reason_with_hint(state: &ServerState) -> Option<String> {
    let hint = match state {
        ServerState::Failed(failure) | ServerState::Disconnected(failure) => failure.hint.as_ref(),
        _ => None,
    };
    let reason = state.reason()?;
    Some(hint.map_or(reason.clone(), |hint| format!("{reason} ({hint})")))
}
