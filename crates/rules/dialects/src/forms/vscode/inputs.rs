//! `inputs`: the values VS Code asks a person for.
//!
//! We ask for a text. How else VS Code finds a value (a choice, a command of the editor, what it
//! proposes) is kept by the input's id, so that it can be written back; nothing here acts on it.

use toolgate_model::{Data, Secret};

use super::ID;
use crate::frame::Fields;
use crate::frame::tree::Value;
use crate::losses::Losses;
use crate::{Input, Settings};

/// The way of asking that is ours, too.
const PROMPT: &str = "promptString";
/// Where a value is asked for; only the first asks for a text, as we do.
const TYPES: [(&str, bool); 3] = [(PROMPT, true), ("pickString", false), ("command", false)];
/// What a choice offers, what is proposed, and the editor's command that finds a value.
const KEPT: [&str; 4] = ["options", "default", "command", "args"];

/// Adds the inputs of a table to those that other tables of the file have.
pub(super) fn read(top: &mut Fields<'_, '_, '_>, settings: &mut Settings) {
    let mut kept = Vec::new();
    for node in top.list("inputs").unwrap_or_default() {
        let Value::Table(members) = &node.value else {
            let problem = format!("has {} among its `inputs`", node.value.kind());
            top.fault(node.at, &problem, "give each an `id` and a `type`");
            continue;
        };
        let mut fields = Fields::of(top.report(), "an input".to_owned(), node.at, members);
        let Some((input, more)) = input(&mut fields) else { continue };
        if !fields.finish() {
            continue;
        }
        if settings.inputs.iter().any(|other| other.id == input.id) {
            let problem = format!("asks for {:?} twice", input.id);
            top.fault(node.at, &problem, "give each input an id of its own");
            continue;
        }
        kept.extend(more.map(|more| (input.id.clone(), more)));
        settings.inputs.push(input);
    }
    keep(settings, kept);
}

fn input(fields: &mut Fields<'_, '_, '_>) -> Option<(Input, Option<Data>)> {
    let id = fields.text("id").filter(|id| !id.is_empty());
    let is_text = fields.choice("type", &TYPES).unwrap_or(true);
    let found = Input {
        id: id.unwrap_or_default().to_owned(),
        description: fields.text("description").map(str::to_owned),
        password: fields.flag("password").unwrap_or(false),
    };
    let mut keys = KEPT.to_vec();
    if !is_text {
        let hint = "toolgate asks for a text instead";
        fields.warn("type", "is one that only VS Code can ask with", hint);
        keys.insert(0, "type");
    }
    let kept = fields.kept(&keys).map(|kept| kept.expose().clone());
    if id.is_none() {
        fields.fail("has no `id`", "name it as `${input:…}` does");
        return None;
    }
    Some((found, kept))
}

/// Keeps what belongs to single inputs beside what is kept already.
fn keep(settings: &mut Settings, more: Vec<(String, Data)>) {
    if more.is_empty() {
        return;
    }
    let mut all = kept(settings);
    all.extend(more);
    let table = Data::Table(vec![("inputs".to_owned(), Data::Table(all))]);
    settings.extras.insert(ID.to_owned(), Secret::new(table));
}

/// What is kept of inputs, by their ids.
fn kept(settings: &Settings) -> Vec<(String, Data)> {
    match settings.extras.get(ID).and_then(|kept| kept.expose().get("inputs")) {
        Some(Data::Table(inputs)) => inputs.clone(),
        _ => Vec::new(),
    }
}

/// The inputs as VS Code lists them; every other setting is a loss.
pub(super) fn write(settings: &Settings, losses: &mut Losses) -> Vec<Data> {
    let mut rest = Settings { inputs: Vec::new(), ..settings.clone() };
    let extra = rest.extras.remove(ID);
    losses.settings(&rest);
    let kept = kept(settings);
    if let Some(Data::Table(fields)) = extra.as_ref().map(Secret::expose) {
        for (key, _) in fields.iter().filter(|(key, _)| key != "inputs") {
            losses.unsaid(&format!("extra.{ID}.{key}"), true);
        }
    }
    for (id, _) in &kept {
        if !settings.inputs.iter().any(|input| input.id == *id) {
            losses.add(format!("extra.{ID}.inputs.{id}"), "there is no input of this name");
        }
    }
    let more = |input: &Input| kept.iter().find(|(id, _)| *id == input.id).map(|(_, more)| more);
    settings.inputs.iter().map(|input| written(input, more(input))).collect()
}

fn written(input: &Input, more: Option<&Data>) -> Data {
    let Input { id, description, password } = input;
    let said = |key: &str| more.and_then(|more| more.get(key)).cloned();
    let kind = said("type").unwrap_or(Data::text(PROMPT));
    let mut fields = vec![("type".to_owned(), kind), ("id".to_owned(), Data::text(id))];
    fields.extend(description.as_ref().map(|it| ("description".to_owned(), Data::text(it))));
    if *password {
        fields.push(("password".to_owned(), Data::Flag(true)));
    }
    fields.extend(KEPT.iter().filter_map(|key| Some(((*key).to_owned(), said(key)?))));
    Data::Table(fields)
}
