//! What a profile says of a capability that its server's declaration leaves visible.
//!
//! In this order: what `exclude` names is hidden; what `include` names is seen; then tags decide. A
//! profile that says nothing of tags sees what it includes, and everything if it includes nothing.

use toolgate_model::imports;

use crate::Terms;
use crate::patterns::Patterns;

/// The patterns of a profile, ready to be asked.
pub(crate) struct Seeing<'a> {
    name: &'a str,
    tags: Option<&'a [String]>,
    include: Patterns<'a>,
    exclude: Patterns<'a>,
}

/// What a profile says of one capability.
pub(crate) enum Said {
    /// It sees it, because of this rule.
    Sees(String),
    /// It does not.
    Hides(String),
    /// It has nothing to say: it sees what there is.
    Nothing,
}

impl<'a> Seeing<'a> {
    pub fn of(terms: &Terms<'a>) -> Self {
        let profile = &terms.declared.profile;
        Self {
            name: terms.profile,
            tags: profile.tags.as_deref(),
            include: Patterns::of_paths(&profile.include),
            exclude: Patterns::of_paths(&profile.exclude),
        }
    }

    /// What the profile says of a capability, by its path `server/name`.
    pub fn judge(&self, server: &str, path: &str, tags: &[String]) -> Said {
        let profile = self.name;
        if let Some(pattern) = find(&self.exclude, server, path) {
            return Said::Hides(format!("exclude {pattern:?} of profile {profile}"));
        }
        if let Some(pattern) = find(&self.include, server, path) {
            return Said::Sees(format!("include {pattern:?} of profile {profile}"));
        }
        match self.tags {
            Some(imported) => self.by_tags(imported, tags),
            None if self.include.is_empty() => Said::Nothing,
            None => Said::Hides(format!("not in include of profile {profile}")),
        }
    }

    /// Whether `include` spells out exactly this one.
    pub fn names(&self, path: &str) -> bool {
        self.include.names(path)
    }

    fn by_tags(&self, imported: &[String], tags: &[String]) -> Said {
        let profile = self.name;
        let sees = |imported: &&String| tags.iter().any(|tag| imports(imported, tag));
        if let Some(tag) = imported.iter().find(sees) {
            return Said::Sees(format!("profile {profile} imports {tag}"));
        }
        let borne = match tags {
            [] => "no tags".to_owned(),
            tags => format!("tags {}", tags.join(", ")),
        };
        let imported = if imported.is_empty() { "nothing".into() } else { imported.join(", ") };
        Said::Hides(format!("{borne}: profile {profile} imports {imported}"))
    }
}

/// The pattern a capability fits: by its path, or by its server alone.
fn find<'a>(patterns: &Patterns<'a>, server: &str, path: &str) -> Option<&'a str> {
    if patterns.is_empty() {
        return None;
    }
    patterns.find(path).or_else(|| patterns.find(server))
}
