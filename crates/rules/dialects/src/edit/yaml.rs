//! Edits YAML documents by splicing the text: comments, order, indentation and line endings of the
//! rest are kept.
//!
//! A change is made in single steps, each on freshly parsed text, and at the end the result must
//! have exactly the expected content. If it has not (a shared anchor, fields merged by `<<`, an
//! unusual layout), nothing is changed and an error is returned. `spans` finds values in the text,
//! and `render` writes them.

mod document;
mod render;
mod spans;

use toolgate_model::ConfigValue;

use self::document::{YamlDocument, YamlPathStep};
use super::merge::{display_path, is_same_value, split_bom, with_name, wrap_in_path};
use super::{EditError, PathStep};

pub(super) fn set(text: &str, path: &[PathStep], value: &ConfigValue) -> Result<String, EditError> {
    let (mark, text) = split_bom(text);
    let mut document = YamlDocument::parse(text.to_owned())?;
    let value = &match path.last() {
        Some(PathStep::NamedItem(name)) => with_name(name, value.clone()),
        _ => value.clone(),
    };
    let expected = data_with(&document.data, path, value)?;
    let (at, rest) = walk(&document, path)?;
    match rest {
        [] => change(&mut document, &at, value)?,
        rest => match wrap_in_path(rest, value) {
            ConfigValue::Table(fields) => {
                for (key, value) in fields {
                    document.add(&at, Some(&key), &value)?;
                }
            }
            ConfigValue::List(items) => {
                for value in items {
                    document.add(&at, None, &value)?;
                }
            }
            _ => {}
        },
    }
    finish_edit(mark, &document, expected)
}

pub(super) fn remove(text: &str, path: &[PathStep]) -> Result<Option<String>, EditError> {
    let (mark, text) = split_bom(text);
    let mut document = YamlDocument::parse(text.to_owned())?;
    let Some(expected) = data_without(&document.data, path)? else { return Ok(None) };
    let (at, rest) = walk(&document, path)?;
    if !rest.is_empty() {
        return Err(EditError::Unsupported("it is merged in by `<<`".to_owned()));
    }
    document.remove(&at)?;
    finish_edit(mark, &document, expected).map(Some)
}

/// Returns the changed text, if it has the expected content.
fn finish_edit(
    mark: &str,
    document: &YamlDocument,
    expected: ConfigValue,
) -> Result<String, EditError> {
    if !is_same_value(&document.data, &expected) {
        return Err(EditError::Unsupported(
            "it shares an anchor, a `<<` key or a line with other parts; change it by hand"
                .to_owned(),
        ));
    }
    Ok(format!("{mark}{}", document.text))
}

/// Returns the index to which the step behind `done` leads; `None` if there is no such value yet.
fn find(data: &ConfigValue, path: &[PathStep], done: usize) -> Result<Option<usize>, EditError> {
    let is_named =
        |item: &ConfigValue, name: &str| item.get("name") == Some(&ConfigValue::text(name));
    match (data, &path[done]) {
        (ConfigValue::Null, _) => Ok(None),
        (ConfigValue::Table(members), PathStep::Key(key)) => {
            Ok(members.iter().position(|it| it.0 == *key))
        }
        (ConfigValue::List(items), PathStep::NamedItem(name)) => {
            Ok(items.iter().position(|item| is_named(item, name)))
        }
        (other, _) => {
            let at = display_path(&path[..done]);
            Err(EditError::WrongKind { at, found: kind(other) })
        }
    }
}

fn kind(data: &ConfigValue) -> &'static str {
    match data {
        ConfigValue::Null => "null",
        ConfigValue::Bool(_) => "a boolean",
        ConfigValue::Integer(_) | ConfigValue::Decimal(_) => "a number",
        ConfigValue::Text(_) => "a string",
        ConfigValue::List(_) => "a list",
        ConfigValue::Table(_) => "a table",
    }
}

/// Follows a path as far as it exists. Returns the last value and the steps that are missing.
fn follow<'d, 'p>(
    mut data: &'d mut ConfigValue,
    path: &'p [PathStep],
) -> Result<(&'d mut ConfigValue, &'p [PathStep]), EditError> {
    for done in 0..path.len() {
        let Some(index) = find(data, path, done)? else { return Ok((data, &path[done..])) };
        data = match data {
            ConfigValue::Table(members) => &mut members[index].1,
            ConfigValue::List(items) => &mut items[index],
            other => other,
        };
    }
    Ok((data, &[]))
}

/// Returns the expected content after setting the value at a path.
fn data_with(
    data: &ConfigValue,
    path: &[PathStep],
    value: &ConfigValue,
) -> Result<ConfigValue, EditError> {
    let mut expected = data.clone();
    let (at, missing) = follow(&mut expected, path)?;
    match (wrap_in_path(missing, value), at) {
        (value, at) if missing.is_empty() => *at = value,
        (ConfigValue::Table(more), ConfigValue::Table(members)) => members.extend(more),
        (ConfigValue::List(more), ConfigValue::List(items)) => items.extend(more),
        (whole, at) => *at = whole,
    }
    Ok(expected)
}

/// Returns the expected content after removing the value at a path; `None` if there is none.
fn data_without(data: &ConfigValue, path: &[PathStep]) -> Result<Option<ConfigValue>, EditError> {
    let Some(last) = path.len().checked_sub(1) else { return Ok(None) };
    let mut expected = data.clone();
    let (at, missing) = follow(&mut expected, &path[..last])?;
    let index = if missing.is_empty() { find(at, path, last)? } else { None };
    match (at, index) {
        (ConfigValue::Table(members), Some(index)) => drop(members.remove(index)),
        (ConfigValue::List(items), Some(index)) => drop(items.remove(index)),
        _ => return Ok(None),
    }
    Ok(Some(expected))
}

/// Follows a path as far as it exists, and returns the remaining steps.
fn walk<'p>(
    document: &YamlDocument,
    path: &'p [PathStep],
) -> Result<(Vec<YamlPathStep>, &'p [PathStep]), EditError> {
    let mut at = Vec::new();
    for (done, step) in path.iter().enumerate() {
        let data = document.data_at(&at).unwrap_or(&ConfigValue::Null);
        let Some(index) = find(data, path, done)? else { return Ok((at, &path[done..])) };
        let next = match step {
            PathStep::Key(key) => YamlPathStep::Key(key.clone()),
            PathStep::NamedItem(_) => YamlPathStep::Item(index),
        };
        at.push(next);
        if !document.has(&at)? {
            return Ok((at[..done].to_vec(), &path[done..]));
        }
    }
    Ok((at, &[]))
}

/// Changes an existing value to this one, touching only what differs.
fn change(
    document: &mut YamlDocument,
    at: &[YamlPathStep],
    value: &ConfigValue,
) -> Result<(), EditError> {
    let Some(old) = document.data_at(at).cloned() else { return Ok(()) };
    let step = |next: YamlPathStep| [at, &[next]].concat();
    match (&old, value) {
        (old, value) if old == value => Ok(()),
        (ConfigValue::Table(old), ConfigValue::Table(new))
            if !old.is_empty() && !new.is_empty() =>
        {
            // New fields are added first, so that the table is never empty.
            for (key, value) in new {
                match old.iter().any(|(known, _)| known == key) {
                    true if document.has(&step(YamlPathStep::Key(key.clone())))? => {
                        change(document, &step(YamlPathStep::Key(key.clone())), value)?;
                    }
                    _ => document.add(at, Some(key), value)?,
                }
            }
            for (key, _) in old.iter().filter(|(key, _)| new.iter().all(|(it, _)| it != key)) {
                let at = step(YamlPathStep::Key(key.clone()));
                if document.has(&at)? {
                    document.remove(&at)?;
                }
            }
            Ok(())
        }
        (ConfigValue::List(old), ConfigValue::List(new)) if !old.is_empty() && !new.is_empty() => {
            for (index, value) in new.iter().enumerate() {
                match index < old.len() {
                    true => change(document, &step(YamlPathStep::Item(index)), value)?,
                    false => document.add(at, None, value)?,
                }
            }
            for index in (new.len()..old.len()).rev() {
                document.remove(&step(YamlPathStep::Item(index)))?;
            }
            Ok(())
        }
        _ => document.replace(at, value),
    }
}

#[cfg(test)]
mod tests;
