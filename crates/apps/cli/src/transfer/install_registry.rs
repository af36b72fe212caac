//! The registry of what `install` wrote into which file, so that `uninstall` can remove exactly
//! that and a gateway knows its own URLs.
//!
//! It is a file in the state folder. It holds only digests of the clients' files, not their text;
//! the earlier text is in the backup beside each file.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use toolgate_host::Home;
use toolgate_host::config::{EditOptions, FileAccess, edit_file, read_file};
use toolgate_model::Digest;

use crate::exit::{CliError, Result};

/// A Toolgate entry in a client's file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstalledEntry {
    /// The client.
    pub client: String,
    /// The file.
    pub file: PathBuf,
    /// The name of the entry.
    pub name: String,
    /// The URL in the entry; `None` if the entry starts Toolgate as a process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// The backup of the text without the entry; `None` if the file did not exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backup: Option<PathBuf>,
    /// The digest of the text without the entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The digest of the text with the entry.
    pub after: String,
    /// The folders created for the file, the outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<PathBuf>,
    /// The servers moved from the file behind the gateway.
    #[serde(default, skip_serializing_if = "MovedServers::is_empty")]
    pub moved: MovedServers,
}

/// Servers that were moved from a client's file into a Toolgate config file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MovedServers {
    /// The file that declares them now.
    pub into: PathBuf,
    /// The names of all moved servers.
    pub names: Vec<String>,
    /// The servers that were written to `into`; it already had the others.
    pub written: Vec<String>,
    /// The secrets stored for them.
    pub secrets: Vec<String>,
}

impl MovedServers {
    fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Adds the servers that an earlier run moved.
    pub fn merge(&mut self, earlier: Self) {
        if !earlier.is_empty() {
            self.into = earlier.into;
        }
        self.names.extend(earlier.names);
        self.written.extend(earlier.written);
        self.secrets.extend(earlier.secrets);
    }
}

/// All entries that were installed from one home.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct InstallRegistry {
    entries: Vec<InstalledEntry>,
}

impl InstallRegistry {
    /// Reads the registry of a home. A registry that cannot be read counts as empty.
    pub fn of(home: &Home) -> Self {
        let text = read_file(&path(home)).ok().flatten().unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Returns the entry in a file.
    pub fn entry(&self, file: &Path) -> Option<&InstalledEntry> {
        self.entries.iter().find(|entry| entry.file == file)
    }

    /// Returns true if a client has an entry in any file.
    pub fn has_client(&self, client: &str) -> bool {
        self.entries.iter().any(|entry| entry.client == client)
    }

    /// Returns true if a server of this name was moved from another file than this one.
    pub fn is_moved_elsewhere(&self, file: &Path, name: &str) -> bool {
        let others = self.entries.iter().filter(|entry| entry.file != file);
        others.into_iter().any(|entry| entry.moved.names.iter().any(|it| it == name))
    }

    /// Returns the URLs in all entries.
    pub fn endpoints(&self) -> Vec<String> {
        self.entries.iter().filter_map(|entry| entry.endpoint.clone()).collect()
    }
}

/// Replaces the entry of a file in the registry, or removes it if `entry` is `None`.
pub fn record_entry(home: &Home, file: &Path, entry: Option<InstalledEntry>) -> Result<()> {
    let editing = EditOptions { access: FileAccess::Private, backup: false };
    let edited = edit_file(&path(home), editing, |text| {
        let mut registry: InstallRegistry = serde_json::from_str(text).unwrap_or_default();
        registry.entries.retain(|known| known.file != file);
        registry.entries.extend(entry);
        Ok(serde_json::to_string_pretty(&registry).ok().map(|text| text + "\n"))
    });
    edited.map(drop).map_err(CliError::from)
}

fn path(home: &Home) -> PathBuf {
    home.state_dir().join("installed.json")
}

/// Returns the digest of a text.
pub fn digest(text: &str) -> String {
    Digest::of_parts([text.as_bytes()]).to_string()
}

/// Returns the folders that must be created for a file, the outermost first.
pub fn missing_folders(file: &Path) -> Vec<PathBuf> {
    let folders = file.ancestors().skip(1);
    let missing = folders.take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
    let mut missing: Vec<_> = missing.map(Path::to_owned).collect();
    missing.reverse();
    missing
}

/// Removes those of the created folders that are empty.
pub fn remove_folders(folders: &[PathBuf]) {
    for folder in folders.iter().rev() {
        // A folder that is not empty is in use, and removing it fails.
        let _ = fs::remove_dir(folder);
    }
}
