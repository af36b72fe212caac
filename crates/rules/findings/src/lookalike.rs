//! Finds names that can be mistaken for names of other servers: names with look-alike letters of
//! another script, and names that differ in one letter.
//!
//! Two servers may well have tools with the same name, since a name belongs to its server. A name
//! that only looks the same has no innocent reason.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use toolgate_model::{CapabilityId, CapabilityKind, Catalog, ServerName};
use unicode_security::MixedScript;

use crate::catalog::CatalogTextField;
use crate::finding::{Finding, FindingCode, FindingSeverity, excerpt};
use crate::words::visual_skeleton;

/// The shortest server name that is compared letter by letter. Shorter names differ in one letter
/// by chance.
const SHORTEST_SERVER: usize = 5;
/// The same limit for tool names.
const SHORTEST_TOOL: usize = 8;

/// A server or tool name and its server.
struct OwnedName {
    server: ServerName,
    capability: Option<CapabilityId>,
    name: String,
}

impl OwnedName {
    fn of_tool(server: &ServerName, name: &Arc<str>) -> Self {
        let kind = CapabilityKind::Tool;
        let id = CapabilityId { server: server.clone(), kind, name: name.clone() };
        Self { server: server.clone(), capability: Some(id), name: name.to_string() }
    }
}

/// Returns a finding for every name that can be mistaken for a name of another server.
pub(crate) fn find_lookalikes(servers: &[(&ServerName, &Catalog)]) -> Vec<Finding> {
    let own = servers.iter().map(|(server, _)| OwnedName {
        server: (*server).clone(),
        capability: None,
        name: server.to_string(),
    });
    let mut found = find_similar_names(&own.collect::<Vec<_>>(), SHORTEST_SERVER);
    let tools = servers.iter().flat_map(|(server, catalog)| {
        let tools = catalog.definitions(CapabilityKind::Tool).iter();
        let names: BTreeSet<_> = tools.map(|it| &it.name).collect();
        names.into_iter().map(|name| OwnedName::of_tool(server, name))
    });
    found.extend(find_similar_names(&tools.collect::<Vec<_>>(), SHORTEST_TOOL));
    found
}

fn find_similar_names(names: &[OwnedName], shortest: usize) -> Vec<Finding> {
    let mut pairs = BTreeSet::new();
    let mut add = |groups: HashMap<String, Vec<usize>>, fits: &dyn Fn(&str, &str) -> bool| {
        for group in groups.into_values().filter(|group| group.len() > 1) {
            for (at, one) in group.iter().enumerate() {
                for other in group.iter().skip(at + 1) {
                    let (a, b) = (&names[*one], &names[*other]);
                    if a.server != b.server && a.name != b.name && fits(&a.name, &b.name) {
                        pairs.insert((*one.min(other), *one.max(other)));
                    }
                }
            }
        }
    };
    let mut looks: HashMap<String, Vec<usize>> = HashMap::new();
    let mut without: HashMap<String, Vec<usize>> = HashMap::new();
    for (number, named) in names.iter().enumerate() {
        looks.entry(visual_skeleton(&named.name)).or_default().push(number);
        let lower = named.name.to_lowercase();
        if lower.chars().count() >= shortest {
            for shorter in one_less(&lower).into_iter().chain([lower]) {
                without.entry(shorter).or_default().push(number);
            }
        }
    }
    add(looks, &|a, b| a.to_lowercase() != b.to_lowercase());
    add(without, &|a, b| one_letter_apart(&a.to_lowercase(), &b.to_lowercase()));
    pairs.into_iter().flat_map(|(a, b)| lookalike_findings(&names[a], &names[b])).collect()
}

/// Returns the findings for a pair of similar names. If only one name is ASCII, the other one gets
/// the finding; otherwise both do, because it is unknown which is the original.
fn lookalike_findings(a: &OwnedName, b: &OwnedName) -> Vec<Finding> {
    let finding = |of: &OwnedName, like: &OwnedName| {
        let severity = match (of.name.is_ascii(), &of.capability) {
            (true, Some(_)) => FindingSeverity::Low, // tool names share few verbs and nouns
            (true, None) => FindingSeverity::Medium,
            (false, _) => FindingSeverity::High,
        };
        let message = match like.capability {
            Some(_) => format!("looks like `{}` of the server {}", like.name, like.server),
            None => format!("looks like the name of the server {}", like.name),
        };
        let text = CatalogTextField::name(&of.server, of.capability.as_ref());
        text.finding(FindingCode::LooksAlike, severity, excerpt(&of.name, 0), message)
    };
    match (a.name.is_ascii(), b.name.is_ascii()) {
        (true, false) => vec![finding(b, a)],
        (false, true) => vec![finding(a, b)],
        _ => vec![finding(a, b), finding(b, a)],
    }
}

/// Returns every string that results from removing one letter from the name.
fn one_less(name: &str) -> BTreeSet<String> {
    let chars: Vec<char> = name.chars().collect();
    (0..chars.len())
        .map(|out| chars.iter().enumerate().filter(|(at, _)| *at != out).map(|(_, c)| c).collect())
        .collect()
}

/// Returns true if two names differ in one letter that is easily overlooked: not a digit, not a
/// plural `s`, and not a separator.
fn one_letter_apart(a: &str, b: &str) -> bool {
    let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    let (long, short): (Vec<_>, Vec<_>) = (long.chars().collect(), short.chars().collect());
    let same = long.iter().zip(&short).take_while(|(a, b)| a == b).count();
    let Some(odd) = long.get(same) else { return false };
    let swapped = short.get(same).copied();
    let (rest, plural) = match long.len() - short.len() {
        0 => (short.get(same + 1..), false),
        1 => (short.get(same..), *odd == 's' && same + 1 == long.len()),
        _ => return false,
    };
    let swapped = swapped.filter(|_| long.len() == short.len());
    let is_mark = |c: char| matches!(c, '-' | '_' | '.' | ' ');
    let digits = odd.is_numeric() || swapped.is_some_and(char::is_numeric);
    let marks = is_mark(*odd) && swapped.is_none_or(is_mark);
    rest == long.get(same + 1..) && !plural && !digits && !marks
}

/// Returns a finding if the name mixes letters of scripts that are not written together.
pub(crate) fn find_mixed_scripts(name: &CatalogTextField<'_>) -> Option<Finding> {
    let addressed =
        |id: &CapabilityId| matches!(id.kind, CapabilityKind::Resource | CapabilityKind::Template);
    let text = &name.text;
    if text.is_ascii() || text.is_single_script() || name.capability.is_some_and(addressed) {
        return None;
    }
    let odd = text.chars().find(|c| !c.is_ascii())?;
    let code = FindingCode::MixedScripts;
    let message = format!("mixes scripts: `{odd}` is U+{:04X}", odd as u32);
    Some(name.finding(code, code.severity(), excerpt(text, 0), message))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use bytes::Bytes;
    use toolgate_model::Definition;
    use toolgate_wire::Revision;

    use super::*;

    fn catalog(tools: &[&str]) -> Catalog {
        let mut catalog = Catalog::empty(Revision::V2025_11_25);
        let define = |name: &&str| Definition { name: (*name).into(), raw: Bytes::from("{}") };
        catalog.tools = tools.iter().map(define).collect();
        catalog
    }

    fn found(servers: &[(&str, &[&str])]) -> Vec<Finding> {
        let owned: Vec<_> = servers
            .iter()
            .map(|(name, tools)| (ServerName::new(name).unwrap(), catalog(tools)))
            .collect();
        find_lookalikes(&owned.iter().map(|(name, catalog)| (name, catalog)).collect::<Vec<_>>())
    }

    /// Counts the findings per server.
    fn counted(found: &[Finding]) -> BTreeMap<&str, usize> {
        let mut counts = BTreeMap::new();
        found.iter().for_each(|it| *counts.entry(it.server.as_str()).or_default() += 1);
        counts
    }

    #[test]
    fn another_script_that_looks_the_same_is_found_and_blamed() {
        let found = found(&[("github", &["read_file"]), ("githսb", &["reаd_file"])]);
        assert_eq!(counted(&found), [("githսb", 2)].into());
        assert!(found.iter().all(|it| it.severity == FindingSeverity::High));
    }

    #[test]
    fn one_letter_makes_a_pair() {
        let found =
            found(&[("github", &["create_issue"]), ("githuб", &[]), ("gitlab", &["creat_issue"])]);
        assert_eq!(counted(&found), [("github", 1), ("githuб", 1), ("gitlab", 1)].into());
    }

    #[test]
    fn numbers_plurals_and_equal_names_do_not() {
        let given: &[(&str, &[&str])] = &[
            ("server1", &["list_issues", "read_file"]),
            ("server2", &["list_issue", "read_file"]),
            ("git", &["read_text_file2", "list-issues"]),
            ("gib", &["read_text_file3"]),
        ];
        assert_eq!(found(given), []);
    }

    #[test]
    fn mixed_scripts_are_found_in_one_name() {
        let server = ServerName::new("s").unwrap();
        let named = |name: &'static str| CatalogTextField {
            text: name.into(),
            ..CatalogTextField::name(&server, None)
        };
        assert!(find_mixed_scripts(&named("githսb")).is_some());
        for honest in ["github", "zażółć", "メール送信", "Сервер"] {
            assert_eq!(find_mixed_scripts(&named(honest)), None, "{honest}");
        }
    }
}
