//! Pins for whoever runs the host: what is approved, what changed since, and the lock file.
//!
//! How a definition stands is judged by `rules/pins` and obeyed by the gate. Here it is only shown,
//! and people's decisions are written down. An approval is of what was shown: if that is not what is
//! offered any more, nothing is approved.

mod integrity;

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures_util::future::join_all;
use toolgate_fleet::{Fleet, FleetError, Offered, ServerStatus};
use toolgate_model::{
    CapabilityId, CapabilityKind, Digest, Scope, ServerName, ServerState, TransportSpec,
};
use toolgate_pins::{LockedServer, Standing, Subject, drift, instructions_drift, is_pinned_kind};
use toolgate_store::{Decisions, Pin};
use toolgate_wire::string;

pub use toolgate_pins::{Change, Lock, LockError, Package, Violation};

use crate::{Host, HostError};

/// How a definition is to what was approved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PinWord {
    /// It is what was approved.
    Pinned,
    /// It is something else.
    Changed,
    /// Nobody approved anything.
    New,
    /// It was approved and is not offered any more.
    Gone,
}

impl PinWord {
    /// The stable word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pinned => "pinned",
            Self::Changed => "changed",
            Self::New => "new",
            Self::Gone => "gone",
        }
    }
}

/// One definition, or the instructions of a server, beside what was approved of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PinRow {
    /// Whose it is.
    pub server: ServerName,
    /// What it is; none for the server's instructions.
    pub capability: Option<(CapabilityKind, String)>,
    /// How the two are to each other.
    pub word: PinWord,
    /// What is offered now.
    pub digest: Option<Digest>,
    /// What was approved.
    pub pinned: Option<Digest>,
    /// By whom.
    pub by: Option<String>,
    /// When.
    pub pinned_at: Option<SystemTime>,
    /// In what the two differ.
    pub changes: Vec<Change>,
    /// What is offered now, itself.
    definition: Bytes,
    identity: Digest,
}

/// Which pins are meant: those of one server, or of one name there.
#[derive(Debug, Clone, Default)]
pub struct Chosen<'a> {
    /// The server; none: all.
    pub server: Option<&'a str>,
    /// The name of a capability there.
    pub name: Option<&'a str>,
}

impl Chosen<'_> {
    fn has(&self, row: &PinRow) -> bool {
        let named = |name: &str| row.capability.as_ref().is_some_and(|(_, own)| own == name);
        self.server.is_none_or(|server| row.server.as_str() == server)
            && self.name.is_none_or(named)
    }
}

/// What stands for some rows as they were shown.
pub fn shown(rows: &[PinRow]) -> Digest {
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
    /// What is offered and what was approved, side by side; nothing is started for it.
    pub async fn pins(
        &self,
        decisions: &dyn Decisions,
        chosen: &Chosen<'_>,
    ) -> Result<Vec<PinRow>, HostError> {
        let pins = decisions.pins().await?;
        let offers = self.fleet().catalogs(None);
        let mut rows = Vec::new();
        for status in self.servers().servers.iter().filter(|status| !is_ours(status)) {
            let offered = offers.iter().find(|it| it.member.spec.name == status.spec.name);
            rows.extend(of_server(status, offered, &pins));
        }
        if let Some(server) = chosen.server
            && !self.servers().servers.iter().any(|it| it.spec.name.as_str() == server)
        {
            return Err(HostError::NoServer(server.to_owned()));
        }
        rows.retain(|row| chosen.has(row));
        Ok(rows)
    }

    /// Reads the lists of a server again, or of all, where they are connected: what is shown next
    /// is what they offer now. Says which could not be read.
    pub async fn relist(&self, server: Option<&str>) -> Vec<String> {
        let connected = |status: &ServerStatus| {
            status.state == ServerState::Connected
                && server.is_none_or(|name| status.spec.name.as_str() == name)
        };
        let servers = self.servers().servers;
        let all = servers.iter().filter(|status| connected(status));
        let read = join_all(all.map(|status| renewed(self.fleet(), &status.spec.name))).await;
        read.into_iter().filter_map(Result::err).collect()
    }

    /// Approves what was shown, as it was shown; gives how many definitions that were.
    pub async fn approve_pins(
        &self,
        decisions: &dyn Decisions,
        chosen: &Chosen<'_>,
        seen: Digest,
        by: &str,
    ) -> Result<usize, HostError> {
        let rows = self.pins(decisions, chosen).await?;
        if shown(&rows) != seen {
            return Err(HostError::Pins(
                "approve these definitions: they changed again since they were shown".into(),
            ));
        }
        let offered = rows.into_iter().filter_map(|row| {
            let digest = row.digest.filter(|_| row.word != PinWord::Pinned)?;
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
            self.note_pin("definition-approved", pin, by);
        }
        Ok(pins.len())
    }

    /// Forgets what was approved; gives how many pins that were. In the personal posture what is
    /// offered next is taken for the first of its kind.
    pub async fn forget_pins(
        &self,
        decisions: &dyn Decisions,
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

    /// Puts on record who approved which definition.
    fn note_pin(&self, kind: &str, pin: &Pin, by: &str) {
        let about = pin.capability.as_ref().map(|(kind, name)| CapabilityId {
            server: pin.server.clone(),
            kind: *kind,
            name: name.as_str().into(),
        });
        let (server, by) = (string::encode(pin.server.as_str()), string::encode(by));
        let detail = format!(r#"{{"server":{server},"digest":"{}","by":{by}}}"#, pin.digest);
        self.gate().note(kind, about.as_ref(), &detail);
    }

    /// Everything that is declared and offered now, as a lock file has it, and what stands in the
    /// way of locking it.
    pub fn lock(&self) -> (Lock, Vec<String>) {
        let offers = self.fleet().catalogs(None);
        let mut lock = Lock::default();
        let mut problems = Vec::new();
        for status in self.servers().servers.iter().filter(|status| !is_ours(status)) {
            let name = &status.spec.name;
            let offered = offers.iter().find(|it| it.member.spec.name == *name);
            match offered.filter(|it| !it.borrowed) {
                Some(offered) => _ = lock.servers.insert(name.to_string(), locked(offered)),
                None if status.state == ServerState::Disabled => {}
                None => problems.push(unknown(status)),
            }
        }
        for state in self.pin_states() {
            let held = matches!(state.standing, Standing::Unapproved | Standing::Changed { .. });
            let digest = Digest::of(b""); // a refusal names nothing but what it is about
            let capability = state.id.as_ref().map(|id| (id.kind, &*id.name));
            let subject =
                Subject { server: &state.server, identity: &digest, capability, digest: &digest };
            problems.extend(state.standing.refusal(&subject).filter(|_| held));
        }
        (lock, problems)
    }
}

/// Whether a server is this program's own: it changes with it and with nothing else.
fn is_ours(status: &ServerStatus) -> bool {
    status.spec.transport == TransportSpec::BuiltIn && status.origin.scope == Scope::BuiltIn
}

async fn renewed(fleet: &Fleet, server: &ServerName) -> Result<(), String> {
    let failed = |error: FleetError| {
        format!(
            "the lists of `{server}` cannot be read again, the last ones count: failed to {error}"
        )
    };
    let pool = fleet.pool(server, &fleet.everybody()).map_err(failed)?;
    for kind in CapabilityKind::ALL.into_iter().filter(|kind| is_pinned_kind(*kind)) {
        pool.renewed(kind, Duration::ZERO).await.map_err(failed)?;
    }
    Ok(())
}

/// Everything of a server that is pinned one by one: its instructions, then by kind in its order.
fn of_server(status: &ServerStatus, offered: Option<&Offered>, pins: &[Pin]) -> Vec<PinRow> {
    let (server, identity) = (&status.spec.name, status.spec.digest());
    let own: Vec<&Pin> =
        pins.iter().filter(|pin| pin.server == *server && pin.identity == identity).collect();
    let pin = |capability: &Option<(CapabilityKind, String)>| {
        own.iter().find(|pin| pin.capability == *capability).copied()
    };
    let mut rows = Vec::new();
    let mut seen = BTreeSet::new();
    for (capability, digest, definition) in offered.map(offers).unwrap_or_default() {
        if seen.insert(capability.clone()) {
            let row = Row { server, identity, capability };
            let pin = pin(&row.capability);
            rows.push(row.beside(pin, Some((digest, definition))));
        }
    }
    // Of a server of which nothing is known now, nothing is gone.
    for pin in own.iter().filter(|pin| !seen.contains(&pin.capability)) {
        let row = Row { server, identity, capability: pin.capability.clone() };
        let mut row = row.beside(Some(pin), None);
        if offered.is_none() {
            row.word = PinWord::Pinned;
        }
        rows.push(row);
    }
    rows
}

type Offer = (Option<(CapabilityKind, String)>, Digest, Bytes);

fn offers(offered: &Offered) -> Vec<Offer> {
    let known = &offered.known;
    let instructions = known.catalog.instructions.clone().unwrap_or_default();
    let mut all = vec![(None, *known.instructions_digest(), Bytes::from(instructions))];
    for kind in CapabilityKind::ALL.into_iter().filter(|kind| is_pinned_kind(*kind)) {
        let usable = known.of_kind(kind).filter(|(_, fact)| fact.unusable.is_none());
        all.extend(usable.map(|(definition, fact)| {
            (Some((kind, definition.name.to_string())), *fact.digest(), fact.raw.clone())
        }));
    }
    all
}

/// What a row is about.
struct Row<'a> {
    server: &'a ServerName,
    identity: Digest,
    capability: Option<(CapabilityKind, String)>,
}

impl Row<'_> {
    fn beside(self, pin: Option<&Pin>, offer: Option<(Digest, Bytes)>) -> PinRow {
        let word = match (pin, &offer) {
            (Some(pin), Some((digest, _))) if pin.digest == *digest => PinWord::Pinned,
            (Some(_), Some(_)) => PinWord::Changed,
            (None, _) => PinWord::New,
            (_, None) => PinWord::Gone,
        };
        let changes = match (pin, &offer) {
            (Some(pin), Some((_, now))) if word == PinWord::Changed => self.changes(pin, now),
            _ => Vec::new(),
        };
        let (digest, definition) = offer.unzip();
        PinRow {
            server: self.server.clone(),
            capability: self.capability,
            word,
            digest,
            pinned: pin.map(|pin| pin.digest),
            by: pin.map(|pin| pin.by.clone()),
            pinned_at: pin.map(|pin| pin.pinned_at),
            changes,
            definition: definition.unwrap_or_default(),
            identity: self.identity,
        }
    }

    fn changes(&self, pin: &Pin, now: &[u8]) -> Vec<Change> {
        let Some((kind, _)) = &self.capability else {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            return instructions_drift(&text(&pin.definition), &text(now)).into_iter().collect();
        };
        drift(*kind, &pin.definition, now)
    }
}

fn locked(offered: &Offered) -> LockedServer {
    let mut locked = LockedServer::of(&offered.member.spec);
    locked.instructions = *offered.known.instructions_digest();
    for (capability, digest, _) in offers(offered) {
        if let Some((kind, name)) = capability {
            locked.add(kind, &name, digest);
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
    format!("what `{name}` offers is not known; it is {state}{reason}")
}
