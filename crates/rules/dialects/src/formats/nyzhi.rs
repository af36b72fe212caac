//! Nyzhi's `config.toml`.
//!
//! Strings contain no variables. Headers are sent, as Nyzhi's documentation says.

use toolgate_model::{ConfigScope, Effect};

use crate::common::TableFields;
use crate::common::rules::{self, InvalidRuleHandling, PermissionKeys};
use crate::common::server::EntryKeys;
use crate::dialect_format::{DialectFormat, RuleTranslation, ServersLocation};
use crate::{FileSettings, Permissions, PolicyMode, Syntax};

/// The dialect of Nyzhi.
pub(crate) const FORMAT: DialectFormat = DialectFormat {
    name: "nyzhi",
    paths: &[".nyzhi/config.toml", "nyzhi/config.toml"],
    extras: "nyzhi",
    syntax: Syntax::Toml,
    servers: ServersLocation::Map(&["mcp", "servers"]),
    servers_only: false,
    keys: EntryKeys::UNTYPED,
    read_settings: |top| {
        let Some((at, members)) = top.table("agent") else { return FileSettings::default() };
        let mut agent = top.nested("`agent`", at, members);
        let permissions = agent.with_table("trust", permissions).unwrap_or_default();
        FileSettings { permissions, ..FileSettings::default() }
    },
    write_settings: |settings, losses| KEYS.write(settings, losses),
    translate_rule: |effect, rule, permissions| {
        let limited = permissions.mode.is_some_and(|mode| mode.value == PolicyMode::Limited);
        match rule.subject.as_str() {
            EVERY => RuleTranslation::Rule(rules::EVERY_TOOL.to_owned()),
            about if !about.starts_with("mcp__") => RuleTranslation::HostTool,
            _ if effect == Effect::Allow && !limited => RuleTranslation::Ignored(
                "Nyzhi applies its list of allowed tools only in mode \"limited\"",
            ),
            about => RuleTranslation::Rule(about.to_owned()),
        }
    },
    // Nyzhi merges its own files and gives them precedence over any `.mcp.json`, even its user file
    // over the project's.
    outranks: |other| {
        let is_shared = other.file.as_ref().is_some_and(|file| file.ends_with(".mcp.json"));
        is_shared && other.scope == ConfigScope::Project
    },
    ..DialectFormat::MCP_SERVERS
};

/// The names of the fields. The file edits that `autoedit` allows are not MCP calls.
const KEYS: PermissionKeys = PermissionKeys {
    path: &["agent", "trust"],
    mode: "mode",
    modes: &[
        ("off", PolicyMode::Ask),
        ("limited", PolicyMode::Limited),
        ("full", PolicyMode::Full),
        ("autoedit", PolicyMode::Ask),
    ],
    lists: ["allow_tools", "always_ask", "deny_tools"],
};
/// The word for every tool in the list of denied tools.
const EVERY: &str = "*";
/// Fields of `[agent.trust]` about files, or about remembering approvals.
const OTHERS: [&str; 3] = ["allow_paths", "deny_paths", "remember_approvals"];

/// Reads the rules as written: they use Nyzhi's tool names.
fn permissions(trust: &mut TableFields<'_>) -> Permissions {
    trust.mark_known(&OTHERS);
    trust.mark_known(&[KEYS.lists[0]]);
    let more = rules::read_rules(trust, "auto_approve", InvalidRuleHandling::Skip);
    let mode = rules::mode(trust, KEYS.modes);
    let mut said = Permissions { mode, ..KEYS.read_lists(trust) };
    said.allow.extend(more);
    said
}
