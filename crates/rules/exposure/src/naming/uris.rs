//! Exposed forms of resource URIs and URI templates.
//!
//! A URI stays as its server wrote it unless two servers offer the same one. Then each gets a form
//! tagged with its server, `toolgate+<tag>:<uri>`, which is decoded by its prefix. Clients
//! recognize a user interface by its scheme, so `ui://<rest>` becomes `ui://toolgate+<tag>/<rest>`.
//! A raw URI that looks tagged is tagged as well, so every exposed URI that looks tagged is one of
//! ours.

use std::borrow::Cow;
use std::collections::HashMap;

use toolgate_model::{Digest, ServerName};

use crate::naming::assign::{NameClaimant, assign};

/// The prefix of a tagged URI, after `ui://` if it has that.
const MARK: &str = "toolgate+";
/// The scheme of user interfaces (MCP Apps).
const UI: &str = "ui://";

/// The digits of a server's digest in its tag, for each further choice.
const DIGITS: [usize; 3] = [0, 8, 40];

/// One tag per server, in both directions.
#[derive(Debug, Clone, Default)]
pub(crate) struct UriTags {
    tags: HashMap<ServerName, String>,
    servers: HashMap<String, ServerName>,
}

/// A server that claims a tag. Tags are lower case, because URL libraries fold the case of a
/// scheme.
struct UriTagClaimant<'a>(&'a ServerName);

impl NameClaimant for UriTagClaimant<'_> {
    fn choice(&self, level: usize) -> Option<String> {
        let fold = |c: char| {
            if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }
        };
        let plain: String = self.0.as_str().chars().map(fold).collect();
        let digits = DIGITS.get(level)?;
        let digest = Digest::of_parts([self.0.as_str().as_bytes()]).hex_prefix(*digits);
        Some(if digest.is_empty() { plain } else { format!("{plain}.{digest}") })
    }

    fn has_precedence(&self) -> bool {
        false
    }

    fn is_unique(&self, level: usize) -> bool {
        level + 1 == DIGITS.len()
    }
}

impl UriTags {
    pub fn of(servers: &[&ServerName]) -> Self {
        let claimants: Vec<_> = servers.iter().map(|server| UriTagClaimant(server)).collect();
        let mut tags = Self::default();
        for (server, name) in servers.iter().zip(assign(&claimants, &[]).names) {
            if let Some(name) = name {
                tags.servers.insert(name.clone(), (*server).clone());
                tags.tags.insert((*server).clone(), name);
            }
        }
        tags
    }

    /// Returns the tagged form of a URI; `None` for a server that is not in the set.
    pub fn tag(&self, server: &ServerName, uri: &str) -> Option<String> {
        let tag = self.tags.get(server)?;
        Some(match uri.strip_prefix(UI) {
            Some(rest) => format!("{UI}{MARK}{tag}/{rest}"),
            None => format!("{MARK}{tag}:{uri}"),
        })
    }

    /// Returns the server and its own URI behind a tagged form.
    pub fn untag<'u>(&self, uri: &'u str) -> Option<(&ServerName, Cow<'u, str>)> {
        let (tag, raw) = match uri.strip_prefix(UI) {
            Some(rest) => {
                let (tag, rest) = rest.strip_prefix(MARK)?.split_once('/')?;
                (tag, Cow::Owned(format!("{UI}{rest}")))
            }
            None => {
                let (tag, raw) = uri.strip_prefix(MARK)?.split_once(':')?;
                (tag, Cow::Borrowed(raw))
            }
        };
        Some((self.servers.get(tag)?, raw))
    }
}

/// Returns true if a URI has the form of a tagged one.
pub(crate) fn looks_tagged(uri: &str) -> bool {
    uri.strip_prefix(UI).unwrap_or(uri).starts_with(MARK)
}
