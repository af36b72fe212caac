//! How a value is brought into a document, whatever its syntax: what is there already and is the
//! same stays untouched, tables are compared field by field and lists of plain values item by item,
//! and the rest is put in, replaced or taken out by the hands of the syntax, one thing at a time.

use toolgate_model::Data;

use super::delimited::{Delimited, First};
use super::lines::splice;
use super::{EditError, Step};
use crate::Syntax;
use crate::frame::tree::{Member, Node, Value};

/// What a syntax can do to a text. Every place is known to be reachable: nothing else is in the way.
pub(super) struct Hands {
    pub syntax: Syntax,
    /// Puts a value where nothing is yet.
    pub insert: fn(&str, &[Step], &Data) -> Result<String, EditError>,
    /// Puts a value in place of the one that is there.
    pub replace: fn(&str, &[Step], &Data) -> Result<String, EditError>,
    /// Takes away what is there.
    pub remove: fn(&str, &[Step]) -> Result<String, EditError>,
    /// The list at a path, if it is written between brackets.
    pub list: fn(&str, &[Step]) -> Option<Delimited>,
    /// A plain value as an item of a list.
    pub item: fn(&Data) -> String,
}

/// Makes the value at a path this one.
pub(super) fn set(
    hands: &Hands,
    text: &str,
    path: &[Step],
    value: &Data,
) -> Result<String, EditError> {
    let (mark, text) = mark(text);
    let changed = bring(hands, text.to_owned(), path, value)?;
    // The one promise no layout may break.
    match find(&parse(hands.syntax, &changed)?, path)? {
        Some(found) if same(&found.data(), value) => Ok(format!("{mark}{changed}")),
        _ => Err(EditError::Unsupported(format!("`{}` is written in an odd way", shown(path)))),
    }
}

/// Takes away what is at a path.
pub(super) fn remove(
    hands: &Hands,
    text: &str,
    path: &[Step],
) -> Result<Option<String>, EditError> {
    let (mark, text) = mark(text);
    if find(&parse(hands.syntax, text)?, path)?.is_none() {
        return Ok(None);
    }
    let changed = (hands.remove)(text, path)?;
    match find(&parse(hands.syntax, &changed)?, path)? {
        None => Ok(Some(format!("{mark}{changed}"))),
        Some(_) => {
            Err(EditError::Unsupported(format!("`{}` is written in an odd way", shown(path))))
        }
    }
}

fn bring(
    hands: &Hands,
    mut text: String,
    path: &[Step],
    value: &Data,
) -> Result<String, EditError> {
    let members = parse(hands.syntax, &text)?;
    match (find(&members, path)?, value) {
        (None, _) => (hands.insert)(&text, path, value),
        (Some(found), value) if same(&found.data(), value) => Ok(text),
        (Some(Node { value: Value::Table(fields), .. }), Data::Table(wanted)) => {
            let below = |key: &str| [path, &[Step::Key(key.to_owned())]].concat();
            // First what comes, so that the table is never without a field that shows how it is
            // written.
            for (key, wanted) in wanted {
                text = bring(hands, text, &below(key), wanted)?;
            }
            for field in fields.iter().filter(|field| value.get(&field.key).is_none()) {
                text = (hands.remove)(&text, &below(&field.key))?;
            }
            Ok(text)
        }
        (Some(found), value) => match items(hands, &text, path, (&found.data(), value)) {
            Some(changed) => Ok(changed),
            None => (hands.replace)(&text, path, value),
        },
    }
}

/// Changes a list of plain values item by item, so that the others keep their lines and comments:
/// what both begin with stays, and of a list that gets no longer what both end with too.
fn items(hands: &Hands, text: &str, path: &[Step], (old, new): (&Data, &Data)) -> Option<String> {
    let (Data::List(old), Data::List(new)) = (old, new) else { return None };
    let is_plain = |it: &Data| !matches!(it, Data::List(_) | Data::Table(_));
    if old.is_empty() || new.is_empty() || !old.iter().chain(new).all(is_plain) {
        return None;
    }
    let pairs = || old.iter().zip(new);
    let begin = pairs().take_while(|(old, new)| same(old, new)).count();
    let most = if new.len() > old.len() { 0 } else { new.len() - begin };
    let ends = old.iter().rev().zip(new.iter().rev()).take(most);
    let end = ends.take_while(|(old, new)| same(old, new)).count();
    let mut text = text.to_owned();
    let list = |text: &str| (hands.list)(text, path).filter(|it| !it.items.is_empty());
    // From the back, so that the places of those before stay.
    for index in (new.len() - end..old.len() - end).rev() {
        text = list(&text)?.remove(&text, index);
    }
    for index in (begin..old.len().min(new.len() - end)).rev() {
        let place = list(&text)?.items.get(index)?.clone();
        if !same(&old[index], &new[index]) {
            text = splice(&text, vec![(place, (hands.item)(&new[index]))]);
        }
    }
    for item in new.iter().skip(old.len()) {
        text = list(&text)?.add(&text, First::Within(""), |_| (hands.item)(item));
    }
    Some(text)
}

/// The mark some programs put at the start of a file, and the text behind it.
fn mark(text: &str) -> (&str, &str) {
    let mark = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    text.split_at(mark)
}

fn parse(syntax: Syntax, text: &str) -> Result<Vec<Member>, EditError> {
    syntax.parse(text).map_err(|error| {
        let lines = text.bytes().take(error.at).filter(|byte| *byte == b'\n').count();
        EditError::Syntax {
            line: u32::try_from(lines + 1).unwrap_or(u32::MAX),
            message: error.message,
        }
    })
}

/// What is at a path. Null on the way is the same as nothing.
fn find<'t>(members: &'t [Member], path: &[Step]) -> Result<Option<&'t Node>, EditError> {
    let mut found: Option<&'t Node> = None;
    for (index, step) in path.iter().enumerate() {
        let next = match (found.map(|node| &node.value), step) {
            (None, Step::Key(key)) => one(members.iter().filter(|it| it.key == *key), step)?,
            (Some(Value::Table(fields)), Step::Key(key)) => {
                one(fields.iter().filter(|it| it.key == *key), step)?
            }
            (Some(Value::List(items)), Step::Named(name)) => {
                let named = |item: &&Node| name_of(item) == Some(name);
                let mut items = items.iter().filter(named);
                let item = items.next();
                twice(items.next().is_some(), step)?;
                found = item;
                if item.is_none() {
                    return Ok(None);
                }
                continue;
            }
            (Some(Value::Null), _) => return Ok(None),
            (Some(other), _) => {
                let at = shown(&path[..index]);
                return Err(EditError::InTheWay { at, found: other.kind() });
            }
            (None, Step::Named(_)) => None,
        };
        match next {
            Some(member) => found = Some(&member.node),
            None => return Ok(None),
        }
    }
    Ok(found)
}

fn one<'t>(
    mut members: impl Iterator<Item = &'t Member>,
    step: &Step,
) -> Result<Option<&'t Member>, EditError> {
    let first = members.next();
    twice(members.next().is_some(), step)?;
    Ok(first)
}

/// Changing one of two would leave the other.
fn twice(is_twice: bool, step: &Step) -> Result<(), EditError> {
    match is_twice {
        true => Err(EditError::Unsupported(format!(
            "`{}` stands there twice",
            shown(std::slice::from_ref(step))
        ))),
        false => Ok(()),
    }
}

/// The name of an item of a list.
fn name_of(item: &Node) -> Option<&String> {
    let Value::Table(fields) = &item.value else { return None };
    match &fields.iter().find(|field| field.key == "name")?.node.value {
        Value::Text(name) => Some(name),
        _ => None,
    }
}

/// Whether two values are the same thing; tables may have another order, numbers another spelling.
fn same(a: &Data, b: &Data) -> bool {
    match (a, b) {
        (Data::Table(a), Data::Table(b)) => {
            let has = |(key, value): &(String, Data)| {
                b.iter().any(|(other, it)| other == key && same(value, it))
            };
            a.len() == b.len() && a.iter().all(has)
        }
        (Data::List(a), Data::List(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Data::Fraction(a), Data::Fraction(b)) => {
            a == b || matches!((a.parse::<f64>(), b.parse::<f64>()), (Ok(a), Ok(b)) if a == b)
        }
        (a, b) => a == b,
    }
}

/// A path as it is shown.
pub(super) fn shown(path: &[Step]) -> String {
    let names = path.iter().map(|step| match step {
        Step::Key(name) | Step::Named(name) => name.as_str(),
    });
    names.collect::<Vec<_>>().join(".")
}

/// The value that has this one at the end of a path.
pub(super) fn wrapped(path: &[Step], value: &Data) -> Data {
    let Some((first, rest)) = path.split_first() else { return value.clone() };
    match (first, wrapped(rest, value)) {
        (Step::Key(key), inner) => Data::Table(vec![(key.clone(), inner)]),
        (Step::Named(name), Data::Table(mut fields)) => {
            if !fields.iter().any(|(key, _)| key == "name") {
                fields.insert(0, ("name".to_owned(), Data::text(name)));
            }
            Data::List(vec![Data::Table(fields)])
        }
        (Step::Named(_), inner) => Data::List(vec![inner]),
    }
}

/// A text between double quotes, as JSON and TOML both read it.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
