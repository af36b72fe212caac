//! Reads and writes the settings of Toolgate's own file besides its servers.

use std::path::PathBuf;

use toolgate_model::ConfigValue;

use super::write::{set_fields, toml_compatible};
use super::{context, entry, policy, profiles, write};
use crate::common::TableFields;
use crate::losses::ConversionLosses;
use crate::{FileSettings, ForeignFiles, InputSpec};

pub(super) fn read(top: &mut TableFields<'_>) -> FileSettings {
    let roots = top.texts("roots").map(|roots| roots.into_iter().map(Into::into).collect());
    let (naming, prefix) = (profiles::naming(top), profiles::prefix(top));
    let foreign = top.choice("foreign", &ForeignFiles::ALL.map(|it| (it.as_str(), it)));
    let inputs = inputs(top);
    let permissions = top.with_table("policy", policy::permissions).unwrap_or_default();
    let (posture, recheck) = (policy::posture(top), policy::recheck(top));
    let profiles::ParsedProfiles { profiles, invalid: unread } = profiles::read(top);
    let clients = profiles::clients(top);
    let approvals = policy::approvals(top);
    let timeouts = entry::timeouts(top);
    let context = context::read(top);
    let extras = entry::extras(top);
    let seen = FileSettings {
        naming,
        prefix,
        profiles,
        invalid_profiles: unread,
        clients,
        ..FileSettings::default()
    };
    let decided = FileSettings { permissions, approvals, posture, recheck, timeouts, ..seen };
    FileSettings { roots, foreign, context, inputs, extras, ..decided }
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
pub(super) fn write(
    settings: &FileSettings,
    losses: &mut ConversionLosses,
) -> Vec<(&'static [&'static str], ConfigValue)> {
    let FileSettings {
        roots,
        naming,
        prefix,
        profiles,
        invalid_profiles: _,
        clients,
        foreign,
        permissions: _,
        approvals: _,
        posture: _,
        recheck: _,
        timeouts,
        context,
        inputs,
        extras,
    } = settings;
    let text = |path: &PathBuf| path.to_string_lossy().into_owned();
    let mut written: Vec<(&'static [&'static str], ConfigValue)> = Vec::new();
    if let Some(roots) = roots {
        written.push((&["roots"], ConfigValue::texts(roots.iter().map(text))));
    }
    written.extend(naming.map(|naming| (&["naming"][..], ConfigValue::text(naming.as_str()))));
    written.extend(prefix.map(|prefix| (&["prefix"][..], ConfigValue::text(prefix.as_str()))));
    written.extend(foreign.map(|foreign| (&["foreign"][..], ConfigValue::text(foreign.as_str()))));
    if !inputs.is_empty() {
        written.push((&["inputs"], ConfigValue::List(inputs.iter().map(input).collect())));
    }
    written.extend(policy::write(settings, losses));
    let limits = write::limits(timeouts);
    if !limits.is_empty() {
        written.push((&["timeouts"], ConfigValue::Table(limits)));
    }
    let said = context::write(context);
    if !said.is_empty() {
        written.push((&["context"], ConfigValue::Table(said)));
    }
    if !profiles.is_empty() {
        written.push((&["profiles"], profiles::write(profiles)));
    }
    if !clients.is_empty() {
        written.push((&["clients"], profiles::write_clients(clients)));
    }
    let kept = extras.iter().filter_map(|(dialect, kept)| {
        let field = format!("extra.{dialect}");
        Some((dialect.clone(), toml_compatible(kept.expose(), &field, losses)?))
    });
    let kept: Vec<_> = kept.collect();
    if !kept.is_empty() {
        written.push((&["extra"], ConfigValue::Table(kept)));
    }
    written
}

fn input(input: &InputSpec) -> ConfigValue {
    let InputSpec { id, description, password } = input;
    ConfigValue::Table(set_fields([
        ("id", Some(ConfigValue::text(id))),
        ("description", description.as_ref().map(ConfigValue::text)),
        ("password", password.then_some(ConfigValue::Bool(true))),
    ]))
}
