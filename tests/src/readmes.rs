//! Documents nobody here wrote, on every machine that builds this project: what the crates it uses
//! say about themselves.
//!
//! They are read where cargo keeps them, and none is kept here. Their text changes with the crates'
//! versions, so labels name crates and never quote them.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// What a crate says about itself.
#[derive(Debug, Clone)]
pub struct CrateReadme {
    /// The crate's name.
    pub name: String,
    /// Its README, as it is written.
    pub text: String,
}

/// The README of every crate in the lock file that has one, by name, the newest version of each.
/// Crates that were never needed on this machine are downloaded.
pub fn readmes() -> Result<Vec<CrateReadme>, Box<dyn Error>> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--manifest-path"])
        .arg(workspace)
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let packages = metadata["packages"].as_array().ok_or("no packages")?;
    // Cargo lists the versions of one crate in their order, so the newest stays.
    let mut found = BTreeMap::new();
    for package in packages.iter().filter(|package| package["source"].is_string()) {
        let (Some(name), Some(text)) = (package["name"].as_str(), readme(package)) else {
            continue;
        };
        found.insert(name.to_owned(), text);
    }
    Ok(found.into_iter().map(|(name, text)| CrateReadme { name, text }).collect())
}

fn readme(package: &Value) -> Option<String> {
    let manifest = PathBuf::from(package["manifest_path"].as_str()?);
    let folder = manifest.parent()?;
    let is_readme = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        matches!(name.to_ascii_lowercase().as_str(), "readme.md" | "readme")
    };
    let entries = fs::read_dir(folder).ok()?;
    let file = entries.filter_map(Result::ok).map(|entry| entry.path()).find(is_readme)?;
    fs::read_to_string(file).ok()
}
