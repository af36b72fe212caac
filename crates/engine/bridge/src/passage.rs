//! The way an answer takes: which request it answers, and between which revisions.

use toolgate_wire::{Era, Revision, method};

/// From a server's revision to a caller's, for the answer to one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passage<'a> {
    /// What the request asked for.
    pub method: &'a str,
    /// What the server speaks.
    pub from: Revision,
    /// What the caller speaks.
    pub to: Revision,
}

impl Passage<'_> {
    /// Whether both sides speak the same, so that a result passes as it came.
    pub fn is_straight(&self) -> bool {
        self.from == self.to
    }

    pub(crate) fn eras(&self) -> (Era, Era) {
        (self.from.era(), self.to.era())
    }

    /// Whether a modern result of this method says how long it may be kept, and by whom: those the
    /// specification names, and those of extensions, which follow them.
    pub(crate) fn is_cacheable(&self) -> bool {
        match self.method {
            method::SERVER_DISCOVER
            | method::RESOURCES_READ
            | "resources/directory/read"
            | "skills/get" => true,
            method::TASKS_LIST => false,
            other => other.ends_with("/list"),
        }
    }
}
