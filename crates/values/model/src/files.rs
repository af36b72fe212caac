//! The files a process is started with: what they held when the configuration was read.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::{Digest, Secret};

/// The files one process is started with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServerFiles {
    /// The file of variables.
    pub env_file: Option<EnvFile>,
    /// Files of the project that the command line or a loader variable names. Only a project's
    /// server has them.
    pub project: Vec<ProjectFile>,
}

/// What a file of variables held.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EnvFile {
    /// Where it lies, without variables.
    pub path: PathBuf,
    /// The digest of its content; none: it could not be read.
    pub digest: Option<Digest>,
    /// The variables it sets; none: it could not be understood.
    pub variables: Option<BTreeMap<String, Secret<String>>>,
}

/// A file or folder of the project that a command line names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectFile {
    /// How the entry names it.
    pub written: String,
    /// Where it lies.
    pub path: PathBuf,
    /// The digest of its content; none: it is not pinned.
    pub digest: Option<Digest>,
}
