//! Reads and writes the settings of single tools.

use toolgate_model::{ApprovalMode, ConfigValue, DeclaredTool, ServerSpec};

use super::write::{list, set_fields};
use crate::common::{EntryWriter, TableFields};

pub(super) fn read(entry: &mut TableFields<'_>, spec: &mut ServerSpec) {
    entry.with_table("tools", |inner| {
        inner.each_table("tool", "{ enabled = false }", |member, fields| {
            let tool = DeclaredTool {
                alias: fields.owned_text("alias"),
                tags: fields.texts("tags"),
                enabled: fields.flag("enabled").unwrap_or(true),
                approval: approval(fields),
            };
            spec.selection.tools.insert(member.key.clone(), tool);
        });
    });
}

pub(super) fn approval(fields: &mut TableFields<'_>) -> Option<ApprovalMode> {
    fields.choice("approval", &ApprovalMode::ALL.map(|it| (it.as_str(), it)))
}

/// Writes the settings of single tools. A tool without settings is written too, because being
/// listed may have an effect.
pub(super) fn write(rest: &mut ServerSpec, writer: &mut EntryWriter<'_>) {
    let tools = std::mem::take(&mut rest.selection.tools).into_iter().map(|(name, tool)| {
        let DeclaredTool { alias, tags, enabled, approval } = tool;
        let fields = set_fields([
            ("alias", alias.map(ConfigValue::Text)),
            ("tags", tags.as_deref().map(list)),
            ("enabled", (!enabled).then_some(ConfigValue::Bool(false))),
            ("approval", approval.map(|approval| ConfigValue::text(approval.as_str()))),
        ]);
        (name, ConfigValue::Table(fields))
    });
    writer.table("tools", tools.collect());
}
