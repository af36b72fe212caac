//! Which of a server's tools are to be seen, and under what terms each may be used.
//!
//! This is what files say; tags, aliases and approvals are decided on elsewhere.

use std::collections::BTreeMap;

/// What a file says about the tools of one server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selection {
    /// Patterns of tools that are visible; none: all are.
    pub include: Vec<String>,
    /// Patterns of tools that are hidden, whatever else is said.
    pub exclude: Vec<String>,
    /// Whether a tool that `tools` does not list is hidden.
    pub listed_only: bool,
    /// Single tools, by the name their server gives them.
    pub tools: BTreeMap<String, ToolSpec>,
    /// When somebody is asked before a tool is called, where its own entry does not say.
    pub approval: Option<Approval>,
}

/// What a file says about one tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolSpec {
    /// The name to expose it under.
    pub alias: Option<String>,
    /// Its tags, instead of its server's.
    pub tags: Option<Vec<String>>,
    /// Whether it is visible.
    pub enabled: bool,
    /// When somebody is asked before it is called.
    pub approval: Option<Approval>,
}

impl Default for ToolSpec {
    fn default() -> Self {
        Self { alias: None, tags: None, enabled: true, approval: None }
    }
}

/// When somebody is asked before a tool is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approval {
    /// Unless the tool says that it only reads.
    Auto,
    /// Whenever it may write.
    Writes,
    /// Every time.
    Always,
    /// Never.
    Never,
}

impl Approval {
    /// All of them, in the order they are documented.
    pub const ALL: [Self; 4] = [Self::Auto, Self::Writes, Self::Always, Self::Never];

    /// The word for it in our configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Writes => "writes",
            Self::Always => "always",
            Self::Never => "never",
        }
    }
}

impl Selection {
    /// Whether a tool of this name is visible: listed where that is asked for, included, and
    /// neither excluded nor switched off.
    pub fn shows(&self, tool: &str) -> bool {
        let matched = |patterns: &[String]| patterns.iter().any(|pattern| matches(pattern, tool));
        let listed = self.tools.get(tool);
        let included = self.include.is_empty() || matched(&self.include);
        listed.map_or(!self.listed_only, |tool| tool.enabled) && included && !matched(&self.exclude)
    }
}

/// Whether a tool's name fits a pattern that may end in a remark.
pub fn matches(pattern: &str, name: &str) -> bool {
    fits(without_remark(pattern), name)
}

/// What a pattern says of a tool's name: what follows a parenthesis is a remark about arguments that
/// some hosts write.
pub fn without_remark(pattern: &str) -> &str {
    pattern.split_once('(').map_or(pattern, |(name, _)| name)
}

/// Whether a text fits a pattern: `*` is any text, `?` any one character.
pub fn fits(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut from) = (0, 0);
    // Where the last `*` stood, and how much of the name it has taken so far.
    let mut star: Option<(usize, usize)> = None;
    while from < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, from));
                at += 1;
            }
            Some(wanted) if *wanted == '?' || *wanted == name[from] => {
                at += 1;
                from += 1;
            }
            _ => {
                let Some((stood, taken)) = star else { return false };
                star = Some((stood, taken + 1));
                (at, from) = (stood + 1, taken + 1);
            }
        }
    }
    pattern[at..].iter().all(|rest| *rest == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_names() {
        for (pattern, name, fits) in [
            ("read_*", "read_file", true),
            ("read_*", "unread_file", false),
            ("*", "", true),
            ("a*b*c", "aXbYbc", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("read", "read_file", false),
            ("run(git *)", "run", true),
        ] {
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        }
    }

    #[test]
    fn excluded_hidden_and_unlisted_tools_are_not_seen() {
        let mut selection = Selection {
            include: vec!["read_*".into(), "write".into()],
            exclude: vec!["read_secret".into()],
            ..Selection::default()
        };
        let seen = |selection: &Selection| {
            ["read_a", "read_secret", "write", "other"].map(|tool| selection.shows(tool))
        };
        assert_eq!(seen(&selection), [true, false, true, false]);
        selection.tools.insert("write".into(), ToolSpec { enabled: false, ..ToolSpec::default() });
        assert_eq!(seen(&selection), [true, false, false, false]);
        selection.listed_only = true;
        assert_eq!(seen(&selection), [false; 4]);
        selection.tools.insert("read_a".into(), ToolSpec::default());
        assert_eq!(seen(&selection), [true, false, false, false]);
    }
}
