//! Changes in a YAML document, made by splicing its text: comments, order, indentation and line
//! ends of the rest stay as they are.
//!
//! Every change is made in single steps, each on a text that was parsed anew, and at the end the
//! result must mean exactly what was asked for. Where it does not (an anchor is shared, fields come
//! by `<<`, the layout is a rare one) nothing is changed and that is said. Where things stand in
//! the text is the business of `slots`, how values are written that of `render`.

mod layout;
mod render;
mod slots;

use toolgate_model::Data;

use self::layout::{At, Document};
use super::{EditError, Step};
use crate::frame::tree::SyntaxError;

pub(super) fn set(text: &str, path: &[Step], value: &Data) -> Result<String, EditError> {
    let (mark, text) = split_mark(text);
    let mut document = Document::parse(text.to_owned())?;
    let value = &match path.last() {
        Some(Step::Named(name)) => named(name, value.clone()),
        _ => value.clone(),
    };
    let expected = with(document.data(), path, value, "")?;
    let (at, rest) = walk(&document, path)?;
    match rest {
        [] => change(&mut document, &at, value)?,
        [first, below @ ..] => {
            let value = below.iter().rev().fold(value.clone(), |inner, step| around(step, inner));
            let (key, value) = match first {
                Step::Key(key) => (Some(key.as_str()), value),
                Step::Named(name) => (None, named(name, value)),
            };
            document.add(&at, key, &value)?;
        }
    }
    finished(mark, &document, expected)
}

pub(super) fn remove(text: &str, path: &[Step]) -> Result<Option<String>, EditError> {
    let (mark, text) = split_mark(text);
    let mut document = Document::parse(text.to_owned())?;
    let Some(expected) = without(document.data(), path, "")? else { return Ok(None) };
    let (at, rest) = walk(&document, path)?;
    if !rest.is_empty() {
        return Err(EditError::Unsupported("it is taken over from elsewhere by `<<`".to_owned()));
    }
    document.remove(&at)?;
    finished(mark, &document, expected).map(Some)
}

/// The mark some editors put at the front of a text, and the text.
fn split_mark(text: &str) -> (&str, &str) {
    let body = text.trim_start_matches('\u{feff}');
    text.split_at(text.len() - body.len())
}

/// The changed text, if it means what was asked for.
fn finished(mark: &str, document: &Document, expected: Data) -> Result<String, EditError> {
    if canonical(document.data().clone()) != canonical(expected) {
        return Err(EditError::Unsupported(
            "anchors, `<<` or its layout give other places a part in it; change it by hand"
                .to_owned(),
        ));
    }
    Ok(format!("{mark}{}", document.text()))
}

/// The same with the keys of every table in order: where a new field stands is no part of what a
/// document means.
fn canonical(data: Data) -> Data {
    match data {
        Data::List(items) => Data::List(items.into_iter().map(canonical).collect()),
        Data::Table(members) => {
            let members = members.into_iter().map(|(key, value)| (key, canonical(value)));
            let mut members: Vec<_> = members.collect();
            members.sort_by(|(a, _), (b, _)| a.cmp(b));
            Data::Table(members)
        }
        other => other,
    }
}

/// A value inside what a step leads to.
fn around(step: &Step, inner: Data) -> Data {
    match step {
        Step::Key(key) => Data::Table(vec![(key.clone(), inner)]),
        Step::Named(name) => Data::List(vec![named(name, inner)]),
    }
}

/// An item of a list, which has its name first.
fn named(name: &str, item: Data) -> Data {
    match item {
        Data::Table(members) if members.iter().all(|(key, _)| key != "name") => {
            let first = ("name".to_owned(), Data::text(name));
            Data::Table([vec![first], members].concat())
        }
        other => other,
    }
}

/// Where a step leads in a value; `None` if there is nothing yet.
fn find(data: &Data, step: &Step, at: &str) -> Result<Option<usize>, EditError> {
    let is_named = |item: &Data, name: &str| item.get("name") == Some(&Data::text(name));
    match (data, step) {
        (Data::Null, _) => Ok(None),
        (Data::Table(members), Step::Key(key)) => Ok(members.iter().position(|it| it.0 == *key)),
        (Data::List(items), Step::Named(name)) => {
            Ok(items.iter().position(|item| is_named(item, name)))
        }
        (other, _) => Err(EditError::InTheWay { at: at.to_owned(), found: kind(other) }),
    }
}

fn kind(data: &Data) -> &'static str {
    match data {
        Data::Null => "null",
        Data::Flag(_) => "a boolean",
        Data::Integer(_) | Data::Fraction(_) => "a number",
        Data::Text(_) => "a string",
        Data::List(_) => "a list",
        Data::Table(_) => "a table",
    }
}

fn below(at: &str, step: &Step) -> String {
    let (Step::Key(word) | Step::Named(word)) = step;
    if at.is_empty() { word.clone() } else { format!("{at}.{word}") }
}

/// What a document is to mean once the value at a path is this one.
fn with(data: &Data, path: &[Step], value: &Data, at: &str) -> Result<Data, EditError> {
    let Some((step, rest)) = path.split_first() else { return Ok(value.clone()) };
    let found = find(data, step, at)?;
    let at = below(at, step);
    let mut data = data.clone();
    match (&mut data, found) {
        (Data::Table(members), Some(index)) => {
            members[index].1 = with(&members[index].1, rest, value, &at)?;
        }
        (Data::List(items), Some(index)) => items[index] = with(&items[index], rest, value, &at)?,
        (data, _) => {
            let inner = rest.iter().rev().fold(value.clone(), |inner, step| around(step, inner));
            match (around(step, inner), data) {
                (Data::Table(more), Data::Table(members)) => members.extend(more),
                (Data::List(more), Data::List(items)) => items.extend(more),
                (whole, data) => *data = whole,
            }
        }
    }
    Ok(data)
}

/// What a document is to mean once there is nothing at a path; `None` if there is nothing now.
fn without(data: &Data, path: &[Step], at: &str) -> Result<Option<Data>, EditError> {
    let Some((step, rest)) = path.split_first() else { return Ok(None) };
    let Some(index) = find(data, step, at)? else { return Ok(None) };
    let at = below(at, step);
    let mut data = data.clone();
    match &mut data {
        Data::Table(members) if rest.is_empty() => drop(members.remove(index)),
        Data::List(items) if rest.is_empty() => drop(items.remove(index)),
        Data::Table(members) => match without(&members[index].1, rest, &at)? {
            Some(inner) => members[index].1 = inner,
            None => return Ok(None),
        },
        Data::List(items) => match without(&items[index], rest, &at)? {
            Some(inner) => items[index] = inner,
            None => return Ok(None),
        },
        _ => return Ok(None),
    }
    Ok(Some(data))
}

/// As far as a path leads in a document, and the steps it does not have yet.
fn walk<'p>(document: &Document, path: &'p [Step]) -> Result<(Vec<At>, &'p [Step]), EditError> {
    let mut at = Vec::new();
    for (done, step) in path.iter().enumerate() {
        let data = document.data_at(&at).unwrap_or(&Data::Null);
        let Some(index) = find(data, step, "")? else { return Ok((at, &path[done..])) };
        let next = match step {
            Step::Key(key) => At::Key(key.clone()),
            Step::Named(_) => At::Item(index),
        };
        at.push(next);
        if !document.has(&at)? {
            return Ok((at[..done].to_vec(), &path[done..]));
        }
    }
    Ok((at, &[]))
}

/// Makes what stands somewhere mean this value, touching only what differs.
fn change(document: &mut Document, at: &[At], value: &Data) -> Result<(), EditError> {
    let Some(old) = document.data_at(at).cloned() else { return Ok(()) };
    let step = |next: At| [at, &[next]].concat();
    match (&old, value) {
        (old, value) if old == value => Ok(()),
        (Data::Table(old), Data::Table(new)) if !old.is_empty() && !new.is_empty() => {
            // What is new comes first, so that a table is never empty on the way.
            for (key, value) in new {
                match old.iter().any(|(known, _)| known == key) {
                    true if document.has(&step(At::Key(key.clone())))? => {
                        change(document, &step(At::Key(key.clone())), value)?;
                    }
                    _ => document.add(at, Some(key), value)?,
                }
            }
            for (key, _) in old.iter().filter(|(key, _)| new.iter().all(|(it, _)| it != key)) {
                let at = step(At::Key(key.clone()));
                if document.has(&at)? {
                    document.remove(&at)?;
                }
            }
            Ok(())
        }
        (Data::List(old), Data::List(new)) if !old.is_empty() && !new.is_empty() => {
            for (index, value) in new.iter().enumerate() {
                match index < old.len() {
                    true => change(document, &step(At::Item(index)), value)?,
                    false => document.add(at, None, value)?,
                }
            }
            for index in (new.len()..old.len()).rev() {
                document.remove(&step(At::Item(index)))?;
            }
            Ok(())
        }
        _ => document.replace(at, value),
    }
}

/// A syntax error with the line it is on.
fn unreadable(text: &str, error: SyntaxError) -> EditError {
    let before = &text.as_bytes()[..error.at.min(text.len())];
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let line = u32::try_from(line).unwrap_or(u32::MAX);
    EditError::Syntax { line, message: error.message }
}

#[cfg(test)]
mod tests;
