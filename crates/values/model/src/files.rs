//! The files that a process is started with, as they were when the configuration was read.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::{Digest, Secret};

/// The files that one process is started with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LaunchFiles {
    /// The environment file.
    pub env_file: Option<EnvFile>,
    /// Project files that the command line or a loader variable names. Only servers of a project
    /// have them.
    pub project: Vec<LaunchProjectFile>,
}

/// The content of an environment file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EnvFile {
    /// Its path, with variables expanded.
    pub path: PathBuf,
    /// The digest of its content; `None` if it could not be read.
    pub digest: Option<Digest>,
    /// The variables it sets; `None` if it could not be parsed.
    pub variables: Option<BTreeMap<String, Secret<String>>>,
}

/// A project file or folder that a command line names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchProjectFile {
    /// The path as the entry writes it.
    pub written: String,
    /// The resolved path.
    pub path: PathBuf,
    /// The digest of its content; `None` if it is not pinned.
    pub digest: Option<Digest>,
}
