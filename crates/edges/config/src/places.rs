//! Which files may speak, and in which order: nearest first.
//!
//! The order is the precedence. A project's folders come first, from the nearest up; then the
//! user's files; then the administrator's. In one folder ours comes before foreign, and foreign
//! files in the order of the tables below: those that many hosts read before those of one, and
//! Nyzhi's before `.mcp.json`, because Nyzhi has it so. Claude Code's entries for one project lie in
//! a file of the user's and count right after ours in that project.
//!
//! Nothing is read here but the names of files in Continue's folders.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use toolgate_dialects::{Dialect, FileRef, Foreign};
use toolgate_model::Scope;

use crate::Sources;
use crate::files::project_folders;
use crate::hosts::Hosts;

/// Files of a project beside ours.
const PROJECT_FILES: [(&str, Dialect); 21] = [
    (".nyzhi/config.toml", Dialect::Nyzhi),
    (".mcp.json", Dialect::McpJson),
    (".agents/mcp.json", Dialect::CoreAgent),
    (".agents/config.json", Dialect::CoreAgent),
    (".agents/mcp/servers.json", Dialect::McpJson),
    ("mcp_tools_config.json", Dialect::Sidekick),
    (".llxprt/settings.json", Dialect::Llxprt),
    (".gemini/settings.json", Dialect::Gemini),
    (".codex/config.toml", Dialect::Codex),
    (".claude/settings.json", Dialect::ClaudeCode),
    (".vscode/mcp.json", Dialect::VsCode),
    (".cursor/mcp.json", Dialect::Cursor),
    (".github/mcp.json", Dialect::Copilot),
    (".kilocode/mcp.json", Dialect::Cline),
    (".roo/mcp.json", Dialect::Cline),
    (".zed/settings.json", Dialect::Zed),
    ("opencode.json", Dialect::OpenCode),
    ("opencode.jsonc", Dialect::OpenCode),
    (".continue/config.yaml", Dialect::Continue),
    ("secondbrain.yaml", Dialect::SecondBrain),
    (".secondbrain/config.yaml", Dialect::SecondBrain),
];
/// Our file in a project.
const OURS: &str = "toolgate.toml";
/// The folder where Continue keeps one file per server.
const CONTINUE_FOLDER: &str = ".continue/mcpServers";
/// More files are not taken from one folder.
const MOST_FILES: usize = 100;

/// How near a file is: the smaller, the nearer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank {
    /// The folders of a project from the nearest, then the user, then the system.
    tier: usize,
    /// Within a tier: ours, Claude Code's for this project, foreign ones.
    slot: usize,
}

impl Rank {
    const OURS: usize = 0;
    const LOCAL: usize = 1;
    const FOREIGN: usize = 2;

    /// Where an entry counts that another file keeps for the project in this folder.
    pub(crate) fn local(folder: usize) -> Self {
        Self { tier: folder, slot: Self::LOCAL }
    }

    /// The only file there is.
    pub(crate) fn alone() -> Self {
        Self { tier: 0, slot: Self::OURS }
    }

    /// Whether it is ours, or was named: what it says is meant for us.
    pub(crate) fn is_meant(self) -> bool {
        self.slot == Self::OURS
    }
}

/// A file that may speak.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub file: FileRef,
    pub dialect: Dialect,
    pub rank: Rank,
}

impl Place {
    /// Whether it is read where files of other hosts are restricted to these.
    pub(crate) fn is_read(&self, foreign: Foreign) -> bool {
        match foreign {
            _ if self.dialect.is_ours() => true,
            Foreign::All => true,
            Foreign::Project => self.file.scope == Scope::Project,
            Foreign::None => false,
        }
    }
}

/// A file that is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownFile {
    /// Where it lies, or would.
    pub path: PathBuf,
    /// How it is written.
    pub dialect: Dialect,
    /// Whose word it is.
    pub scope: Scope,
    /// Whether it is there.
    pub exists: bool,
}

/// Every file that is looked for, nearest first, whether it is there or not.
pub fn known_files(sources: &Sources) -> Vec<KnownFile> {
    if let Some(named) = &sources.config {
        let text = crate::files::read_text(named).unwrap_or_default();
        let (path, dialect) = (named.clone(), Dialect::of(named, &text));
        return vec![KnownFile { exists: path.exists(), path, dialect, scope: Scope::User }];
    }
    let known = all(sources).into_iter().map(|place| KnownFile {
        exists: place.file.path.exists(),
        path: place.file.path.to_path_buf(),
        dialect: place.dialect,
        scope: place.file.scope,
    });
    known.collect()
}

/// Everything whose change may mean something: the files that are looked for, and the folders of
/// which every file counts.
pub fn watched_paths(sources: &Sources) -> Vec<PathBuf> {
    let files = known_files(sources).into_iter().map(|file| file.path);
    let mut folders = project_folders(sources);
    let user = sources.home.user_dir().filter(|_| sources.home.hosts().is_some());
    folders.extend(user.map(Path::to_owned));
    let whole = folders.iter().map(|folder| folder.join(CONTINUE_FOLDER));
    files.chain(whole.filter(|_| sources.config.is_none())).collect()
}

/// Every file that may speak, nearest first.
pub(crate) fn all(sources: &Sources) -> Vec<Place> {
    let folders = project_folders(sources);
    let (user, system) = (of_user(sources, folders.len()), of_system(sources, folders.len() + 1));
    // A search that reaches the user's own folder meets his files there: they are his word.
    let his: HashSet<_> = user.iter().map(|place| place.file.path.clone()).collect();
    let project = folders.iter().enumerate().flat_map(|(tier, folder)| in_folder(folder, tier));
    project
        .filter(|place| !his.contains(&place.file.path))
        .chain(user.iter().cloned())
        .chain(system)
        .collect()
}

fn in_folder(folder: &Path, tier: usize) -> Vec<Place> {
    let ours = [(folder.join(OURS), Dialect::Toolgate)];
    let foreign = PROJECT_FILES.map(|(name, dialect)| (folder.join(name), dialect));
    let mut places = tiered(ours.into_iter().chain(foreign), tier, Scope::Project);
    places.extend(of_continue(&folder.join(CONTINUE_FOLDER), places.len(), tier, Scope::Project));
    for place in &mut places {
        place.file = place.file.clone().of_project(folder);
    }
    places
}

fn of_user(sources: &Sources, tier: usize) -> Vec<Place> {
    let ours = [(sources.home.config_file(), Dialect::Toolgate)];
    let hosts = sources.home.hosts();
    let foreign = hosts.map(Hosts::user_files).unwrap_or_default();
    let mut places = tiered(ours.into_iter().chain(foreign), tier, Scope::User);
    if let Some(user) = sources.home.user_dir().filter(|_| hosts.is_some()) {
        let folder = user.join(CONTINUE_FOLDER);
        places.extend(of_continue(&folder, places.len(), tier, Scope::User));
    }
    places
}

fn of_system(sources: &Sources, tier: usize) -> Vec<Place> {
    tiered(sources.home.system_files().iter().cloned(), tier, Scope::System)
}

/// Files of one tier, in their order.
fn tiered(
    files: impl IntoIterator<Item = (PathBuf, Dialect)>,
    tier: usize,
    scope: Scope,
) -> Vec<Place> {
    let place = |(index, (path, dialect)): (usize, (PathBuf, Dialect))| {
        let slot = if dialect.is_ours() { Rank::OURS } else { Rank::FOREIGN + index };
        Place { file: FileRef::new(path, scope), dialect, rank: Rank { tier, slot } }
    };
    files.into_iter().enumerate().map(place).collect()
}

/// Continue's files, in the order of their names.
fn of_continue(folder: &Path, before: usize, tier: usize, scope: Scope) -> Vec<Place> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_yaml = |path: &PathBuf| {
        path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
    };
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).filter(is_yaml).collect();
    paths.sort();
    paths.truncate(MOST_FILES);
    let files = paths.into_iter().map(|path| (path, Dialect::Continue));
    let mut places = tiered(files, tier, scope);
    for place in &mut places {
        place.rank.slot += before;
    }
    places
}
