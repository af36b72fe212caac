//! Checks the content and length of source files.
//!
//! The rules are line-based on purpose, so that a reader can check them by eye. Test code (after
//! `#[cfg(test)]`, and files in `tests/`) must only meet the size limit.

use std::path::{Path, PathBuf};

use super::graph::is_pure;
use crate::workspace::WorkspaceMember;

/// The hard stop for one file; the aim is 400.
const MOST_LINES: usize = 600;

/// Words that belong in some folders only: (word, folders, reason).
const CONFINED: &[(&str, &[&str], &str)] = &[
    ("(unsafe_code", &["crates/edges/launch"], "unsafe code lives in `launch`"),
    (
        "clippy::disallowed_methods",
        &["crates/edges/launch", "crates/testkit", "tests", "xtask"],
        "only `launch` starts processes",
    ),
    ("cfg(unix", PLATFORM, "platform differences end at the edges"),
    ("cfg(windows", PLATFORM, "platform differences end at the edges"),
    ("cfg(target_os", PLATFORM, "platform differences end at the edges"),
    ("cfg(not(", PLATFORM, "platform differences end at the edges"),
    ("cfg!(", PLATFORM, "platform differences end at the edges"),
    ("std::os::", PLATFORM, "platform differences end at the edges"),
];

/// Where systems may differ: processes, carriers, folders and who may read a file. Everything else
/// must compile anywhere.
const PLATFORM: &[&str] = &[
    "crates/edges/launch/",
    "crates/edges/transport/",
    "crates/edges/config/src/platform/",
    "crates/edges/store/src/private_files.rs",
    "crates/edges/journal/src/private_files.rs",
    "crates/testkit",
    "tests",
    "xtask",
];

/// Words that pure crates do without.
const IMPURE: &[&str] =
    &["std::fs", "std::net", "std::process", "std::env", "SystemTime::now", "async fn"];

/// Every fault of every file of every member.
pub fn faults(root: &Path, members: &[WorkspaceMember]) -> Result<Vec<String>, String> {
    let mut faults = Vec::new();
    for member in members {
        for file in rust_files(&root.join(&member.folder))? {
            let text = std::fs::read_to_string(&file)
                .map_err(|error| format!("cannot read {}: {error}", file.display()))?;
            let path = file.strip_prefix(root).unwrap_or(&file).to_string_lossy().into_owned();
            faults.extend(of_file(&path, &text));
        }
    }
    Ok(faults)
}

/// The Rust files below a folder.
pub fn rust_files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(folder)
        .map_err(|error| format!("cannot list {}: {error}", folder.display()))?;
    let mut files = Vec::new();
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(rust_files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(files)
}

fn of_file(path: &str, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let lines = text.lines().count();
    if lines > MOST_LINES {
        faults.push(format!("{path}: {lines} lines, {MOST_LINES} at most"));
    }
    if !text.starts_with("//!") {
        faults.push(format!("{path}: does not begin with a `//!` header"));
    }
    if path.contains("/tests/") || path.ends_with("/tests.rs") || path.contains("/examples/") {
        return faults;
    }
    let shipped = text.lines().take_while(|line| !line.trim_start().starts_with("#[cfg(test)]"));
    for (number, line) in shipped.enumerate().filter(|(_, line)| !line.trim().starts_with("//")) {
        faults.extend(of_line(path, line).map(|why| format!("{path}:{}: {why}", number + 1)));
    }
    faults
}

fn of_line(path: &str, line: &str) -> Option<String> {
    let pure = is_pure(path);
    if let Some(word) = IMPURE.iter().find(|word| pure && line.contains(**word)) {
        return Some(format!("`{word}` in a layer without IO"));
    }
    let strayed = CONFINED.iter().find(|(word, folders, _)| {
        line.contains(word) && !folders.iter().any(|folder| path.starts_with(folder))
    });
    // The table above names the words it looks for.
    strayed.filter(|_| path != "xtask/src/layers/sources.rs").map(|(.., why)| (*why).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_needs_a_header_and_an_end() {
        assert!(of_file("xtask/src/a.rs", "//! Fine.\n").is_empty());
        assert_eq!(of_file("xtask/src/a.rs", "fn main() {}\n").len(), 1);
        let long = format!("//! Long.\n{}", "\n".repeat(MOST_LINES));
        assert_eq!(of_file("xtask/src/a.rs", &long).len(), 1);
    }

    #[test]
    fn a_confined_word_strays_only_outside_its_folder() {
        let text = "//! x\n#![allow(unsafe_code)]\n";
        assert!(of_file("crates/edges/launch/src/a.rs", text).is_empty());
        let faults = of_file("crates/host/src/a.rs", text);
        assert_eq!(faults, ["crates/host/src/a.rs:2: unsafe code lives in `launch`"]);
    }

    #[test]
    fn systems_differ_only_where_it_is_written_down() {
        for line in ["#[cfg(unix)]", "#[cfg(not(unix))]", "use std::os::unix::fs::MetadataExt;"] {
            let text = format!("//! x\n{line}\n");
            assert!(of_file("crates/edges/transport/src/local/a.rs", &text).is_empty(), "{line}");
            assert!(of_file("crates/edges/config/src/platform/a.rs", &text).is_empty(), "{line}");
            for place in ["crates/edges/config/src/files.rs", "crates/apps/cli/src/main.rs"] {
                assert_eq!(of_file(place, &text).len(), 1, "{place}: {line}");
            }
        }
    }

    #[test]
    fn the_pure_layers_name_no_io_outside_tests_and_comments() {
        let faulty = "//! x\nuse std::fs;\n";
        assert_eq!(of_file("crates/rules/search/src/a.rs", faulty).len(), 1);
        assert!(of_file("crates/edges/config/src/a.rs", faulty).is_empty());
        let fine =
            "//! x\n// std::fs is not used\n#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n";
        assert!(of_file("crates/rules/search/src/a.rs", fine).is_empty());
        assert!(of_file("crates/rules/search/tests/a.rs", faulty).is_empty());
    }
}
