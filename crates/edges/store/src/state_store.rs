//! The trait for state that survives a restart, and its value types.

use std::collections::HashSet;
use std::future::Future;
use std::pin::Pin;
use std::time::SystemTime;

use toolgate_model::{Catalog, Digest, ServerName};
use toolgate_wire::Era;

use crate::StoreError;

/// The future of a store operation.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// A store of state that survives a restart. A completed write is on disk.
pub trait StateStore: Send + Sync {
    /// Stores the user's consent to `digest` under the name `server`, with the text that the user
    /// saw. A second consent to the same replaces the first.
    fn give_consent<'a>(
        &'a self,
        server: &'a ServerName,
        digest: &'a Digest,
        shown: &'a str,
    ) -> StoreFuture<'a, ()>;

    /// Deletes every consent for `server`. Returns true if there was one.
    fn revoke_consents<'a>(&'a self, server: &'a ServerName) -> StoreFuture<'a, bool>;

    /// Returns every consent, by server and then newest first.
    fn consents(&self) -> StoreFuture<'_, Vec<Consent>>;

    /// Stores that the tools of `server` run without asking the user, as long as the server's
    /// identity is `digest`.
    fn save_trust<'a>(&'a self, server: &'a ServerName, digest: &'a Digest) -> StoreFuture<'a, ()>;

    /// Deletes every trust in `server`. Returns true if there was one.
    fn revoke_trust<'a>(&'a self, server: &'a ServerName) -> StoreFuture<'a, bool>;

    /// Returns every trust, by server and then newest first.
    fn trusts(&self) -> StoreFuture<'_, Vec<ServerTrust>>;

    /// Stores the catalog of a server that is declared as `spec`.
    fn save_catalog<'a>(
        &'a self,
        server: &'a ServerName,
        spec: &'a Digest,
        catalog: &'a Catalog,
    ) -> StoreFuture<'a, ()>;

    /// Returns the last known catalog of a server that is declared as `spec`.
    fn catalog<'a>(
        &'a self,
        server: &'a ServerName,
        spec: &'a Digest,
    ) -> StoreFuture<'a, Option<SavedCatalog>>;

    /// Deletes every catalog of `server`. Returns true if there was one.
    fn forget_catalogs<'a>(&'a self, server: &'a ServerName) -> StoreFuture<'a, bool>;

    /// Stores the detected era of a server that is declared as `spec`. `None` deletes it.
    fn save_era<'a>(&'a self, spec: &'a Digest, era: Option<Era>) -> StoreFuture<'a, ()>;

    /// Returns the last detected era. The caller decides how long it is valid.
    fn era<'a>(&'a self, spec: &'a Digest) -> StoreFuture<'a, Option<DetectedEra>>;

    /// Counts an attempt to start a server that is declared as `spec`. Returns the number of
    /// earlier attempts.
    fn count_attempt<'a>(&'a self, spec: &'a Digest) -> StoreFuture<'a, u32>;
}

/// The user's consent to start one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consent {
    /// The server's name.
    pub server: ServerName,
    /// The digest that it is bound to, as text.
    pub digest: String,
    /// When it was given.
    pub given_at: SystemTime,
    /// The text that the user saw.
    pub shown: String,
}

/// The user's trust in one server, whose tools run without asking.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ServerTrust {
    /// The server's name.
    pub server: ServerName,
    /// The digest that it is bound to, as text.
    pub digest: String,
}

impl ServerTrust {
    /// Returns true if the trust is for this name and this identity.
    pub fn is_for(&self, server: &ServerName, digest: &Digest) -> bool {
        self.server == *server && self.digest == digest.to_string()
    }
}

/// A stored catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedCatalog {
    /// The catalog.
    pub catalog: Catalog,
    /// When it was stored.
    pub saved_at: SystemTime,
}

/// A stored era.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DetectedEra {
    /// The era.
    pub era: Era,
    /// When it was detected.
    pub found_at: SystemTime,
}

/// A snapshot of all consents, for checks that do not wait for the database.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConsentSet(HashSet<(ServerName, String)>);

impl ConsentSet {
    /// Returns true if the user consented to `digest` under the name `server`.
    pub fn contains(&self, server: &ServerName, digest: &Digest) -> bool {
        self.0.contains(&(server.clone(), digest.to_string()))
    }
}

impl FromIterator<Consent> for ConsentSet {
    fn from_iter<I: IntoIterator<Item = Consent>>(consents: I) -> Self {
        Self(consents.into_iter().map(|consent| (consent.server, consent.digest)).collect())
    }
}
