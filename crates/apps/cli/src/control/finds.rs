//! What fits a query: the stable shape of `search --json`, and a line about each for people.

use serde::{Deserialize, Serialize};
use toolgate_host::{Found, Host, HostError};
use toolgate_wire::scan;

use super::Unknown;
use super::exposed::unknown;

/// What fits a query.
#[derive(Debug, Serialize, Deserialize)]
pub struct Finds {
    /// The best first.
    pub found: Vec<Find>,
    /// Servers that could not be searched, because nothing is known of them.
    pub unknown: Vec<Unknown>,
}

/// One tool that fits.
#[derive(Debug, Serialize, Deserialize)]
pub struct Find {
    /// Whose it is.
    pub server: String,
    /// The server's own name for it.
    pub name: String,
    /// The name to call it by.
    pub exposed: String,
    /// How well it fits; comparable within one answer.
    pub score: f32,
    /// What in it met the query.
    pub why: Vec<String>,
    /// What it is for, in its server's words: untrusted text.
    pub about: String,
}

impl Finds {
    pub(super) async fn of(
        host: &Host,
        profile: &str,
        query: &str,
        limit: usize,
    ) -> Result<Self, HostError> {
        let found = host.search(profile, query, limit).await?;
        let found = found.into_iter().map(Find::from).collect();
        Ok(Self { found, unknown: unknown(&host.servers().servers) })
    }
}

impl From<Found> for Find {
    fn from(found: Found) -> Self {
        let about = scan::text(&found.definition, "description").unwrap_or_default();
        let about = about.trim().lines().next().unwrap_or_default().to_owned();
        Self {
            server: found.id.server.to_string(),
            name: found.id.name.to_string(),
            exposed: found.exposed,
            score: found.score,
            why: found.why.iter().map(ToString::to_string).collect(),
            about,
        }
    }
}
