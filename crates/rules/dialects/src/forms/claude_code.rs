//! `~/.claude.json`: the user's servers, and those of single projects.
//!
//! Claude Code keeps much else in this file; of that only `permissions` is looked at, which stand in
//! its `settings.json` ([`permissions`]). Entries are those of
//! `.mcp.json` ([`super::mcp_json`]). New ones are written for the user: a project's own belong
//! into its `.mcp.json`. What stands with a project already is changed there.

mod permissions;

use toolgate_model::{Data, Effect, ServerName, ServerSpec, WrittenRule};

use super::mcp_json;
use crate::form::{Entry, Form, Group, Meaning, Place, Servers, Switch};
use crate::frame::tree::{Member, Value};
use crate::frame::{Fields, Report, Writer};
use crate::losses::Losses;
use crate::{Grammar, Permissions, Settings, Syntax};

pub(crate) struct ClaudeCode;

impl Form for ClaudeCode {
    fn syntax(&self) -> Syntax {
        Syntax::Json
    }

    fn place(&self) -> Place {
        Place::Map(&["mcpServers"])
    }

    fn grammar(&self) -> Grammar {
        Grammar::Braces
    }

    fn is_own_file(&self) -> bool {
        false
    }

    fn switch(&self) -> Option<Switch> {
        Some(Switch { field: "disabled", on: false, other: Some("enabled") })
    }

    /// A server of a single project is changed there; of one that several have nobody knows whose
    /// is meant.
    fn below_own_keys(&self, document: &[Member], name: &ServerName) -> Option<Vec<String>> {
        let has = |members: &[Member]| {
            table(members, "mcpServers").is_some_and(|it| table(it, name.as_str()).is_some())
        };
        if has(document) {
            return None;
        }
        let mut having = table(document, "projects")?
            .iter()
            .filter(|project| matches!(&project.node.value, Value::Table(members) if has(members)));
        let project = having.next().filter(|_| having.next().is_none())?;
        Some(["projects", &project.key, "mcpServers"].map(str::to_owned).into())
    }

    /// A project's own entries come first: there they win over the user's.
    fn groups<'t>(&self, top: &mut Fields<'t, '_, '_>) -> Vec<Group<'t>> {
        let projects = top.table("projects").map(|(_, projects)| projects).unwrap_or_default();
        let report = top.report();
        let mut groups: Vec<_> =
            projects.iter().filter_map(|project| of_project(report, project)).collect();
        let users = top.servers(self.place());
        groups.extend(users.map(|servers| Group { servers, only_in: None }));
        groups
    }

    fn settings(&self, top: &mut Fields<'_, '_, '_>) -> Settings {
        Settings { permissions: permissions::read(top), ..Settings::default() }
    }

    fn read(&self, name: ServerName, entry: &mut Fields<'_, '_, '_>) -> Option<Entry> {
        mcp_json::read(name, entry)
    }

    fn write(&self, spec: &ServerSpec, writer: &mut Writer<'_>) {
        mcp_json::write(spec, writer);
    }

    fn write_settings(
        &self,
        settings: &Settings,
        losses: &mut Losses,
    ) -> Vec<(&'static [&'static str], Data)> {
        losses.settings(&Settings { permissions: Permissions::default(), ..settings.clone() });
        permissions::write(&settings.permissions, losses)
    }

    fn meaning(&self, effect: Effect, rule: &WrittenRule, _said: &Permissions) -> Meaning {
        permissions::meaning(effect, &rule.about)
    }
}

fn table<'t>(members: &'t [Member], key: &str) -> Option<&'t [Member]> {
    match &members.iter().find(|member| member.key == key)?.node.value {
        Value::Table(members) => Some(members),
        _ => None,
    }
}

/// The servers of one project, if it has any.
fn of_project<'t>(report: &mut Report<'_>, project: &'t Member) -> Option<Group<'t>> {
    let Value::Table(members) = &project.node.value else { return None };
    let servers = &members.iter().find(|member| member.key == "mcpServers")?.node;
    match &servers.value {
        Value::Table(servers) => Some(Group {
            servers: Servers::Map(servers),
            only_in: Some(project.key.clone().into()),
        }),
        Value::Null => None,
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
