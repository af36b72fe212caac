//! `~/.claude.json`: the user's servers, and those of single projects.
//!
//! Claude Code keeps many other settings in this file and its `settings.json`. Only `permissions`
//! is read ([`permissions`]). Entries are those of `.mcp.json` ([`super::mcp_json`]). New entries
//! are written for the user, because a project's own belong in its `.mcp.json`. An existing entry
//! of a project is changed in place.

mod permissions;

use toolgate_model::ServerName;

use super::mcp_json;
use crate::FileSettings;
use crate::common::TableFields;
use crate::common::tree::{TreeMember, TreeValue, find, find_table};
use crate::dialect_format::{ConfigServerGroup, DialectFormat, ServerEntries};

/// The dialect of Claude Code's own files.
pub(crate) const FORMAT: DialectFormat = DialectFormat {
    name: "claude-code",
    paths: &[".claude.json"],
    servers_only: false,
    locate_server: |_, _| None,
    project_keys,
    server_groups: Some(server_groups),
    read_settings: |top| FileSettings {
        permissions: permissions::read(top),
        ..FileSettings::default()
    },
    write_settings: |settings, losses| permissions::KEYS.write(settings, losses),
    translate_rule: |effect, rule, _| permissions::translate_rule(effect, &rule.subject),
    ..mcp_json::FORMAT
};

/// Returns the path of a server that exactly one project declares. If several projects declare it,
/// it is unclear which one is meant.
fn project_keys(document: &[TreeMember], name: &ServerName) -> Option<Vec<String>> {
    let has = |members: &[TreeMember]| {
        find_table(members, "mcpServers").is_some_and(|it| find_table(it, name.as_str()).is_some())
    };
    if has(document) {
        return None;
    }
    let has_it = |project: &&TreeMember| project.node.table().is_some_and(has);
    let mut having = find_table(document, "projects")?.iter().filter(has_it);
    let project = having.next().filter(|_| having.next().is_none())?;
    Some(["projects", &project.key, "mcpServers"].map(str::to_owned).into())
}

/// Returns the groups of servers. The entries of projects come first, because they take precedence
/// over the user's.
fn server_groups<'t>(top: &mut TableFields<'t>) -> Vec<ConfigServerGroup<'t>> {
    let projects = top.table("projects").map(|(_, projects)| projects).unwrap_or_default();
    let mut groups: Vec<_> =
        projects.iter().filter_map(|project| project_group(top, project)).collect();
    groups.extend(top.servers(FORMAT.servers).map(ConfigServerGroup::from));
    groups
}

/// Returns the servers of one project, if it has any.
fn project_group<'t>(
    top: &TableFields<'t>,
    project: &'t TreeMember,
) -> Option<ConfigServerGroup<'t>> {
    let node = find(project.node.table()?, "mcpServers")?;
    let servers = node.table();
    if servers.is_none() && node.value != TreeValue::Null {
        let (key, kind) = (&project.key, node.value.kind());
        let message = format!("project {key:?} has {kind} where `mcpServers` must be a table");
        top.diagnostics.error(node.at, message, "make `mcpServers` a table");
    }
    let only_in = Some(project.key.clone().into());
    Some(ConfigServerGroup { servers: ServerEntries::Map(servers?), only_in })
}
