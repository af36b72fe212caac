//! The declared visibility and terms of a server's tools.
//!
//! This is what files declare; other modules evaluate tags, aliases and approvals.

use std::collections::BTreeMap;

use toolgate_wire::words;

/// The declared settings for the tools of one server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolSelection {
    /// Patterns of visible tools; if empty, all tools are visible.
    pub include: Vec<String>,
    /// Patterns of hidden tools; they take precedence.
    pub exclude: Vec<String>,
    /// Whether a tool that `tools` does not list is hidden.
    pub listed_only: bool,
    /// Settings of single tools, by the server's name for them.
    pub tools: BTreeMap<String, DeclaredTool>,
    /// When a call requires approval, for tools without a setting of their own.
    pub approval: Option<ApprovalMode>,
}

/// The declared settings for one tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredTool {
    /// The name to expose it under.
    pub alias: Option<String>,
    /// Its tags, instead of the server's.
    pub tags: Option<Vec<String>>,
    /// Whether it is visible.
    pub enabled: bool,
    /// When a call requires approval.
    pub approval: Option<ApprovalMode>,
}

impl Default for DeclaredTool {
    fn default() -> Self {
        Self { alias: None, tags: None, enabled: true, approval: None }
    }
}

words! {
    /// When a call of a tool requires approval.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum ApprovalMode {
        /// Unless the tool is read-only.
        Auto = "auto",
        /// Whenever the tool may write.
        Writes = "writes",
        /// Every time.
        Always = "always",
        /// Never.
        Never = "never",
    }
}

impl ToolSelection {
    /// Returns true if a tool of this name is visible: listed where that is required, included, and
    /// neither excluded nor disabled.
    pub fn is_visible(&self, tool: &str) -> bool {
        let matched = |patterns: &[String]| {
            patterns.iter().any(|pattern| matches_tool_pattern(pattern, tool))
        };
        let listed = self.tools.get(tool);
        let included = self.include.is_empty() || matched(&self.include);
        listed.map_or(!self.listed_only, |tool| tool.enabled) && included && !matched(&self.exclude)
    }
}

/// Returns true if a tool's name matches a pattern that may end in a remark.
pub fn matches_tool_pattern(pattern: &str, name: &str) -> bool {
    matches_glob(strip_remark(pattern), name)
}

/// Returns the part of a pattern that matches the name. Some hosts append a remark about arguments
/// in parentheses.
pub fn strip_remark(pattern: &str) -> &str {
    pattern.split_once('(').map_or(pattern, |(name, _)| name)
}

/// Returns true if a text matches a pattern: `*` is any text, `?` any one character.
pub fn matches_glob(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut from) = (0, 0);
    // The position of the last `*`, and how much of the name it has consumed so far.
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
            assert_eq!(matches_tool_pattern(pattern, name), fits, "{pattern} {name}");
        }
    }

    #[test]
    fn excluded_hidden_and_unlisted_tools_are_not_seen() {
        let mut selection = ToolSelection {
            include: vec!["read_*".into(), "write".into()],
            exclude: vec!["read_secret".into()],
            ..ToolSelection::default()
        };
        let seen = |selection: &ToolSelection| {
            ["read_a", "read_secret", "write", "other"].map(|tool| selection.is_visible(tool))
        };
        assert_eq!(seen(&selection), [true, false, true, false]);
        selection
            .tools
            .insert("write".into(), DeclaredTool { enabled: false, ..DeclaredTool::default() });
        assert_eq!(seen(&selection), [true, false, false, false]);
        selection.listed_only = true;
        assert_eq!(seen(&selection), [false; 4]);
        selection.tools.insert("read_a".into(), DeclaredTool::default());
        assert_eq!(seen(&selection), [true, false, false, false]);
    }
}
