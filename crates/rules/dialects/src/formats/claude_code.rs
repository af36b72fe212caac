//! `~/.claude.json`: the user's servers, and those of single projects.
//!
//! Claude Code keeps many other settings in this file and its `settings.json`. Only `permissions`
//! is read ([`permissions`]). Entries are those of `.mcp.json` ([`super::mcp_json`]). New entries
//! are written for the user, because a project's own belong in its `.mcp.json`. An existing entry
//! of a project is changed in place.

mod permissions;

use toolgate_model::{ConfigValue, Effect, RuleSpec, ServerName, ServerSpec};

use super::mcp_json;
use crate::common::tree::{TreeMember, TreeValue};
use crate::common::{EntryWriter, FileDiagnostics, TableFields};
use crate::dialect_format::{
    DialectFormat, EnabledField, ParsedEntry, RuleTranslation, ServerEntries, ServerGroup,
    ServersLocation,
};
use crate::losses::ConversionLosses;
use crate::{FileSettings, Permissions, Syntax, VariableSyntax};

/// The dialect of Claude Code's own files.
pub(crate) struct ClaudeCode;

impl DialectFormat for ClaudeCode {
    fn syntax(&self) -> Syntax {
        Syntax::Json
    }

    fn servers_location(&self) -> ServersLocation {
        ServersLocation::Map(&["mcpServers"])
    }

    fn variable_syntax(&self) -> VariableSyntax {
        VariableSyntax::Braces
    }

    fn is_servers_only(&self) -> bool {
        false
    }

    fn enabled_field(&self) -> Option<EnabledField> {
        Some(EnabledField {
            field: "disabled",
            value_when_enabled: false,
            opposite_field: Some("enabled"),
        })
    }

    /// Returns the path of a server that exactly one project declares. If several projects declare
    /// it, it is unclear which one is meant.
    fn project_keys(&self, document: &[TreeMember], name: &ServerName) -> Option<Vec<String>> {
        let has = |members: &[TreeMember]| {
            table(members, "mcpServers").is_some_and(|it| table(it, name.as_str()).is_some())
        };
        if has(document) {
            return None;
        }
        let mut having = table(document, "projects")?.iter().filter(
            |project| matches!(&project.node.value, TreeValue::Table(members) if has(members)),
        );
        let project = having.next().filter(|_| having.next().is_none())?;
        Some(["projects", &project.key, "mcpServers"].map(str::to_owned).into())
    }

    /// Returns the groups of servers. The entries of projects come first, because they take
    /// precedence over the user's.
    fn server_groups<'t>(&self, top: &mut TableFields<'t, '_, '_>) -> Vec<ServerGroup<'t>> {
        let projects = top.table("projects").map(|(_, projects)| projects).unwrap_or_default();
        let report = top.diagnostics();
        let mut groups: Vec<_> =
            projects.iter().filter_map(|project| project_group(report, project)).collect();
        let users = top.servers(self.servers_location());
        groups.extend(users.map(|servers| ServerGroup { servers, only_in: None }));
        groups
    }

    fn read_settings(&self, top: &mut TableFields<'_, '_, '_>) -> FileSettings {
        FileSettings { permissions: permissions::read(top), ..FileSettings::default() }
    }

    fn read(&self, name: ServerName, entry: &mut TableFields<'_, '_, '_>) -> Option<ParsedEntry> {
        mcp_json::read(name, entry)
    }

    fn write(&self, spec: &ServerSpec, writer: &mut EntryWriter<'_>) {
        mcp_json::write(spec, writer);
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
        permissions::write(&settings.permissions, losses)
    }

    fn translate_rule(
        &self,
        effect: Effect,
        rule: &RuleSpec,
        _said: &Permissions,
    ) -> RuleTranslation {
        permissions::translate_rule(effect, &rule.subject)
    }
}

fn table<'t>(members: &'t [TreeMember], key: &str) -> Option<&'t [TreeMember]> {
    match &members.iter().find(|member| member.key == key)?.node.value {
        TreeValue::Table(members) => Some(members),
        _ => None,
    }
}

/// Returns the servers of one project, if it has any.
fn project_group<'t>(
    report: &mut FileDiagnostics<'_>,
    project: &'t TreeMember,
) -> Option<ServerGroup<'t>> {
    let TreeValue::Table(members) = &project.node.value else { return None };
    let servers = &members.iter().find(|member| member.key == "mcpServers")?.node;
    match &servers.value {
        TreeValue::Table(servers) => Some(ServerGroup {
            servers: ServerEntries::Map(servers),
            only_in: Some(project.key.clone().into()),
        }),
        TreeValue::Null => None,
        other => {
            let message = format!(
                "project {:?} has {} where `mcpServers` must be a table",
                project.key,
                other.kind()
            );
            report.error(servers.at, message, "make `mcpServers` a table");
            None
        }
    }
}
