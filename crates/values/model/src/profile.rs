//! Profiles: what one kind of caller sees, under which names, and at what cost.
//!
//! This module holds what configuration files declare and what is built in. `rules/exposure`
//! decides what follows for single capabilities.

use std::collections::BTreeMap;

use toolgate_wire::words;

use crate::{Origin, PrefixMode};

words! {
    /// How exposed names are formed.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum NamingStyle {
        /// Toolgate's own style: `server__tool`.
        #[default]
        Toolgate = "toolgate",
        /// `mcp__server__tool`, as in Claude Code and Nyzhi.
        Claude = "claude",
        /// `server_tool`, in letters, digits and underscores.
        CoreAgent = "core-agent",
        /// The bare name for the first server that has it, `server__tool` for the others.
        Llxprt = "llxprt",
        /// `mcp_server_tool`.
        Gemini = "gemini",
        /// `mcp__server__tool`, with digests where names collide.
        Codex = "codex",
        /// `server_tool`.
        Opencode = "opencode",
        /// The bare name, or the alias.
        Sidekick = "sidekick",
    }
}

words! {
    /// How a caller learns of definitions.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum ExposureMode {
        /// The gateway lists every definition.
        #[default]
        All = "all",
        /// The gateway lists none; the caller searches and receives what it finds.
        Search = "search",
        /// Like `All` while there are few; otherwise like `Search`, with one line about each.
        Auto = "auto",
    }
}

impl ExposureMode {
    /// The number of tools above which `Auto` behaves like `Search`.
    pub const AUTO_LIMIT: usize = 15;
}

/// A named selection of capabilities, with its naming and exposure.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Profile {
    /// The imported tags: the profile sees what bears one of them, or a tag below one. `None`: tags
    /// do not matter.
    pub tags: Option<Vec<String>>,
    /// Patterns of `server/name` that the profile sees whatever their tags. If `tags` is `None`, it
    /// sees nothing else.
    pub include: Vec<String>,
    /// Patterns of `server/name` that the profile never sees.
    pub exclude: Vec<String>,
    /// How names are formed.
    pub naming: Option<NamingStyle>,
    /// When names start with the name of their server, if the style leaves a choice.
    pub prefix: Option<PrefixMode>,
    /// How the caller learns of definitions.
    pub expose: Option<ExposureMode>,
    /// The token budget of the tool list. Tools beyond it are found by searching.
    pub budget: Option<u32>,
    /// The size in tokens above which a result is stored and shown in part; `None`: never.
    pub result_limit: Option<u32>,
}

/// The profile of a caller that chose none.
pub const DEFAULT_PROFILE: &str = "default";
/// The default for `result_limit`, for a profile that enables it without a number.
pub const RESULT_LIMIT: u32 = 25_000;

/// A profile with its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredProfile {
    /// The profile.
    pub profile: Profile,
    /// Where it was declared.
    pub origin: Origin,
}

/// All profiles, and which client gets which.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Profiles {
    /// The declared profiles, by name.
    pub declared: BTreeMap<String, DeclaredProfile>,
    /// The profile of a client that chose none, by the name that the client reports.
    pub clients: BTreeMap<String, String>,
}

impl Profiles {
    /// Returns the names of all profiles, declared and built in.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<_> = self.declared.keys().map(String::as_str).collect();
        names.extend(BUILT_IN.iter().map(|(name, _)| *name));
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Returns a profile by name. A declared profile replaces a built-in one.
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

/// The built-in profiles: a caller that chose nothing sees everything, a root agent sees what bears
/// the default tag, and its helpers see nothing.
const BUILT_IN: [(&str, Option<&[&str]>); 5] = [
    (DEFAULT_PROFILE, None),
    ("root", Some(&[DEFAULT_TAG])),
    ("research", Some(&[])),
    ("transform", Some(&[])),
    ("suggest", Some(&[])),
];

/// The tag of a server that declares none.
pub const DEFAULT_TAG: &str = "mcp";

/// Returns true if a profile that imports one tag sees another: the same tag, or one below it by
/// dotted parts.
pub fn imports_tag(imported: &str, tag: &str) -> bool {
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
            assert_eq!(imports_tag(imported, tag), seen, "{imported} {tag}");
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
