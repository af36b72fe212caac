//! The user's secrets, to which `${secret:name}` expands.
//!
//! The store is one file in the state folder, readable only by the user and changed atomically.
//! Names can be listed. A value is only returned by name, and never appears in an error.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use toolgate_model::{Secret, is_invisible};

use crate::files::is_absent;
use crate::platform::files::close_to_others;
use crate::{ConfigError, EditOptions, FileAccess, Home, edit_file, read_file};

/// The maximum length of a name.
const LONGEST_NAME: usize = 128;

/// Secrets by name.
type SecretTable = BTreeMap<String, String>;

/// The file with a user's secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretStore {
    path: PathBuf,
}

impl SecretStore {
    /// Returns the store of a home.
    pub fn of(home: &Home) -> Self {
        Self { path: home.secrets_file() }
    }

    /// Returns the names, sorted.
    pub fn names(&self) -> Result<Vec<String>, ConfigError> {
        Ok(self.read()?.into_keys().collect())
    }

    /// Returns the value of a secret; `None` if there is none.
    pub fn get(&self, name: &str) -> Result<Option<Secret<String>>, ConfigError> {
        Ok(self.read()?.remove(name).map(Secret::new))
    }

    /// Stores a value, and replaces an existing one.
    pub fn set(&self, name: &str, value: &Secret<String>) -> Result<(), ConfigError> {
        if let Some(why) = unusable(name, value.expose()) {
            return Err(ConfigError::BadSecret { name: name.to_owned(), why });
        }
        self.change(|store| drop(store.insert(name.to_owned(), value.expose().clone())))
    }

    /// Removes a secret. Returns false if there is none.
    pub fn remove(&self, name: &str) -> Result<bool, ConfigError> {
        if !self.read()?.contains_key(name) {
            return Ok(false);
        }
        let mut known = false;
        self.change(|store| known = store.remove(name).is_some())?;
        Ok(known)
    }

    fn read(&self) -> Result<SecretTable, ConfigError> {
        let text = read_file(&self.path)?.unwrap_or_default();
        parse(&text).map_err(|source| self.read_error(source))
    }

    /// Changes the store while holding the lock of the file. A file that cannot be read is left
    /// unchanged. Access by other users is removed first, so that they cannot read the new value.
    fn change(&self, change: impl FnOnce(&mut SecretTable)) -> Result<(), ConfigError> {
        match close_to_others(&self.path) {
            Err(source) if !is_absent(&source) => {
                return Err(ConfigError::Write { path: self.path.clone(), source });
            }
            _ => {}
        }
        let editing = EditOptions { access: FileAccess::Private, backup: false };
        let mut failed = None;
        edit_file(&self.path, editing, |text| match parse(text) {
            Ok(mut store) => {
                change(&mut store);
                Ok(serde_json::to_string_pretty(&store).ok().map(|text| text + "\n"))
            }
            Err(source) => {
                failed = Some(source);
                Ok(None)
            }
        })?;
        failed.map_or(Ok(()), |source| Err(self.read_error(source)))
    }

    fn read_error(&self, source: io::Error) -> ConfigError {
        ConfigError::Read { path: self.path.clone(), source }
    }
}

/// Parses the store. An error keeps only the position, because serde's message may quote the text.
fn parse(text: &str) -> io::Result<SecretTable> {
    if text.trim().is_empty() {
        return Ok(SecretTable::new());
    }
    serde_json::from_str(text).map_err(|error| {
        let place = format!("line {}, column {}", error.line(), error.column());
        io::Error::other(format!("not a JSON object of strings ({place})"))
    })
}

fn unusable(name: &str, value: &str) -> Option<&'static str> {
    if name.trim().is_empty() || name.len() > LONGEST_NAME {
        Some("a name must have 1 to 128 bytes")
    } else if name.contains(['{', '}']) || name.chars().any(is_invisible) {
        Some("a name must not contain braces or invisible characters")
    } else if value.is_empty() || value.contains('\0') {
        Some("a value must not be empty or contain a NUL character")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(value: &str) -> Secret<String> {
        Secret::new(value.to_owned())
    }

    #[test]
    fn secrets_are_kept_by_name_and_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let secrets = SecretStore::of(&Home::at(folder.path().join("home")));
        assert_eq!(secrets.names().unwrap(), [""; 0]);
        assert!(!secrets.remove("a").unwrap());
        assert!(!folder.path().join("home").exists(), "asking creates nothing");
        secrets.set("b", &secret("two\nlines")).unwrap();
        secrets.set("a", &secret("one")).unwrap();
        secrets.set("a", &secret("other")).unwrap();
        assert_eq!(secrets.names().unwrap(), ["a", "b"]);
        assert_eq!(secrets.get("a").unwrap(), Some(secret("other")));
        assert_eq!(secrets.get("b").unwrap(), Some(secret("two\nlines")));
        assert!(secrets.remove("a").unwrap());
        assert_eq!(secrets.get("a").unwrap(), None);
    }

    #[cfg(unix)]
    #[test]
    fn the_file_is_for_the_user_alone_whoever_made_it() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path());
        let mode = || {
            let found = std::fs::metadata(home.secrets_file()).unwrap();
            found.permissions().mode() & 0o777
        };
        SecretStore::of(&home).set("a", &secret("one")).unwrap();
        assert_eq!(mode(), 0o600);
        let open = std::fs::Permissions::from_mode(0o644);
        std::fs::set_permissions(home.secrets_file(), open).unwrap();
        SecretStore::of(&home).set("b", &secret("two")).unwrap();
        assert_eq!(mode(), 0o600);
    }

    #[test]
    fn several_writers_lose_nothing_of_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path());
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let secrets = SecretStore::of(&home);
                scope.spawn(move || {
                    for index in 0..5 {
                        secrets.set(&format!("{writer}-{index}"), &secret("x")).unwrap();
                    }
                });
            }
        });
        assert_eq!(SecretStore::of(&home).names().unwrap().len(), 20);
        let files = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(files, 1, "nothing is left beside it");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_is_a_link_stays_one_and_what_it_leads_to_is_closed() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path());
        let real = folder.path().join("elsewhere.json");
        std::fs::write(&real, "{}").unwrap();
        std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o644)).unwrap();
        std::os::unix::fs::symlink(&real, home.secrets_file()).unwrap();
        SecretStore::of(&home).set("a", &secret("one")).unwrap();
        assert!(std::fs::symlink_metadata(home.secrets_file()).unwrap().is_symlink());
        assert!(std::fs::read_to_string(&real).unwrap().contains("one"));
        assert_eq!(std::fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_broken_file_is_reported_without_its_content_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path());
        let secrets = SecretStore::of(&home);
        for broken in ["{\"a\": [\"canary\"]}", "canary", "{\"a\": \"canary\""] {
            std::fs::write(home.secrets_file(), broken).unwrap();
            let failures =
                [secrets.get("a").unwrap_err(), secrets.set("b", &secret("canary")).unwrap_err()];
            for error in failures {
                let said = format!("{error} {error:?}");
                assert!(!said.contains("canary") && said.contains("line 1"), "{said}");
            }
            assert_eq!(std::fs::read_to_string(home.secrets_file()).unwrap(), broken);
        }
    }

    #[test]
    fn what_no_variable_could_name_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let secrets = SecretStore::of(&Home::at(folder.path()));
        for (name, value) in [("", "x"), ("a}", "x"), ("a\n", "x"), ("a", ""), ("a", "x\0")] {
            assert!(secrets.set(name, &secret(value)).is_err(), "{name:?}");
        }
        assert_eq!(secrets.names().unwrap(), [""; 0]);
    }
}
