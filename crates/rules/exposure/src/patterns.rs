//! Lists of name patterns.
//!
//! A list may be as long as the set it selects from, so plain names are looked up, and only
//! patterns with wildcards are tried one by one.

use std::collections::HashMap;

use toolgate_model::{matches_glob, strip_remark};

/// A list of patterns, prepared for lookups.
pub(crate) struct PatternList<'a> {
    /// The plain names, with their spelling in the file.
    names: HashMap<&'a str, &'a str>,
    /// The patterns with wildcards, with their spelling in the file.
    globs: Vec<(&'a str, &'a str)>,
}

impl<'a> PatternList<'a> {
    /// Creates a list of tool patterns of a server, which may have remarks about arguments.
    pub fn of_tools(patterns: &'a [String]) -> Self {
        Self::of(patterns, strip_remark)
    }

    /// Creates a list of `server/name` patterns. They have no remarks: a URI may contain
    /// parentheses.
    pub fn of_paths(patterns: &'a [String]) -> Self {
        Self::of(patterns, |pattern| pattern)
    }

    fn of(patterns: &'a [String], meant: fn(&str) -> &str) -> Self {
        let mut found = Self { names: HashMap::new(), globs: Vec::new() };
        for pattern in patterns {
            let meant = meant(pattern);
            match as_plain_name(meant) {
                Some(name) => drop(found.names.entry(name).or_insert(pattern)),
                None => found.globs.push((meant, pattern)),
            }
        }
        found
    }

    pub fn is_empty(&self) -> bool {
        self.names.is_empty() && self.globs.is_empty()
    }

    /// Returns the pattern that matches, as written.
    pub fn find(&self, name: &str) -> Option<&'a str> {
        let glob = || self.globs.iter().find(|(glob, _)| matches_glob(glob, name));
        self.names.get(name).copied().or_else(|| glob().map(|(_, written)| *written))
    }

    /// Returns true if the list contains this exact name, not only a matching pattern.
    pub fn names(&self, name: &str) -> bool {
        self.names.contains_key(name)
    }
}

/// Returns the name that a pattern stands for, if it has no wildcard.
pub(crate) fn as_plain_name(pattern: &str) -> Option<&str> {
    (!pattern.contains(['*', '?'])).then_some(pattern)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_by_the_pattern_as_it_is_written() {
        let patterns = ["read".to_owned(), "run(git *)".into(), "list_*".into()];
        let patterns = PatternList::of_tools(&patterns);
        assert_eq!(patterns.find("read"), Some("read"));
        assert_eq!(patterns.find("run"), Some("run(git *)"));
        assert_eq!(patterns.find("list_all"), Some("list_*"));
        assert_eq!(patterns.find("reads"), None);
        assert!(patterns.names("run") && !patterns.names("list_all"));
    }

    #[test]
    fn a_path_means_every_letter_of_it() {
        let patterns = ["s/file:///a (copy).txt".to_owned(), "s/file:///b (*".into()];
        let patterns = PatternList::of_paths(&patterns);
        assert_eq!(patterns.find("s/file:///a (copy).txt"), Some("s/file:///a (copy).txt"));
        assert_eq!(patterns.find("s/file:///b (2).txt"), Some("s/file:///b (*"));
        assert_eq!(patterns.find("s/file:///b"), None);
        assert_eq!(patterns.find("s/file:///a "), None);
    }
}
