//! Names that can be taken for others: letters of another script that look the same, and names that
//! differ in one letter.
//!
//! Two servers with tools of the same name are nothing unusual, since names are told apart by
//! server; a name that only looks the same has no innocent reason.

use std::collections::{BTreeSet, HashMap};

use toolgate_model::{CapabilityId, CapabilityKind, Catalog, ServerName};
use unicode_security::MixedScript;

use crate::finding::{Code, Finding, Severity, excerpt};
use crate::words::looks_like;

/// Shorter names differ in one letter by chance.
const SHORTEST_SERVER: usize = 5;
const SHORTEST_TOOL: usize = 8;

/// One name and whose it is.
struct Named {
    server: ServerName,
    capability: Option<CapabilityId>,
    name: String,
}

/// Everything that can be taken for something of another server.
pub(crate) fn of_all(servers: &[(&ServerName, &Catalog)]) -> Vec<Finding> {
    let own = servers.iter().map(|(server, _)| Named {
        server: (*server).clone(),
        capability: None,
        name: server.to_string(),
    });
    let mut found = alike(&own.collect::<Vec<_>>(), SHORTEST_SERVER);
    let tools = servers.iter().flat_map(|(server, catalog)| {
        let names: BTreeSet<_> =
            catalog.of(CapabilityKind::Tool).iter().map(|it| &it.name).collect();
        names.into_iter().map(|name| Named {
            server: (*server).clone(),
            capability: Some(CapabilityId {
                server: (*server).clone(),
                kind: CapabilityKind::Tool,
                name: name.clone(),
            }),
            name: name.to_string(),
        })
    });
    found.extend(alike(&tools.collect::<Vec<_>>(), SHORTEST_TOOL));
    found
}

fn alike(names: &[Named], shortest: usize) -> Vec<Finding> {
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
        looks.entry(looks_like(&named.name)).or_default().push(number);
        let lower = named.name.to_lowercase();
        if lower.chars().count() >= shortest {
            for shorter in one_less(&lower).into_iter().chain([lower]) {
                without.entry(shorter).or_default().push(number);
            }
        }
    }
    add(looks, &|a, b| a.to_lowercase() != b.to_lowercase());
    add(without, &|a, b| one_letter_apart(&a.to_lowercase(), &b.to_lowercase()));
    pairs.into_iter().flat_map(|(a, b)| told(&names[a], &names[b])).collect()
}

/// A pair is told once, of the one whose name is the stranger: which of two is the original, nobody
/// here knows, so it is told of both unless one is plain and the other is not.
fn told(a: &Named, b: &Named) -> Vec<Finding> {
    let finding = |of: &Named, like: &Named| Finding {
        code: Code::LooksAlike,
        severity: match (of.name.is_ascii(), &of.capability) {
            (true, Some(_)) => Severity::Low, // verbs and nouns are few
            (true, None) => Severity::Medium,
            (false, _) => Severity::High,
        },
        server: of.server.clone(),
        capability: of.capability.clone(),
        at: "name".to_owned(),
        excerpt: excerpt(&of.name, 0),
        message: match like.capability {
            Some(_) => format!("it can be taken for `{}` of the server {}", like.name, like.server),
            None => format!("it can be taken for the server {}", like.name),
        },
    };
    match (a.name.is_ascii(), b.name.is_ascii()) {
        (true, false) => vec![finding(b, a)],
        (false, true) => vec![finding(a, b)],
        _ => vec![finding(a, b), finding(b, a)],
    }
}

/// A name with each of its letters left out.
fn one_less(name: &str) -> BTreeSet<String> {
    let chars: Vec<char> = name.chars().collect();
    (0..chars.len())
        .map(|out| chars.iter().enumerate().filter(|(at, _)| *at != out).map(|(_, c)| c).collect())
        .collect()
}

/// Whether two names differ in one letter that is easily overlooked: not a digit, not the ending of a
/// plural, and not a mark between words.
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

/// A name in which letters of several scripts stand that do not belong together.
pub(crate) fn mixed(
    server: &ServerName,
    capability: Option<&CapabilityId>,
    name: &str,
) -> Option<Finding> {
    let addressed =
        |id: &CapabilityId| matches!(id.kind, CapabilityKind::Resource | CapabilityKind::Template);
    if name.is_ascii() || name.is_single_script() || capability.is_some_and(addressed) {
        return None;
    }
    let odd = name.char_indices().find(|(_, c)| !c.is_ascii())?;
    Some(Finding {
        code: Code::MixedScripts,
        severity: Code::MixedScripts.severity(),
        server: server.clone(),
        capability: capability.cloned(),
        at: "name".to_owned(),
        excerpt: excerpt(name, 0),
        message: format!("it mixes scripts: `{}` is U+{:04X}", odd.1, odd.1 as u32),
    })
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
        of_all(&owned.iter().map(|(name, catalog)| (name, catalog)).collect::<Vec<_>>())
    }

    /// How many are told of each server.
    fn counted(found: &[Finding]) -> BTreeMap<&str, usize> {
        let mut counts = BTreeMap::new();
        found.iter().for_each(|it| *counts.entry(it.server.as_str()).or_default() += 1);
        counts
    }

    #[test]
    fn another_script_that_looks_the_same_is_found_and_blamed() {
        let found = found(&[("github", &["read_file"]), ("githսb", &["reаd_file"])]);
        assert_eq!(counted(&found), [("githսb", 2)].into());
        assert!(found.iter().all(|it| it.severity == Severity::High));
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
        assert!(mixed(&server, None, "githսb").is_some());
        for honest in ["github", "zażółć", "メール送信", "Сервер"] {
            assert_eq!(mixed(&server, None, honest), None, "{honest}");
        }
    }
}
