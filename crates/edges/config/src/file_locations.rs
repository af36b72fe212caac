//! The configuration files that Toolgate looks for, nearest first.
//!
//! The order is the precedence: the project's folders from the nearest up, then the user's files,
//! then the administrator's. In one folder, Toolgate's own file comes before foreign files. Foreign
//! files follow the order of the tables below: files that many hosts read come before those of one
//! host, and Nyzhi's before `.mcp.json`, because Nyzhi gives them precedence. Claude Code's entries
//! for one project are in a file of the user, and rank right after Toolgate's file in that project.
//!
//! This module reads nothing except the names of the files in Continue's folders.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use toolgate_dialects::{Dialect, FileRef};
use toolgate_model::ConfigScope;

use crate::files::project_folders;
use crate::host_files::HostFiles;
use crate::{ConfigDocument, ConfigSources};

/// Project files besides Toolgate's own.
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
/// Toolgate's own file in a project.
const OURS: &str = "toolgate.toml";
/// The folder in which Continue keeps one file per server.
const CONTINUE_FOLDER: &str = ".continue/mcpServers";
/// The maximum number of files taken from one folder.
const MOST_FILES: usize = 100;

/// The precedence of a file: a smaller rank is nearer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FileRank {
    /// The project's folders from the nearest up, then the user, then the system.
    tier: usize,
    /// Within a tier: Toolgate's file, Claude Code's entries for this project, then foreign files.
    slot: usize,
}

impl FileRank {
    const OURS: usize = 0;
    const LOCAL: usize = 1;
    const FOREIGN: usize = 2;

    /// Returns the rank of an entry for the project in this folder that is kept in a file
    /// elsewhere.
    pub(crate) fn local(folder: usize) -> Self {
        Self { tier: folder, slot: Self::LOCAL }
    }

    /// Returns the rank of a file that is read alone.
    pub(crate) fn only_file() -> Self {
        Self { tier: 0, slot: Self::OURS }
    }

    /// Returns true if the file is written for Toolgate: its own file, or one named by the user.
    pub(crate) fn is_for_toolgate(self) -> bool {
        self.slot == Self::OURS
    }
}

/// A file that is read if it exists, with its precedence.
pub(crate) type CandidateFile = (ConfigDocument, FileRank);

/// Returns every file that Toolgate looks for, nearest first, existing or not.
pub fn known_files(sources: &ConfigSources) -> Vec<ConfigDocument> {
    if let Some(named) = &sources.config {
        let text = crate::files::read_text(named).unwrap_or_default();
        let dialect = Dialect::detect(named, &text);
        return vec![ConfigDocument { dialect, at: FileRef::new(named, ConfigScope::User) }];
    }
    candidate_files(sources).into_iter().map(|(file, _)| file).collect()
}

/// Returns the paths whose change can affect the configuration: all files that Toolgate looks for,
/// and folders in which every file counts.
pub fn watched_paths(sources: &ConfigSources) -> Vec<PathBuf> {
    let files = known_files(sources).into_iter().map(|file| file.path().to_owned());
    let mut folders = project_folders(sources);
    let user = sources.home.user_dir().filter(|_| sources.home.host_files().is_some());
    folders.extend(user.map(Path::to_owned));
    let whole = folders.iter().map(|folder| folder.join(CONTINUE_FOLDER));
    files.chain(whole.filter(|_| sources.config.is_none())).collect()
}

/// Returns every candidate file, nearest first.
pub(crate) fn candidate_files(sources: &ConfigSources) -> Vec<CandidateFile> {
    let folders = project_folders(sources);
    let user = of_user(sources, folders.len());
    let system = sources.home.system_files().iter().cloned();
    let system = rank_files(system, folders.len() + 1, ConfigScope::System);
    // A search that reaches the user's home folder finds the user's files there. They keep the user
    // scope.
    let user_paths: HashSet<_> = user.iter().map(|(file, _)| file.at.path.clone()).collect();
    let project = folders.iter().enumerate().flat_map(|(tier, folder)| in_folder(folder, tier));
    project
        .filter(|(file, _)| !user_paths.contains(&file.at.path))
        .chain(user.iter().cloned())
        .chain(system)
        .collect()
}

fn in_folder(folder: &Path, tier: usize) -> Vec<CandidateFile> {
    let ours = [(folder.join(OURS), Dialect::Toolgate)];
    let foreign = PROJECT_FILES.map(|(name, dialect)| (folder.join(name), dialect));
    let mut places = rank_files(ours.into_iter().chain(foreign), tier, ConfigScope::Project);
    let blocks = folder.join(CONTINUE_FOLDER);
    places.extend(of_continue(&blocks, places.len(), tier, ConfigScope::Project));
    for (file, _) in &mut places {
        file.at = file.at.clone().with_project(folder);
    }
    places
}

fn of_user(sources: &ConfigSources, tier: usize) -> Vec<CandidateFile> {
    let ours = [(sources.home.config_file(), Dialect::Toolgate)];
    let hosts = sources.home.host_files();
    let foreign = hosts.map(HostFiles::user_files).unwrap_or_default();
    let mut places = rank_files(ours.into_iter().chain(foreign), tier, ConfigScope::User);
    if let Some(user) = sources.home.user_dir().filter(|_| hosts.is_some()) {
        let folder = user.join(CONTINUE_FOLDER);
        places.extend(of_continue(&folder, places.len(), tier, ConfigScope::User));
    }
    places
}

/// Returns the files of one tier, in order.
fn rank_files(
    files: impl IntoIterator<Item = (PathBuf, Dialect)>,
    tier: usize,
    scope: ConfigScope,
) -> Vec<CandidateFile> {
    let place = |(index, (path, dialect)): (usize, (PathBuf, Dialect))| {
        let slot = if dialect.is_toolgate() { FileRank::OURS } else { FileRank::FOREIGN + index };
        let file = ConfigDocument { dialect, at: FileRef::new(path, scope) };
        (file, FileRank { tier, slot })
    };
    files.into_iter().enumerate().map(place).collect()
}

/// Returns Continue's files, sorted by name.
fn of_continue(
    folder: &Path,
    before: usize,
    tier: usize,
    scope: ConfigScope,
) -> Vec<CandidateFile> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_yaml = |path: &PathBuf| {
        path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
    };
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).filter(is_yaml).collect();
    paths.sort();
    paths.truncate(MOST_FILES);
    let files = paths.into_iter().map(|path| (path, Dialect::Continue));
    let mut places = rank_files(files, tier, scope);
    for (_, rank) in &mut places {
        rank.slot += before;
    }
    places
}
