//! The paths where other hosts keep a user's files.
//!
//! This module knows paths only; it does not check whether a file exists, and does not read it.

use std::path::{Path, PathBuf};

use toolgate_dialects::Dialect;

use crate::platform::paths;

/// Files below the user's home folder, on every platform.
const BELOW_USER: [(&str, Dialect); 12] = [
    (".claude.json", Dialect::ClaudeCode),
    (".agents/mcp.json", Dialect::CoreAgent),
    (".agents/config.json", Dialect::CoreAgent),
    (".agents/mcp/servers.json", Dialect::McpJson),
    (".llxprt/settings.json", Dialect::Llxprt),
    (".gemini/settings.json", Dialect::Gemini),
    (".cursor/mcp.json", Dialect::Cursor),
    (".codeium/windsurf/mcp_config.json", Dialect::Windsurf),
    (".codeium/mcp_config.json", Dialect::Windsurf),
    (".cline/data/settings/cline_mcp_settings.json", Dialect::Cline),
    (".continue/config.yaml", Dialect::Continue),
    (".secondbrain/config.yaml", Dialect::SecondBrain),
];
/// Files below the configuration folder.
const BELOW_CONFIG: [(&str, Dialect); 5] = [
    ("mcp/mcp.json", Dialect::McpJson),
    ("opencode/opencode.json", Dialect::OpenCode),
    ("opencode/opencode.jsonc", Dialect::OpenCode),
    ("goose/config.yaml", Dialect::Goose),
    ("zed/settings.json", Dialect::Zed),
];
/// Files below the folder in which desktop applications keep their data.
const BELOW_PROGRAMS: [(&str, Dialect); 9] = [
    ("Claude/claude_desktop_config.json", Dialect::ClaudeDesktop),
    ("Code/User/mcp.json", Dialect::VsCode),
    ("Code - Insiders/User/mcp.json", Dialect::VsCode),
    ("VSCodium/User/mcp.json", Dialect::VsCode),
    (
        "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        Dialect::Cline,
    ),
    (
        "Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
        Dialect::Cline,
    ),
    ("Code/User/globalStorage/kilocode.kilo-code/settings/mcp_settings.json", Dialect::Cline),
    ("Zed/settings.json", Dialect::Zed),
    ("Block/goose/config/config.yaml", Dialect::Goose),
];
/// The folders in which other hosts keep a user's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HostFiles {
    user: PathBuf,
    config: PathBuf,
    programs: PathBuf,
    /// Files whose path an environment variable can change.
    pub(crate) relocated: Vec<(PathBuf, Dialect)>,
}

impl HostFiles {
    /// Finds the user's folders with the help of the environment.
    pub(crate) fn find(user: &Path, env: &dyn Fn(&str) -> Option<String>) -> Self {
        let set = |name| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let absolute = |name| set(name).filter(|path: &PathBuf| path.is_absolute());
        let config = absolute("XDG_CONFIG_HOME").unwrap_or_else(|| user.join(".config"));
        let programs = paths::programs(user, &config, absolute("APPDATA"));
        let binary_ninja = paths::binary_ninja(user, &programs);
        let codex = set("CODEX_HOME").unwrap_or_else(|| user.join(".codex"));
        let copilot = set("COPILOT_HOME").unwrap_or_else(|| user.join(".copilot"));
        let sidekick = set("BN_USER_DIRECTORY").unwrap_or(binary_ninja);
        let mut moved = vec![
            (codex.join("config.toml"), Dialect::Codex),
            (copilot.join("mcp-config.json"), Dialect::Copilot),
            (sidekick.join("sidekick/config/mcp_tools_config.json"), Dialect::Sidekick),
        ];
        moved.extend(set("CLINE_MCP_SETTINGS_PATH").map(|path| (path, Dialect::Cline)));
        let anchored = |(path, dialect): (PathBuf, Dialect)| {
            (std::path::absolute(&path).unwrap_or(path), dialect)
        };
        let moved = moved.into_iter().map(anchored).collect();
        Self { user: user.to_owned(), config, programs, relocated: moved }
    }

    /// Returns all of the user's files, nearest first. Nyzhi's come first, because Nyzhi gives them
    /// precedence over `.mcp.json`.
    pub(crate) fn user_files(&self) -> Vec<(PathBuf, Dialect)> {
        let nyzhi = (self.config.join("nyzhi/config.toml"), Dialect::Nyzhi);
        let below = |folder: &Path, names: &[(&str, Dialect)]| -> Vec<_> {
            names.iter().map(|(name, dialect)| (folder.join(name), *dialect)).collect()
        };
        let mut files = vec![nyzhi];
        files.extend(below(&self.user, &BELOW_USER));
        files.extend(self.relocated.iter().cloned());
        files.extend(below(&self.config, &BELOW_CONFIG));
        files.extend(below(&self.programs, &BELOW_PROGRAMS));
        files
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(set: &[(&str, &str)]) -> Vec<(PathBuf, Dialect)> {
        let env = |name: &str| {
            set.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        };
        HostFiles::find(Path::new("/u"), &env).user_files()
    }

    fn of(files: &[(PathBuf, Dialect)], dialect: Dialect) -> Vec<&str> {
        let paths = files.iter().filter(|(_, it)| *it == dialect);
        paths.filter_map(|(path, _)| path.to_str()).collect()
    }

    #[test]
    fn hosts_are_found_below_the_users_folder() {
        let files = find(&[]);
        assert_eq!(of(&files, Dialect::Codex), ["/u/.codex/config.toml"]);
        assert_eq!(of(&files, Dialect::Copilot), ["/u/.copilot/mcp-config.json"]);
        assert_eq!(of(&files, Dialect::Goose)[0], "/u/.config/goose/config.yaml");
        assert_eq!(of(&files, Dialect::ClaudeCode), ["/u/.claude.json"]);
        let paths: std::collections::BTreeSet<_> = files.iter().map(|(path, _)| path).collect();
        assert_eq!(paths.len(), files.len(), "no file is there twice");
        assert!(files.iter().all(|(path, _)| path.is_absolute()));
    }

    #[test]
    fn variables_move_them() {
        let files = find(&[
            ("CODEX_HOME", "/c"),
            ("COPILOT_HOME", "/p"),
            ("BN_USER_DIRECTORY", "/b"),
            ("CLINE_MCP_SETTINGS_PATH", "/x/cline.json"),
            ("XDG_CONFIG_HOME", "/g"),
        ]);
        assert_eq!(of(&files, Dialect::Codex), ["/c/config.toml"]);
        assert_eq!(of(&files, Dialect::Copilot), ["/p/mcp-config.json"]);
        assert_eq!(of(&files, Dialect::Sidekick), ["/b/sidekick/config/mcp_tools_config.json"]);
        assert!(of(&files, Dialect::Cline).contains(&"/x/cline.json"));
        assert_eq!(of(&files, Dialect::OpenCode)[0], "/g/opencode/opencode.json");
        let relative = find(&[("XDG_CONFIG_HOME", "here")]);
        assert_eq!(of(&relative, Dialect::OpenCode)[0], "/u/.config/opencode/opencode.json");
    }
}
