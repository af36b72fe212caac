//! What all files together say: the servers to keep, how each stands, and what was wrong.

use std::fmt;
use std::path::PathBuf;

use toolgate_dialects::{Dialect, Input, Permissions};
use toolgate_model::{
    Diagnostic, Digest, EnvFile, Origin, Posture, Resolved, Scope, ServerFiles, ServerName,
    ServerSpec, TransportSpec,
};

use crate::{
    ConfigError, Environment, Home, Secrets, Settings, consent_text, file_contents, resolve,
};

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
    /// Values people are asked for, nearest file first, each once.
    pub inputs: Vec<Input>,
    /// The files that were read, nearest first.
    pub files: Vec<PlanFile>,
    /// What is wrong with the files, by file and line.
    pub diagnostics: Vec<Diagnostic>,
}

impl Plan {
    /// The entry of a server.
    pub fn entry(&self, name: &ServerName) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.spec.name == *name)
    }

    /// The files beside the configuration whose content counts for some server.
    pub fn bound_files(&self) -> Vec<PathBuf> {
        let files = self.entries.iter().filter_map(Entry::files);
        let paths = files.flat_map(|ServerFiles { env_file, project }| {
            let pinned = project.iter().filter(|file| file.digest.is_some());
            env_file.iter().map(|EnvFile { path, .. }| path).chain(pinned.map(|file| &file.path))
        });
        paths.cloned().collect()
    }
}

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanFile {
    /// Where it lies.
    pub path: PathBuf,
    /// How it is written.
    pub dialect: Dialect,
    /// Whose word it is.
    pub scope: Scope,
    /// How many servers it declares, whatever became of them.
    pub servers: usize,
    /// What it says about calls that need no question, or are never made.
    pub permissions: Permissions,
}

/// One server of the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The server, its variables not yet expanded.
    pub spec: ServerSpec,
    /// The entry that won.
    pub origin: Origin,
    /// How its file is written.
    pub dialect: Dialect,
    /// Entries of the same name that lost, nearest first.
    pub shadows: Vec<Shadow>,
    /// Who switched it on or off, where that was not its own file.
    pub switched_by: Option<Origin>,
    /// What the words for folders and secrets mean in it.
    pub around: Surroundings,
    /// What its own file says of the secrets it names.
    pub inputs: Vec<Input>,
    /// Whether it may be started.
    pub standing: Standing,
    /// Whether it is blocked only because a variable has no usable value now.
    pub unset: bool,
}

impl Entry {
    /// What a consent to this entry is bound to.
    pub fn identity(&self) -> Digest {
        self.spec.consent_digest()
    }

    /// The files its process is started with.
    fn files(&self) -> Option<&ServerFiles> {
        match &self.spec.transport {
            TransportSpec::Stdio(stdio) => Some(&stdio.files),
            _ => None,
        }
    }

    /// What the user is shown before consenting.
    pub fn consent_text(&self) -> String {
        consent_text(&self.spec)
    }

    /// The server with its variables expanded, for the moment it is reached. Files are read anew;
    /// a project's server is refused if one that counts for its consent has changed.
    pub fn resolve(&self, environment: &Environment) -> Result<Resolved, ConfigError> {
        let mut now = self.clone();
        let is_pinned = |files: &ServerFiles| files.project.iter().any(|it| it.digest.is_some());
        let posture = match self.files().is_some_and(is_pinned) {
            true => Posture::Governed,
            false => Posture::Personal,
        };
        file_contents::read(&mut now, environment, posture);
        if self.origin.scope == Scope::Project && now.identity() != self.identity() {
            return Err(ConfigError::Changed { server: self.spec.name.clone() });
        }
        let resolved = resolve(&now.spec, &self.environment(environment));
        resolved.map_err(|error| error.about(self))
    }

    /// What variables mean in this entry.
    pub(crate) fn environment(&self, given: &Environment) -> Environment {
        given.clone().within(&self.around)
    }
}

/// What the words for folders and secrets mean in an entry.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Surroundings {
    /// The folder `${project}` means.
    pub project: Option<PathBuf>,
    /// The folder `${home}` and `~` mean.
    pub user: Option<PathBuf>,
    /// Where `${secret:…}` is looked up.
    pub secrets: Option<Secrets>,
}

/// An entry that lost against a nearer one of the same name. It shows as the place of its entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shadow {
    /// Where it stands.
    pub origin: Origin,
    /// How its file is written.
    pub dialect: Dialect,
    /// What it declares.
    pub spec: ServerSpec,
}

impl fmt::Display for Shadow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.origin.fmt(f)
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
