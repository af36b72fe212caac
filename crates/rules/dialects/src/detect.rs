//! Detects the dialect of a file by its path, else by its content.
//!
//! The path takes precedence, because hosts that read each other's files agree on the path.
//! [`Dialect::mismatch`] returns the other dialect if the content clearly contradicts the path; the
//! caller reports it.

use std::path::Path;

use crate::common::tree::{TreeMember, TreeNode, TreeValue, find, find_table as table};
use crate::dialect_format::DialectFormat;
use crate::formats::{mcp_json, opencode};
use crate::{Dialect, Syntax};

/// Entry fields that only one of these hosts has.
const DISTINCTIVE_FIELDS: [(&str, Dialect); 8] = [
    ("serverUrl", Dialect::Windsurf),
    ("httpUrl", Dialect::Gemini),
    ("includeTools", Dialect::Gemini),
    ("excludeTools", Dialect::Gemini),
    ("trust", Dialect::Gemini),
    ("autoApprove", Dialect::Cline),
    ("alwaysAllow", Dialect::Cline),
    ("transportType", Dialect::Cline),
];

impl Dialect {
    /// Returns the dialect of a file.
    pub fn detect(path: &Path, text: &str) -> Self {
        let syntax = Syntax::detect(path, text);
        let said =
            || parse_document(syntax, text).and_then(|document| by_content(syntax, &document));
        match Self::by_path(path) {
            // Only the content distinguishes the two versions.
            Some(Self::OpenCode) => {
                let document = parse_document(syntax, text).unwrap_or_default();
                let is_second = table(&document, "mcp").and_then(opencode::v2_servers).is_some();
                if is_second { Self::OpenCodeV2 } else { Self::OpenCode }
            }
            Some(dialect) => dialect,
            None => said().unwrap_or(match syntax {
                Syntax::Toml => Self::Toolgate,
                Syntax::Json => Self::McpJson,
                Syntax::Yaml => Self::SecondBrain,
            }),
        }
    }

    /// Returns the dialect of files at this path; `None` if the path does not identify one.
    pub fn by_path(path: &Path) -> Option<Self> {
        let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy().to_lowercase()).collect();
        let is_there = |place: &str| {
            let mut parts = parts.iter().rev();
            place.rsplit('/').all(|part| parts.next().is_some_and(|it| it == part))
        };
        let is_own = |dialect: &Self| dialect.format().paths.iter().any(|place| is_there(place));
        if let Some(dialect) = Self::ALL.into_iter().find(is_own) {
            return Some(dialect);
        }
        let (name, folders) = parts.split_last()?;
        // The user file of VS Code and its forks: `Code/User/mcp.json`.
        let is_app = |folder: &str| folder.contains("code") || folder.contains("codium");
        let is_editor = |pair: &[String]| pair[1] == "user" && is_app(&pair[0]);
        if name == "mcp.json" && folders.windows(2).any(is_editor) {
            return Some(Self::VsCode);
        }
        let is_yaml = name.ends_with(".yaml") || name.ends_with(".yml");
        let is_continue = is_yaml && folders.iter().any(|folder| folder == ".continue");
        is_continue.then_some(Self::Continue)
    }

    /// Returns the dialect of the content if it clearly is not the dialect of the path.
    pub fn mismatch(path: &Path, text: &str) -> Option<Self> {
        let placed = Self::by_path(path)?;
        let document = parse_document(placed.syntax(), text)?;
        let said = by_content(placed.syntax(), &document)?;
        // Fields of a single entry prove nothing: users copy entries between hosts.
        // The hosts whose files have a map `mcpServers`.
        let is_family = |it: Self| it.format().servers == DialectFormat::MCP_SERVERS.servers;
        let is_opencode = |dialect| matches!(dialect, Self::OpenCode | Self::OpenCodeV2);
        let is_near = said == placed
            || (is_family(said) && is_family(placed))
            || (is_opencode(said) && is_opencode(placed));
        (!is_near).then_some(said)
    }
}

fn parse_document(syntax: Syntax, text: &str) -> Option<Vec<TreeMember>> {
    syntax.parse(text.trim_start_matches('\u{feff}')).ok()
}

/// Returns the dialect of a document by its content; `None` if it could be any.
fn by_content(syntax: Syntax, document: &[TreeMember]) -> Option<Dialect> {
    match syntax {
        Syntax::Toml => toml(document),
        Syntax::Json => json(document),
        Syntax::Yaml => yaml(document),
    }
}

fn toml(document: &[TreeMember]) -> Option<Dialect> {
    if table(document, "mcp_servers").is_some() {
        return Some(Dialect::Codex);
    }
    if table(document, "mcp").is_some_and(|mcp| table(mcp, "servers").is_some()) {
        return Some(Dialect::Nyzhi);
    }
    table(document, "servers").map(|_| Dialect::Toolgate)
}

fn json(document: &[TreeMember]) -> Option<Dialect> {
    if let Some(items) = find(document, "servers").and_then(TreeNode::list) {
        let is_sidekick = items.iter().any(|item| item.field("server_config").is_some());
        return is_sidekick.then_some(Dialect::Sidekick);
    }
    if let Some(servers) = table(document, "servers") {
        return map_of_servers(document, servers);
    }
    if table(document, "context_servers").is_some() {
        return Some(Dialect::Zed);
    }
    if let Some(found) = table(document, "mcp").and_then(version_of_opencode) {
        return Some(found);
    }
    match find(document, "mcpServers").map(|node| &node.value) {
        Some(TreeValue::List(_)) => Some(Dialect::Continue),
        Some(TreeValue::Table(servers)) => Some(detect_family(servers)),
        _ if table(document, "mcp_servers").is_some() => Some(Dialect::McpJson),
        _ => mcp_json::bare_servers(document).map(|_| Dialect::McpJson),
    }
}

/// Detects the dialect of a map `servers`: core-agent has a version, or a transport in every entry.
fn map_of_servers(document: &[TreeMember], servers: &[TreeMember]) -> Option<Dialect> {
    let version = find(document, "version").map(|node| &node.value);
    let is_versioned = matches!(version, Some(TreeValue::Integer(_)));
    if is_versioned || servers.iter().any(|it| it.node.field("transport").is_some()) {
        return Some(Dialect::CoreAgent);
    }
    let is_vscode = !servers.is_empty() || find(document, "inputs").is_some();
    is_vscode.then_some(Dialect::VsCode)
}

fn version_of_opencode(mcp: &[TreeMember]) -> Option<Dialect> {
    let is_one = |server: &TreeMember| matches!(type_of(server), Some("local" | "remote"));
    match table(mcp, "servers") {
        Some(servers) if servers.iter().any(is_one) => Some(Dialect::OpenCodeV2),
        _ => mcp.iter().any(is_one).then_some(Dialect::OpenCode),
    }
}

/// Returns which of the hosts with a map `mcpServers` the entries belong to.
fn detect_family(servers: &[TreeMember]) -> Dialect {
    let told = servers.iter().find_map(|server| {
        let told = DISTINCTIVE_FIELDS.iter().find(|(key, _)| server.node.field(key).is_some());
        let is_cline = type_of(server) == Some("streamableHttp");
        told.map(|(_, dialect)| *dialect).or(is_cline.then_some(Dialect::Cline))
    });
    told.unwrap_or(Dialect::McpJson)
}

fn yaml(document: &[TreeMember]) -> Option<Dialect> {
    if find(document, "control_plane").is_some() {
        return Some(Dialect::SecondBrain);
    }
    if table(document, "extensions").is_some() {
        return Some(Dialect::Goose);
    }
    let is_list = |key| find(document, key).is_some_and(|node| node.list().is_some());
    if is_list("mcpServers") {
        return Some(Dialect::Continue);
    }
    is_list("mcp_servers").then_some(Dialect::SecondBrain)
}

/// Returns the type that a server names.
fn type_of(server: &TreeMember) -> Option<&str> {
    server.node.field("type")?.text()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str, text: &str) -> Dialect {
        Dialect::detect(Path::new(path), text)
    }

    #[test]
    fn a_place_says_which_dialect_it_is() {
        for (path, dialect) in [
            ("/p/toolgate.toml", Dialect::Toolgate),
            ("/u/.config/toolgate/config.toml", Dialect::Toolgate),
            ("/p/.mcp.json", Dialect::McpJson),
            ("/p/.agents/mcp/servers.json", Dialect::McpJson),
            ("/u/.config/mcp/mcp.json", Dialect::McpJson),
            ("/etc/claude-code/managed-mcp.json", Dialect::McpJson),
            ("/u/.claude.json", Dialect::ClaudeCode),
            ("/u/.config/Claude/claude_desktop_config.json", Dialect::ClaudeDesktop),
            ("/p/.codex/config.toml", Dialect::Codex),
            ("/etc/gemini-cli/settings.json", Dialect::Gemini),
            ("/p/.gemini/settings.json", Dialect::Gemini),
            ("/p/.llxprt/settings.json", Dialect::Llxprt),
            ("/p/.agents/mcp.json", Dialect::CoreAgent),
            ("/b/sidekick/config/mcp_tools_config.json", Dialect::Sidekick),
            ("/p/.nyzhi/config.toml", Dialect::Nyzhi),
            ("/u/.config/nyzhi/config.toml", Dialect::Nyzhi),
            ("/p/.vscode/mcp.json", Dialect::VsCode),
            ("/u/.config/Code/User/mcp.json", Dialect::VsCode),
            ("/u/.config/VSCodium/User/profiles/1/mcp.json", Dialect::VsCode),
            ("/p/.cursor/mcp.json", Dialect::Cursor),
            ("/u/.codeium/windsurf/mcp_config.json", Dialect::Windsurf),
            ("/u/.codeium/mcp_config.json", Dialect::Windsurf),
            ("/u/.cline/data/settings/cline_mcp_settings.json", Dialect::Cline),
            ("/p/.kilocode/mcp.json", Dialect::Cline),
            ("/p/.roo/mcp.json", Dialect::Cline),
            ("/u/.continue/config.yaml", Dialect::Continue),
            ("/p/.continue/mcpServers/one.yaml", Dialect::Continue),
            ("/u/.config/zed/settings.json", Dialect::Zed),
            ("/p/.zed/settings.json", Dialect::Zed),
            ("/p/opencode.jsonc", Dialect::OpenCode),
            ("/u/.config/goose/config.yaml", Dialect::Goose),
            ("/u/.copilot/mcp-config.json", Dialect::Copilot),
            ("/p/.github/mcp.json", Dialect::Copilot),
            ("/u/secondbrain.yaml", Dialect::SecondBrain),
        ] {
            assert_eq!(of(path, ""), dialect, "{path}");
        }
        assert_eq!(Dialect::by_path(Path::new("/p/mcp.json")), None);
        assert_eq!(Dialect::by_path(Path::new("/home/user/mcp.json")), None);
        assert_eq!(Dialect::by_path(Path::new("/p/mcp/mcp.json")), None);
        assert_eq!(Dialect::by_path(Path::new("/p/my.mcp.json")), None);
        assert_eq!(Dialect::by_path(Path::new("/p/settings.json")), None);
        assert_eq!(Dialect::by_path(Path::new("/")), None);
    }

    #[test]
    fn content_says_it_where_the_place_does_not() {
        for (text, dialect) in [
            (r#"{"servers": [{"name": "a", "server_config": {}}]}"#, Dialect::Sidekick),
            (r#"{"version": 1, "servers": {}}"#, Dialect::CoreAgent),
            (r#"{"servers": {"a": {"transport": "http"}}}"#, Dialect::CoreAgent),
            (r#"{"servers": {"a": {"type": "http"}}}"#, Dialect::VsCode),
            (r#"{"servers": {}, "inputs": []}"#, Dialect::VsCode),
            (r#"{"context_servers": {}}"#, Dialect::Zed),
            (r#"{"mcp": {"a": {"type": "local"}}}"#, Dialect::OpenCode),
            (r#"{"mcp": {"servers": {"a": {"type": "remote"}}}}"#, Dialect::OpenCodeV2),
            (r#"{"mcpServers": []}"#, Dialect::Continue),
            (r#"{"mcpServers": {"a": {"command": "x"}}}"#, Dialect::McpJson),
            (r#"{"mcpServers": {"a": {"serverUrl": "x"}}}"#, Dialect::Windsurf),
            (r#"{"mcpServers": {"a": {}, "b": {"httpUrl": "x"}}}"#, Dialect::Gemini),
            (r#"{"mcpServers": {"a": {"trust": true}}}"#, Dialect::Gemini),
            (r#"{"mcpServers": {"a": {"autoApprove": []}}}"#, Dialect::Cline),
            (r#"{"mcpServers": {"a": {"type": "streamableHttp"}}}"#, Dialect::Cline),
            (r#"{"a": {"command": "x"}}"#, Dialect::McpJson),
            ("{", Dialect::McpJson),
        ] {
            assert_eq!(of("/x.json", text), dialect, "{text}");
            assert_eq!(of("/x", &format!("\u{feff}// note\n{text}")), dialect, "{text}");
        }
        for (text, dialect) in [
            ("[mcp_servers.a]\ncommand = 'x'", Dialect::Codex),
            ("[mcp.servers.a]\ncommand = 'x'", Dialect::Nyzhi),
            ("[servers.a]\ncommand = 'x'", Dialect::Toolgate),
            ("roots = []", Dialect::Toolgate),
        ] {
            assert_eq!(of("/x.toml", text), dialect, "{text}");
        }
        for (text, dialect) in [
            ("control_plane:\n  mcp_stdio_allowed_commands: [npx]\n", Dialect::SecondBrain),
            ("mcp_servers:\n  - name: a\n", Dialect::SecondBrain),
            ("extensions:\n  a:\n    type: stdio\n", Dialect::Goose),
            ("mcpServers:\n  - name: a\n", Dialect::Continue),
        ] {
            assert_eq!(of("/x.yaml", text), dialect, "{text}");
        }
    }

    #[test]
    fn the_place_wins_and_a_clear_contradiction_is_told() {
        let mismatch = |path: &str, text: &str| Dialect::mismatch(Path::new(path), text);
        let servers = r#"{"servers": {"a": {"command": "x"}}}"#;
        assert_eq!(of("/p/.mcp.json", servers), Dialect::McpJson);
        assert_eq!(mismatch("/p/.mcp.json", servers), Some(Dialect::VsCode));
        let map = r#"{"mcpServers": {"a": {"command": "x"}}}"#;
        assert_eq!(mismatch("/p/.vscode/mcp.json", map), Some(Dialect::McpJson));
        assert_eq!(mismatch("/p/.codex/config.toml", "[mcp.servers.a]"), Some(Dialect::Nyzhi));
        // An entry copied from another host of the family, or nothing said at all.
        assert_eq!(mismatch("/p/.mcp.json", r#"{"mcpServers": {"a": {"trust": true}}}"#), None);
        for text in ["", "{", "{}", map] {
            assert_eq!(mismatch("/p/.cursor/mcp.json", text), None, "{text}");
        }
        let v2 = r#"{"mcp": {"servers": {"a": {"type": "remote"}}}}"#;
        assert_eq!(of("/p/opencode.json", v2), Dialect::OpenCodeV2);
        assert_eq!(mismatch("/p/opencode.json", v2), None);
        assert_eq!(mismatch("/p/x.json", servers), None);
    }
}
