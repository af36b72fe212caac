//! Results of a tool search: the stable shape of `search --json`.

use serde::{Deserialize, Serialize};
use toolgate_host::{Host, HostError};
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
        let hits = host.search(profile, query, limit).await?;
        let found = hits.into_iter().map(|hit| {
            let about = scan::member_text(&hit.definition, "description").unwrap_or_default();
            ToolMatch {
                server: hit.id.server.to_string(),
                name: hit.id.name.to_string(),
                exposed: hit.exposed,
                score: hit.score,
                why: hit.why.iter().map(ToString::to_string).collect(),
                about: about.trim().lines().next().unwrap_or_default().to_owned(),
            }
        });
        Ok(Self { found: found.collect(), unknown: unknown_servers(&host.servers()) })
    }
}
