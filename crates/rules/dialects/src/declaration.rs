//! The input and output types of dialect readers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use toolgate_model::{
    ApprovalChannel, ConfigScope, ConfigValue, ContextNamingStyle, ContextOfferMode,
    DeclaredProfile, Diagnostic, NamingStyle, Origin, PolicyMode, Posture, PrefixMode, RuleSpec,
    Secret, ServerName, ServerSpec, ServerTimeouts, words,
};

/// The file that a text came from. Readers use it for origins, relative paths and scope
/// restrictions.
#[derive(Debug, Clone)]
pub struct FileRef {
    /// The absolute path, so that relative paths inside the file are unambiguous.
    pub path: Arc<PathBuf>,
    /// The scope of the file.
    pub scope: ConfigScope,
    /// The folder of the project; by default the folder of the file.
    pub project: Arc<PathBuf>,
}

impl FileRef {
    /// Creates a reference to a file.
    pub fn new(path: impl Into<PathBuf>, scope: ConfigScope) -> Self {
        let path = path.into();
        let project = Arc::new(path.parent().unwrap_or(Path::new("")).to_owned());
        Self { path: Arc::new(path), scope, project }
    }

    /// Sets the project's folder, for a file in a subfolder such as `.vscode/mcp.json`.
    #[must_use]
    pub fn with_project(self, folder: impl Into<PathBuf>) -> Self {
        Self { project: Arc::new(folder.into()), ..self }
    }

    /// Returns the folder against which relative paths are resolved.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }

    /// Returns a position in this file.
    pub fn origin(&self, line: u32, column: u32) -> Origin {
        Origin { scope: self.scope, file: Some(Arc::clone(&self.path)), line, column }
    }
}

/// A server as one file declares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declaration {
    /// The server, with variables in Toolgate's syntax and not yet expanded.
    pub spec: ServerSpec,
    /// The position of its entry.
    pub origin: Origin,
    /// The only project that the server belongs to, if the file keeps servers of several projects.
    pub only_in: Option<PathBuf>,
    /// Why its own dialect forbids to start it.
    pub blocked: Option<String>,
}

/// An entry that declares no server, but enables or disables a server of another file, or passes
/// variables to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerOverride {
    /// The name of the server.
    pub name: ServerName,
    /// Whether to start the server, if set.
    pub enabled: Option<bool>,
    /// Patterns of environment variables that the server inherits.
    pub env_inherit: Vec<String>,
    /// The position of the entry.
    pub origin: Origin,
}

/// The settings of one file besides its servers. A farther file can supply settings that are
/// missing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileSettings {
    /// The roots for `roots/list`, as written.
    pub roots: Option<Vec<PathBuf>>,
    /// The naming style of exposed names.
    pub naming: Option<NamingStyle>,
    /// When exposed names include the name of their server.
    pub prefix: Option<PrefixMode>,
    /// The profiles, by name.
    pub profiles: BTreeMap<String, DeclaredProfile>,
    /// Profiles that could not be parsed, with their positions. They are kept, so that a typo does
    /// not show more than intended.
    pub invalid_profiles: BTreeMap<String, Origin>,
    /// The profile of each client that chooses none, by the name that the client reports.
    pub clients: BTreeMap<String, ClientProfile>,
    /// Which files of other hosts are read.
    pub foreign: Option<ForeignFiles>,
    /// Which calls are allowed without approval.
    pub permissions: Permissions,
    /// Who approves calls, and for how long.
    pub approvals: FileApprovalSettings,
    /// How strict Toolgate is about servers.
    pub posture: Option<LocatedValue<Posture>>,
    /// How old a list of definitions may be when one of them is called.
    pub recheck: Option<LocatedValue<Duration>>,
    /// The time limits for servers that set none of their own.
    pub timeouts: ServerTimeouts,
    /// The settings of the local context.
    pub context: FileContextSettings,
    /// The values that the user is asked for.
    pub inputs: Vec<InputSpec>,
    /// Settings that only one host uses, by dialect. Treated as secret, because their meaning is
    /// unknown.
    pub extras: BTreeMap<String, Secret<ConfigValue>>,
}

/// The profile of a client, and where it is set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientProfile {
    /// The name of the profile.
    pub profile: String,
    /// The position of the setting.
    pub origin: Origin,
}

words! {
    /// Which files of other hosts are read besides Toolgate's own.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum ForeignFiles {
        /// Files of the user and of the project.
        #[default]
        All = "all",
        /// Files of the project.
        Project = "project",
        /// None.
        None = "none",
    }
}

/// A value with its position in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocatedValue<T> {
    /// The value.
    pub value: T,
    /// Line and column, from 1.
    pub at: (u32, u32),
}

/// The permission settings of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Permissions {
    /// How to decide calls that no rule matches.
    pub mode: Option<LocatedValue<PolicyMode>>,
    /// Rules for calls that are allowed.
    pub allow: Vec<RuleSpec>,
    /// Rules for calls that need approval.
    pub ask: Vec<RuleSpec>,
    /// Rules for calls that are denied.
    pub deny: Vec<RuleSpec>,
    /// Whether tools that can leak data need approval after content of an untrusted server was
    /// read.
    pub taint: Option<LocatedValue<bool>>,
    /// Whether such tools that are destructive need approval even in a mode without approvals.
    pub yolo_floor: Option<LocatedValue<bool>>,
}

/// The approval settings of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileApprovalSettings {
    /// Who approves, unless set for the client.
    pub via: Option<LocatedValue<ApprovalChannel>>,
    /// Who approves the calls of single clients, by the name that the client reports.
    pub clients: BTreeMap<String, LocatedValue<ApprovalChannel>>,
    /// How long a call waits for an approval.
    pub wait: Option<LocatedValue<Duration>>,
    /// How long a call can be approved, and a one-time approval used.
    pub expiry: Option<LocatedValue<Duration>>,
    /// Whether a process that a client started may approve.
    pub from_client_terminal: Option<LocatedValue<bool>>,
}

/// The settings of a file for the local context, with paths as written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileContextSettings {
    /// Whether callers see it.
    pub offer: Option<LocatedValue<ContextOfferMode>>,
    /// The naming style of its tools and resources.
    pub names: Option<LocatedValue<ContextNamingStyle>>,
    /// The folders that it indexes and watches.
    pub folders: Option<LocatedValue<Vec<PathBuf>>>,
    /// The folders whose text is trusted like the user's own.
    pub trusted: Option<LocatedValue<Vec<PathBuf>>>,
}

/// A value that the user is asked for; `${secret:id}` refers to it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InputSpec {
    /// The name of the value.
    pub id: String,
    /// What to ask for.
    pub description: Option<String>,
    /// Whether to hide the value while it is typed.
    pub password: bool,
}

/// The content of one file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ParsedFile {
    /// The servers that could be parsed, in the order of the file.
    pub servers: Vec<Declaration>,
    /// Entries that change servers of other files.
    pub overrides: Vec<ServerOverride>,
    /// The settings besides the servers.
    pub settings: FileSettings,
    /// The problems in the file, in its order.
    pub diagnostics: Vec<Diagnostic>,
}
