//! Exposed forms of resource URIs and URI templates.
//!
//! A URI stays as its server wrote it unless two servers offer the same one: then each gets a form
//! tagged with its server, `toolgate+<tag>:<uri>`, which decodes by its prefix. A raw URI that
//! looks tagged is tagged itself, so every exposed URI with our scheme is ours.

use std::collections::HashMap;

use toolgate_model::{Digest, ServerName};

use crate::assign::{Claimant, assign};

/// How every tagged URI begins.
pub const TAG_SCHEME: &str = "toolgate+";

/// One tag per server, both ways.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tags {
    tags: HashMap<ServerName, String>,
    servers: HashMap<String, ServerName>,
}

/// A server that wants a tag: lower case, because URL libraries fold the case of a scheme.
struct Tagged<'a>(&'a ServerName);

impl Claimant for Tagged<'_> {
    fn choice(&self, level: usize) -> Option<String> {
        let fold = |c: char| {
            if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }
        };
        let plain: String = self.0.as_str().chars().map(fold).collect();
        let digits = [0, 8, 40].get(level)?;
        let digest = Digest::of_parts([self.0.as_str().as_bytes()]).short(*digits);
        Some(if digest.is_empty() { plain } else { format!("{plain}.{digest}") })
    }

    fn has_precedence(&self) -> bool {
        false
    }
}

impl Tags {
    pub fn of(servers: &[&ServerName]) -> Self {
        let claimants: Vec<_> = servers.iter().map(|server| Tagged(server)).collect();
        let mut tags = Self::default();
        for (server, assigned) in servers.iter().zip(assign(&claimants)) {
            if let Some(assigned) = assigned {
                tags.servers.insert(assigned.name.clone(), (*server).clone());
                tags.tags.insert((*server).clone(), assigned.name);
            }
        }
        tags
    }

    /// The tagged form of a URI; `None` for a server that is not in the set.
    pub fn tag(&self, server: &ServerName, uri: &str) -> Option<String> {
        Some(format!("{TAG_SCHEME}{}:{uri}", self.tags.get(server)?))
    }

    /// The server and its own URI behind a tagged form.
    pub fn untag<'u>(&self, uri: &'u str) -> Option<(&ServerName, &'u str)> {
        let (tag, raw) = uri.strip_prefix(TAG_SCHEME)?.split_once(':')?;
        Some((self.servers.get(tag)?, raw))
    }
}
