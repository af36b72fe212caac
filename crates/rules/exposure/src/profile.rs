//! Applies a profile to a capability that its server's declaration leaves visible.
//!
//! The order is: `exclude` hides, `include` shows, then tags decide. A profile without tags shows
//! what it includes, or everything if it includes nothing.

use toolgate_model::{Profile, ServerSpec, imports_tag};

use crate::patterns::PatternList;

/// The filters of a profile.
pub(crate) struct ProfileFilter<'a> {
    name: &'a str,
    tags: Option<&'a [String]>,
    include: PatternList<'a>,
    exclude: PatternList<'a>,
}

impl<'a> ProfileFilter<'a> {
    pub fn of(name: &'a str, profile: &'a Profile) -> Self {
        Self {
            name,
            tags: profile.tags.as_deref(),
            include: PatternList::of_paths(&profile.include),
            exclude: PatternList::of_paths(&profile.exclude),
        }
    }

    /// Returns why a capability is visible, if the profile says so; `Err` with the reason if it is
    /// hidden. Its path is `server/name`.
    pub fn evaluate(
        &self,
        server: &str,
        path: &str,
        tags: &[String],
    ) -> Result<Option<String>, String> {
        let profile = self.name;
        if let Some(pattern) = find(&self.exclude, server, path) {
            return Err(format!("exclude {pattern:?} of profile {profile}"));
        }
        if let Some(pattern) = find(&self.include, server, path) {
            return Ok(Some(format!("include {pattern:?} of profile {profile}")));
        }
        match self.tags {
            Some(imported) => self.by_tags(imported, tags).map(Some),
            None if self.include.is_empty() => Ok(None),
            None => Err(format!("not in include of profile {profile}")),
        }
    }

    /// Returns true if `include` contains exactly this path.
    pub fn names_exactly(&self, path: &str) -> bool {
        self.include.names(path)
    }

    fn by_tags(&self, imported: &[String], tags: &[String]) -> Result<String, String> {
        let profile = self.name;
        let sees = |imported: &&String| tags.iter().any(|tag| imports_tag(imported, tag));
        if let Some(tag) = imported.iter().find(sees) {
            return Ok(format!("profile {profile} imports {tag}"));
        }
        let borne = match tags {
            [] => "no tags".to_owned(),
            tags => format!("tags {}", tags.join(", ")),
        };
        let imported = if imported.is_empty() { "nothing".into() } else { imported.join(", ") };
        Err(format!("{borne}: profile {profile} imports {imported}"))
    }
}

/// Returns true if a profile sees something of a server that no list contains: an unlisted resource,
/// an extension method, or the instructions. The server's tags apply to it. An empty name stands for
/// the server as a whole.
pub fn profile_sees(spec: &ServerSpec, name: &str, profile: &Profile) -> bool {
    let path = format!("{}/{name}", spec.name);
    let filter = ProfileFilter::of("", profile);
    filter.evaluate(spec.name.as_str(), &path, &spec.server_tags()).is_ok()
}

/// Returns the pattern that matches a capability, by its path or by its server.
fn find<'a>(patterns: &PatternList<'a>, server: &str, path: &str) -> Option<&'a str> {
    if patterns.is_empty() {
        return None;
    }
    patterns.find(path).or_else(|| patterns.find(server))
}
