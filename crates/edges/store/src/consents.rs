//! What the user decided about whole servers: consent to start one, and trust in its tools.

use std::collections::HashSet;
use std::time::SystemTime;

use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;
use toolgate_model::{Digest, ServerName};

use crate::sqlite::now_millis;
use crate::{StateStore, StoreError, columns};

const GIVE: &str = "insert into consents (server, digest, given_at, shown) \
     values ($1, $2, $3, $4) \
     on conflict (server, digest) \
     do update set given_at = excluded.given_at, shown = excluded.shown";

const LIST: &str = "select server, digest, given_at, shown from consents \
     order by server, given_at desc, digest";

const TRUST: &str = "insert into trusts (server, digest, given_at) values ($1, $2, $3) \
     on conflict (server, digest) do update set given_at = excluded.given_at";

const LIST_TRUSTS: &str =
    "select server, digest from trusts order by server, given_at desc, digest";

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

impl StateStore {
    /// Stores the user's consent to `digest` under the name `server`, with the text that the user
    /// saw. A second consent to the same replaces the first.
    pub async fn give_consent(
        &self,
        server: &ServerName,
        digest: &Digest,
        shown: &str,
    ) -> Result<(), StoreError> {
        let query = sqlx::query(GIVE).bind(server.as_str()).bind(digest.to_string());
        let query = query.bind(now_millis()).bind(shown);
        self.execute("store a consent", query).await.map(drop)
    }

    /// Deletes every consent for `server`. Returns true if there was one.
    pub async fn revoke_consents(&self, server: &ServerName) -> Result<bool, StoreError> {
        let query = sqlx::query("delete from consents where server = $1").bind(server.as_str());
        Ok(self.execute("delete consents", query).await? > 0)
    }

    /// Returns every consent, by server and then newest first.
    pub async fn consents(&self) -> Result<Vec<Consent>, StoreError> {
        let read = |row: &SqliteRow| {
            Ok(Consent {
                server: columns::server(row)?,
                digest: row.try_get("digest")?,
                given_at: columns::time(row, "given_at")?,
                shown: row.try_get("shown")?,
            })
        };
        self.list("read consents", sqlx::query(LIST), read).await
    }

    /// Stores that the tools of `server` run without asking the user, as long as the server's
    /// identity is `digest`.
    pub async fn save_trust(&self, server: &ServerName, digest: &Digest) -> Result<(), StoreError> {
        let query = sqlx::query(TRUST).bind(server.as_str()).bind(digest.to_string());
        self.execute("store trust in a server", query.bind(now_millis())).await.map(drop)
    }

    /// Deletes every trust in `server`. Returns true if there was one.
    pub async fn revoke_trust(&self, server: &ServerName) -> Result<bool, StoreError> {
        let query = sqlx::query("delete from trusts where server = $1").bind(server.as_str());
        Ok(self.execute("delete trust in a server", query).await? > 0)
    }

    /// Returns every trust, by server and then newest first.
    pub async fn trusts(&self) -> Result<Vec<ServerTrust>, StoreError> {
        let read = |row: &SqliteRow| {
            Ok(ServerTrust { server: columns::server(row)?, digest: row.try_get("digest")? })
        };
        self.list("read the trusted servers", sqlx::query(LIST_TRUSTS), read).await
    }
}
