//! What is known on this machine of the content of a package: nobody is asked over the network.
//!
//! npm keeps, for every set of packages `npx` ever ran, a lock file with their digests. A package
//! that never ran here has none, and neither has one whose version is not exact.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use toolgate_pins::{Package, npm_integrity};

/// Folders that are looked into; a cache that has more is not searched to its end.
const MOST_FOLDERS: usize = 500;
/// No lock file is read further.
const MOST_BYTES: u64 = 4 << 20;

/// Adds the digest of a package's content, if it is known here.
pub(super) fn find(package: &mut Package) {
    let Some(version) = package.version.clone().filter(|_| package.ecosystem == "npm") else {
        return;
    };
    if package.integrity.is_none() {
        let within = cache().map(|cache| cache.join("_npx"));
        package.integrity = within.and_then(|within| search(&within, &package.name, &version));
    }
}

fn cache() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    set("npm_config_cache")
        .map(PathBuf::from)
        .or_else(|| set("HOME").map(|home| PathBuf::from(home).join(".npm")))
        .or_else(|| set("LOCALAPPDATA").map(|data| PathBuf::from(data).join("npm-cache")))
}

fn search(folder: &Path, name: &str, version: &str) -> Option<String> {
    let entries = fs::read_dir(folder).ok()?.flatten().take(MOST_FOLDERS);
    let mut found = entries.filter_map(|entry| {
        let mut text = String::new();
        let file = fs::File::open(entry.path().join("package-lock.json")).ok()?;
        file.take(MOST_BYTES).read_to_string(&mut text).ok()?;
        npm_integrity(&text, name, version)
    });
    let first = found.next()?;
    // Two that disagree are no knowledge.
    found.all(|other| other == first).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_run_before_is_known_unless_it_is_in_doubt() {
        let folder = tempfile::tempdir().unwrap();
        let put = |at: &str, integrity: &str| {
            let at = folder.path().join(at);
            fs::create_dir(&at).unwrap();
            let text = format!(
                r#"{{"packages":{{"node_modules/a":{{"version":"1.0.0","integrity":"{integrity}"}}}}}}"#
            );
            fs::write(at.join("package-lock.json"), text).unwrap();
        };
        let found = || search(folder.path(), "a", "1.0.0");
        assert_eq!(found(), None);
        put("one", "sha512-x");
        put("two", "sha512-x");
        assert_eq!(found().as_deref(), Some("sha512-x"));
        put("three", "sha512-y");
        assert_eq!(found(), None);
    }
}
