//! Warns about variables in the syntax of another host: in Toolgate's syntax they are literal text,
//! which is probably not intended.

use crate::VariableSyntax;
use crate::common::TableFields;
use crate::common::tree::{TreeNode, TreeValue};
use crate::template::{TemplateVariable, template_variables, variables};

/// The fields in which variables are expanded.
const EXPANDED: [&str; 9] =
    ["command", "args", "cwd", "env", "env_file", "url", "headers", "headers_helper", "auth"];

/// Warns about each such variable, and suggests the intended one.
pub(super) fn check(entry: &mut TableFields<'_>) {
    for key in EXPANDED {
        if let Some(node) = entry.node(key) {
            check_node(entry, key, node);
        }
    }
}

fn check_node(entry: &mut TableFields<'_>, key: &str, node: &TreeNode) {
    match &node.value {
        TreeValue::Text(text) => {
            for (written, meant) in foreign_variables(text) {
                let message =
                    format!("`{key}` contains {written}, which is not a variable in this file");
                let hint =
                    format!("did you mean {meant}? to keep the text as it is, begin it with $${{");
                entry.warn_at(node.at, &message, &hint);
            }
        }
        TreeValue::List(items) => items.iter().for_each(|item| check_node(entry, key, item)),
        TreeValue::Table(members) => {
            for member in members {
                check_node(entry, &format!("{key}.{}", member.key), &member.node);
            }
        }
        _ => {}
    }
}

/// Returns text that looks like a variable of another syntax, with its equivalent in Toolgate's.
fn foreign_variables(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("${") {
        let Some(end) = text[at..].find('}') else { break };
        let whole = &text[at..=at + end];
        let inside = &whole[2..end];
        if text[..at].ends_with('$') || !variables(whole).is_empty() {
            continue;
        }
        let name = inside.split_once(":-").map_or(inside, |(name, _)| name);
        let parts = [VariableSyntax::Editor, VariableSyntax::Braces].map(|it| it.parse(whole));
        if let Some(variable) = parts.into_iter().flat_map(template_variables).next() {
            // The default is not shown, because it may be a credential.
            let meant = TemplateVariable { default: None, ..variable };
            found.push((format!("${{{name}}}"), meant.to_string()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_other_hosts_are_told_from_ours_and_from_text() {
        let found =
            |text| foreign_variables(text).into_iter().map(|(_, meant)| meant).collect::<Vec<_>>();
        assert_eq!(found("a ${TOKEN} ${X:-secret}"), ["${env:TOKEN}", "${env:X}"]);
        assert_eq!(found("${workspaceFolder}/x"), ["${project}"]);
        assert_eq!(found("${input:key}"), ["${secret:key}"]);
        for text in ["${env:TOKEN}", "$${TOKEN}", "${a b}", "${", "$TOKEN", "${home}"] {
            assert!(found(text).is_empty(), "{text}");
        }
    }
}
