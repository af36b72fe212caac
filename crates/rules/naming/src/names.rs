//! Who wants a name, and which ones: what all manners of naming have in common.

use toolgate_model::{CapabilityId, Digest};

use crate::bounds::Bounds;

/// Digits of the digest in a name, for each further choice. Eight tell honest names apart; the
/// longer ones are for a server that makes a name look like another's digest.
const DIGEST_CHARS: [usize; 3] = [8, 16, 40];

/// A tool or prompt that wants a name.
pub(crate) struct Member<'a> {
    pub id: &'a CapabilityId,
    /// What it is called: by its file, else by its server.
    pub name: &'a str,
    /// This program's own: bare, and before all others.
    pub own: bool,
    /// The place of its server in the configuration.
    pub place: usize,
}

/// The names one member would take.
pub(crate) struct Wish {
    /// Those its manner of naming gives it, best first, within the bounds.
    pub plain: Vec<String>,
    /// What a digest is put behind when they are taken: ASCII, of any length.
    pub base: String,
}

impl Wish {
    /// One name, with a digest where it is too long.
    pub fn fitted(name: String, member: &Member<'_>, bounds: Bounds) -> Self {
        Self { plain: vec![fitted(&name, member, bounds)], base: name }
    }
}

impl Member<'_> {
    /// Server and name in the bounds, with something between them.
    pub fn joined(&self, between: &str, bounds: Bounds) -> String {
        let server = bounds.sanitised(self.id.server.as_str());
        format!("{server}{between}{}", bounds.sanitised(self.name))
    }

    fn digest(&self) -> Digest {
        let parts = [self.id.server.as_str(), self.id.kind.as_str(), &self.id.name];
        Digest::of_parts(parts.map(str::as_bytes))
    }
}

/// A name that is short enough, or as much of it as fits before the digest of its bearer.
pub(crate) fn fitted(name: &str, member: &Member<'_>, bounds: Bounds) -> String {
    if name.len() <= bounds.max {
        return name.to_owned();
    }
    marked(name, member, DIGEST_CHARS[0], bounds)
}

/// The names with ever longer digests that remain when all plain ones are taken.
pub(crate) fn digested(
    base: &str,
    member: &Member<'_>,
    attempt: usize,
    bounds: Bounds,
) -> Option<String> {
    Some(marked(base, member, *DIGEST_CHARS.get(attempt)?, bounds))
}

/// Whether such a name has so long a digest that only its bearer can mean it.
pub(crate) fn is_whole(attempt: usize) -> bool {
    attempt + 1 == DIGEST_CHARS.len()
}

fn marked(base: &str, member: &Member<'_>, digits: usize, bounds: Bounds) -> String {
    let kept = base.len().min(bounds.max - 1 - digits);
    format!("{}_{}", &base[..kept], member.digest().short(digits))
}
