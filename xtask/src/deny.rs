//! `cargo xtask deny`: checks dependencies against two rules of `deny.toml`.
//!
//! `cargo deny` reads the same file but takes minutes to build. This verb only checks what must
//! never slip in between its runs: banned crates and licences that are not allowed.

use serde_json::Value;
use toml_edit::{DocumentMut, Item};

use crate::VerbResult;
use crate::workspace;

/// The rules of `deny.toml` that this verb checks.
struct CargoDenyRules {
    licences: Vec<String>,
    banned: Vec<String>,
}

/// Checks every crate of the resolved graph, for all platforms.
pub fn check() -> VerbResult {
    let rules = rules()?;
    let metadata = workspace::metadata(&[])?;
    let packages: Vec<&Value> = workspace::packages(&metadata).collect();
    let faults: Vec<String> = packages.iter().filter_map(|package| rules.fault(package)).collect();
    if faults.is_empty() {
        eprintln!("deny: {} crates within the rules", packages.len());
        return Ok(());
    }
    Err(format!("{} crates break deny.toml\n  {}", faults.len(), faults.join("\n  ")))
}

fn rules() -> Result<CargoDenyRules, String> {
    let path = workspace::root().join("deny.toml");
    let text = std::fs::read_to_string(path).map_err(|error| format!("deny.toml: {error}"))?;
    let document: DocumentMut = text.parse().map_err(|error| format!("deny.toml: {error}"))?;
    let licences = strings(&document["licenses"]["allow"], None);
    let banned = strings(&document["bans"]["deny"], Some("crate"));
    if licences.is_empty() || banned.is_empty() {
        return Err("deny.toml: licenses.allow and bans.deny must not be empty".to_owned());
    }
    Ok(CargoDenyRules { licences, banned })
}

/// The strings of an array, or the strings under `key` of the tables in it.
fn strings(item: &Item, key: Option<&str>) -> Vec<String> {
    let values = item.as_array().into_iter().flatten();
    let texts = values.filter_map(|value| match key {
        Some(key) => value.as_inline_table()?.get(key)?.as_str(),
        None => value.as_str(),
    });
    texts.map(str::to_owned).collect()
}

impl CargoDenyRules {
    fn fault(&self, package: &Value) -> Option<String> {
        let name = package["name"].as_str().unwrap_or_default();
        let version = package["version"].as_str().unwrap_or_default();
        if self.banned.iter().any(|banned| banned == name) {
            return Some(format!("{name} {version}: banned"));
        }
        let Some(expression) = package["license"].as_str() else {
            return Some(format!("{name} {version}: names no licence"));
        };
        let fine =
            LicenceParser { words: words(expression), allowed: &self.licences }.parse_allowed();
        (!fine).then(|| format!("{name} {version}: licence `{expression}` is not allowed"))
    }
}

/// A parser of an SPDX expression; `AND` binds tighter than `OR`.
struct LicenceParser<'a> {
    /// What is left to read, last word first.
    words: Vec<String>,
    allowed: &'a [String],
}

fn words(expression: &str) -> Vec<String> {
    // Before SPDX expressions, crates wrote `MIT/Apache-2.0` and meant OR.
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    spaced.split_whitespace().rev().map(str::to_owned).collect()
}

impl LicenceParser<'_> {
    fn parse_allowed(mut self) -> bool {
        let verdict = self.either();
        verdict && self.words.is_empty()
    }

    fn either(&mut self) -> bool {
        let mut verdict = self.both();
        while self.take("OR") {
            verdict |= self.both();
        }
        verdict
    }

    fn both(&mut self) -> bool {
        let mut verdict = self.one();
        while self.take("AND") {
            verdict &= self.one();
        }
        verdict
    }

    fn one(&mut self) -> bool {
        if self.take("(") {
            let verdict = self.either();
            return self.take(")") && verdict;
        }
        let Some(mut name) = self.words.pop() else {
            return false;
        };
        if self.take("WITH") {
            name = format!("{name} WITH {}", self.words.pop().unwrap_or_default());
        }
        self.allowed.contains(&name)
    }

    fn take(&mut self, word: &str) -> bool {
        let next = self.words.last().is_some_and(|next| next == word);
        if next {
            self.words.pop();
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn allows(expression: &str) -> bool {
        let allowed = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned);
        LicenceParser { words: words(expression), allowed: &allowed }.parse_allowed()
    }

    #[test]
    fn an_expression_is_judged_by_its_structure() {
        for fine in [
            "MIT",
            "GPL-3.0 OR MIT",
            "MIT/BSD-4-Clause",
            "(MIT OR GPL-3.0) AND Apache-2.0",
            "Apache-2.0 WITH LLVM-exception",
            "GPL-3.0 AND ISC OR MIT",
        ] {
            assert!(allows(fine), "{fine}");
        }
        for refused in ["GPL-3.0", "MIT AND GPL-3.0", "(MIT OR ISC) AND ISC", "", "(MIT", "MIT ISC"]
        {
            assert!(!allows(refused), "{refused}");
        }
    }

    #[test]
    fn a_banned_crate_is_refused_whatever_its_licence() {
        let rules = CargoDenyRules {
            licences: vec!["MIT".to_owned()],
            banned: vec!["openssl-sys".to_owned()],
        };
        let package = |name: &str| json!({"name": name, "version": "1.0.0", "license": "MIT"});
        assert_eq!(rules.fault(&package("serde")), None);
        assert_eq!(rules.fault(&package("openssl-sys")).unwrap(), "openssl-sys 1.0.0: banned");
        let silent = json!({"name": "a", "version": "1.0.0", "license": null});
        assert!(rules.fault(&silent).unwrap().contains("no licence"));
    }

    #[test]
    fn the_projects_own_file_can_be_read() {
        let rules = rules().unwrap();
        assert!(rules.licences.contains(&"MIT".to_owned()));
        assert!(rules.banned.contains(&"openssl-sys".to_owned()));
    }
}
