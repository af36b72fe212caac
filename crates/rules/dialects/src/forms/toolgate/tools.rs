//! Which tools of a server are seen, and what is said about single ones.

use toolgate_model::{Approval, Data, Selection, ToolSpec};

use crate::frame::tree::{Member, Value};
use crate::frame::{Fields, Writer};

pub(super) fn read(entry: &mut Fields<'_, '_, '_>) -> Selection {
    let mut selection = Selection {
        include: entry.texts("include").unwrap_or_default(),
        exclude: entry.texts("exclude").unwrap_or_default(),
        listed_only: entry.flag("only_listed").unwrap_or(false),
        approval: approval(entry),
        ..Selection::default()
    };
    entry.within("tools", |inner| {
        for member in inner.members() {
            if let Some(tool) = tool(inner, member) {
                selection.tools.insert(member.key.clone(), tool);
            }
        }
        inner.all_known();
    });
    selection
}

fn approval(fields: &mut Fields<'_, '_, '_>) -> Option<Approval> {
    fields.choice("approval", &Approval::ALL.map(|it| (it.as_str(), it)))
}

/// What is said about one tool.
fn tool(tools: &mut Fields<'_, '_, '_>, member: &Member) -> Option<ToolSpec> {
    let Value::Table(members) = &member.node.value else {
        let problem =
            format!("has {} where `{}` must be a table", member.node.value.kind(), member.key);
        tools.fault(member.node.at, &problem, "write it like { enabled = false }");
        return None;
    };
    let what = format!("tool {:?}", member.key);
    let mut fields = Fields::of(tools.report(), what, member.at, members);
    let spec = ToolSpec {
        alias: fields.text("alias").map(str::to_owned),
        tags: fields.texts("tags"),
        enabled: fields.flag("enabled").unwrap_or(true),
        approval: approval(&mut fields),
    };
    match fields.finish() {
        true => Some(spec),
        false => {
            tools.spoil();
            None
        }
    }
}

/// The plain fields.
pub(super) fn write_lists(selection: &Selection, writer: &mut Writer<'_>) {
    writer.plains("include", &selection.include);
    writer.plains("exclude", &selection.exclude);
    if selection.listed_only {
        writer.flag("only_listed", true);
    }
    writer.plain("approval", selection.approval.map(Approval::as_str));
}

/// Single tools. One of which nothing is said is listed, and that may be all it is there for.
pub(super) fn write_tools(selection: &Selection, writer: &mut Writer<'_>) {
    let tools = selection.tools.iter().map(|(name, tool)| {
        let ToolSpec { alias, tags, enabled, approval } = tool;
        let fields = [
            alias.as_ref().map(|alias| ("alias", Data::text(alias))),
            tags.as_ref().map(|tags| ("tags", Data::texts(tags.iter().cloned()))),
            (!enabled).then_some(("enabled", Data::Flag(false))),
            approval.map(|approval| ("approval", Data::text(approval.as_str()))),
        ];
        let fields = fields.into_iter().flatten().map(|(key, value)| (key.to_owned(), value));
        (name.clone(), Data::Table(fields.collect()))
    });
    let tools: Vec<_> = tools.collect();
    if !tools.is_empty() {
        writer.data("tools", Data::Table(tools));
    }
}
