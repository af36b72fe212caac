//! Whether a definition may be used: what was pinned, what the lock file says, and the posture.
//!
//! All judging of definitions is here; whoever asks has only to obey. What is written down as a
//! consequence (a first sight is pinned, grants of a changed one are taken back) is his part.

use std::collections::HashMap;

use toolgate_model::{CapabilityKind, Digest, Posture, ServerName};

use crate::lock::Lock;

/// What may be pinned at first sight of one server: more than it can offer at once, so that only one
/// that goes on renaming what it offers comes here.
const MOST_OF_SERVER: Weight = Weight { count: 4096, bytes: 16 << 20 };
/// The same of all servers together.
const MOST_IN_ALL: Weight = Weight { count: 65_536, bytes: 128 << 20 };
/// So much every server may have, whatever the others have.
const RESERVED: Weight = Weight { count: 256, bytes: 1 << 20 };

/// Everything that is pinned, by server and by what is started or reached under its name.
#[derive(Debug, Clone, Default)]
pub struct Pins {
    servers: HashMap<(ServerName, Digest), ServerPins>,
    weight: Weight,
}

/// What is pinned of one server.
#[derive(Debug, Clone, Default)]
struct ServerPins {
    instructions: Option<Digest>,
    definitions: [HashMap<Box<str>, (Digest, u64)>; CapabilityKind::COUNT],
    weight: Weight,
}

/// How many definitions there are, and how many bytes they have.
#[derive(Debug, Clone, Copy, Default)]
struct Weight {
    count: u64,
    bytes: u64,
}

impl Weight {
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

/// A definition, or the instructions of a server, that is to be judged.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// Whose it is.
    pub server: &'a ServerName,
    /// What is started or reached under that name.
    pub identity: &'a Digest,
    /// What it is; none: the server's instructions.
    pub capability: Option<(CapabilityKind, &'a str)>,
    /// The digest of it, as it is now.
    pub digest: &'a Digest,
}

/// How a definition stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It is as it was approved.
    Pinned,
    /// Nobody has seen it before: it may be used, and is to be pinned as it is.
    New,
    /// The same, but its server has shown so many others before that no more are pinned unasked.
    TooMany,
    /// Nobody has approved it, and somebody has to.
    Unapproved,
    /// It is not what was approved.
    Changed {
        /// The digest of what was.
        was: Digest,
    },
    /// The lock file does not have it.
    NotLocked,
    /// The lock file has it otherwise.
    NotAsLocked,
}

impl Pins {
    /// Adds a pin of a definition of so many bytes; one of the same thing is replaced.
    pub fn insert(
        &mut self,
        server: &ServerName,
        identity: Digest,
        capability: Option<(CapabilityKind, &str)>,
        digest: Digest,
        bytes: u64,
    ) {
        self.remove(server, identity, capability);
        let pins = self.servers.entry((server.clone(), identity)).or_default();
        match capability {
            Some((kind, name)) => {
                pins.definitions[kind as usize].insert(name.into(), (digest, bytes));
                pins.weight.add(bytes);
                self.weight.add(bytes);
            }
            None => pins.instructions = Some(digest),
        }
    }

    /// Takes a pin out.
    pub fn remove(
        &mut self,
        server: &ServerName,
        identity: Digest,
        capability: Option<(CapabilityKind, &str)>,
    ) {
        let Some(pins) = self.servers.get_mut(&(server.clone(), identity)) else { return };
        match capability {
            Some((kind, name)) => {
                if let Some((_, bytes)) = pins.definitions[kind as usize].remove(name) {
                    pins.weight.subtract(bytes);
                    self.weight.subtract(bytes);
                }
            }
            None => pins.instructions = None,
        }
    }

    /// Whether anything is pinned of this server as it is declared now.
    pub fn knows(&self, server: &ServerName, identity: Digest) -> bool {
        self.servers.contains_key(&(server.clone(), identity))
    }

    /// The digest that is pinned.
    pub fn get(&self, subject: &Subject<'_>) -> Option<&Digest> {
        // A key is made of both; a look-up by reference would need a map of maps.
        let pins = self.servers.get(&(subject.server.clone(), *subject.identity))?;
        match subject.capability {
            Some((kind, name)) => pins.definitions[kind as usize].get(name).map(|(it, _)| it),
            None => pins.instructions.as_ref(),
        }
    }

    /// Whether one more may be pinned of a server without asking anybody.
    fn has_room(&self, subject: &Subject<'_>) -> bool {
        let pins = self.servers.get(&(subject.server.clone(), *subject.identity));
        let own = pins.map(|pins| pins.weight).unwrap_or_default();
        own.is_below(RESERVED) || own.is_below(MOST_OF_SERVER) && self.weight.is_below(MOST_IN_ALL)
    }

    fn approved(&self, subject: &Subject<'_>) -> bool {
        self.servers
            .get(&(subject.server.clone(), *subject.identity))
            .is_some_and(|pins| pins.instructions.is_some())
    }
}

/// Whether the definitions of a kind are pinned one by one. A list of resources is a server's data,
/// not its interface: it changes with every file, so that resources stand and fall with their
/// server.
pub fn is_pinned_kind(kind: CapabilityKind) -> bool {
    !matches!(kind, CapabilityKind::Resource | CapabilityKind::Method)
}

/// How a definition stands. A lock file only ever tightens: what it has must be pinned too.
pub fn standing(
    pins: &Pins,
    lock: Option<&Lock>,
    posture: Posture,
    subject: &Subject<'_>,
) -> Standing {
    let each = subject.capability.is_none_or(|(kind, _)| is_pinned_kind(kind));
    if let Some(refused) = lock.and_then(|lock| locked_out(lock, subject, each)) {
        return refused;
    }
    let unseen = match posture {
        Posture::Personal => Standing::New,
        Posture::Governed => Standing::Unapproved,
    };
    if !each {
        return match posture == Posture::Personal || pins.approved(subject) {
            true => Standing::Pinned,
            false => unseen,
        };
    }
    match pins.get(subject) {
        Some(was) if was == subject.digest => Standing::Pinned,
        Some(was) => Standing::Changed { was: *was },
        None if unseen == Standing::New && !pins.has_room(subject) => Standing::TooMany,
        None => unseen,
    }
}

fn locked_out(lock: &Lock, subject: &Subject<'_>, each: bool) -> Option<Standing> {
    let Some(server) = lock.servers.get(subject.server.as_str()) else {
        return Some(Standing::NotLocked);
    };
    if !each {
        return None;
    }
    let locked = match subject.capability {
        Some((kind, name)) => server.definition(kind, name),
        None => Some(&server.instructions),
    };
    match locked {
        None => Some(Standing::NotLocked),
        Some(locked) if locked == subject.digest => None,
        Some(_) => Some(Standing::NotAsLocked),
    }
}

impl Standing {
    /// Whether it may be listed and called.
    pub fn is_usable(&self) -> bool {
        matches!(self, Self::Pinned | Self::New)
    }

    /// The stable word for it.
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

    /// Why it cannot be used, if it cannot, for whoever calls: that may be a model, so no command is
    /// named that approves it.
    pub fn refusal(&self, subject: &Subject<'_>) -> Option<String> {
        let server = subject.server;
        let what = match subject.capability {
            Some((kind, name)) => format!("the {kind} {name:?} of `{server}`"),
            None => format!("what `{server}` wants models to know"),
        };
        Some(match self {
            Self::Pinned | Self::New => return None,
            Self::TooMany => format!(
                "{what} is not used: under this name `{server}` has shown more definitions than are \
                 kept of a server"
            ),
            Self::Unapproved => {
                format!("{what} was not approved yet; the operator can approve its definition")
            }
            Self::Changed { .. } => format!(
                "the definition of {what} changed since it was approved; the operator can see how \
                 and approve it as it is now"
            ),
            Self::NotLocked => {
                format!("{what} is not in the lock file, and this gateway is frozen")
            }
            Self::NotAsLocked => {
                format!("{what} is not as the lock file has it, and this gateway is frozen")
            }
        })
    }
}

#[cfg(test)]
mod tests;
