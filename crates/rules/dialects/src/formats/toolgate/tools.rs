//! Reads and writes which tools of a server are shown, and the settings of single tools.

use toolgate_model::{ApprovalMode, ConfigValue, ToolSelection, ToolSpec};

use super::write::{list, set_fields};
use crate::common::{EntryWriter, TableFields};

pub(super) fn read(entry: &mut TableFields<'_>) -> ToolSelection {
    let mut selection = ToolSelection {
        include: entry.texts("include").unwrap_or_default(),
        exclude: entry.texts("exclude").unwrap_or_default(),
        listed_only: entry.flag("only_listed").unwrap_or(false),
        approval: approval(entry),
        ..ToolSelection::default()
    };
    entry.with_table("tools", |inner| {
        inner.each_table("tool", "{ enabled = false }", |member, fields| {
            let spec = ToolSpec {
                alias: fields.owned_text("alias"),
                tags: fields.texts("tags"),
                enabled: fields.flag("enabled").unwrap_or(true),
                approval: approval(fields),
            };
            selection.tools.insert(member.key.clone(), spec);
        });
    });
    selection
}

fn approval(fields: &mut TableFields<'_>) -> Option<ApprovalMode> {
    fields.choice("approval", &ApprovalMode::ALL.map(|it| (it.as_str(), it)))
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
        let fields = set_fields([
            ("alias", alias.as_ref().map(ConfigValue::text)),
            ("tags", tags.as_deref().map(list)),
            ("enabled", (!enabled).then_some(ConfigValue::Bool(false))),
            ("approval", approval.map(|approval| ConfigValue::text(approval.as_str()))),
        ]);
        (name.clone(), ConfigValue::Table(fields))
    });
    writer.table("tools", tools.collect());
}
