//! What `install` wrote into which file, so that `uninstall` can take out exactly that and a gateway
//! knows the addresses it was announced under.
//!
//! A file in the state folder. It holds no text of the clients' files, only their digests: what
//! they held before is in the backup beside each.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use toolgate_host::Home;
use toolgate_host::config::{Access, Editing, edit_file, read_file};
use toolgate_model::Digest;

use crate::exit::{Failure, chain};

/// One entry of ours in a client's file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Installed {
    /// Whose file it is.
    pub client: String,
    /// The file.
    pub file: PathBuf,
    /// What the entry is called.
    pub name: String,
    /// The address it names; none: it starts us.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// Where the text without the entry is kept; none: there was no file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backup: Option<PathBuf>,
    /// The digest of that text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The digest of the text with it.
    pub after: String,
    /// Folders that were created for it, the outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<PathBuf>,
    /// What was moved out of it behind the gateway.
    #[serde(default, skip_serializing_if = "Moved::is_empty")]
    pub moved: Moved,
}

/// Servers that left a client's file for one of ours.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moved {
    /// The file that has them now.
    pub into: PathBuf,
    /// All of them.
    pub names: Vec<String>,
    /// Those that were written into that file; it had the rest already.
    pub written: Vec<String>,
    /// What was put into the secret store for them.
    pub secrets: Vec<String>,
}

impl Moved {
    fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Adds what an earlier run moved.
    pub fn join(&mut self, earlier: Self) {
        if !earlier.is_empty() {
            self.into = earlier.into;
        }
        self.names.extend(earlier.names);
        self.written.extend(earlier.written);
        self.secrets.extend(earlier.secrets);
    }
}

/// All that was installed from one home.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Register {
    entries: Vec<Installed>,
}

impl Register {
    /// What is known; a register that cannot be read knows nothing.
    pub fn of(home: &Home) -> Self {
        let text = read_file(&path(home)).ok().flatten().unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// The entry in a file.
    pub fn entry(&self, file: &Path) -> Option<&Installed> {
        self.entries.iter().find(|entry| entry.file == file)
    }

    /// Whether a client has an entry in any file.
    pub fn has_client(&self, client: &str) -> bool {
        self.entries.iter().any(|entry| entry.client == client)
    }

    /// Whether a server of this name left another client's file than this one.
    pub fn is_moved_elsewhere(&self, file: &Path, name: &str) -> bool {
        let others = self.entries.iter().filter(|entry| entry.file != file);
        others.into_iter().any(|entry| entry.moved.names.iter().any(|it| it == name))
    }

    /// The addresses clients were told.
    pub fn endpoints(&self) -> Vec<String> {
        self.entries.iter().filter_map(|entry| entry.endpoint.clone()).collect()
    }
}

/// Remembers an entry instead of what was known about its file, or forgets the file.
pub fn remember(home: &Home, file: &Path, entry: Option<Installed>) -> Result<(), Failure> {
    let editing = Editing { access: Access::Private, backup: false };
    let edited = edit_file(&path(home), editing, |text| {
        let mut register: Register = serde_json::from_str(text).unwrap_or_default();
        register.entries.retain(|known| known.file != file);
        register.entries.extend(entry);
        Ok(serde_json::to_string_pretty(&register).ok().map(|text| text + "\n"))
    });
    edited.map(drop).map_err(|error| Failure::failed(chain(&error)))
}

fn path(home: &Home) -> PathBuf {
    home.state_dir().join("installed.json")
}

/// What a text is told apart by.
pub fn digest(text: &str) -> String {
    Digest::of_parts([text.as_bytes()]).to_string()
}

/// The folders that have to be created for a file, the outermost first.
pub fn missing_folders(file: &Path) -> Vec<PathBuf> {
    let folders = file.ancestors().skip(1);
    let missing = folders.take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
    let mut missing: Vec<_> = missing.map(Path::to_owned).collect();
    missing.reverse();
    missing
}

/// Takes away folders that were created and hold nothing.
pub fn remove_folders(folders: &[PathBuf]) {
    for folder in folders.iter().rev() {
        // One that holds something by now is somebody's.
        let _ = fs::remove_dir(folder);
    }
}
