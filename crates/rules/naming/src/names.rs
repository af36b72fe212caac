//! Names of tools and prompts: within what every model provider accepts.

use toolgate_model::{CapabilityId, Digest, Prefix};

use crate::assign::Claimant;

/// The longest exposed name: the narrowest limit among model providers.
const MAX_CHARS: usize = 64;

/// Digits of the digest in a name, for each further choice. Eight tell honest names apart; the
/// longer ones are for a server that makes a name look like another's digest.
const DIGEST_CHARS: [usize; 3] = [8, 16, 40];

/// A tool or prompt that wants a name.
pub(crate) struct Named<'a> {
    pub id: &'a CapabilityId,
    pub prefix: Prefix,
    /// The embedding program's own: bare, and before all others.
    pub embedder: bool,
}

impl Named<'_> {
    /// The choices that carry no digest unless they are too long.
    fn plain(&self) -> Vec<String> {
        let bare = || self.fitted(sanitised(&self.id.name));
        if self.embedder {
            return vec![self.as_written().unwrap_or_else(bare)];
        }
        match self.prefix {
            Prefix::Always => vec![self.fitted(self.prefixed())],
            Prefix::OnCollision => vec![bare(), self.fitted(self.prefixed())],
            Prefix::Never => vec![self.as_written().unwrap_or_else(bare)],
        }
    }

    /// The raw name, if clients take it as it is: wider than [`sanitised`], because whoever wants
    /// no prefix wants the server to look like itself.
    fn as_written(&self) -> Option<String> {
        let fine = |c: char| is_plain(c) || matches!(c, '.' | '/');
        let name = &self.id.name;
        let usable = name.len() <= MAX_CHARS && !name.is_empty() && name.chars().all(fine);
        usable.then(|| name.to_string())
    }

    fn prefixed(&self) -> String {
        format!("{}__{}", sanitised(self.id.server.as_str()), sanitised(&self.id.name))
    }

    fn fitted(&self, name: String) -> String {
        if name.len() <= MAX_CHARS { name } else { self.digested(&name, DIGEST_CHARS[0]) }
    }

    /// As much of `name` as fits before the digest of the identity.
    fn digested(&self, name: &str, digits: usize) -> String {
        let kept = name.len().min(MAX_CHARS - 1 - digits);
        format!("{}_{}", &name[..kept], identity(self.id).short(digits))
    }
}

impl Claimant for Named<'_> {
    fn choice(&self, level: usize) -> Option<String> {
        let plain = self.plain();
        if let Some(name) = plain.get(level) {
            return Some(name.clone());
        }
        let digits = DIGEST_CHARS.get(level - plain.len())?;
        Some(self.digested(&self.prefixed(), *digits))
    }

    fn has_precedence(&self) -> bool {
        self.embedder
    }
}

fn identity(id: &CapabilityId) -> Digest {
    let parts = [id.server.as_str(), id.kind.as_str(), &id.name];
    Digest::of_parts(parts.map(str::as_bytes))
}

/// Every character outside `[A-Za-z0-9_-]` becomes `_`: the result is ASCII.
fn sanitised(name: &str) -> String {
    name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect()
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}
