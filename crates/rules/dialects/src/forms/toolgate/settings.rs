//! What our own file says beside its servers.

use std::path::PathBuf;

use toolgate_model::Data;

use super::write::sayable;
use super::{context, entry, policy, profiles, write};
use crate::frame::Fields;
use crate::frame::tree::Value;
use crate::losses::Losses;
use crate::{Foreign, Input, Settings};

pub(super) fn read(top: &mut Fields<'_, '_, '_>) -> Settings {
    let roots = top.texts("roots").map(|roots| roots.into_iter().map(Into::into).collect());
    let (naming, prefix) = (profiles::naming(top), profiles::prefix(top));
    let foreign = top.choice("foreign", &Foreign::ALL.map(|it| (it.as_str(), it)));
    let inputs = inputs(top);
    let permissions = top.within("policy", policy::permissions).unwrap_or_default();
    let (posture, recheck) = (policy::posture(top), policy::recheck(top));
    let profiles::Found { profiles, unread } = profiles::read(top);
    let clients = profiles::clients(top);
    let approvals = policy::approvals(top);
    let timeouts = entry::timeouts(top);
    let context = context::read(top);
    let extras = entry::extras(top);
    let seen = Settings { naming, prefix, profiles, unread, clients, ..Settings::default() };
    let decided = Settings { permissions, approvals, posture, recheck, timeouts, ..seen };
    Settings { roots, foreign, context, inputs, extras, ..decided }
}

fn inputs(top: &mut Fields<'_, '_, '_>) -> Vec<Input> {
    let mut inputs: Vec<Input> = Vec::new();
    for item in top.list("inputs").unwrap_or_default() {
        let Value::Table(members) = &item.value else {
            let problem = format!("has {} among its `inputs`", item.value.kind());
            top.fault(item.at, &problem, "write each as { id = \"…\" }");
            continue;
        };
        let mut fields = Fields::of(top.report(), "an input".to_owned(), item.at, members);
        let id = fields.text("id").unwrap_or_default().to_owned();
        let description = fields.text("description").map(str::to_owned);
        let password = fields.flag("password").unwrap_or(false);
        if id.is_empty() {
            fields.fail("has no `id`", "give it the name that ${secret:…} uses");
        } else if inputs.iter().any(|other| other.id == id) {
            fields.fail(&format!("has the `id` of another: {id:?}"), "keep one");
        }
        if fields.finish() {
            inputs.push(Input { id, description, password });
        }
    }
    inputs
}

/// Where each setting stands; what belongs to no table comes first.
pub(super) fn write(
    settings: &Settings,
    losses: &mut Losses,
) -> Vec<(&'static [&'static str], Data)> {
    let Settings {
        roots,
        naming,
        prefix,
        profiles,
        unread: _,
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
    let mut written: Vec<(&'static [&'static str], Data)> = Vec::new();
    if let Some(roots) = roots {
        written.push((&["roots"], Data::texts(roots.iter().map(text))));
    }
    written.extend(naming.map(|naming| (&["naming"][..], Data::text(naming.as_str()))));
    written.extend(prefix.map(|prefix| (&["prefix"][..], Data::text(prefix.as_str()))));
    written.extend(foreign.map(|foreign| (&["foreign"][..], Data::text(foreign.as_str()))));
    if !inputs.is_empty() {
        written.push((&["inputs"], Data::List(inputs.iter().map(input).collect())));
    }
    written.extend(policy::write(settings, losses));
    let limits = write::limits(timeouts);
    if !limits.is_empty() {
        written.push((&["timeouts"], Data::Table(limits)));
    }
    let said = context::write(context);
    if !said.is_empty() {
        written.push((&["context"], Data::Table(said)));
    }
    if !profiles.is_empty() {
        written.push((&["profiles"], profiles::write(profiles)));
    }
    if !clients.is_empty() {
        written.push((&["clients"], profiles::write_clients(clients)));
    }
    let kept = extras.iter().filter_map(|(dialect, kept)| {
        let field = format!("extra.{dialect}");
        Some((dialect.clone(), sayable(kept.expose(), &field, losses)?))
    });
    let kept: Vec<_> = kept.collect();
    if !kept.is_empty() {
        written.push((&["extra"], Data::Table(kept)));
    }
    written
}

fn input(input: &Input) -> Data {
    let Input { id, description, password } = input;
    let mut fields = vec![("id".to_owned(), Data::text(id))];
    fields.extend(description.as_ref().map(|it| ("description".to_owned(), Data::text(it))));
    if *password {
        fields.push(("password".to_owned(), Data::Flag(true)));
    }
    Data::Table(fields)
}
