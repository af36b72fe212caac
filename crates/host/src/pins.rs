//! Pins for the operator: what is approved, what changed since then, and the lock file.
//!
//! `rules/pins` determines the status of a definition, and the gate enforces it. This module shows
//! the status and records approvals. An approval covers exactly what was shown; if the offer has
//! changed since, nothing is approved.

mod integrity;

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures_util::future::join_all;
use toolgate_fleet::{Fleet, FleetError, OfferedCatalog, ServerStatus};
use toolgate_model::{
    CapabilityId, CapabilityKind, ConfigScope, Digest, ServerName, ServerState, TransportSpec,
};
use toolgate_pins::{
    LockedServer, PinStatus, PinSubject, compare_definitions, compare_instructions, is_pinned_kind,
};
use toolgate_store::{Pin, StateStore};
use toolgate_wire::{string, words};

pub use toolgate_pins::{
    DefinitionDifference, LockFile, LockFileError, LockViolation, ServerPackage,
};

use crate::{Host, HostError};

words! {
    /// How a definition compares to its pin.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum PinEntryStatus {
        /// It equals the pin.
        Pinned = "pinned",
        /// It differs from the pin.
        Changed = "changed",
        /// There is no pin.
        New = "new",
        /// There is a pin, but the definition is no longer offered.
        Gone = "gone",
    }
}

/// One definition, or the instructions of a server, with its pin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PinEntry {
    /// The server.
    pub server: ServerName,
    /// The capability; `None` for the server's instructions.
    pub capability: Option<(CapabilityKind, String)>,
    /// How the definition compares to its pin.
    pub status: PinEntryStatus,
    /// The digest of the current definition.
    pub digest: Option<Digest>,
    /// The digest of the pin.
    pub pinned: Option<Digest>,
    /// Who approved the pin.
    pub by: Option<String>,
    /// When the pin was approved.
    pub pinned_at: Option<SystemTime>,
    /// The differences between the definition and its pin.
    pub changes: Vec<DefinitionDifference>,
    /// The current definition.
    definition: Bytes,
    identity: Digest,
}

/// Selects the pins of one server, or of one name on it.
#[derive(Debug, Clone, Default)]
pub struct PinFilter<'a> {
    /// The server; `None` for all servers.
    pub server: Option<&'a str>,
    /// The name of a capability.
    pub name: Option<&'a str>,
}

impl PinFilter<'_> {
    fn matches(&self, row: &PinEntry) -> bool {
        let named = |name: &str| row.capability.as_ref().is_some_and(|(_, own)| own == name);
        self.server.is_none_or(|server| row.server.as_str() == server)
            && self.name.is_none_or(named)
    }
}

/// Returns a digest of entries as they were shown.
pub fn entries_digest(rows: &[PinEntry]) -> Digest {
    let parts: Vec<String> = rows
        .iter()
        .flat_map(|row| {
            let (kind, name) = match &row.capability {
                Some((kind, name)) => (kind.as_str(), name.as_str()),
                None => ("instructions", ""),
            };
            let digest = row.digest.map(|digest| digest.to_string()).unwrap_or_default();
            [row.server.to_string(), kind.to_owned(), name.to_owned(), digest]
        })
        .collect();
    Digest::of_parts(parts.iter().map(String::as_bytes))
}

impl Host {
    /// Returns the current definitions with their pins. Starts no server.
    pub async fn pins(
        &self,
        decisions: &StateStore,
        chosen: &PinFilter<'_>,
    ) -> Result<Vec<PinEntry>, HostError> {
        let pins = decisions.pins().await?;
        let offers = self.fleet.catalogs(None);
        let mut rows = Vec::new();
        for status in self.servers().iter().filter(|status| !is_ours(status)) {
            let offered = offers.iter().find(|it| it.fleet_server.spec.name == status.spec.name);
            rows.extend(of_server(status, offered, &pins));
        }
        if let Some(server) = chosen.server
            && !self.servers().iter().any(|it| it.spec.name.as_str() == server)
        {
            return Err(HostError::NoServer(server.to_owned()));
        }
        rows.retain(|row| chosen.matches(row));
        Ok(rows)
    }

    /// Rereads the lists of one server or of all, if they are connected. Returns a message for each
    /// server that could not be read.
    pub async fn relist(&self, server: Option<&str>) -> Vec<String> {
        let connected = |status: &ServerStatus| {
            status.state == ServerState::Connected
                && server.is_none_or(|name| status.spec.name.as_str() == name)
        };
        let servers = self.servers();
        let all = servers.iter().filter(|status| connected(status));
        let read = join_all(all.map(|status| refresh_lists(&self.fleet, &status.spec.name))).await;
        read.into_iter().filter_map(Result::err).collect()
    }

    /// Approves the selected definitions if they still equal what was shown (`seen`). Returns how
    /// many were approved.
    pub async fn approve_pins(
        &self,
        decisions: &StateStore,
        chosen: &PinFilter<'_>,
        seen: Digest,
        by: &str,
    ) -> Result<usize, HostError> {
        let rows = self.pins(decisions, chosen).await?;
        if entries_digest(&rows) != seen {
            return Err(HostError::Pins(
                "cannot approve these definitions: they changed again since they were shown".into(),
            ));
        }
        let offered = rows.into_iter().filter_map(|row| {
            let digest = row.digest.filter(|_| row.status != PinEntryStatus::Pinned)?;
            Some(Pin {
                server: row.server,
                identity: row.identity,
                capability: row.capability,
                digest,
                definition: row.definition,
                by: by.to_owned(),
                pinned_at: SystemTime::now(),
            })
        });
        let pins: Vec<Pin> = offered.collect();
        decisions.pin(&pins).await?;
        self.gate().reload_pins().await?;
        for pin in &pins {
            let about = pin.capability.as_ref().map(|(kind, name)| CapabilityId {
                server: pin.server.clone(),
                kind: *kind,
                name: name.as_str().into(),
            });
            let (server, by) = (string::encode(pin.server.as_str()), string::encode(by));
            let detail = format!(r#"{{"server":{server},"digest":"{}","by":{by}}}"#, pin.digest);
            self.gate().note("definition-approved", about.as_ref(), &detail);
        }
        Ok(pins.len())
    }

    /// Removes pins. Returns how many were removed. In the personal posture, the next definition
    /// that the server offers is pinned as if it were the first.
    pub async fn forget_pins(
        &self,
        decisions: &StateStore,
        server: &str,
        name: Option<&str>,
        by: &str,
    ) -> Result<u64, HostError> {
        let server = ServerName::new(server)?;
        let mut forgotten = 0;
        match name {
            None => forgotten += decisions.unpin(&server, None).await?,
            Some(name) => {
                for kind in CapabilityKind::ALL.into_iter().filter(|kind| is_pinned_kind(*kind)) {
                    let id = CapabilityId { server: server.clone(), kind, name: name.into() };
                    forgotten += decisions.unpin(&server, Some(&id)).await?;
                }
            }
        }
        if forgotten == 0 {
            return Ok(0);
        }
        self.gate().reload_pins().await?;
        let name = name.map_or_else(|| "null".to_owned(), string::encode);
        let (server, by) = (string::encode(server.as_str()), string::encode(by));
        let detail = format!(r#"{{"server":{server},"name":{name},"pins":{forgotten},"by":{by}}}"#);
        self.gate().note("pins-forgotten", None, &detail);
        Ok(forgotten)
    }

    /// Builds a lock file of everything that is declared and offered now. Also returns the problems
    /// that prevent locking.
    pub fn build_lock_file(&self) -> (LockFile, Vec<String>) {
        let offers = self.fleet.catalogs(None);
        let mut lock = LockFile::default();
        let mut problems = Vec::new();
        for status in self.servers().iter().filter(|status| !is_ours(status)) {
            let name = &status.spec.name;
            let offered = offers.iter().find(|it| it.fleet_server.spec.name == *name);
            match offered.filter(|it| !it.is_from_predecessor) {
                Some(offered) => _ = lock.servers.insert(name.to_string(), locked(offered)),
                None if status.state == ServerState::Disabled => {}
                None => problems.push(unknown(status)),
            }
        }
        for state in self.gate().pin_statuses() {
            let held = matches!(state.status, PinStatus::Unapproved | PinStatus::Changed { .. });
            let digest = Digest::of(b""); // a refusal does not show the digest
            let capability = state.id.as_ref().map(|id| (id.kind, &*id.name));
            let subject = PinSubject {
                server: &state.server,
                identity: &digest,
                capability,
                digest: &digest,
            };
            problems.extend(state.status.refusal(&subject).filter(|_| held));
        }
        (lock, problems)
    }
}

/// Returns true if a server is part of this program and changes only together with it.
fn is_ours(status: &ServerStatus) -> bool {
    status.spec.transport == TransportSpec::BuiltIn && status.origin.scope == ConfigScope::BuiltIn
}

async fn refresh_lists(fleet: &Fleet, server: &ServerName) -> Result<(), String> {
    let failed = |error: FleetError| {
        format!("cannot reread the lists of `{server}`, using the last known ones: {error}")
    };
    let pool = fleet.pool(server, &fleet.shared_tenant()).map_err(failed)?;
    for kind in CapabilityKind::ALL.into_iter().filter(|kind| is_pinned_kind(*kind)) {
        pool.refresh_if_stale(kind, Duration::ZERO).await.map_err(failed)?;
    }
    Ok(())
}

/// Returns the entries of a server: its instructions first, then the definitions by kind, in the
/// server's order.
fn of_server(
    status: &ServerStatus,
    offered: Option<&OfferedCatalog>,
    pins: &[Pin],
) -> Vec<PinEntry> {
    let (server, identity) = (&status.spec.name, status.spec.digest());
    let own: Vec<&Pin> =
        pins.iter().filter(|pin| pin.server == *server && pin.identity == identity).collect();
    let pin = |capability: &Option<(CapabilityKind, String)>| {
        own.iter().find(|pin| pin.capability == *capability).copied()
    };
    let mut rows = Vec::new();
    let mut seen = BTreeSet::new();
    for offer in offered.map(|it| it.checked.pinnable()).unwrap_or_default() {
        let capability = offer.capability.map(|(kind, name)| (kind, name.to_owned()));
        if seen.insert(capability.clone()) {
            let (pin, now) = (pin(&capability), Bytes::copy_from_slice(offer.definition));
            rows.push(compare(status, capability, pin, Some((offer.digest, now))));
        }
    }
    // If the catalog is unknown, no definition counts as gone.
    for pin in own.iter().filter(|pin| !seen.contains(&pin.capability)) {
        let mut row = compare(status, pin.capability.clone(), Some(pin), None);
        if offered.is_none() {
            row.status = PinEntryStatus::Pinned;
        }
        rows.push(row);
    }
    rows
}

/// Returns the entry for a pin, an offered definition, or both.
fn compare(
    status: &ServerStatus,
    capability: Option<(CapabilityKind, String)>,
    pin: Option<&Pin>,
    offer: Option<(Digest, Bytes)>,
) -> PinEntry {
    let (word, changes) = match (pin, &offer) {
        (Some(pin), Some((digest, _))) if pin.digest == *digest => {
            (PinEntryStatus::Pinned, Vec::new())
        }
        (Some(pin), Some((_, now))) => {
            (PinEntryStatus::Changed, changes(capability.as_ref(), pin, now))
        }
        (None, _) => (PinEntryStatus::New, Vec::new()),
        (Some(_), None) => (PinEntryStatus::Gone, Vec::new()),
    };
    let (digest, definition) = offer.unzip();
    PinEntry {
        server: status.spec.name.clone(),
        capability,
        status: word,
        digest,
        pinned: pin.map(|pin| pin.digest),
        by: pin.map(|pin| pin.by.clone()),
        pinned_at: pin.map(|pin| pin.pinned_at),
        changes,
        definition: definition.unwrap_or_default(),
        identity: status.spec.digest(),
    }
}

fn changes(
    capability: Option<&(CapabilityKind, String)>,
    pin: &Pin,
    now: &[u8],
) -> Vec<DefinitionDifference> {
    let Some((kind, _)) = capability else {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        return compare_instructions(&text(&pin.definition), &text(now)).into_iter().collect();
    };
    compare_definitions(*kind, &pin.definition, now)
}

fn locked(offered: &OfferedCatalog) -> LockedServer {
    let mut locked = LockedServer::of(&offered.fleet_server.spec);
    locked.instructions = *offered.checked.instructions_digest();
    for offer in offered.checked.pinnable() {
        if let Some((kind, name)) = offer.capability {
            locked.add(kind, name, offer.digest);
        }
    }
    if let Some(package) = &mut locked.package {
        integrity::find(package);
    }
    locked
}

fn unknown(status: &ServerStatus) -> String {
    let reason = status.state.reason().map(|reason| format!(": {reason}")).unwrap_or_default();
    let (name, state) = (&status.spec.name, status.state.as_str());
    format!("the catalog of `{name}` is not known; the server is {state}{reason}")
}
