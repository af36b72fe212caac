//! Results of a tool search: the stable shape of `search --json`.

use serde::{Deserialize, Serialize};
use toolgate_host::{Host, HostError, ToolSearchHit};
use toolgate_wire::scan;

use super::ServerWithoutCatalog;
use super::exposure::unknown_servers;

/// The tools that match a query.
#[derive(Debug, Serialize, Deserialize)]
pub struct ToolMatches {
    /// The matches, best first.
    pub found: Vec<ToolMatch>,
    /// Servers that could not be searched because their catalog is unknown.
    pub unknown: Vec<ServerWithoutCatalog>,
}

/// One tool that matches a query.
#[derive(Debug, Serialize, Deserialize)]
pub struct ToolMatch {
    /// The server.
    pub server: String,
    /// The server's own name of the tool.
    pub name: String,
    /// The exposed name.
    pub exposed: String,
    /// The score; comparable only within one search.
    pub score: f32,
    /// The parts of the tool that matched.
    pub why: Vec<String>,
    /// The first line of the server's description: untrusted text.
    pub about: String,
}

impl ToolMatches {
    pub(super) async fn of(
        host: &Host,
        profile: &str,
        query: &str,
        limit: usize,
    ) -> Result<Self, HostError> {
        let found = host.search(profile, query, limit).await?;
        let found = found.into_iter().map(ToolMatch::from).collect();
        Ok(Self { found, unknown: unknown_servers(&host.servers()) })
    }
}

impl From<ToolSearchHit> for ToolMatch {
    fn from(found: ToolSearchHit) -> Self {
        let about = scan::member_text(&found.definition, "description").unwrap_or_default();
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
