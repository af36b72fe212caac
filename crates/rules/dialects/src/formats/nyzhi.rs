//! Nyzhi's `config.toml`.
//!
//! Strings contain no variables. Headers are sent, as Nyzhi's documentation says.

use toolgate_model::{
    ConfigScope, ConfigValue, Effect, HttpTransportKind, Origin, RuleSpec, ServerName, ServerSpec,
    TransportSpec,
};

use super::write_helpers;
use crate::common::rules::{self, InvalidRuleHandling};
use crate::common::server::{self, EntryKeys};
use crate::common::{EntryWriter, TableFields};
use crate::dialect_format::{DialectFormat, ParsedEntry, RuleTranslation, ServersLocation};
use crate::losses::ConversionLosses;
use crate::{FileSettings, Permissions, PolicyMode, Syntax, VariableSyntax};

/// The dialect of Nyzhi.
pub(crate) struct Nyzhi;

const ID: &str = "nyzhi";
const KEYS: EntryKeys =
    EntryKeys { transport_keys: &[], transport_names: &[], cwd: None, ..EntryKeys::COMMON };
/// The names of modes; the first name of a mode is the one that is written. The file edits that
/// `autoedit` allows are not MCP calls.
const MODES: [(&str, PolicyMode); 4] = [
    ("off", PolicyMode::Ask),
    ("limited", PolicyMode::Limited),
    ("full", PolicyMode::Full),
    ("autoedit", PolicyMode::Ask),
];
/// The word for every tool in the list of denied tools.
const EVERY: &str = "*";
/// Fields of `[agent.trust]` about files, or about remembering approvals.
const OTHERS: [&str; 3] = ["allow_paths", "deny_paths", "remember_approvals"];

impl DialectFormat for Nyzhi {
    fn syntax(&self) -> Syntax {
        Syntax::Toml
    }

    fn servers_location(&self) -> ServersLocation {
        ServersLocation::Map(&["mcp", "servers"])
    }

    fn variable_syntax(&self) -> VariableSyntax {
        VariableSyntax::Literal
    }

    fn is_servers_only(&self) -> bool {
        false
    }

    /// Nyzhi merges its own files and gives them precedence over any `.mcp.json`, even its user
    /// file over the project's.
    fn outranks(&self, other: &Origin) -> bool {
        let is_shared = other.file.as_ref().is_some_and(|file| file.ends_with(".mcp.json"));
        is_shared && other.scope == ConfigScope::Project
    }

    fn read_settings(&self, top: &mut TableFields<'_, '_, '_>) -> FileSettings {
        let Some((at, members)) = top.table("agent") else { return FileSettings::default() };
        let mut agent = TableFields::of(top.diagnostics(), "`agent`".to_owned(), at, members);
        let permissions = agent.with_table("trust", permissions).unwrap_or_default();
        FileSettings { permissions, ..FileSettings::default() }
    }

    fn read(&self, name: ServerName, entry: &mut TableFields<'_, '_, '_>) -> Option<ParsedEntry> {
        let transport = server::read_transport(entry, &KEYS)?;
        Some(ServerSpec::new(name, transport).into())
    }

    fn write(&self, spec: &ServerSpec, writer: &mut EntryWriter<'_>) {
        let mut rest = spec.clone();
        match &mut rest.transport {
            TransportSpec::Stdio(stdio) => write_helpers::stdio(stdio, &KEYS, writer),
            TransportSpec::Http(http) => {
                write_helpers::http(http, &KEYS, writer);
                // Nyzhi supports only Streamable HTTP, so the transport is not written.
                if http.kind == HttpTransportKind::Streamable {
                    http.kind = HttpTransportKind::Auto;
                }
            }
            TransportSpec::BuiltIn => {
                return write_helpers::report_undeclarable(writer, "it is built in");
            }
        }
        write_helpers::report_losses(&rest, ID, writer);
    }

    fn write_settings(
        &self,
        settings: &FileSettings,
        losses: &mut ConversionLosses,
    ) -> Vec<(&'static [&'static str], ConfigValue)> {
        losses.add_settings(&FileSettings {
            permissions: Permissions::default(),
            ..settings.clone()
        });
        let permissions = &settings.permissions;
        let Permissions { mode, allow, ask, deny, .. } = permissions;
        rules::report_unsupported(permissions, losses);
        let word = mode.and_then(|mode| MODES.iter().find(|(_, meant)| *meant == mode.value));
        let mut trust: Vec<_> = word
            .map(|(word, _)| ("mode".to_owned(), ConfigValue::text(*word)))
            .into_iter()
            .collect();
        for (key, effect, listed) in [
            ("allow_tools", Effect::Allow, allow),
            ("always_ask", Effect::Ask, ask),
            ("deny_tools", Effect::Deny, deny),
        ] {
            trust.extend(rules::field(key, effect, listed, losses));
        }
        match trust.is_empty() {
            true => Vec::new(),
            false => vec![(&["agent", "trust"], ConfigValue::Table(trust))],
        }
    }

    fn translate_rule(
        &self,
        effect: Effect,
        rule: &RuleSpec,
        permissions: &Permissions,
    ) -> RuleTranslation {
        let limited = permissions.mode.is_some_and(|mode| mode.value == PolicyMode::Limited);
        match rule.subject.as_str() {
            EVERY => RuleTranslation::Rule(rules::EVERY_TOOL.to_owned()),
            about if !about.starts_with("mcp__") => RuleTranslation::HostTool,
            _ if effect == Effect::Allow && !limited => RuleTranslation::Ignored(
                "Nyzhi applies its list of allowed tools only in mode \"limited\"",
            ),
            about => RuleTranslation::Rule(about.to_owned()),
        }
    }
}

/// Reads the rules as written: they use Nyzhi's tool names.
fn permissions(trust: &mut TableFields<'_, '_, '_>) -> Permissions {
    trust.mark_known(&OTHERS);
    let mut allow = rules::read_rules(trust, "allow_tools", InvalidRuleHandling::Skip);
    allow.extend(rules::read_rules(trust, "auto_approve", InvalidRuleHandling::Skip));
    Permissions {
        mode: rules::mode(trust, &MODES),
        allow,
        ask: rules::read_rules(trust, "always_ask", InvalidRuleHandling::Keep),
        deny: rules::read_rules(trust, "deny_tools", InvalidRuleHandling::Keep),
        ..Permissions::default()
    }
}
