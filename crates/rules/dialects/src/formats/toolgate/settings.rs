//! Reads and writes the settings of Toolgate's own file besides its servers.

use std::path::PathBuf;

use toolgate_model::ConfigValue;

use super::write::set_fields;
use super::{context, entry, policy, profiles, write};
use crate::common::TableFields;
use crate::dialect_format::WrittenSettings;
use crate::losses::ConversionLosses;
use crate::{FileSettings, ForeignFiles, InputSpec};

pub(super) fn read(top: &mut TableFields<'_>) -> FileSettings {
    let mut settings = FileSettings {
        roots: top.texts("roots").map(|roots| roots.into_iter().map(Into::into).collect()),
        naming: profiles::naming(top),
        prefix: profiles::prefix(top),
        foreign: top.choice("foreign", &ForeignFiles::ALL.map(|it| (it.as_str(), it))),
        inputs: inputs(top),
        permissions: top.with_table("policy", policy::permissions).unwrap_or_default(),
        posture: policy::posture(top),
        recheck: policy::recheck(top),
        ..FileSettings::default()
    };
    profiles::read(top, &mut settings);
    FileSettings {
        clients: profiles::clients(top),
        approvals: policy::approvals(top),
        timeouts: entry::timeouts(top),
        context: context::read(top),
        extras: entry::extras(top),
        ..settings
    }
}

fn inputs(top: &mut TableFields<'_>) -> Vec<InputSpec> {
    let mut inputs: Vec<InputSpec> = Vec::new();
    for item in top.list("inputs").unwrap_or_default() {
        let Some(members) = item.table() else {
            let problem = format!("has {} among its `inputs`", item.value.kind());
            top.error_at(item.at, &problem, "write each as { id = \"…\" }");
            continue;
        };
        let mut fields = top.nested("an input", item.at, members);
        let id = fields.text("id").unwrap_or_default().to_owned();
        let description = fields.owned_text("description");
        let password = fields.flag("password").unwrap_or(false);
        if id.is_empty() {
            fields.fail("has no `id`", "give it the name that ${secret:…} uses");
        } else if inputs.iter().any(|other| other.id == id) {
            fields.fail(&format!("has the same `id` as another input: {id:?}"), "keep one");
        }
        if fields.finish() {
            inputs.push(InputSpec { id, description, password });
        }
    }
    inputs
}

/// Returns the fields and values to write; fields outside of tables come first.
pub(super) fn write(settings: &FileSettings, losses: &mut ConversionLosses) -> WrittenSettings {
    // Names every field, so that a new one cannot be forgotten.
    let FileSettings {
        roots,
        naming,
        prefix,
        profiles,
        invalid_profiles: _,
        clients,
        foreign,
        permissions,
        approvals,
        posture,
        recheck,
        timeouts,
        context,
        inputs,
        extras,
    } = settings;
    let text = |path: &PathBuf| path.to_string_lossy().into_owned();
    let table = |fields: Vec<_>| (!fields.is_empty()).then_some(ConfigValue::Table(fields));
    let posture = posture.map(|it| ConfigValue::text(it.value.as_str()));
    let recheck = recheck.map(|it| ConfigValue::Text(write::format_duration(it.value)));
    let fields: [(&'static [&'static str], Option<ConfigValue>); 14] = [
        (&["roots"], roots.as_ref().map(|roots| ConfigValue::texts(roots.iter().map(text)))),
        (&["naming"], naming.map(|naming| ConfigValue::text(naming.as_str()))),
        (&["prefix"], prefix.map(|prefix| ConfigValue::text(prefix.as_str()))),
        (&["foreign"], foreign.map(|foreign| ConfigValue::text(foreign.as_str()))),
        (
            &["inputs"],
            (!inputs.is_empty()).then(|| ConfigValue::List(inputs.iter().map(input).collect())),
        ),
        (&["launch"], table(set_fields([("posture", posture)]))),
        (&["policy"], table(policy::permission_fields(permissions, losses))),
        (&["approvals"], table(policy::approval_fields(approvals))),
        (&["pins"], table(set_fields([("recheck", recheck)]))),
        (&["timeouts"], table(write::limits(*timeouts))),
        (&["context"], table(context::write(context))),
        (&["profiles"], table(profiles::write(profiles))),
        (&["clients"], table(profiles::write_clients(clients))),
        (&["extra"], table(write::extras(extras, losses))),
    ];
    fields.into_iter().filter_map(|(path, value)| Some((path, value?))).collect()
}

fn input(input: &InputSpec) -> ConfigValue {
    let InputSpec { id, description, password } = input;
    ConfigValue::Table(set_fields([
        ("id", Some(ConfigValue::text(id))),
        ("description", description.as_ref().map(ConfigValue::text)),
        ("password", password.then_some(ConfigValue::Bool(true))),
    ]))
}
