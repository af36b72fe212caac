//! Typed access to the fields of one table, with a diagnostic for every field that does not fit.
//!
//! Asking for a field is what makes it known: whatever nobody asked for is reported as unknown, so
//! a reader cannot forget to list a field it reads. An error marks the table as unusable; the
//! caller finds that out once, from [`Fields::finish`].

use std::collections::{BTreeMap, BTreeSet};

use toolgate_model::Secret;

use crate::nearest::nearest;
use crate::report::Report;
use crate::tree::{Member, Node, Value};

pub(crate) struct Fields<'t, 'r, 'a> {
    /// What the table is, as it is called in messages: `server "git"`.
    what: String,
    at: usize,
    members: &'t [Member],
    known: Vec<&'static str>,
    usable: bool,
    report: &'r mut Report<'a>,
}

impl<'t, 'r, 'a> Fields<'t, 'r, 'a> {
    /// Looks at a table; a field that stands twice makes it unusable, whichever of the two a
    /// parser elsewhere would take.
    pub fn of(report: &'r mut Report<'a>, what: String, at: usize, members: &'t [Member]) -> Self {
        let mut fields = Self { what, at, members, known: Vec::new(), usable: true, report };
        let mut seen = BTreeSet::new();
        for member in members {
            if !seen.insert(&member.key) {
                fields.fault(member.at, &format!("says `{}` twice", member.key), "keep one");
            }
        }
        fields
    }

    pub fn report(&mut self) -> &mut Report<'a> {
        self.report
    }

    /// Marks the table as unusable, because of the whole of it.
    pub fn fail(&mut self, problem: &str, hint: &str) {
        self.fault(self.at, problem, hint);
    }

    /// Marks the table as unusable, because of one place.
    pub fn fault(&mut self, at: usize, problem: &str, hint: &str) {
        self.usable = false;
        self.report.error(at, format!("{} {problem}", self.what), hint);
    }

    /// Marks the table as unusable, because of something that is reported already.
    pub fn spoil(&mut self) {
        self.usable = false;
    }

    /// Says something about the field `key` without giving the table up.
    pub fn warn(&mut self, key: &str, problem: &str, hint: &str) {
        let at = self.find(key).map_or(self.at, |member| member.at);
        self.report.warn(at, format!("{}: `{key}` {problem}", self.what), hint);
    }

    /// A field and its place; null is the same as not being there.
    pub fn node(&mut self, key: &'static str) -> Option<&'t Node> {
        self.known.push(key);
        let node = &self.find(key)?.node;
        (node.value != Value::Null).then_some(node)
    }

    fn find(&self, key: &str) -> Option<&'t Member> {
        self.members.iter().find(|member| member.key == key)
    }

    pub fn text(&mut self, key: &'static str) -> Option<&'t str> {
        let node = self.node(key)?;
        match &node.value {
            Value::Text(text) => Some(text),
            other => self.mismatch(node, key, "a string", other),
        }
    }

    pub fn flag(&mut self, key: &'static str) -> Option<bool> {
        let node = self.node(key)?;
        match &node.value {
            Value::Flag(flag) => Some(*flag),
            other => self.mismatch(node, key, "true or false", other),
        }
    }

    pub fn table(&mut self, key: &'static str) -> Option<(usize, &'t [Member])> {
        let node = self.node(key)?;
        match &node.value {
            Value::Table(members) => Some((node.at, members)),
            other => self.mismatch(node, key, "a table", other),
        }
    }

    pub fn texts(&mut self, key: &'static str) -> Option<Vec<String>> {
        let node = self.node(key)?;
        let Value::List(items) = &node.value else {
            return self.mismatch(node, key, "a list of strings", &node.value);
        };
        let mut texts = Vec::with_capacity(items.len());
        for item in items {
            match &item.value {
                Value::Text(text) => texts.push(text.clone()),
                other => return self.mismatch(item, key, "a list of strings", other),
            }
        }
        Some(texts)
    }

    /// A table of strings that may hold credentials: their values are hidden from here on.
    pub fn secrets(&mut self, key: &'static str) -> BTreeMap<String, Secret<String>> {
        let Some((_, members)) = self.table(key) else {
            return BTreeMap::new();
        };
        let mut secrets = BTreeMap::new();
        for member in members {
            match &member.node.value {
                Value::Text(text) => {
                    if secrets.insert(member.key.clone(), Secret::new(text.clone())).is_some() {
                        let problem = format!("says `{key}.{}` twice", member.key);
                        self.fault(member.at, &problem, "keep one");
                    }
                }
                other => {
                    let problem = format!(
                        "has {} where `{key}.{}` must be a string",
                        other.kind(),
                        member.key
                    );
                    self.fault(member.node.at, &problem, "write the value in quotes");
                }
            }
        }
        secrets
    }

    fn mismatch<T>(&mut self, node: &Node, key: &str, wanted: &str, found: &Value) -> Option<T> {
        let problem = format!("has {} where `{key}` must be {wanted}", found.kind());
        self.fault(node.at, &problem, &format!("make `{key}` {wanted}"));
        None
    }

    /// Fields that are understood but do nothing in this version: said, because a restriction that
    /// does not hold must not look as if it did.
    pub fn not_yet(&mut self, keys: &[&'static str]) {
        for key in keys {
            if self.node(key).is_some() {
                self.warn(key, "has no effect yet", "a later version of toolgate will use it");
            }
        }
    }

    /// Fields that only inform people.
    pub fn ignored(&mut self, keys: &[&'static str]) {
        self.known.extend(keys);
    }

    /// Reports what nobody asked for, and says whether the table can be used.
    pub fn finish(self) -> bool {
        for member in self.members {
            if self.known.contains(&member.key.as_str()) {
                continue;
            }
            let hint = match nearest(&member.key, &self.known) {
                Some(known) => format!("did you mean `{known}`?"),
                None => format!("known here: {}", self.known.join(", ")),
            };
            let message = format!("{} has an unknown field `{}`", self.what, member.key);
            self.report.warn(member.at, message, hint);
        }
        self.usable
    }
}
