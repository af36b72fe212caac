//! What all files together say: the servers to keep, how each stands, and what was wrong.

use std::path::PathBuf;

use toolgate_model::{Diagnostic, Digest, Origin, ServerName, ServerSpec};

use crate::{ConfigError, Home, Interpolation, Settings, consent_text, resolve};

/// Where to look for configuration.
#[derive(Debug, Clone)]
pub struct Sources {
    /// Where the user's configuration lies.
    pub home: Home,
    /// A file that is read instead of all others; naming it is consent to what it starts.
    pub config: Option<PathBuf>,
    /// The folder the search for project files begins at.
    pub project_dir: Option<PathBuf>,
    /// URLs this gateway answers on: an entry that points there is left out.
    pub own_endpoints: Vec<String>,
}

impl Sources {
    /// The user's configuration alone.
    pub fn new(home: Home) -> Self {
        Self { home, config: None, project_dir: None, own_endpoints: Vec::new() }
    }
}

/// Everything the files add up to.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// The servers, nearest file first and in its order.
    pub entries: Vec<Entry>,
    /// What holds for all of them.
    pub settings: Settings,
    /// What is wrong with the files.
    pub diagnostics: Vec<Diagnostic>,
}

impl Plan {
    /// The entry of a server.
    pub fn entry(&self, name: &ServerName) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.spec.name == *name)
    }
}

/// One server of the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The server, its variables not yet expanded.
    pub spec: ServerSpec,
    /// The entry that won.
    pub origin: Origin,
    /// Entries of the same name that lost, nearest first.
    pub shadows: Vec<Origin>,
    /// How variables are written in it.
    pub interpolation: Interpolation,
    /// Whether it may be started.
    pub standing: Standing,
}

impl Entry {
    /// What a consent to this entry is bound to.
    pub fn identity(&self) -> Digest {
        self.spec.digest()
    }

    /// What the user is shown before consenting.
    pub fn consent_text(&self) -> String {
        consent_text(&self.spec)
    }

    /// The server with its variables expanded, for the moment it is reached.
    pub fn resolve(&self, env: &dyn Fn(&str) -> Option<String>) -> Result<ServerSpec, ConfigError> {
        resolve(&self.spec, self.interpolation, env)
    }
}

/// Whether an entry may be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It may.
    Ready,
    /// It is switched off.
    Disabled,
    /// A project's file proposes it and the user has not agreed yet.
    NeedsConsent,
    /// It cannot, for this reason.
    Blocked(String),
}
