//! Links between pages: the file exists, and so does the heading.

use std::path::{Path, PathBuf};

use crate::page::{Page, root};

/// Every link that leads nowhere, with its place.
pub fn faults(pages: &[Page]) -> Vec<String> {
    let mut faults = Vec::new();
    for page in pages {
        for (index, line) in page.prose.lines().enumerate() {
            for target in targets(line) {
                let why = fault(page, target, pages);
                faults
                    .extend(why.map(|why| format!("{}:{}: {target}: {why}", page.name, index + 1)));
            }
        }
    }
    faults
}

fn fault(page: &Page, target: &str, pages: &[Page]) -> Option<String> {
    if target.starts_with("https://") {
        return None;
    }
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let name = match file {
        "" => page.name.clone(),
        file => normal(&Path::new(&page.name).parent().unwrap().join(file)),
    };
    if !root().join(&name).exists() {
        return Some(format!("no file {name}"));
    }
    if anchor.is_empty() {
        return None;
    }
    let linked = pages.iter().find(|page| page.name == name);
    let has = linked.is_some_and(|page| page.anchors.iter().any(|it| it == anchor));
    (!has).then(|| format!("no heading for #{anchor} in {name}"))
}

/// A path without `..`.
fn normal(path: &Path) -> String {
    let mut parts = PathBuf::new();
    for part in path {
        if part == ".." {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    parts.to_str().unwrap().to_owned()
}

/// The targets of the links in a line; what stands in backticks is no link.
fn targets(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for plain in line.split('`').step_by(2) {
        let after = plain.split("](").skip(1);
        found.extend(after.filter_map(|rest| Some(rest.split_once(')')?.0)));
    }
    // A link whose text is code: its target stands after the last backtick.
    found
}

/// Every error code that a page names and the page of codes does not explain.
pub fn unexplained_codes(pages: &[Page]) -> Vec<String> {
    let codes = pages.iter().find(|page| page.name == "docs/errors.md").unwrap();
    let explained: Vec<_> =
        codes.prose.lines().filter_map(|line| line.strip_prefix("## TG-")).collect();
    let mut faults = Vec::new();
    for page in pages {
        for (index, line) in page.prose.lines().enumerate() {
            for rest in line.split("TG-").skip(1) {
                let is_code = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '-';
                let code = &rest[..rest.find(|c| !is_code(c)).unwrap_or(rest.len())];
                let known = explained.iter().any(|it| it.split(' ').next() == Some(code));
                // `TG-…` stands for any code.
                if !known && !code.is_empty() {
                    faults.push(format!("{}:{}: no page for TG-{code}", page.name, index + 1));
                }
            }
        }
    }
    faults
}

/// Every document that a source file names and that does not exist.
pub fn faults_in_sources() -> Vec<String> {
    let mut faults = Vec::new();
    for folder in ["crates", "xtask/src", "tests/src", "tests/e2e"] {
        visit(&root().join(folder), &mut faults);
    }
    faults
}

fn visit(path: &Path, faults: &mut Vec<String>) {
    if path.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            visit(&entry.unwrap().path(), faults);
        }
    } else if path.extension().is_some_and(|extension| extension == "rs") {
        let text = std::fs::read_to_string(path).unwrap();
        for (index, line) in text.lines().enumerate() {
            for rest in line.split("docs/").skip(1) {
                let end = rest.find(|c: char| !(c.is_alphanumeric() || "/-_.".contains(c)));
                let name = rest[..end.unwrap_or(rest.len())].trim_end_matches('.');
                if name.ends_with(".md") && !root().join("docs").join(name).exists() {
                    faults.push(format!("{}:{}: no docs/{name}", path.display(), index + 1));
                }
            }
        }
    }
}

#[test]
fn targets_are_found_and_code_is_not() {
    assert_eq!(targets("[`a`](b.md#c) and `[x](y)` ![p](q.svg)"), ["b.md#c", "q.svg"]);
}
