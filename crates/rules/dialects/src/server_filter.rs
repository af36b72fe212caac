//! Servers that are enabled and disabled by lists of names elsewhere in the document. Other names
//! in these lists are kept.

use toolgate_model::{ConfigValue, ServerName};

use crate::common::tree::{TreeMember, TreeNode, find_path};
use crate::dialect_format::EnabledServerListKeys;

impl EnabledServerListKeys {
    /// Returns true if the lists of a document enable a server.
    pub fn allows(self, document: &[TreeMember], name: &str) -> bool {
        let on =
            |path| names_at(document, path).map(|names| names.contains(&ConfigValue::text(name)));
        on(self.allowed).unwrap_or(true) && !on(self.excluded).unwrap_or(false)
    }

    /// Returns the lists that have to change to enable or disable a server, with their new content.
    pub fn changes(
        self,
        document: &[TreeMember],
        name: &ServerName,
        enabled: bool,
    ) -> Vec<(&'static [&'static str], Vec<ConfigValue>)> {
        if self.allows(document, name.as_str()) == enabled {
            return Vec::new();
        }
        let own = ConfigValue::text(name.as_str());
        let (allowed, excluded) =
            (names_at(document, self.allowed), names_at(document, self.excluded));
        let mut excluded_now = excluded.clone().unwrap_or_default();
        excluded_now.retain(|it| *it != own);
        if !enabled {
            excluded_now.push(own);
            return vec![(self.excluded, excluded_now)];
        }
        let mut changes = Vec::new();
        if excluded.is_some_and(|before| before != excluded_now) {
            changes.push((self.excluded, excluded_now));
        }
        if let Some(mut allowed) = allowed.filter(|it| !it.contains(&own)) {
            allowed.push(own);
            changes.push((self.allowed, allowed));
        }
        changes
    }

    /// Returns the lists that have to change when a server is removed, with their new content.
    pub fn changes_for_removal(
        self,
        document: &[TreeMember],
        name: &ServerName,
    ) -> Vec<(&'static [&'static str], Vec<ConfigValue>)> {
        let own = ConfigValue::text(name.as_str());
        let shorter = |path| {
            let before = names_at(document, path)?;
            let after: Vec<_> = before.iter().filter(|it| **it != own).cloned().collect();
            (after.len() < before.len()).then_some((path, after))
        };
        [self.allowed, self.excluded].into_iter().filter_map(shorter).collect()
    }
}

/// Returns the content of a list; `None` if the list does not exist.
fn names_at(document: &[TreeMember], path: &[&str]) -> Option<Vec<ConfigValue>> {
    Some(find_path(document, path)?.list()?.iter().map(TreeNode::data).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dialect;

    const LISTING: EnabledServerListKeys =
        EnabledServerListKeys { allowed: &["mcp", "allowed"], excluded: &["mcp", "no"] };

    fn changes(text: &str, enabled: bool) -> Vec<(&'static str, Vec<ConfigValue>)> {
        let name = ServerName::new("a").unwrap();
        let changes = LISTING.changes(&Dialect::Gemini.parse_members(text), &name, enabled);
        changes.into_iter().map(|(path, names)| (path[1], names)).collect()
    }

    #[test]
    fn only_the_list_that_has_to_change_does() {
        let names =
            |names: &[&str]| names.iter().map(|it| ConfigValue::text(*it)).collect::<Vec<_>>();
        assert_eq!(changes("{}", true), []);
        assert_eq!(changes("{}", false), [("no", names(&["a"]))]);
        assert_eq!(changes(r#"{"mcp": {"no": ["a", "b"]}}"#, false), []);
        assert_eq!(changes(r#"{"mcp": {"no": ["a", "b"]}}"#, true), [("no", names(&["b"]))]);
        let both = changes(r#"{"mcp": {"allowed": ["b"], "no": ["a"]}}"#, true);
        assert_eq!(both, [("no", vec![]), ("allowed", names(&["b", "a"]))]);
        let odd = changes(r#"{"mcp": {"no": ["a", 5]}}"#, true);
        assert_eq!(odd, [("no", vec![ConfigValue::Integer(5)])], "what is no name stays");
    }
}
