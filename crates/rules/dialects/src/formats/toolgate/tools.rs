//! Reads and writes which tools of a server are shown, and the settings of single tools.

use toolgate_model::{ApprovalMode, ConfigValue, ToolSelection, ToolSpec};

use crate::common::tree::{TreeMember, TreeValue};
use crate::common::{EntryWriter, TableFields};

pub(super) fn read(entry: &mut TableFields<'_, '_, '_>) -> ToolSelection {
    let mut selection = ToolSelection {
        include: entry.texts("include").unwrap_or_default(),
        exclude: entry.texts("exclude").unwrap_or_default(),
        listed_only: entry.flag("only_listed").unwrap_or(false),
        approval: approval(entry),
        ..ToolSelection::default()
    };
    entry.with_table("tools", |inner| {
        for member in inner.members() {
            if let Some(tool) = tool(inner, member) {
                selection.tools.insert(member.key.clone(), tool);
            }
        }
        inner.allow_unknown();
    });
    selection
}

fn approval(fields: &mut TableFields<'_, '_, '_>) -> Option<ApprovalMode> {
    fields.choice("approval", &ApprovalMode::ALL.map(|it| (it.as_str(), it)))
}

/// Reads the settings of one tool.
fn tool(tools: &mut TableFields<'_, '_, '_>, member: &TreeMember) -> Option<ToolSpec> {
    let TreeValue::Table(members) = &member.node.value else {
        let problem =
            format!("has {} where `{}` must be a table", member.node.value.kind(), member.key);
        tools.error_at(member.node.at, &problem, "write it like { enabled = false }");
        return None;
    };
    let what = format!("tool {:?}", member.key);
    let mut fields = TableFields::of(tools.diagnostics(), what, member.at, members);
    let spec = ToolSpec {
        alias: fields.text("alias").map(str::to_owned),
        tags: fields.texts("tags"),
        enabled: fields.flag("enabled").unwrap_or(true),
        approval: approval(&mut fields),
    };
    match fields.finish() {
        true => Some(spec),
        false => {
            tools.mark_unusable();
            None
        }
    }
}

/// Writes the plain fields.
pub(super) fn write_lists(selection: &ToolSelection, writer: &mut EntryWriter<'_>) {
    writer.texts("include", &selection.include);
    writer.texts("exclude", &selection.exclude);
    if selection.listed_only {
        writer.flag("only_listed", true);
    }
    writer.text("approval", selection.approval.map(ApprovalMode::as_str));
}

/// Writes the settings of single tools. A tool without settings is written too, because being
/// listed may have an effect.
pub(super) fn write_tools(selection: &ToolSelection, writer: &mut EntryWriter<'_>) {
    let tools = selection.tools.iter().map(|(name, tool)| {
        let ToolSpec { alias, tags, enabled, approval } = tool;
        let fields = [
            alias.as_ref().map(|alias| ("alias", ConfigValue::text(alias))),
            tags.as_ref().map(|tags| ("tags", ConfigValue::texts(tags.iter().cloned()))),
            (!enabled).then_some(("enabled", ConfigValue::Bool(false))),
            approval.map(|approval| ("approval", ConfigValue::text(approval.as_str()))),
        ];
        let fields = fields.into_iter().flatten().map(|(key, value)| (key.to_owned(), value));
        (name.clone(), ConfigValue::Table(fields.collect()))
    });
    let tools: Vec<_> = tools.collect();
    if !tools.is_empty() {
        writer.data("tools", ConfigValue::Table(tools));
    }
}
