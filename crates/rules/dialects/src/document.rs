//! Operations on a document besides its servers: edits of single values, all strings of it, and
//! what its variable syntax can express.
//!
//! Used to change one setting of a file, and to know what to hide when a part of it is shown.

use toolgate_model::ConfigValue;

use crate::common::tree::{TreeMember, TreeNode, TreeValue};
use crate::dialect::{self, Dialect};
use crate::edit::{self, EditError};
use crate::template;

impl Dialect {
    /// Returns true if the dialect can express a text with Toolgate's variables where it takes a
    /// string. Single fields may support more, such as a variable that is inherited by name.
    pub fn can_express(self, text: &str) -> bool {
        self.variable_syntax().render_parts(&template::parse_template(text)).is_ok()
    }

    /// Sets the value at this path.
    pub fn set_value(
        self,
        text: &str,
        keys: &[&str],
        value: &ConfigValue,
    ) -> Result<String, EditError> {
        edit::set(self.syntax(), text, &dialect::keys(keys), value)
    }

    /// Adds a text to the list at this path, or removes it. Returns `None` if nothing changes.
    pub fn change_list(
        self,
        text: &str,
        keys: &[&str],
        item: &str,
        add: bool,
    ) -> Result<Option<String>, EditError> {
        let (steps, item) = (dialect::keys(keys), ConfigValue::text(item));
        let mut items = match edit::get(self.syntax(), text, &steps)? {
            Some(ConfigValue::List(items)) => items,
            Some(single) => vec![single],
            None => Vec::new(),
        };
        if items.contains(&item) == add {
            return Ok(None);
        }
        match add {
            true => items.push(item),
            false => items.retain(|it| *it != item),
        }
        match items.is_empty() {
            true => edit::remove(self.syntax(), text, &steps),
            false => edit::set(self.syntax(), text, &steps, &ConfigValue::List(items)).map(Some),
        }
    }

    /// Removes the value at this path; `None` if there is none.
    pub fn remove_value(self, text: &str, keys: &[&str]) -> Result<Option<String>, EditError> {
        edit::remove(self.syntax(), text, &dialect::keys(keys))
    }

    /// Returns every string value of a document, unordered. An unreadable document has none.
    pub fn texts(self, document: &str) -> Vec<String> {
        let mut found = Vec::new();
        self.parse_members(document).iter().for_each(|member| collect(&member.node, &mut found));
        found
    }
}

fn collect(node: &TreeNode, found: &mut Vec<String>) {
    match &node.value {
        TreeValue::Text(text) => found.push(text.clone()),
        TreeValue::List(items) => items.iter().for_each(|item| collect(item, found)),
        TreeValue::Table(members) => {
            members.iter().for_each(|TreeMember { node, .. }| collect(node, found));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_is_found_however_deep() {
        let document = "a = 'x'\n[b]\nc = ['y', { d = 'z' }]\ne = 1\n";
        assert_eq!(Dialect::Codex.texts(document), ["x", "y", "z"]);
        assert_eq!(Dialect::Gemini.texts("\u{feff}{\"a\": [\"x\"]}"), ["x"]);
        assert!(Dialect::Gemini.texts("{").is_empty());
    }

    #[test]
    fn a_grammar_says_what_it_can() {
        assert!(Dialect::McpJson.can_express("${env:TOKEN}"));
        assert!(!Dialect::McpJson.can_express("${secret:token}"));
        assert!(!Dialect::Sidekick.can_express("${env:TOKEN}"));
    }
}
