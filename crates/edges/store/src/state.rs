//! The trait every engine offers, and the values that go through it.

use std::collections::HashSet;
use std::future::Future;
use std::pin::Pin;
use std::time::SystemTime;

use toolgate_model::{Catalog, Digest, ServerName};
use toolgate_wire::Era;

use crate::StoreError;

/// An answer that is being worked on.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// What survives a restart. What a finished write acknowledged is on disk.
pub trait State: Send + Sync {
    /// Remembers that the user agreed to `digest` under the name `server`, having been shown
    /// `shown`. Agreeing twice is agreeing once, at the later time.
    fn grant<'a>(
        &'a self,
        server: &'a ServerName,
        digest: &'a Digest,
        shown: &'a str,
    ) -> Answer<'a, ()>;

    /// Forgets every consent given for `server`; says whether there was one.
    fn revoke<'a>(&'a self, server: &'a ServerName) -> Answer<'a, bool>;

    /// Every consent, by server and then newest first.
    fn consents(&self) -> Answer<'_, Vec<Consent>>;

    /// Remembers that the user does not want to be asked about the tools of `server`, as long as it
    /// is what `digest` says.
    fn trust<'a>(&'a self, server: &'a ServerName, digest: &'a Digest) -> Answer<'a, ()>;

    /// Forgets every trust in `server`; says whether there was one.
    fn distrust<'a>(&'a self, server: &'a ServerName) -> Answer<'a, bool>;

    /// Every trust, by server and then newest first.
    fn trusts(&self) -> Answer<'_, Vec<Trust>>;

    /// Keeps what a server declared as `spec` said about itself.
    fn save_catalog<'a>(
        &'a self,
        server: &'a ServerName,
        spec: &'a Digest,
        catalog: &'a Catalog,
    ) -> Answer<'a, ()>;

    /// The last known catalog of a server declared as `spec`.
    fn catalog<'a>(
        &'a self,
        server: &'a ServerName,
        spec: &'a Digest,
    ) -> Answer<'a, Option<SavedCatalog>>;

    /// Forgets every catalog of `server`; says whether there was one.
    fn forget_catalogs<'a>(&'a self, server: &'a ServerName) -> Answer<'a, bool>;

    /// Keeps the era a server declared as `spec` was found to be of, as of now; `None` forgets it.
    fn save_era<'a>(&'a self, spec: &'a Digest, era: Option<Era>) -> Answer<'a, ()>;

    /// The era last found. How long it is to be believed is the caller's to say.
    fn era<'a>(&'a self, spec: &'a Digest) -> Answer<'a, Option<FoundEra>>;

    /// Counts an attempt to start a server declared as `spec`; says how many there were before.
    fn note_attempt<'a>(&'a self, spec: &'a Digest) -> Answer<'a, u32>;
}

/// One consent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consent {
    /// The name it was given for.
    pub server: ServerName,
    /// What it is bound to, as a digest is shown.
    pub digest: String,
    /// When it was given.
    pub given_at: SystemTime,
    /// What the user was shown.
    pub shown: String,
}

/// One server whose tools the user does not want to be asked about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Trust {
    /// The name it was given for.
    pub server: ServerName,
    /// What it is bound to, as a digest is shown.
    pub digest: String,
}

impl Trust {
    /// Whether it is about this name and this identity.
    pub fn is_for(&self, server: &ServerName, digest: &Digest) -> bool {
        self.server == *server && self.digest == digest.to_string()
    }
}

/// A catalog and when it was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedCatalog {
    /// What the server said.
    pub catalog: Catalog,
    /// When.
    pub saved_at: SystemTime,
}

/// An era and when it was found out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FoundEra {
    /// Which.
    pub era: Era,
    /// When.
    pub found_at: SystemTime,
}

/// All consents at one moment, to be asked without waiting.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConsentSet(HashSet<(ServerName, String)>);

impl ConsentSet {
    /// Whether the user agreed to `digest` under the name `server`.
    pub fn given(&self, server: &ServerName, digest: &Digest) -> bool {
        self.0.contains(&(server.clone(), digest.to_string()))
    }
}

impl FromIterator<Consent> for ConsentSet {
    fn from_iter<I: IntoIterator<Item = Consent>>(consents: I) -> Self {
        Self(consents.into_iter().map(|consent| (consent.server, consent.digest)).collect())
    }
}
