//! A document beyond its servers: single values of it, every text it holds, and what its grammar
//! can say.
//!
//! For whoever changes one setting of a file, or shows a piece of it and must know what to hide.

use toolgate_model::Data;

use crate::Dialect;
use crate::edit::{self, EditError, Step};
use crate::frame::tree::{Member, Node, Value};
use crate::template;

impl Dialect {
    /// Whether a text of our grammar can be said where the dialect takes a plain text. Single
    /// fields may have words of their own beside that: a variable that is taken over by name.
    pub fn says(self, text: &str) -> bool {
        self.grammar().text(&template::pieces(text)).is_ok()
    }

    /// Makes the value at these keys this one.
    pub fn set_value(self, text: &str, keys: &[&str], value: &Data) -> Result<String, EditError> {
        edit::set(self.syntax(), text, &steps(keys), value)
    }

    /// Takes away what is at these keys; `None` if there is nothing.
    pub fn remove_value(self, text: &str, keys: &[&str]) -> Result<Option<String>, EditError> {
        edit::remove(self.syntax(), text, &steps(keys))
    }

    /// Every text a document holds as a value, in no order that means anything. A document that
    /// cannot be read has none.
    pub fn texts(self, document: &str) -> Vec<String> {
        let mut found = Vec::new();
        let document = document.trim_start_matches('\u{feff}');
        let members = self.syntax().parse(document).unwrap_or_default();
        members.iter().for_each(|member| collect(&member.node, &mut found));
        found
    }
}

fn steps(keys: &[&str]) -> Vec<Step> {
    keys.iter().map(|key| Step::Key((*key).to_owned())).collect()
}

fn collect(node: &Node, found: &mut Vec<String>) {
    match &node.value {
        Value::Text(text) => found.push(text.clone()),
        Value::List(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Table(members) => {
            members.iter().for_each(|Member { node, .. }| collect(node, found));
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
        assert!(Dialect::McpJson.says("${env:TOKEN}"));
        assert!(!Dialect::McpJson.says("${secret:token}"));
        assert!(!Dialect::Sidekick.says("${env:TOKEN}"));
    }
}
