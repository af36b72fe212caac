//! Notices variables that are written as another host writes them: in our grammar they mean
//! themselves, and whoever wrote them meant something else.

use crate::frame::Fields;
use crate::frame::tree::{Node, Value};
use crate::template::{is_env_name, variables};

/// The fields in which variables are expanded.
const EXPANDED: [&str; 9] =
    ["command", "args", "cwd", "env", "env_file", "url", "headers", "headers_helper", "auth"];
/// What words of editors are called here.
const WORDS: [(&str, &str); 4] = [
    ("workspaceFolder", "${project}"),
    ("workspaceFolderBasename", "${project:name}"),
    ("userHome", "${home}"),
    ("pathSeparator", "${/}"),
];

/// Says of each such variable what was probably meant.
pub(super) fn check(entry: &mut Fields<'_, '_, '_>) {
    for key in EXPANDED {
        if let Some(node) = entry.node(key) {
            below(entry, key, node);
        }
    }
}

fn below(entry: &mut Fields<'_, '_, '_>, key: &str, node: &Node) {
    match &node.value {
        Value::Text(text) => {
            for (written, meant) in foreign(text) {
                let message = format!("`{key}` holds {written}, which is no variable here");
                let hint = format!("did you mean {meant}? a text that is meant begins with $${{");
                entry.remark(node.at, &message, &hint);
            }
        }
        Value::List(items) => items.iter().for_each(|item| below(entry, key, item)),
        Value::Table(members) => {
            for member in members {
                below(entry, &format!("{key}.{}", member.key), &member.node);
            }
        }
        _ => {}
    }
}

/// What looks like a variable of another grammar, and what it is called in ours.
fn foreign(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("${") {
        let Some(end) = text[at..].find('}') else { break };
        let whole = &text[at..=at + end];
        let inside = &whole[2..end];
        if text[..at].ends_with('$') || !variables(whole).is_empty() {
            continue;
        }
        let name = inside.split_once(":-").map_or(inside, |(name, _)| name);
        let word = WORDS.iter().find(|(word, _)| *word == inside).map(|(_, meant)| *meant);
        let meant = match (word, inside.strip_prefix("input:")) {
            (Some(meant), _) => meant.to_owned(),
            (None, Some(id)) if !id.is_empty() => format!("${{secret:{id}}}"),
            _ if is_env_name(name) => format!("${{env:{name}}}"),
            _ => continue,
        };
        // What stands in for an unset variable is not shown: it may be a credential.
        found.push((format!("${{{name}}}"), meant));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_other_hosts_are_told_from_ours_and_from_text() {
        let found = |text| foreign(text).into_iter().map(|(_, meant)| meant).collect::<Vec<_>>();
        assert_eq!(found("a ${TOKEN} ${X:-secret}"), ["${env:TOKEN}", "${env:X}"]);
        assert_eq!(found("${workspaceFolder}/x"), ["${project}"]);
        assert_eq!(found("${input:key}"), ["${secret:key}"]);
        for text in ["${env:TOKEN}", "$${TOKEN}", "${a b}", "${", "$TOKEN", "${home}"] {
            assert!(found(text).is_empty(), "{text}");
        }
    }
}
