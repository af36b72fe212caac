//! The plan: the servers and settings of all files together, the state of each server, and the
//! diagnostics.

use std::fmt;
use std::path::PathBuf;

use toolgate_dialects::{Dialect, InputSpec, Permissions};
use toolgate_model::{
    ConfigScope, Diagnostic, Digest, EnvFile, LaunchFiles, Origin, Posture, ResolvedServer,
    ServerName, ServerSpec, StartBlock, TransportSpec,
};

use crate::file_locations::FileRank;
use crate::{
    ConfigError, Environment, Home, MergedSettings, SecretStore, consent_text, file_contents,
    resolve,
};

/// Where to look for configuration.
#[derive(Debug, Clone)]
pub struct ConfigSources {
    /// The user's home, with the user's configuration.
    pub home: Home,
    /// A file to read instead of all others. Naming it is consent to start its servers.
    pub config: Option<PathBuf>,
    /// The folder in which the search for project files begins.
    pub project_dir: Option<PathBuf>,
    /// The URLs of this gateway. Entries that point to them are ignored.
    pub own_endpoints: Vec<String>,
}

impl ConfigSources {
    /// Returns sources with the user's configuration only.
    pub fn new(home: Home) -> Self {
        Self { home, config: None, project_dir: None, own_endpoints: Vec::new() }
    }
}

/// The merged configuration of all files.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// The servers, nearest file first, in the order of the file.
    pub entries: Vec<PlanEntry>,
    /// The settings for all servers.
    pub settings: MergedSettings,
    /// The values that the user is asked for, nearest file first, without duplicates.
    pub inputs: Vec<InputSpec>,
    /// The files that were read, nearest first.
    pub files: Vec<PlanSourceFile>,
    /// The problems in the files, sorted by file and line.
    pub diagnostics: Vec<Diagnostic>,
}

impl Plan {
    /// Returns the entry of a server.
    pub fn entry(&self, name: &ServerName) -> Option<&PlanEntry> {
        self.entries.iter().find(|entry| entry.spec.name == *name)
    }

    /// Returns the files, besides the configuration, whose content affects a server.
    pub fn bound_files(&self) -> Vec<PathBuf> {
        let files = self.entries.iter().filter_map(PlanEntry::files);
        let paths = files.flat_map(|LaunchFiles { env_file, project }| {
            let pinned = project.iter().filter(|file| file.digest.is_some());
            env_file.iter().map(|EnvFile { path, .. }| path).chain(pinned.map(|file| &file.path))
        });
        paths.cloned().collect()
    }
}

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanSourceFile {
    /// The path of the file.
    pub path: PathBuf,
    /// The dialect of the file.
    pub dialect: Dialect,
    /// The scope of the file.
    pub scope: ConfigScope,
    /// The number of servers that the file declares, whether or not they are used.
    pub servers: usize,
    /// The rules of the file.
    pub permissions: Permissions,
}

/// One server of the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanEntry {
    /// The server, with variables not yet expanded.
    pub spec: ServerSpec,
    /// The origin of the entry.
    pub origin: Origin,
    /// The dialect of its file.
    pub dialect: Dialect,
    /// The precedence of its file.
    pub(crate) rank: FileRank,
    /// The entries with the same name in farther files, nearest first.
    pub shadows: Vec<PlanEntry>,
    /// The entry that enabled or disabled the server, if it is in another file.
    pub switched_by: Option<Origin>,
    /// The folders and secrets for variables of this entry.
    pub variable_context: VariableContext,
    /// The descriptions, in its own file, of the secrets that it names.
    pub inputs: Vec<InputSpec>,
    /// Whether the server may be started.
    pub start_status: StartStatus,
    /// Whether the server is blocked only because a variable has no usable value.
    pub has_unset_variable: bool,
}

impl PlanEntry {
    /// Returns the digest that a consent to this entry is bound to.
    pub fn identity(&self) -> Digest {
        self.spec.consent_digest()
    }

    /// Returns the files that the process is started with.
    fn files(&self) -> Option<&LaunchFiles> {
        match &self.spec.transport {
            TransportSpec::Stdio(stdio) => Some(&stdio.files),
            _ => None,
        }
    }

    /// Returns the text that the user sees before consenting.
    pub fn consent_text(&self) -> String {
        consent_text(&self.spec)
    }

    /// Expands the variables of the server, right before it is reached. Reads files again; fails
    /// for a project's server if a file that its consent covers has changed.
    pub fn resolve(&self, environment: &Environment) -> Result<ResolvedServer, ConfigError> {
        let mut now = self.clone();
        let is_pinned = |files: &LaunchFiles| files.project.iter().any(|it| it.digest.is_some());
        let posture = match self.files().is_some_and(is_pinned) {
            true => Posture::Governed,
            false => Posture::Personal,
        };
        file_contents::read(&mut now, environment, posture);
        if self.origin.scope == ConfigScope::Project && now.identity() != self.identity() {
            return Err(ConfigError::Changed { server: self.spec.name.clone() });
        }
        let resolved = resolve(&now.spec, &environment.for_entry(self));
        resolved.map_err(|error| error.with_entry(self))
    }
}

/// The folders and secrets for the variables of an entry.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VariableContext {
    /// The folder of `${project}`.
    pub project: Option<PathBuf>,
    /// The folder of `${home}` and `~`.
    pub user: Option<PathBuf>,
    /// The store of `${secret:…}`.
    pub secrets: Option<SecretStore>,
}

impl fmt::Display for PlanEntry {
    /// Writes the origin of the entry.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.origin.fmt(f)
    }
}

/// Whether an entry may be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StartStatus {
    /// It may be started.
    Ready,
    /// It is disabled.
    Disabled,
    /// A project's file proposes it, and the user has not consented yet.
    NeedsConsent,
    /// It cannot be started, for this reason.
    Blocked(StartBlock),
}
