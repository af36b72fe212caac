//! What a dialect reader is given and what it gives back.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use toolgate_model::{
    ContextNames, Data, DeclaredProfile, Diagnostic, Mode, Naming, Offer, Origin, Posture, Prefix,
    Scope, Secret, ServerName, ServerSpec, Timeouts, Via, WrittenRule,
};

/// The file a text came from: for origins, relative paths and what its scope may say.
#[derive(Debug, Clone)]
pub struct FileRef {
    /// Where it lies; absolute, so that relative paths inside it have one meaning.
    pub path: Arc<PathBuf>,
    /// Whose word it is.
    pub scope: Scope,
    /// The folder of the project it belongs to; the file's own unless said otherwise.
    pub project: Arc<PathBuf>,
}

impl FileRef {
    /// Names a file.
    pub fn new(path: impl Into<PathBuf>, scope: Scope) -> Self {
        let path = path.into();
        let project = Arc::new(path.parent().unwrap_or(Path::new("")).to_owned());
        Self { path: Arc::new(path), scope, project }
    }

    /// Says to which project's folder it belongs, where it lies deeper: `.vscode/mcp.json`.
    #[must_use]
    pub fn of_project(self, folder: impl Into<PathBuf>) -> Self {
        Self { project: Arc::new(folder.into()), ..self }
    }

    /// The folder relative paths are resolved against.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }

    /// A place in this file.
    pub fn origin(&self, line: u32, column: u32) -> Origin {
        Origin { scope: self.scope, file: Some(Arc::clone(&self.path)), line, column }
    }
}

/// A server as one file declares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declared {
    /// The server, its variables in our grammar and not yet expanded.
    pub spec: ServerSpec,
    /// Where its entry begins.
    pub origin: Origin,
    /// The project it is meant for alone, where its file keeps servers of several.
    pub only_in: Option<PathBuf>,
    /// Why its own dialect forbids to start it.
    pub blocked: Option<String>,
}

/// An entry that declares nothing to start: it switches a server on or off that another file
/// declares, or gives it variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Amendment {
    /// Which server.
    pub name: ServerName,
    /// Whether it is to be started, if it says so.
    pub enabled: Option<bool>,
    /// Patterns of variables that it is to be given of our own environment.
    pub env_inherit: Vec<String>,
    /// Where the entry begins.
    pub origin: Origin,
}

/// What one file says beside its servers; what it leaves out is for a farther file to say.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settings {
    /// What `roots/list` answers, as written.
    pub roots: Option<Vec<PathBuf>>,
    /// How exposed names are made.
    pub naming: Option<Naming>,
    /// When exposed names carry their server's name.
    pub prefix: Option<Prefix>,
    /// What kinds of callers see, by name.
    pub profiles: BTreeMap<String, DeclaredProfile>,
    /// Profiles that could not be understood, and where they stand. They are known all the same:
    /// what was to be narrowed must not become wider by a slip of the pen.
    pub unread: BTreeMap<String, Origin>,
    /// Which profile a client gets that chose none, by the name it calls itself.
    pub clients: BTreeMap<String, ClientProfile>,
    /// Which files of other hosts are read beside ours.
    pub foreign: Option<Foreign>,
    /// Who may call what without being asked.
    pub permissions: Permissions,
    /// Who is asked, and for how long.
    pub approvals: FileApprovals,
    /// How much is asked of servers before they may be used.
    pub posture: Option<Said<Posture>>,
    /// How old a list of definitions may be when one of them is called.
    pub recheck: Option<Said<Duration>>,
    /// How long things may take with servers that say nothing of it themselves.
    pub timeouts: Timeouts,
    /// What the local context holds, and whether it is offered.
    pub context: FileContext,
    /// Values a person is asked for.
    pub inputs: Vec<Input>,
    /// What means something to one host only, by the name of its dialect; hidden, because nobody
    /// here knows what it is.
    pub extras: BTreeMap<String, Secret<Data>>,
}

/// Which profile a client gets, and who says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientProfile {
    /// The name of the profile.
    pub profile: String,
    /// Where it is said.
    pub origin: Origin,
}

/// Which files of other hosts are read beside ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Foreign {
    /// Those of the user and of the project.
    #[default]
    All,
    /// Those of the project.
    Project,
    /// None.
    None,
}

impl Foreign {
    /// All of them, in the order they are documented.
    pub const ALL: [Self; 3] = [Self::All, Self::Project, Self::None];

    /// The word for it in configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Project => "project",
            Self::None => "none",
        }
    }
}

/// Something a file says, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Said<T> {
    /// What.
    pub value: T,
    /// Line and column, from 1.
    pub at: (u32, u32),
}

/// What a file says about calls that need no question, or are never made.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Permissions {
    /// How calls are decided that no rule speaks of.
    pub mode: Option<Said<Mode>>,
    /// Rules of calls that pass.
    pub allow: Vec<WrittenRule>,
    /// Rules of calls that are asked about.
    pub ask: Vec<WrittenRule>,
    /// Rules of calls that are refused.
    pub deny: Vec<WrittenRule>,
    /// Whether content of untrusted servers makes tools be asked about that could carry it away.
    pub taint: Option<Said<bool>>,
    /// Whether such tools that are destructive are asked about even where nobody is asked.
    pub yolo_floor: Option<Said<bool>>,
}

/// What a file says about who is asked, and for how long.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileApprovals {
    /// Who approves, where nothing is said of the client.
    pub via: Option<Said<Via>>,
    /// Who approves the calls of single clients, by the name the client gives itself.
    pub clients: BTreeMap<String, Said<Via>>,
    /// How long a call waits for an approval.
    pub wait: Option<Said<Duration>>,
    /// How long a call may still be approved, and a one-time approval used.
    pub expiry: Option<Said<Duration>>,
    /// Whether a process that a client started may approve.
    pub from_client_terminal: Option<Said<bool>>,
}

/// What a file says about the local context; paths are as written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileContext {
    /// Whether callers are offered it.
    pub offer: Option<Said<Offer>>,
    /// Whose names its tools and resources have.
    pub names: Option<Said<ContextNames>>,
    /// Folders that it is kept up to date with.
    pub folders: Option<Said<Vec<PathBuf>>>,
    /// Folders whose text is the user's own word.
    pub trusted: Option<Said<Vec<PathBuf>>>,
}

/// A value a person is asked for: `${secret:id}` stands for it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Input {
    /// Its name.
    pub id: String,
    /// What to ask for.
    pub description: Option<String>,
    /// Whether what is typed is not to be seen.
    pub password: bool,
}

/// Everything one file says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reading {
    /// The servers that could be understood, in the file's order.
    pub servers: Vec<Declared>,
    /// Servers of other files it switches on or off.
    pub amendments: Vec<Amendment>,
    /// What it says beside them.
    pub settings: Settings,
    /// What is wrong with it, in the file's order.
    pub diagnostics: Vec<Diagnostic>,
}
