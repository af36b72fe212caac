//! Reads the members of the workspace and their declared dependencies from `cargo metadata`.
//! `layers` and `deny` check them.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::shell;

/// The kind of a dependency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DependencyKind {
    /// Part of the product, including build scripts.
    Normal,
    /// Only for tests, examples and benches.
    Dev,
}

/// One declared dependency.
#[derive(Clone, Debug)]
pub struct CrateDependency {
    pub name: String,
    pub kind: DependencyKind,
}

/// One member of the workspace.
#[derive(Clone, Debug)]
pub struct WorkspaceMember {
    pub name: String,
    /// The crate's folder, relative to the root, with `/` between parts.
    pub folder: String,
    pub dependencies: Vec<CrateDependency>,
}

/// The folder that holds the workspace's `Cargo.toml`.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// The members, without asking for the dependency graph.
pub fn members() -> Result<Vec<WorkspaceMember>, String> {
    let metadata = metadata(&["--no-deps"])?;
    packages(&metadata).map(member).collect()
}

/// `cargo metadata`, parsed.
pub fn metadata(options: &[&str]) -> Result<Value, String> {
    let text =
        shell::capture(shell::cargo().args(["metadata", "--format-version", "1"]).args(options))?;
    serde_json::from_str(&text)
        .map_err(|error| format!("the output of cargo metadata is not JSON: {error}"))
}

/// The package entries of a metadata document.
pub fn packages(metadata: &Value) -> impl Iterator<Item = &Value> {
    metadata["packages"].as_array().into_iter().flatten()
}

fn member(package: &Value) -> Result<WorkspaceMember, String> {
    let name = text(package, "name")?;
    let manifest = PathBuf::from(text(package, "manifest_path")?);
    let folder = manifest.parent().and_then(|folder| folder.strip_prefix(root()).ok());
    let folder = folder.ok_or_else(|| format!("{name} lies outside the workspace"))?;
    let folder: Vec<_> = folder.iter().map(|part| part.to_string_lossy()).collect();
    let declared = package["dependencies"].as_array().into_iter().flatten();
    let dependencies = declared.map(dependency).collect::<Result<_, _>>()?;
    Ok(WorkspaceMember { name, folder: folder.join("/"), dependencies })
}

fn dependency(declared: &Value) -> Result<CrateDependency, String> {
    let kind = if declared["kind"] == "dev" { DependencyKind::Dev } else { DependencyKind::Normal };
    Ok(CrateDependency { name: text(declared, "name")?, kind })
}

fn text(object: &Value, key: &str) -> Result<String, String> {
    let value = object[key].as_str().map(str::to_owned);
    value.ok_or_else(|| format!("cargo metadata: `{key}` is missing"))
}
