//! Finds descriptions that mention another server or its tool.
//!
//! Benign servers that belong together do so too, so such a finding is only a reason to look. Names
//! that are everyday words are skipped.

use std::collections::HashMap;

use toolgate_model::{CapabilityKind, Catalog, ServerName};

use crate::catalog::{CatalogTextField, each_text};
use crate::finding::{Finding, FindingCode, excerpt};

/// The shortest tool name that is searched for. Shorter names are often everyday words.
const SHORTEST: usize = 6;
/// Words after a name that show that it is the name of a server.
const AFTER: [&str; 4] = ["server", "mcp", "tool", "tools"];

/// Returns a finding for every text that mentions another server or its tool.
pub(crate) fn find_mentions(servers: &[(&ServerName, &Catalog)]) -> Vec<Finding> {
    let tools = distinctive(servers);
    let names: HashMap<_, _> = servers
        .iter()
        .filter(|(server, _)| server.as_str().len() >= 3)
        .map(|(server, _)| (server.as_str().to_lowercase(), *server))
        .collect();
    let mut found = Vec::new();
    for (server, catalog) in servers {
        each_text(server, catalog, &mut |text| {
            if text.is_key || text.at == "name" {
                return;
            }
            if let Some((at, other, what)) = first(server, text, &tools, &names) {
                let code = FindingCode::NamesOther;
                let message = format!("mentions {what} of the server {other}");
                found.push(text.finding(code, code.severity(), excerpt(&text.text, at), message));
            }
        });
    }
    found
}

/// Returns the lower-case tool names that only one server has and that are not everyday words.
fn distinctive<'a>(servers: &[(&'a ServerName, &'a Catalog)]) -> HashMap<String, &'a ServerName> {
    let mut owners: HashMap<String, Option<&ServerName>> = HashMap::new();
    for (server, catalog) in servers {
        for tool in catalog.definitions(CapabilityKind::Tool) {
            let name = &tool.name;
            let compound = name.contains(['_', '-', '.'])
                || name.chars().skip(1).any(|c| c.is_ascii_uppercase());
            if name.len() < SHORTEST || !compound {
                continue;
            }
            let owner = owners.entry(name.to_lowercase()).or_insert(Some(*server));
            if *owner != Some(*server) {
                *owner = None; // several servers have a tool with this name
            }
        }
    }
    owners.into_iter().filter_map(|(name, owner)| Some((name, owner?))).collect()
}

/// Returns the first mention in a text: its offset, the mentioned server and what is mentioned.
fn first<'a>(
    own: &ServerName,
    text: &CatalogTextField<'_>,
    tools: &HashMap<String, &'a ServerName>,
    names: &HashMap<String, &'a ServerName>,
) -> Option<(usize, &'a ServerName, String)> {
    let tokens = identifiers(&text.text);
    for (number, (at, token)) in tokens.iter().enumerate() {
        let lower = token.to_lowercase();
        let spelled = *token == lower || token.chars().any(|c| c.is_ascii_uppercase());
        match tools.get(&lower) {
            Some(other) if **other != *own && spelled => {
                return Some((*at, other, format!("the tool `{lower}`")));
            }
            _ => {}
        }
        let next = tokens.get(number + 1).map(|(_, next)| next.to_lowercase());
        if let (Some(other), Some(next)) = (names.get(&lower), next)
            && **other != *own
            && AFTER.contains(&next.as_str())
        {
            return Some((*at, other, format!("`{token} {next}`")));
        }
    }
    None
}

/// Returns every token that could be a name, with its offset.
fn identifiers(text: &str) -> Vec<(usize, &str)> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let mut found = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (is_part(c), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                let token = text.get(from..at).unwrap_or_default().trim_matches(['-', '.']);
                found.push((from, token));
                start = None;
            }
            _ => {}
        }
    }
    found
}
