//! The clients that Toolgate knows by name: which files belong to them, in which dialect, and which
//! transports they support.
//!
//! `import` reads these files and `install` writes to them. The paths come from `host_files` and
//! `file_locations`, which also decide which files count as configuration of Toolgate and in which
//! order.

use std::path::{Path, PathBuf};

use toolgate_dialects::{Dialect, FileRef};
use toolgate_model::{ConfigScope, ServerSpec};

use crate::gateway_loop::gateway_loop_reason;
use crate::{ConfigDocument, ConfigSources, file_locations};

/// A program that uses MCP servers.
#[derive(Debug, Clone, Copy)]
pub struct KnownClient {
    /// Its name on the command line.
    pub id: &'static str,
    /// The name shown to people.
    pub title: &'static str,
    /// The dialect of its configuration file.
    pub dialect: Dialect,
    /// The transports it supports.
    pub transports: ClientTransports,
    /// The names it reports when it connects, if they differ from `id`.
    pub reported_names: &'static [&'static str],
    /// The path of its file inside a project; empty if it has none.
    project: &'static str,
    /// Folders that distinguish its files from those of other clients with the same dialect. If
    /// empty, the client owns the files that are in no other client's folder.
    folders: &'static [&'static str],
}

/// The transports that a client supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientTransports {
    /// Only processes that the client starts.
    Stdio,
    /// Processes and HTTP endpoints.
    Both,
}

const fn client(
    id: &'static str,
    title: &'static str,
    dialect: Dialect,
    project: &'static str,
) -> KnownClient {
    KnownClient {
        id,
        title,
        dialect,
        transports: ClientTransports::Both,
        reported_names: &[],
        project,
        folders: &[],
    }
}

const KILO: &[&str] = &[".kilocode", "kilocode.kilo-code"];
const ROO: &[&str] = &[".roo", "rooveterinaryinc.roo-cline"];

/// All known clients.
pub const ALL: [KnownClient; 20] = [
    client("claude-code", "Claude Code", Dialect::ClaudeCode, ".mcp.json"),
    client("claude-desktop", "Claude Desktop", Dialect::ClaudeDesktop, "")
        .stdio_only()
        .reports(&["claude-ai"]),
    client("codex", "Codex", Dialect::Codex, ".codex/config.toml").reports(&["codex-mcp-client"]),
    client("gemini", "Gemini CLI", Dialect::Gemini, ".gemini/settings.json")
        .reports(&["gemini-cli-mcp-client"]),
    client("llxprt", "LLxprt Code", Dialect::Llxprt, ".llxprt/settings.json"),
    client("core-agent", "core-agent", Dialect::CoreAgent, ".agents/mcp.json"),
    client("sidekick", "Sidekick", Dialect::Sidekick, "").stdio_only(),
    client("nyzhi", "Nyzhi", Dialect::Nyzhi, ".nyzhi/config.toml"),
    client("secondbrain", "SecondBrain", Dialect::SecondBrain, "secondbrain.yaml").stdio_only(),
    client("vscode", "VS Code", Dialect::VsCode, ".vscode/mcp.json")
        .reports(&["Visual Studio Code", "Visual Studio Code - Insiders"]),
    client("cursor", "Cursor", Dialect::Cursor, ".cursor/mcp.json").reports(&["cursor-vscode"]),
    client("windsurf", "Windsurf", Dialect::Windsurf, "").reports(&["windsurf-client"]),
    client("cline", "Cline", Dialect::Cline, "").reports(&["Cline"]),
    KnownClient {
        folders: KILO,
        ..client("kilo", "Kilo Code", Dialect::Cline, ".kilocode/mcp.json")
    }
    .reports(&["Kilo Code"]),
    KnownClient { folders: ROO, ..client("roo", "Roo Code", Dialect::Cline, ".roo/mcp.json") }
        .reports(&["Roo Code"]),
    client("continue", "Continue", Dialect::Continue, ".continue/config.yaml")
        .reports(&["continue-client"]),
    client("zed", "Zed", Dialect::Zed, ".zed/settings.json").reports(&["Zed"]),
    client("opencode", "opencode", Dialect::OpenCode, "opencode.json"),
    client("goose", "Goose", Dialect::Goose, ""),
    client("copilot", "Copilot CLI", Dialect::Copilot, ".github/mcp.json")
        .reports(&["copilot-cli"]),
];

/// Returns the client with this name.
pub fn find_client(name: &str) -> Option<&'static KnownClient> {
    static CLIENTS: [KnownClient; 20] = ALL;
    CLIENTS.iter().find(|client| client.id == name)
}

/// Returns true if the server is a Toolgate gateway: its entry starts one, or its URL is one of
/// `endpoints`.
pub fn is_gateway(spec: &ServerSpec, endpoints: &[String]) -> bool {
    gateway_loop_reason(spec, endpoints).is_some()
}

/// Returns all known files of other hosts: the user's, then those of the project in which the
/// search begins. Includes files that do not count as configuration of Toolgate.
pub fn client_files(sources: &ConfigSources) -> Vec<ConfigDocument> {
    let user = user_files(sources).into_iter().map(|(path, dialect)| {
        let at = FileRef::new(path, ConfigScope::User);
        ConfigDocument { at, dialect }
    });
    let mut files: Vec<ConfigDocument> = user.collect();
    for (file, _) in file_locations::candidate_files(sources) {
        let is_known = files.iter().any(|known| known.at.path == file.at.path);
        if !is_known && !file.dialect.is_toolgate() && file.at.scope != ConfigScope::System {
            files.push(file);
        }
    }
    files
}

/// Returns the user's files of other hosts; files named by environment variables come first.
fn user_files(sources: &ConfigSources) -> Vec<(PathBuf, Dialect)> {
    let Some(hosts) = sources.home.host_files() else { return Vec::new() };
    let mut files = hosts.user_files();
    files.sort_by_key(|file| !hosts.relocated.contains(file));
    files
}

impl KnownClient {
    const fn stdio_only(self) -> Self {
        Self { transports: ClientTransports::Stdio, ..self }
    }

    const fn reports(self, reported_names: &'static [&'static str]) -> Self {
        Self { reported_names, ..self }
    }

    /// Returns true if the file belongs to this client.
    pub fn owns(&self, file: &ConfigDocument) -> bool {
        let is_named = !self.project.is_empty()
            && file.at.scope == ConfigScope::Project
            && *file.at.path == file.at.project.join(self.project);
        is_named || (file.dialect == self.dialect && self.is_in_own_folder(&file.at.path))
    }

    /// Returns true if the file is in a folder of this client. Compares whole folder names only,
    /// because an environment variable can name any file in any folder.
    fn is_in_own_folder(&self, path: &Path) -> bool {
        let lies_in =
            |folders: &[&str]| path.iter().any(|part| folders.iter().any(|folder| part == *folder));
        match self.folders {
            [] => !lies_in(KILO) && !lies_in(ROO),
            folders => lies_in(folders),
        }
    }

    /// Returns the file to write entries to: the first that exists, else the first candidate.
    pub fn file(&self, scope: ConfigScope, sources: &ConfigSources) -> Option<ConfigDocument> {
        if scope == ConfigScope::Project {
            return self.project_file(sources);
        }
        let mut files = client_files(sources);
        files.retain(|file| file.at.scope == ConfigScope::User && self.owns(file));
        let existing = files.iter().position(|file| file.at.path.exists());
        (!files.is_empty()).then(|| files.swap_remove(existing.unwrap_or(0)))
    }

    fn project_file(&self, sources: &ConfigSources) -> Option<ConfigDocument> {
        let folder = sources.project_dir.as_deref()?;
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        if self.project.is_empty() {
            return None;
        }
        let path = folder.join(self.project);
        let dialect = Dialect::by_path(&path).unwrap_or(self.dialect);
        Some(ConfigDocument {
            at: FileRef::new(path, ConfigScope::Project).with_project(folder),
            dialect,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Home;

    fn sources(set: &[(&str, &str)]) -> ConfigSources {
        let env = |name: &str| {
            let usual = [("HOME", "/nowhere/me")];
            let set = set.iter().chain(&usual).find(|(key, _)| *key == name);
            set.map(|(_, value)| (*value).to_owned())
        };
        let home = Home::find(Some("/nowhere/home".into()), &env).unwrap();
        ConfigSources { project_dir: Some("/nowhere/work".into()), ..ConfigSources::new(home) }
    }

    #[test]
    fn every_client_has_a_file_and_no_two_share_one() {
        let sources = sources(&[]);
        let mut taken = std::collections::BTreeSet::new();
        for client in ALL {
            let files = [ConfigScope::User, ConfigScope::Project];
            let files = files.into_iter().filter_map(|it| client.file(it, &sources));
            let files: Vec<_> = files.collect();
            assert!(!files.is_empty(), "{}", client.id);
            for file in files {
                assert!(client.owns(&file), "{} {file:?}", client.id);
                assert!(taken.insert(file.at.path.clone()), "{} {file:?}", client.id);
                assert!(file.at.path.starts_with("/nowhere"), "{file:?}");
            }
        }
    }

    #[test]
    fn every_known_file_is_some_clients() {
        for file in client_files(&sources(&[])) {
            // A file that many hosts share belongs to none of them.
            let is_shared = file.dialect == Dialect::McpJson
                && (file.at.scope == ConfigScope::User
                    || file.at.path.ends_with("mcp/servers.json"));
            let owners: Vec<_> = ALL.iter().filter(|it| it.owns(&file)).map(|it| it.id).collect();
            assert!(is_shared || owners.len() == 1, "{file:?} {owners:?}");
        }
    }

    #[test]
    fn the_name_of_a_user_makes_no_file_another_clients() {
        for home in ["/root", "/home/kilo", "/home/cline"] {
            let sources = sources(&[("HOME", home)]);
            let path = |id: &str| {
                find_client(id).unwrap().file(ConfigScope::User, &sources).unwrap().at.path
            };
            let cline = Path::new(home).join(".cline/data/settings/cline_mcp_settings.json");
            assert_eq!(*path("cline"), *cline);
            for (id, folder) in [("kilo", KILO[1]), ("roo", ROO[1])] {
                assert!(path(id).iter().any(|part| part == folder), "{:?}", path(id));
            }
        }
    }

    #[test]
    fn a_variable_names_the_file_that_is_written() {
        let set =
            [("CODEX_HOME", "/nowhere/codex"), ("CLINE_MCP_SETTINGS_PATH", "/nowhere/x.json")];
        let sources = sources(&set);
        let path =
            |id: &str| find_client(id).unwrap().file(ConfigScope::User, &sources).unwrap().at.path;
        assert_eq!(*path("codex"), PathBuf::from("/nowhere/codex/config.toml"));
        assert_eq!(*path("cline"), PathBuf::from("/nowhere/x.json"));
        assert_eq!(*path("cursor"), PathBuf::from("/nowhere/me/.cursor/mcp.json"));
    }

    #[test]
    fn the_shared_file_of_a_project_is_written_as_many_read_it() {
        let sources = sources(&[]);
        let file =
            find_client("claude-code").unwrap().file(ConfigScope::Project, &sources).unwrap();
        assert_eq!((file.dialect, file.at.scope), (Dialect::McpJson, ConfigScope::Project));
        assert!(find_client("goose").unwrap().file(ConfigScope::Project, &sources).is_none());
    }
}
