//! The folders where this platform keeps the files of programs and of the administrator.

use std::path::{Path, PathBuf};

use toolgate_dialects::Dialect;

/// The administrator's files below the system folder, Toolgate's own first.
const BELOW_SYSTEM: [(&str, Dialect); 4] = [
    ("toolgate/config.toml", Dialect::Toolgate),
    ("claude-code/managed-mcp.json", Dialect::McpJson),
    ("gemini-cli/settings.json", Dialect::Gemini),
    ("codex/config.toml", Dialect::Codex),
];

/// Returns the folder in which desktop applications keep a user's data. `config` is the user's
/// configuration folder, `roaming` the value from the environment.
pub(crate) fn programs(user: &Path, config: &Path, roaming: Option<PathBuf>) -> PathBuf {
    if cfg!(target_os = "macos") {
        user.join("Library/Application Support")
    } else if cfg!(windows) {
        roaming.unwrap_or_else(|| user.join("AppData/Roaming"))
    } else {
        config.to_owned()
    }
}

/// Returns the user's folder of Binary Ninja, in which Sidekick keeps its files.
pub(crate) fn binary_ninja(user: &Path, programs: &Path) -> PathBuf {
    match cfg!(any(target_os = "macos", windows)) {
        true => programs.join("Binary Ninja"),
        false => user.join(".binaryninja"),
    }
}

/// Returns the administrator's files below a folder, Toolgate's own first.
pub(crate) fn system_files_below(folder: &Path) -> Vec<(PathBuf, Dialect)> {
    BELOW_SYSTEM.iter().map(|(name, dialect)| (folder.join(name), *dialect)).collect()
}

/// Returns the administrator's files, Toolgate's own first.
pub(crate) fn system_files() -> Vec<(PathBuf, Dialect)> {
    let files: &[(&str, Dialect)] = if cfg!(windows) {
        &[
            (r"C:\ProgramData\toolgate\config.toml", Dialect::Toolgate),
            (r"C:\Program Files\ClaudeCode\managed-mcp.json", Dialect::McpJson),
            (r"C:\ProgramData\gemini-cli\settings.json", Dialect::Gemini),
        ]
    } else if cfg!(target_os = "macos") {
        &[
            ("/etc/toolgate/config.toml", Dialect::Toolgate),
            ("/Library/Application Support/ClaudeCode/managed-mcp.json", Dialect::McpJson),
            ("/Library/Application Support/GeminiCli/settings.json", Dialect::Gemini),
            ("/etc/codex/config.toml", Dialect::Codex),
        ]
    } else {
        return system_files_below(Path::new("/etc"));
    };
    files.iter().map(|(path, dialect)| (PathBuf::from(path), *dialect)).collect()
}
