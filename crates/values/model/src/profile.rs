//! Profiles: what one kind of caller sees, under which names, at what cost.
//!
//! This is what files say, and what is built in. What follows from it for single capabilities is
//! decided by `rules/exposure`.

use std::collections::BTreeMap;

use crate::{Origin, Prefix};

/// How exposed names are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Naming {
    /// Ours: `server__tool`.
    #[default]
    Toolgate,
    /// `mcp__server__tool`, as Claude Code and Nyzhi have it.
    Claude,
    /// `server_tool`, in letters, digits and underscores.
    CoreAgent,
    /// The bare name for the first server that has it, `server__tool` for the rest.
    Llxprt,
    /// `mcp_server_tool`.
    Gemini,
    /// `mcp__server__tool`, with digests where names meet.
    Codex,
    /// `server_tool`.
    Opencode,
    /// The bare name, or the alias.
    Sidekick,
}

impl Naming {
    /// All of them, in the order they are documented.
    pub const ALL: [Self; 8] = [
        Self::Toolgate,
        Self::Claude,
        Self::CoreAgent,
        Self::Llxprt,
        Self::Gemini,
        Self::Codex,
        Self::Opencode,
        Self::Sidekick,
    ];

    /// The word for it in configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Toolgate => "toolgate",
            Self::Claude => "claude",
            Self::CoreAgent => "core-agent",
            Self::Llxprt => "llxprt",
            Self::Gemini => "gemini",
            Self::Codex => "codex",
            Self::Opencode => "opencode",
            Self::Sidekick => "sidekick",
        }
    }
}

/// Whether a caller is sent definitions, or finds them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Expose {
    /// Every definition is listed.
    #[default]
    All,
    /// None is: the caller searches and is given what he finds.
    Search,
    /// All while they are few, else as `Search`, with a line about each.
    Auto,
}

impl Expose {
    /// All of them, in the order they are documented.
    pub const ALL: [Self; 3] = [Self::All, Self::Search, Self::Auto];
    /// With more tools than these, `Auto` defers them.
    pub const FEW: usize = 15;

    /// The word for it in configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Search => "search",
            Self::Auto => "auto",
        }
    }
}

/// What one kind of caller sees.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Profile {
    /// Tags it imports: it sees what bears one of them, or one below. `None`: tags do not matter.
    pub tags: Option<Vec<String>>,
    /// Patterns of `server/name` that it sees whatever their tags; where it says nothing of tags,
    /// it sees nothing else.
    pub include: Vec<String>,
    /// Patterns of `server/name` that it does not see, whatever else is said.
    pub exclude: Vec<String>,
    /// How names are made.
    pub naming: Option<Naming>,
    /// When names carry their server's name, where the naming leaves a choice.
    pub prefix: Option<Prefix>,
    /// Whether it is sent definitions, or finds them.
    pub expose: Option<Expose>,
    /// How many tokens its list of tools may cost; what is beyond that is found by searching.
    pub budget: Option<u32>,
    /// From how many tokens on a result is kept aside and shown in part; `None`: never.
    pub result_limit: Option<u32>,
}

/// The profile of whoever chose none.
pub const DEFAULT_PROFILE: &str = "default";
/// From how many tokens on a result is kept aside, for a profile that wants that and says no number.
pub const RESULT_LIMIT: u32 = 25_000;

/// A profile, and who says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredProfile {
    /// What it says.
    pub profile: Profile,
    /// Where.
    pub origin: Origin,
}

/// Every profile, and who gets which.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Profiles {
    /// Those of the files, by name.
    pub declared: BTreeMap<String, DeclaredProfile>,
    /// Which profile a client gets that chose none, by the name it calls itself.
    pub clients: BTreeMap<String, String>,
}

impl Profiles {
    /// The names of all there are: those of the files and those built in.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<_> = self.declared.keys().map(String::as_str).collect();
        names.extend(BUILT_IN.iter().map(|(name, _)| *name));
        names.sort_unstable();
        names.dedup();
        names
    }

    /// A profile by its name; what is built in counts where no file says otherwise.
    pub fn get(&self, name: &str) -> Option<DeclaredProfile> {
        if let Some(declared) = self.declared.get(name) {
            return Some(declared.clone());
        }
        let (_, tags) = BUILT_IN.iter().find(|(built_in, _)| *built_in == name)?;
        let tags = tags.map(|tags| tags.iter().map(ToString::to_string).collect());
        let profile = Profile { tags, ..Profile::default() };
        Some(DeclaredProfile { profile, origin: Origin::built_in() })
    }
}

/// What no file needs to say: whoever chose nothing sees everything, a root agent what bears the
/// default tag, and its helpers nothing.
const BUILT_IN: [(&str, Option<&[&str]>); 5] = [
    (DEFAULT_PROFILE, None),
    ("root", Some(&[DEFAULT_TAG])),
    ("research", Some(&[])),
    ("transform", Some(&[])),
    ("suggest", Some(&[])),
];

/// The tag of a server that names none.
pub const DEFAULT_TAG: &str = "mcp";

/// Whether whoever imports one tag sees another: the same, or one below it by dotted parts.
pub fn imports(imported: &str, tag: &str) -> bool {
    let rest = tag.strip_prefix(imported);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_imported_by_whole_parts() {
        for (imported, tag, seen) in [
            ("mcp", "mcp", true),
            ("mcp", "mcp.git", true),
            ("mcp.git", "mcp", false),
            ("mcp.file", "mcp.filesystem", false),
            ("mcp.file", "mcp.file.read", true),
            ("", "mcp", false),
        ] {
            assert_eq!(imports(imported, tag), seen, "{imported} {tag}");
        }
    }

    #[test]
    fn a_file_says_otherwise_than_what_is_built_in() {
        let mut profiles = Profiles::default();
        assert_eq!(profiles.get("root").unwrap().profile.tags, Some(vec!["mcp".to_owned()]));
        assert_eq!(profiles.get("research").unwrap().profile.tags, Some(Vec::new()));
        assert_eq!(profiles.get("default").unwrap().profile.tags, None);
        assert_eq!(profiles.get("other"), None);
        let profile = Profile { budget: Some(7), ..Profile::default() };
        let origin = Origin::built_in();
        profiles.declared.insert("root".into(), DeclaredProfile { profile, origin });
        assert_eq!(profiles.get("root").unwrap().profile.budget, Some(7));
        assert_eq!(profiles.names(), ["default", "research", "root", "suggest", "transform"]);
    }
}
