//! Decides whether a definition may be used, from the pins, the lock file and the posture.
//!
//! Callers apply the consequences: they pin new definitions and revoke the grants of changed ones.

use std::collections::HashMap;

use toolgate_model::{CapabilityKind, Digest, Posture, ServerName};

use crate::lock::LockFile;

/// The limit of automatic pins per server. It exceeds what a server can offer at once, so only a
/// server that keeps renaming its capabilities reaches it.
const MOST_OF_SERVER: PinTotals = PinTotals { count: 4096, bytes: 16 << 20 };
/// The limit of automatic pins of all servers together.
const MOST_IN_ALL: PinTotals = PinTotals { count: 65_536, bytes: 128 << 20 };
/// The automatic pins that every server may have, even if the total limit is reached.
const RESERVED: PinTotals = PinTotals { count: 256, bytes: 1 << 20 };

/// All pins, by server name and identity.
#[derive(Debug, Clone, Default)]
pub struct Pins {
    servers: HashMap<(ServerName, Digest), ServerPins>,
    usage: PinTotals,
}

/// The pins of one server.
#[derive(Debug, Clone, Default)]
struct ServerPins {
    instructions: Option<Digest>,
    definitions: [HashMap<Box<str>, (Digest, u64)>; CapabilityKind::COUNT],
    usage: PinTotals,
}

/// A number of pinned definitions and their size in bytes.
#[derive(Debug, Clone, Copy, Default)]
struct PinTotals {
    count: u64,
    bytes: u64,
}

impl PinTotals {
    fn add(&mut self, bytes: u64) {
        (self.count, self.bytes) = (self.count + 1, self.bytes + bytes);
    }

    fn subtract(&mut self, bytes: u64) {
        self.count = self.count.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(bytes);
    }

    fn is_below(&self, most: Self) -> bool {
        self.count < most.count && self.bytes < most.bytes
    }
}

/// A definition, or the instructions of a server, whose pin status is asked for.
#[derive(Debug, Clone, Copy)]
pub struct PinSubject<'a> {
    /// The server that offers it.
    pub server: &'a ServerName,
    /// The digest of the server's process or endpoint.
    pub identity: &'a Digest,
    /// The kind and name of the capability, or none for the server's instructions.
    pub capability: Option<(CapabilityKind, &'a str)>,
    /// The current digest.
    pub digest: &'a Digest,
}

/// Whether a definition matches its pin and the lock file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PinStatus {
    /// It equals the approved definition.
    Pinned,
    /// It has no pin yet. It may be used, and the caller must pin it.
    New,
    /// It has no pin yet, and the server has reached the limit of automatic pins.
    TooMany,
    /// It has no pin yet, and the posture requires an approval.
    Unapproved,
    /// It differs from the approved definition.
    Changed {
        /// The digest of the approved definition.
        was: Digest,
    },
    /// The lock file does not contain it.
    NotLocked,
    /// The lock file contains another digest for it.
    NotAsLocked,
}

impl Pins {
    /// Adds a pin, replacing an existing one. `bytes` is the size of the definition.
    pub fn insert(
        &mut self,
        server: &ServerName,
        identity: Digest,
        capability: Option<(CapabilityKind, &str)>,
        digest: Digest,
        bytes: u64,
    ) {
        let pins = self.servers.entry((server.clone(), identity)).or_default();
        let Some((kind, name)) = capability else {
            pins.instructions = Some(digest);
            return;
        };
        let replaced = pins.definitions[kind as usize].insert(name.into(), (digest, bytes));
        for usage in [&mut pins.usage, &mut self.usage] {
            if let Some((_, bytes)) = replaced {
                usage.subtract(bytes);
            }
            usage.add(bytes);
        }
    }

    /// Returns true if the server with this identity has any pin.
    pub fn has_server(&self, server: &ServerName, identity: Digest) -> bool {
        self.servers.contains_key(&(server.clone(), identity))
    }

    /// Returns the pins of the server of a subject.
    fn of_server(&self, subject: &PinSubject<'_>) -> Option<&ServerPins> {
        // The key owns both parts; a lookup by reference would need a map of maps.
        self.servers.get(&(subject.server.clone(), *subject.identity))
    }

    /// Returns the pinned digest.
    pub fn get(&self, subject: &PinSubject<'_>) -> Option<&Digest> {
        let pins = self.of_server(subject)?;
        match subject.capability {
            Some((kind, name)) => pins.definitions[kind as usize].get(name).map(|(it, _)| it),
            None => pins.instructions.as_ref(),
        }
    }

    /// Returns true if one more definition of the server may be pinned without an approval.
    fn has_room(&self, subject: &PinSubject<'_>) -> bool {
        let own = self.of_server(subject).map(|pins| pins.usage).unwrap_or_default();
        own.is_below(RESERVED) || own.is_below(MOST_OF_SERVER) && self.usage.is_below(MOST_IN_ALL)
    }

    fn is_server_approved(&self, subject: &PinSubject<'_>) -> bool {
        self.of_server(subject).is_some_and(|pins| pins.instructions.is_some())
    }
}

/// Returns true if definitions of this kind are pinned one by one. Resources are not: they are the
/// server's data rather than its interface and change with every file, so they share the status of
/// their server.
pub fn is_pinned_kind(kind: CapabilityKind) -> bool {
    !matches!(kind, CapabilityKind::Resource | CapabilityKind::Method)
}

/// Returns the pin status of a definition. A lock file only tightens: what it contains must be
/// pinned as well.
pub fn evaluate_pin(
    pins: &Pins,
    lock: Option<&LockFile>,
    posture: Posture,
    subject: &PinSubject<'_>,
) -> PinStatus {
    let each = subject.capability.is_none_or(|(kind, _)| is_pinned_kind(kind));
    if let Some(refused) = lock.and_then(|lock| check_lock_file(lock, subject, each)) {
        return refused;
    }
    let unseen = match posture {
        Posture::Personal => PinStatus::New,
        Posture::Governed => PinStatus::Unapproved,
    };
    if !each {
        return match posture == Posture::Personal || pins.is_server_approved(subject) {
            true => PinStatus::Pinned,
            false => unseen,
        };
    }
    match pins.get(subject) {
        Some(was) if was == subject.digest => PinStatus::Pinned,
        Some(was) => PinStatus::Changed { was: *was },
        None if unseen == PinStatus::New && !pins.has_room(subject) => PinStatus::TooMany,
        None => unseen,
    }
}

fn check_lock_file(lock: &LockFile, subject: &PinSubject<'_>, each: bool) -> Option<PinStatus> {
    let Some(server) = lock.servers.get(subject.server.as_str()) else {
        return Some(PinStatus::NotLocked);
    };
    if !each {
        return None;
    }
    let locked = match subject.capability {
        Some((kind, name)) => server.definition(kind, name),
        None => Some(&server.instructions),
    };
    match locked {
        None => Some(PinStatus::NotLocked),
        Some(locked) if locked == subject.digest => None,
        Some(_) => Some(PinStatus::NotAsLocked),
    }
}

impl PinStatus {
    /// Returns true if the definition may be listed and called.
    pub fn is_usable(&self) -> bool {
        matches!(self, Self::Pinned | Self::New)
    }

    /// Returns the stable name of the status.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Pinned => "pinned",
            Self::New => "new",
            Self::TooMany => "too-many",
            Self::Unapproved => "unapproved",
            Self::Changed { .. } => "changed",
            Self::NotLocked => "not-locked",
            Self::NotAsLocked => "not-as-locked",
        }
    }

    /// Returns why the definition cannot be used, if it cannot. The caller may be a model, so the
    /// message names no command that approves the definition.
    pub fn refusal(&self, subject: &PinSubject<'_>) -> Option<String> {
        let server = subject.server;
        let what = match subject.capability {
            Some((kind, name)) => format!("the {kind} {name:?} of `{server}`"),
            None => format!("the instruction text of `{server}`"),
        };
        Some(match self {
            Self::Pinned | Self::New => return None,
            Self::TooMany => format!(
                "{what} cannot be used: `{server}` has offered more definitions than are pinned \
                 automatically"
            ),
            Self::Unapproved => {
                format!("{what} was not approved yet; only the operator can approve it")
            }
            Self::Changed { .. } => format!(
                "{what} changed since it was approved; only the operator can review and approve \
                 the change"
            ),
            Self::NotLocked => {
                format!("{what} is not in the lock file, and this gateway is frozen")
            }
            Self::NotAsLocked => {
                format!("{what} differs from the lock file, and this gateway is frozen")
            }
        })
    }
}

#[cfg(test)]
mod tests;
