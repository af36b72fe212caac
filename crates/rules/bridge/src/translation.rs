//! The context of a response translation: the request it answers, and the two revisions.

use toolgate_wire::{Era, Revision, method};

/// The translation of the response to one request, from the server's revision to the caller's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResponseTranslation<'a> {
    /// The method of the request.
    pub method: &'a str,
    /// The server's revision.
    pub from: Revision,
    /// The caller's revision.
    pub to: Revision,
}

impl ResponseTranslation<'_> {
    pub(crate) fn eras(&self) -> (Era, Era) {
        (self.from.era(), self.to.era())
    }

    /// Returns true if a modern result of this method carries cache control (`ttlMs`,
    /// `cacheScope`): those that the specification names, and those of extensions that follow it.
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
