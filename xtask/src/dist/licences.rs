//! The licences of the crates inside the binary: their names, and each text once.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::{shell, workspace};

/// The notice that ships with the binary.
pub fn third_party() -> Result<String, String> {
    let tree = ["tree", "--locked", "--package", "toolgate-cli", "--edges", "normal"];
    let tree = shell::capture(shell::cargo().args(tree).args([
        "--prefix",
        "none",
        "--no-dedupe",
        "--format",
        "{p}",
    ]))?;
    let mut inside: Vec<&str> = tree.lines().filter(|line| !line.contains("(/")).collect();
    inside.sort_unstable();
    inside.dedup();
    let metadata = workspace::metadata(&["--locked"])?;
    let packages: BTreeMap<String, &Value> = workspace::packages(&metadata)
        .map(|package| {
            (format!("{} v{}", text(package, "name"), text(package, "version")), package)
        })
        .collect();
    let mut list = String::new();
    let mut texts: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for line in inside {
        let name = line.trim_end_matches(" (proc-macro)");
        let package = packages.get(name).ok_or_else(|| format!("cargo metadata lacks {name}"))?;
        list.push_str(&format!("{name}: {}\n", text(package, "license")));
        for licence in licence_texts(Path::new(text(package, "manifest_path"))) {
            texts.entry(licence).or_default().push(name);
        }
    }
    let mut notice = format!("Toolgate contains these libraries:\n\n{list}");
    for (licence, names) in texts {
        let rule = "=".repeat(80);
        notice.push_str(&format!("\n{rule}\n{}\n{rule}\n\n{licence}\n", names.join(", ")));
    }
    Ok(notice)
}

fn text<'a>(package: &'a Value, key: &str) -> &'a str {
    package[key].as_str().unwrap_or_default()
}

/// The licence files beside a manifest.
fn licence_texts(manifest: &Path) -> Vec<String> {
    let entries = manifest.parent().and_then(|folder| fs::read_dir(folder).ok());
    let mut paths: Vec<_> =
        entries.into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    let is_licence = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"]
            .iter()
            .any(|it| name.starts_with(it))
    };
    let texts = paths.iter().filter(|path| is_licence(path));
    texts.filter_map(|path| Some(fs::read_to_string(path).ok()?.trim().to_owned())).collect()
}
