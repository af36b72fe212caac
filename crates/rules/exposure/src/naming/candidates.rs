//! Candidates for names and their choices, common to all naming styles.

use toolgate_model::{CapabilityId, Digest};

use crate::naming::bounds::NameBounds;

/// The digits of the digest in a name, for each further choice. Eight separate honest names; the
/// longer ones are for a server that imitates another's digest.
const DIGEST_CHARS: [usize; 3] = [8, 16, 40];

/// A tool or prompt that needs a name.
pub(crate) struct NamingCandidate<'a> {
    pub id: &'a CapabilityId,
    /// The alias from the configuration, else the server's name for it.
    pub name: &'a str,
    /// Whether it belongs to this program: then it has its bare name, and precedence.
    pub own: bool,
    /// The position of its server in the configuration.
    pub place: usize,
}

/// The names one candidate would take.
pub(crate) struct NameChoices {
    /// The names of its style, best first, within the bounds.
    pub plain: Vec<String>,
    /// The prefix of the digest when those are taken: ASCII, of any length.
    pub base: String,
}

impl NamingCandidate<'_> {
    /// Returns server and name within the bounds, joined by `between`.
    pub fn qualified_name(&self, between: &str, bounds: NameBounds) -> String {
        let server = bounds.sanitised(self.id.server.as_str());
        format!("{server}{between}{}", bounds.sanitised(self.name))
    }

    fn digest(&self) -> Digest {
        let parts = [self.id.server.as_str(), self.id.kind.as_str(), &self.id.name];
        Digest::of_parts(parts.map(str::as_bytes))
    }
}

/// Returns the name, shortened with the candidate's digest if it is too long.
pub(crate) fn fit_name(name: &str, member: &NamingCandidate<'_>, bounds: NameBounds) -> String {
    if name.len() <= bounds.max {
        return name.to_owned();
    }
    append_digest(name, member, DIGEST_CHARS[0], bounds)
}

/// Returns the choice with a digest at this attempt; each has a longer digest.
pub(crate) fn digested(
    base: &str,
    member: &NamingCandidate<'_>,
    attempt: usize,
    bounds: NameBounds,
) -> Option<String> {
    Some(append_digest(base, member, *DIGEST_CHARS.get(attempt)?, bounds))
}

/// Returns true if the digest at this attempt is long enough to be unique.
pub(crate) fn is_full_digest(attempt: usize) -> bool {
    attempt + 1 == DIGEST_CHARS.len()
}

fn append_digest(
    base: &str,
    member: &NamingCandidate<'_>,
    digits: usize,
    bounds: NameBounds,
) -> String {
    let kept = base.len().min(bounds.max - 1 - digits);
    format!("{}_{}", &base[..kept], member.digest().hex_prefix(digits))
}
