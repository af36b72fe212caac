//! Finds the content digest of a package on this machine, without network access.
//!
//! npm keeps a lock file with digests for every set of packages that `npx` has run. A package that
//! never ran here, or whose version is not exact, has no digest.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use toolgate_pins::{ServerPackage, npm_integrity};

/// The maximum number of folders to search in the cache.
const MOST_FOLDERS: usize = 500;
/// The maximum number of bytes to read of one lock file.
const MOST_BYTES: u64 = 4 << 20;

/// Adds the digest of a package's content, if it is known on this machine.
pub(super) fn find(package: &mut ServerPackage) {
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
    // If two lock files disagree, neither counts.
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
