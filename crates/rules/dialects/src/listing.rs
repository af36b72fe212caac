//! Servers that are switched on and off by lists of names elsewhere in their document. What else
//! stands on such a list is no business of ours and stays.

use toolgate_model::{Data, ServerName};

use crate::Syntax;
use crate::form::Listing;
use crate::frame::tree::{Member, Node, Value};

impl Listing {
    /// Whether a document's lists let a server be started.
    pub fn allows(self, document: &[Member], name: &str) -> bool {
        let on = |path| names(document, path).map(|names| names.contains(&Data::text(name)));
        on(self.allowed).unwrap_or(true) && !on(self.excluded).unwrap_or(false)
    }

    /// The lists as they should be for a server to be on or off, each only if it has to change.
    pub fn changes(
        self,
        syntax: Syntax,
        text: &str,
        name: &ServerName,
        enabled: bool,
    ) -> Vec<(&'static [&'static str], Vec<Data>)> {
        // What cannot be read cannot be changed either: whoever tries finds out.
        let document = syntax.parse(text.trim_start_matches('\u{feff}')).unwrap_or_default();
        if self.allows(&document, name.as_str()) == enabled {
            return Vec::new();
        }
        let own = Data::text(name.as_str());
        let (allowed, excluded) = (names(&document, self.allowed), names(&document, self.excluded));
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

    /// The lists as they should be when a server is gone, each only if it has to change.
    pub fn without(
        self,
        syntax: Syntax,
        text: &str,
        name: &ServerName,
    ) -> Vec<(&'static [&'static str], Vec<Data>)> {
        let document = syntax.parse(text.trim_start_matches('\u{feff}')).unwrap_or_default();
        let own = Data::text(name.as_str());
        let shorter = |path| {
            let before = names(&document, path)?;
            let after: Vec<_> = before.iter().filter(|it| **it != own).cloned().collect();
            (after.len() < before.len()).then_some((path, after))
        };
        [self.allowed, self.excluded].into_iter().filter_map(shorter).collect()
    }
}

/// What is on a list; `None` if there is no such list.
fn names(document: &[Member], path: &[&str]) -> Option<Vec<Data>> {
    let (first, rest) = path.split_first()?;
    let node = &document.iter().find(|member| member.key == *first)?.node;
    match &node.value {
        Value::Table(members) => names(members, rest),
        Value::List(items) if rest.is_empty() => Some(items.iter().map(Node::data).collect()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTING: Listing = Listing { allowed: &["mcp", "allowed"], excluded: &["mcp", "no"] };

    fn changes(text: &str, enabled: bool) -> Vec<(&'static str, Vec<Data>)> {
        let name = ServerName::new("a").unwrap();
        let changes = LISTING.changes(Syntax::Json, text, &name, enabled);
        changes.into_iter().map(|(path, names)| (path[1], names)).collect()
    }

    #[test]
    fn only_the_list_that_has_to_change_does() {
        let names = |names: &[&str]| names.iter().map(|it| Data::text(*it)).collect::<Vec<_>>();
        assert_eq!(changes("{}", true), []);
        assert_eq!(changes("{}", false), [("no", names(&["a"]))]);
        assert_eq!(changes(r#"{"mcp": {"no": ["a", "b"]}}"#, false), []);
        assert_eq!(changes(r#"{"mcp": {"no": ["a", "b"]}}"#, true), [("no", names(&["b"]))]);
        let both = changes(r#"{"mcp": {"allowed": ["b"], "no": ["a"]}}"#, true);
        assert_eq!(both, [("no", vec![]), ("allowed", names(&["b", "a"]))]);
        let odd = changes(r#"{"mcp": {"no": ["a", 5]}}"#, true);
        assert_eq!(odd, [("no", vec![Data::Integer(5)])], "what is no name stays");
    }
}
