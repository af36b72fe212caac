//! `inputs`: the values that VS Code asks the user for.
//!
//! Toolgate asks for a string. Other input settings of VS Code (choices, editor commands, defaults)
//! are kept by the id of the input, so that they can be written back, but have no effect.

use toolgate_model::{ConfigValue, Secret};

use super::ID;
use crate::common::TableFields;
use crate::losses::ConversionLosses;
use crate::{FileSettings, InputSpec};

/// The input type that Toolgate supports.
const PROMPT: &str = "promptString";
/// The input types; only the first asks for a string, as Toolgate does.
const TYPES: [(&str, bool); 3] = [(PROMPT, true), ("pickString", false), ("command", false)];
/// The choices, the default, and the editor command that finds a value.
const KEPT: [&str; 4] = ["options", "default", "command", "args"];

/// Adds the inputs of a table to those of other tables in the file.
pub(super) fn read(top: &mut TableFields<'_>, settings: &mut FileSettings) {
    let mut kept = Vec::new();
    for node in top.list("inputs").unwrap_or_default() {
        let Some(members) = node.table() else {
            let problem = format!("has {} among its `inputs`", node.value.kind());
            top.error_at(node.at, &problem, "give each an `id` and a `type`");
            continue;
        };
        let mut fields = top.nested("an input", node.at, members);
        let Some((input, more)) = input(&mut fields) else { continue };
        if !fields.finish() {
            continue;
        }
        if settings.inputs.iter().any(|other| other.id == input.id) {
            let problem = format!("has two inputs with the id {:?}", input.id);
            top.error_at(node.at, &problem, "give each input an id of its own");
            continue;
        }
        if !more.is_empty() {
            kept.push((input.id.clone(), ConfigValue::Table(more)));
        }
        settings.inputs.push(input);
    }
    keep(settings, kept);
}

fn input(fields: &mut TableFields<'_>) -> Option<(InputSpec, Vec<(String, ConfigValue)>)> {
    let id = fields.text("id").filter(|id| !id.is_empty());
    let is_text = fields.choice("type", &TYPES).unwrap_or(true);
    let found = InputSpec {
        id: id.unwrap_or_default().to_owned(),
        description: fields.owned_text("description"),
        password: fields.flag("password").unwrap_or(false),
    };
    let mut keys = KEPT.to_vec();
    if !is_text {
        let hint = "toolgate asks for a text instead";
        fields.warn("type", "is supported by VS Code only", hint);
        keys.insert(0, "type");
    }
    let kept = fields.read_extras(&keys);
    if id.is_none() {
        fields.fail("has no `id`", "name it as `${input:…}` does");
        return None;
    }
    Some((found, kept))
}

/// Adds settings of single inputs to those already kept.
fn keep(settings: &mut FileSettings, more: Vec<(String, ConfigValue)>) {
    if more.is_empty() {
        return;
    }
    let mut all = stored_extras(settings);
    all.extend(more);
    let table = ConfigValue::Table(vec![("inputs".to_owned(), ConfigValue::Table(all))]);
    settings.extras.insert(ID.to_owned(), Secret::new(table));
}

/// Returns the kept settings of inputs, by id.
fn stored_extras(settings: &FileSettings) -> Vec<(String, ConfigValue)> {
    match settings.extras.get(ID).and_then(|kept| kept.expose().get("inputs")) {
        Some(ConfigValue::Table(inputs)) => inputs.clone(),
        _ => Vec::new(),
    }
}

/// Returns the inputs as VS Code lists them. Every other setting is a loss.
pub(super) fn write(settings: &FileSettings, losses: &mut ConversionLosses) -> Vec<ConfigValue> {
    let mut rest = FileSettings { inputs: Vec::new(), ..settings.clone() };
    let extra = rest.extras.remove(ID);
    losses.add_settings(&rest);
    let kept = stored_extras(settings);
    if let Some(ConfigValue::Table(fields)) = extra.as_ref().map(Secret::expose) {
        for (key, _) in fields.iter().filter(|(key, _)| key != "inputs") {
            losses.add_if_set(&format!("extra.{ID}.{key}"), true);
        }
    }
    for (id, _) in &kept {
        if !settings.inputs.iter().any(|input| input.id == *id) {
            losses.add(format!("extra.{ID}.inputs.{id}"), "there is no input of this name");
        }
    }
    let more =
        |input: &InputSpec| kept.iter().find(|(id, _)| *id == input.id).map(|(_, more)| more);
    settings.inputs.iter().map(|input| input_data(input, more(input))).collect()
}

fn input_data(input: &InputSpec, more: Option<&ConfigValue>) -> ConfigValue {
    let InputSpec { id, description, password } = input;
    let said = |key: &str| more.and_then(|more| more.get(key)).cloned();
    let kind = said("type").unwrap_or(ConfigValue::text(PROMPT));
    let mut fields = vec![("type".to_owned(), kind), ("id".to_owned(), ConfigValue::text(id))];
    fields.extend(description.as_ref().map(|it| ("description".to_owned(), ConfigValue::text(it))));
    if *password {
        fields.push(("password".to_owned(), ConfigValue::Bool(true)));
    }
    fields.extend(KEPT.iter().filter_map(|key| Some(((*key).to_owned(), said(key)?))));
    ConfigValue::Table(fields)
}
