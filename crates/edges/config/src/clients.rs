//! The clients we know by name: which files are theirs, in which dialect, and what they can reach.
//!
//! `import` reads these files and `install` writes into them. Where they lie is in `hosts` and
//! `places`; which of them count as configuration of ours, and before which other, is decided there
//! too.

use std::path::{Path, PathBuf};

use toolgate_dialects::{Dialect, FileRef};
use toolgate_model::{Scope, ServerSpec};

use crate::gateway::leads_back;
use crate::{Sources, places};

/// A program that uses MCP servers.
#[derive(Debug, Clone, Copy)]
pub struct Client {
    /// Its name on the command line.
    pub id: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// How its own file is written.
    pub dialect: Dialect,
    /// Which servers it can reach.
    pub reach: Reach,
    /// What it calls itself when it connects, where that is another name.
    pub calls_itself: &'static [&'static str],
    /// The file of a project it reads; empty: none.
    project: &'static str,
    /// Folders that tell its files from those of others in the same dialect; none: it has those
    /// that lie in nobody else's.
    folders: &'static [&'static str],
}

/// Which servers a client can reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Those it starts.
    Stdio,
    /// Those, and HTTP endpoints.
    Both,
}

/// A file of a client.
#[derive(Debug, Clone)]
pub struct ClientFile {
    /// Where it lies, or would.
    pub at: FileRef,
    /// How it is written.
    pub dialect: Dialect,
}

const fn client(
    id: &'static str,
    title: &'static str,
    dialect: Dialect,
    project: &'static str,
) -> Client {
    Client { id, title, dialect, reach: Reach::Both, calls_itself: &[], project, folders: &[] }
}

const KILO: &[&str] = &[".kilocode", "kilocode.kilo-code"];
const ROO: &[&str] = &[".roo", "rooveterinaryinc.roo-cline"];

/// All of them.
pub const ALL: [Client; 20] = [
    client("claude-code", "Claude Code", Dialect::ClaudeCode, ".mcp.json"),
    Client {
        reach: Reach::Stdio,
        calls_itself: &["claude-ai"],
        ..client("claude-desktop", "Claude Desktop", Dialect::ClaudeDesktop, "")
    },
    Client {
        calls_itself: &["codex-mcp-client"],
        ..client("codex", "Codex", Dialect::Codex, ".codex/config.toml")
    },
    Client {
        calls_itself: &["gemini-cli-mcp-client"],
        ..client("gemini", "Gemini CLI", Dialect::Gemini, ".gemini/settings.json")
    },
    client("llxprt", "LLxprt Code", Dialect::Llxprt, ".llxprt/settings.json"),
    client("core-agent", "core-agent", Dialect::CoreAgent, ".agents/mcp.json"),
    Client { reach: Reach::Stdio, ..client("sidekick", "Sidekick", Dialect::Sidekick, "") },
    client("nyzhi", "Nyzhi", Dialect::Nyzhi, ".nyzhi/config.toml"),
    Client {
        reach: Reach::Stdio,
        ..client("secondbrain", "SecondBrain", Dialect::SecondBrain, "secondbrain.yaml")
    },
    Client {
        calls_itself: &["Visual Studio Code", "Visual Studio Code - Insiders"],
        ..client("vscode", "VS Code", Dialect::VsCode, ".vscode/mcp.json")
    },
    Client {
        calls_itself: &["cursor-vscode"],
        ..client("cursor", "Cursor", Dialect::Cursor, ".cursor/mcp.json")
    },
    Client {
        calls_itself: &["windsurf-client"],
        ..client("windsurf", "Windsurf", Dialect::Windsurf, "")
    },
    Client { calls_itself: &["Cline"], ..client("cline", "Cline", Dialect::Cline, "") },
    Client {
        folders: KILO,
        calls_itself: &["Kilo Code"],
        ..client("kilo", "Kilo Code", Dialect::Cline, ".kilocode/mcp.json")
    },
    Client {
        folders: ROO,
        calls_itself: &["Roo Code"],
        ..client("roo", "Roo Code", Dialect::Cline, ".roo/mcp.json")
    },
    Client {
        calls_itself: &["continue-client"],
        ..client("continue", "Continue", Dialect::Continue, ".continue/config.yaml")
    },
    Client { calls_itself: &["Zed"], ..client("zed", "Zed", Dialect::Zed, ".zed/settings.json") },
    client("opencode", "opencode", Dialect::OpenCode, "opencode.json"),
    client("goose", "Goose", Dialect::Goose, ""),
    Client {
        calls_itself: &["copilot-cli"],
        ..client("copilot", "Copilot CLI", Dialect::Copilot, ".github/mcp.json")
    },
];

/// The client of this name.
pub fn named(name: &str) -> Option<&'static Client> {
    static CLIENTS: [Client; 20] = ALL;
    CLIENTS.iter().find(|client| client.id == name)
}

/// Whether a server would be a gateway of ours: started by its entry, or at one of these addresses.
pub fn is_gateway(spec: &ServerSpec, endpoints: &[String]) -> bool {
    leads_back(spec, endpoints).is_some()
}

/// Every file of other hosts that is known: the user's, then those of the project the search begins
/// in. Whether they count as configuration of ours makes no difference.
pub fn known(sources: &Sources) -> Vec<ClientFile> {
    let user = user_files(sources).into_iter().map(|(path, dialect)| {
        let at = FileRef::new(path, Scope::User);
        ClientFile { at, dialect }
    });
    let mut files: Vec<ClientFile> = user.collect();
    for place in places::all(sources) {
        let is_known = files.iter().any(|file| file.at.path == place.file.path);
        if !is_known && !place.dialect.is_ours() && place.file.scope != Scope::System {
            files.push(ClientFile { at: place.file, dialect: place.dialect });
        }
    }
    files
}

/// The user's files of other hosts; those a variable names come first.
fn user_files(sources: &Sources) -> Vec<(PathBuf, Dialect)> {
    let Some(hosts) = sources.home.hosts() else { return Vec::new() };
    let mut files = hosts.user_files();
    files.sort_by_key(|file| !hosts.moved.contains(file));
    files
}

impl Client {
    /// Whether a file is this client's.
    pub fn has(&self, file: &ClientFile) -> bool {
        let is_named = !self.project.is_empty()
            && file.at.scope == Scope::Project
            && *file.at.path == file.at.project.join(self.project);
        is_named || (file.dialect == self.dialect && self.keeps(&file.at.path))
    }

    /// Whether a file of its dialect lies where its own do. One that a variable names may be called
    /// anything, and the folders above may: only whole names of folders tell.
    fn keeps(&self, path: &Path) -> bool {
        let lies_in =
            |folders: &[&str]| path.iter().any(|part| folders.iter().any(|folder| part == *folder));
        match self.folders {
            [] => !lies_in(KILO) && !lies_in(ROO),
            folders => lies_in(folders),
        }
    }

    /// The file an entry is written into: the first that exists, else the first there could be.
    pub fn file(&self, scope: Scope, sources: &Sources) -> Option<ClientFile> {
        if scope == Scope::Project {
            return self.project_file(sources);
        }
        let mut files = known(sources);
        files.retain(|file| file.at.scope == Scope::User && self.has(file));
        let existing = files.iter().position(|file| file.at.path.exists());
        (!files.is_empty()).then(|| files.swap_remove(existing.unwrap_or(0)))
    }

    fn project_file(&self, sources: &Sources) -> Option<ClientFile> {
        let folder = sources.project_dir.as_deref()?;
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        if self.project.is_empty() {
            return None;
        }
        let path = folder.join(self.project);
        let dialect = Dialect::by_path(&path).unwrap_or(self.dialect);
        Some(ClientFile { at: FileRef::new(path, Scope::Project).of_project(folder), dialect })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Home;

    fn sources(set: &[(&str, &str)]) -> Sources {
        let env = |name: &str| {
            let usual = [("HOME", "/nowhere/me")];
            let set = set.iter().chain(&usual).find(|(key, _)| *key == name);
            set.map(|(_, value)| (*value).to_owned())
        };
        let home = Home::find(Some("/nowhere/home".into()), &env).unwrap();
        Sources { project_dir: Some("/nowhere/work".into()), ..Sources::new(home) }
    }

    #[test]
    fn every_client_has_a_file_and_no_two_share_one() {
        let sources = sources(&[]);
        let mut taken = std::collections::BTreeSet::new();
        for client in ALL {
            let files = [Scope::User, Scope::Project];
            let files = files.into_iter().filter_map(|it| client.file(it, &sources));
            let files: Vec<_> = files.collect();
            assert!(!files.is_empty(), "{}", client.id);
            for file in files {
                assert!(client.has(&file), "{} {file:?}", client.id);
                assert!(taken.insert(file.at.path.clone()), "{} {file:?}", client.id);
                assert!(file.at.path.starts_with("/nowhere"), "{file:?}");
            }
        }
    }

    #[test]
    fn every_known_file_is_some_clients() {
        for file in known(&sources(&[])) {
            // What many hosts share belongs to none of them.
            let is_shared = file.dialect == Dialect::McpJson
                && (file.at.scope == Scope::User || file.at.path.ends_with("mcp/servers.json"));
            let owners: Vec<_> = ALL.iter().filter(|it| it.has(&file)).map(|it| it.id).collect();
            assert!(is_shared || owners.len() == 1, "{file:?} {owners:?}");
        }
    }

    #[test]
    fn the_name_of_a_user_makes_no_file_another_clients() {
        for home in ["/root", "/home/kilo", "/home/cline"] {
            let sources = sources(&[("HOME", home)]);
            let path = |id: &str| named(id).unwrap().file(Scope::User, &sources).unwrap().at.path;
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
        let path = |id: &str| named(id).unwrap().file(Scope::User, &sources).unwrap().at.path;
        assert_eq!(*path("codex"), PathBuf::from("/nowhere/codex/config.toml"));
        assert_eq!(*path("cline"), PathBuf::from("/nowhere/x.json"));
        assert_eq!(*path("cursor"), PathBuf::from("/nowhere/me/.cursor/mcp.json"));
    }

    #[test]
    fn the_shared_file_of_a_project_is_written_as_many_read_it() {
        let sources = sources(&[]);
        let file = named("claude-code").unwrap().file(Scope::Project, &sources).unwrap();
        assert_eq!((file.dialect, file.at.scope), (Dialect::McpJson, Scope::Project));
        assert!(named("goose").unwrap().file(Scope::Project, &sources).is_none());
    }
}
