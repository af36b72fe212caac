//! Who names whom: a description that speaks of another server's tool, or of another server.
//!
//! Honest servers do so where they belong together; it is told so that somebody looks. Names that
//! are everyday words are left out, since everybody uses those.

use std::collections::HashMap;

use toolgate_model::{CapabilityKind, Catalog, ServerName};

use crate::catalog::{Text, each_text};
use crate::finding::{Code, Finding, excerpt};

/// Shorter names of tools are words.
const SHORTEST: usize = 6;
/// Words that make the name before them one of a server.
const AFTER: [&str; 4] = ["server", "mcp", "tool", "tools"];

/// Every text that names somebody else's.
pub(crate) fn of_all(servers: &[(&ServerName, &Catalog)]) -> Vec<Finding> {
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
                found.push(Finding {
                    code: Code::NamesOther,
                    severity: Code::NamesOther.severity(),
                    server: (*server).clone(),
                    capability: text.capability.cloned(),
                    at: text.at.clone(),
                    excerpt: excerpt(&text.text, at),
                    message: format!("it speaks of {what} of the server {other}"),
                });
            }
        });
    }
    found
}

/// Names of tools that only one server has and that are no everyday words, in lower case.
fn distinctive<'a>(servers: &[(&'a ServerName, &'a Catalog)]) -> HashMap<String, &'a ServerName> {
    let mut owners: HashMap<String, Option<&ServerName>> = HashMap::new();
    for (server, catalog) in servers {
        for tool in catalog.of(CapabilityKind::Tool) {
            let name = &tool.name;
            let compound = name.contains(['_', '-', '.'])
                || name.chars().skip(1).any(|c| c.is_ascii_uppercase());
            if name.len() < SHORTEST || !compound {
                continue;
            }
            let owner = owners.entry(name.to_lowercase()).or_insert(Some(*server));
            if *owner != Some(*server) {
                *owner = None; // several have one of this name: it is nobody's
            }
        }
    }
    owners.into_iter().filter_map(|(name, owner)| Some((name, owner?))).collect()
}

/// The first mention of somebody else in a text: where, whose, and of what.
fn first<'a>(
    own: &ServerName,
    text: &Text<'_>,
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

/// What could be a name, with its place.
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
