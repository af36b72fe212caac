//! Lists of patterns, asked for the one a name fits.
//!
//! A list may be as long as what it chooses from, so patterns that are plain names are looked up
//! and only those with wildcards are tried one by one.

use std::collections::HashMap;

use toolgate_model::{fits, without_remark};

pub(crate) struct Patterns<'a> {
    /// The name each means, and how it is written.
    names: HashMap<&'a str, &'a str>,
    /// The same of those with wildcards.
    globs: Vec<(&'a str, &'a str)>,
}

impl<'a> Patterns<'a> {
    /// Patterns of a server's tools, with remarks about arguments.
    pub fn of_tools(patterns: &'a [String]) -> Self {
        Self::of(patterns, without_remark)
    }

    /// Patterns of `server/name`, to the letter: a URI may hold a parenthesis.
    pub fn of_paths(patterns: &'a [String]) -> Self {
        Self::of(patterns, |pattern| pattern)
    }

    fn of(patterns: &'a [String], meant: fn(&str) -> &str) -> Self {
        let mut found = Self { names: HashMap::new(), globs: Vec::new() };
        for pattern in patterns {
            let meant = meant(pattern);
            match plain(meant) {
                Some(name) => drop(found.names.entry(name).or_insert(pattern)),
                None => found.globs.push((meant, pattern)),
            }
        }
        found
    }

    pub fn is_empty(&self) -> bool {
        self.names.is_empty() && self.globs.is_empty()
    }

    /// The pattern that fits, as it is written.
    pub fn find(&self, name: &str) -> Option<&'a str> {
        let glob = || self.globs.iter().find(|(glob, _)| fits(glob, name));
        self.names.get(name).copied().or_else(|| glob().map(|(_, written)| *written))
    }

    /// Whether the name itself is written, not a pattern it fits.
    pub fn names(&self, name: &str) -> bool {
        self.names.contains_key(name)
    }
}

/// The one name a pattern means, if it has no wildcard.
pub(crate) fn plain(pattern: &str) -> Option<&str> {
    (!pattern.contains(['*', '?'])).then_some(pattern)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_by_the_pattern_as_it_is_written() {
        let patterns = ["read".to_owned(), "run(git *)".into(), "list_*".into()];
        let patterns = Patterns::of_tools(&patterns);
        assert_eq!(patterns.find("read"), Some("read"));
        assert_eq!(patterns.find("run"), Some("run(git *)"));
        assert_eq!(patterns.find("list_all"), Some("list_*"));
        assert_eq!(patterns.find("reads"), None);
        assert!(patterns.names("run") && !patterns.names("list_all"));
    }

    #[test]
    fn a_path_means_every_letter_of_it() {
        let patterns = ["s/file:///a (copy).txt".to_owned(), "s/file:///b (*".into()];
        let patterns = Patterns::of_paths(&patterns);
        assert_eq!(patterns.find("s/file:///a (copy).txt"), Some("s/file:///a (copy).txt"));
        assert_eq!(patterns.find("s/file:///b (2).txt"), Some("s/file:///b (*"));
        assert_eq!(patterns.find("s/file:///b"), None);
        assert_eq!(patterns.find("s/file:///a "), None);
    }
}
