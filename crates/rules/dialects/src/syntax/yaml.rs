//! YAML text to the common tree, after the core schema of YAML 1.2.
//!
//! Aliases are replaced by what they stand for and `<<` takes fields over from other tables, both
//! within bounds: a small text that would unfold into a huge tree is a syntax error, not a hang.
//! Tags mean nothing here except `!!str`. A text of several documents is refused, because which of
//! them counts would be a guess.

pub(crate) mod raw;
pub(crate) mod scalar;

use std::collections::HashMap;

use self::raw::{Kind, Raw};
use crate::frame::tree::{Member, Node, SyntaxError, Value};

/// How deep values may lie in one another.
const DEEPEST: usize = 64;
/// How many values a document may have once its aliases are unfolded.
const MOST: usize = 100_000;

/// Parses a whole document; one that says nothing has no members.
pub(crate) fn parse(text: &str) -> Result<Vec<Member>, SyntaxError> {
    match raw::parse(text)? {
        Some(root) => members(&root),
        None => Ok(Vec::new()),
    }
}

/// The members of a document, its aliases unfolded.
pub(crate) fn members(root: &Raw) -> Result<Vec<Member>, SyntaxError> {
    let node = resolved(root)?;
    match node.value {
        Value::Table(members) => Ok(members),
        Value::Null => Ok(Vec::new()),
        other => Err(SyntaxError {
            at: node.at,
            message: format!("expected a table, found {}", other.kind()),
        }),
    }
}

fn resolved(root: &Raw) -> Result<Node, SyntaxError> {
    let mut resolver = Resolver::default();
    resolver.node(root, 0).map(|built| built.node)
}

/// A part of the tree, and how large it is.
#[derive(Clone)]
struct Built {
    node: Node,
    size: usize,
    height: usize,
}

#[derive(Default)]
struct Resolver {
    anchors: HashMap<usize, Built>,
    made: usize,
}

impl Resolver {
    fn node(&mut self, raw: &Raw, depth: usize) -> Result<Built, SyntaxError> {
        let at = raw.start;
        let built = match &raw.kind {
            Kind::Alias(anchor) => return self.alias(*anchor, at, depth),
            Kind::Scalar { text, plain } => {
                let value = match *plain && !raw.is_text {
                    true => scalar::value(text),
                    false => Value::Text(text.clone()),
                };
                Built { node: Node { at, value }, size: 1, height: 1 }
            }
            Kind::List { items, .. } => self.list(at, items, depth)?,
            Kind::Table { members, .. } => self.table(at, members, depth)?,
        };
        self.count(1, depth + built.height, at)?;
        if raw.anchor > 0 {
            self.anchors.insert(raw.anchor, built.clone());
        }
        Ok(built)
    }

    fn count(&mut self, more: usize, depth: usize, at: usize) -> Result<(), SyntaxError> {
        self.made += more;
        let message = match (self.made > MOST, depth > DEEPEST) {
            (true, _) => format!("its aliases unfold into more than {MOST} values"),
            (_, true) => format!("its values lie more than {DEEPEST} deep in one another"),
            _ => return Ok(()),
        };
        Err(SyntaxError { at, message })
    }

    /// What an anchor stands for, at the alias's own place.
    fn alias(&mut self, anchor: usize, at: usize, depth: usize) -> Result<Built, SyntaxError> {
        let Some(Built { size, height, .. }) = self.anchors.get(&anchor) else {
            let message = "an alias stands inside the value that it names".to_owned();
            return Err(SyntaxError { at, message });
        };
        let (size, height) = (*size, *height);
        self.count(size, depth + height, at)?;
        let mut built = self.anchors[&anchor].clone();
        built.node.at = at;
        Ok(built)
    }

    fn list(&mut self, at: usize, items: &[Raw], depth: usize) -> Result<Built, SyntaxError> {
        let (mut size, mut height) = (1, 1);
        let mut nodes = Vec::with_capacity(items.len());
        for item in items {
            let built = self.node(item, depth + 1)?;
            size += built.size;
            height = height.max(built.height + 1);
            nodes.push(built.node);
        }
        Ok(Built { node: Node { at, value: Value::List(nodes) }, size, height })
    }

    fn table(
        &mut self,
        at: usize,
        pairs: &[(Raw, Raw)],
        depth: usize,
    ) -> Result<Built, SyntaxError> {
        let (mut size, mut height) = (1, 1);
        let (mut members, mut taken) = (Vec::with_capacity(pairs.len()), Vec::new());
        for (key, value) in pairs {
            let is_merge = key.is_merge();
            let name = self.key(key, depth + 1)?;
            let built = self.node(value, depth + 1)?;
            size += built.size;
            height = height.max(built.height + 1);
            match is_merge {
                true => taken.extend(taken_over(built.node)?),
                false => members.push(Member { key: name, at: key.start, node: built.node }),
            }
        }
        // What a table says itself wins over what it takes over, and the first source wins.
        for member in taken {
            if members.iter().all(|own: &Member| own.key != member.key) {
                members.push(member);
            }
        }
        Ok(Built { node: Node { at, value: Value::Table(members) }, size, height })
    }

    /// The text of a key, whatever it would be as a value.
    fn key(&mut self, key: &Raw, depth: usize) -> Result<String, SyntaxError> {
        if let Kind::Scalar { text, .. } = &key.kind {
            self.node(key, depth)?;
            return Ok(text.clone());
        }
        match self.node(key, depth)?.node.value {
            Value::Text(text) => Ok(text),
            Value::Flag(flag) => Ok(flag.to_string()),
            Value::Integer(number) => Ok(number.to_string()),
            Value::Fraction(spelled) | Value::Other(_, spelled) => Ok(spelled),
            Value::Null => Ok("null".to_owned()),
            other => {
                let message = format!("a key is {}, not a word", other.kind());
                Err(SyntaxError { at: key.start, message })
            }
        }
    }
}

/// The members that `<<` takes over: those of a table, or of several.
fn taken_over(node: Node) -> Result<Vec<Member>, SyntaxError> {
    match node.value {
        Value::Table(members) => Ok(members),
        Value::List(items) => {
            let taken: Result<Vec<_>, _> = items.into_iter().map(taken_over).collect();
            Ok(taken?.into_iter().flatten().collect())
        }
        other => {
            let message = format!("`<<` takes fields over from a table, not from {}", other.kind());
            Err(SyntaxError { at: node.at, message })
        }
    }
}

#[cfg(test)]
mod tests;
