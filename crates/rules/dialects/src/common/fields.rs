//! Typed access to the fields of one table, with a diagnostic for every invalid field.
//!
//! Reading a field marks it as known. Fields that were never read are reported as unknown, so a
//! reader cannot forget to list a field. An error marks the table as unusable, which
//! [`TableFields::finish`] reports to the caller.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use toolgate_model::{ConfigScope, ConfigValue, ErrorCode, Secret};

use super::FileDiagnostics;
use super::excerpt::shorten_name;
use super::nearest::nearest;
use super::server::join_normalized;
use super::tree::{TreeMember, TreeNode, TreeValue};
use crate::dialect_format::{ServerEntries, ServersLocation};
use crate::template::{self, ConfigTemplatePart, TemplateVariable, VariableSource};
use crate::{FileRef, LocatedValue, duration};

/// The maximum number of names in a hint.
const MOST_NAMES: usize = 12;

/// The unit of a time that is given as a bare number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeUnit {
    Millis,
    Seconds,
}

/// The fields of one table while it is read.
pub(crate) struct TableFields<'t> {
    /// The name of the table in messages: `server "git"`.
    what: String,
    at: usize,
    /// All members of the table; empty once every key is accepted.
    pub members: &'t [TreeMember],
    known: Vec<&'static str>,
    usable: bool,
    pub diagnostics: &'t FileDiagnostics<'t>,
}

impl<'t> TableFields<'t> {
    /// Begins to read a table. A duplicate field makes the table unusable, because parsers disagree
    /// on which one counts.
    pub fn of(
        diagnostics: &'t FileDiagnostics<'t>,
        what: impl Into<String>,
        at: usize,
        members: &'t [TreeMember],
    ) -> Self {
        let (what, known) = (what.into(), Vec::new());
        let mut fields = Self { what, at, members, known, usable: true, diagnostics };
        let mut seen = BTreeSet::new();
        for member in members {
            if !seen.insert(&member.key) {
                let problem = format!("has `{}` twice", member.key);
                fields.error_as(ErrorCode::ConfigDuplicate, member.at, &problem, "keep one");
            }
        }
        fields
    }

    /// Begins to read a nested table. Whether this table depends on it is up to the caller.
    pub fn nested(
        &self,
        what: impl Into<String>,
        at: usize,
        members: &'t [TreeMember],
    ) -> TableFields<'t> {
        TableFields::of(self.diagnostics, what, at, members)
    }

    /// Reads a nested table. If it is unusable, returns `None`, and this table is unusable too.
    pub fn read_nested<T>(
        &mut self,
        what: impl Into<String>,
        at: usize,
        members: &'t [TreeMember],
        read: impl FnOnce(&mut TableFields<'t>) -> T,
    ) -> Option<T> {
        let mut inner = self.nested(what, at, members);
        let found = read(&mut inner);
        let is_usable = inner.finish();
        self.usable &= is_usable;
        is_usable.then_some(found)
    }

    /// Accepts all keys of the table, because they are names.
    pub fn allow_unknown(&mut self) {
        self.members = &[];
    }

    /// Returns the file that is read.
    pub fn file(&self) -> &'t FileRef {
        self.diagnostics.file
    }

    /// Returns true for a project's file, which cannot grant anything.
    pub fn is_project(&self) -> bool {
        self.file().scope == ConfigScope::Project
    }

    /// Returns true if the table has this field and the field is not null.
    pub fn has(&mut self, key: &'static str) -> bool {
        self.node(key).is_some()
    }

    /// Reports an error about the whole table, and marks it as unusable.
    pub fn fail(&mut self, problem: &str, hint: &str) {
        self.error_at(self.at, problem, hint);
    }

    /// Reports an error at a position, and marks the table as unusable.
    pub fn error_at(&mut self, at: usize, problem: &str, hint: &str) {
        self.error_as(ErrorCode::ConfigInvalid, at, problem, hint);
    }

    /// Like [`Self::error_at`], with another code.
    fn error_as(&mut self, code: ErrorCode, at: usize, problem: &str, hint: &str) {
        self.usable = false;
        self.diagnostics.error_as(code, at, format!("{} {problem}", self.what), hint);
    }

    /// Like [`Self::error_at`], but shows the value, which is not a credential.
    pub fn error_with_value(&mut self, at: usize, problem: &str, hint: &str) {
        self.usable = false;
        self.diagnostics.error_with_value(at, format!("{} {problem}", self.what), hint);
    }

    /// Marks the table as unusable because of an error that is already reported.
    pub fn mark_unusable(&mut self) {
        self.usable = false;
    }

    /// Warns about the field `key`. The table stays usable.
    pub fn warn(&self, key: &str, problem: &str, hint: &str) {
        let at = self.find(key).map_or(self.at, |member| member.at);
        self.diagnostics.warn(at, format!("{}: `{key}` {problem}", self.what), hint);
    }

    /// Warns about a position. The table stays usable.
    pub fn warn_at(&self, at: usize, problem: &str, hint: &str) {
        self.diagnostics.warn(at, format!("{}: {problem}", self.what), hint);
    }

    /// Returns the value of a field; `None` if it is missing or null.
    pub fn node(&mut self, key: &'static str) -> Option<&'t TreeNode> {
        self.mark_known(&[key]);
        let node = &self.find(key)?.node;
        (node.value != TreeValue::Null).then_some(node)
    }

    /// Returns the line and column of an offset.
    pub fn position_at(&self, at: usize) -> (u32, u32) {
        let origin = self.diagnostics.origin(at);
        (origin.line, origin.column)
    }

    /// Reads a field, and returns its value with its position.
    pub fn located<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&mut Self, &'static str) -> Option<T>,
    ) -> Option<LocatedValue<T>> {
        let value = read(self, key)?;
        let at = self.position_at(self.find(key)?.at);
        Some(LocatedValue { value, at })
    }

    /// Reads a field that protects: a value that is invalid counts as `strictest`.
    pub fn strict<T>(
        &mut self,
        key: &'static str,
        strictest: T,
        read: impl FnOnce(&mut Self, &'static str) -> Option<T>,
    ) -> Option<LocatedValue<T>> {
        self.node(key)?;
        self.located(key, |it, key| read(it, key).or(Some(strictest)))
    }

    fn find(&self, key: &str) -> Option<&'t TreeMember> {
        self.members.iter().find(|member| member.key == key)
    }

    pub fn text(&mut self, key: &'static str) -> Option<&'t str> {
        let node = self.node(key)?;
        node.text().or_else(|| self.mismatch(node, key, "a string"))
    }

    /// Returns a string as an owned text.
    pub fn owned_text(&mut self, key: &'static str) -> Option<String> {
        self.text(key).map(str::to_owned)
    }

    /// Returns a string with its variables translated into Toolgate's syntax.
    pub fn template(&mut self, key: &'static str) -> Option<String> {
        self.text(key).map(|text| self.translate(text))
    }

    /// Returns a list of strings with their variables translated into Toolgate's syntax.
    pub fn templates(&mut self, key: &'static str) -> Option<Vec<String>> {
        let texts = self.texts(key)?;
        Some(texts.iter().map(|text| self.translate(text)).collect())
    }

    /// Translates the variables of a text into Toolgate's syntax. Relative file names become
    /// absolute, because the text may be moved to another file.
    pub fn translate(&self, text: &str) -> String {
        let mut pieces = self.diagnostics.grammar.parse(text);
        for piece in &mut pieces {
            if let ConfigTemplatePart::Variable(TemplateVariable {
                source: VariableSource::File,
                name,
                ..
            }) = piece
            {
                *name = absolute(self.diagnostics.file, name);
            }
        }
        template::render(&pieces)
    }

    pub fn flag(&mut self, key: &'static str) -> Option<bool> {
        let node = self.node(key)?;
        match &node.value {
            TreeValue::Flag(flag) => Some(*flag),
            _ => self.mismatch_with_value(node, key, "true or false"),
        }
    }

    pub fn table(&mut self, key: &'static str) -> Option<(usize, &'t [TreeMember])> {
        let node = self.node(key)?;
        let members = node.table().or_else(|| self.mismatch(node, key, "a table"))?;
        Some((node.at, members))
    }

    pub fn texts(&mut self, key: &'static str) -> Option<Vec<String>> {
        let wanted = "a list of strings";
        let node = self.node(key)?;
        let items = node.list().or_else(|| self.mismatch(node, key, wanted))?;
        if let Some(other) = items.iter().find(|item| item.text().is_none()) {
            return self.mismatch(other, key, wanted);
        }
        Some(items.iter().filter_map(TreeNode::text).map(str::to_owned).collect())
    }

    /// Returns a table of strings that may be credentials, as secrets.
    pub fn secrets(&mut self, key: &'static str) -> BTreeMap<String, Secret<String>> {
        let mut secrets = BTreeMap::new();
        for member in self.table(key).map(|(_, members)| members).unwrap_or_default() {
            let (name, kind) = (&member.key, member.node.value.kind());
            let Some(text) = member.node.text() else {
                let problem = format!("has {kind} where `{key}.{name}` must be a string");
                self.error_at(member.node.at, &problem, "write the value in quotes");
                continue;
            };
            if secrets.insert(name.clone(), Secret::new(self.translate(text))).is_some() {
                self.error_at(member.at, &format!("has `{key}.{name}` twice"), "keep one");
            }
        }
        secrets
    }

    /// Returns a list with items of any kind.
    pub fn list(&mut self, key: &'static str) -> Option<&'t [TreeNode]> {
        let node = self.node(key)?;
        node.list().or_else(|| self.mismatch(node, key, "a list"))
    }

    /// Returns an integer.
    pub fn integer(&mut self, key: &'static str) -> Option<i64> {
        let node = self.node(key)?;
        match &node.value {
            TreeValue::Integer(number) => Some(*number),
            _ => self.mismatch_with_value(node, key, "a whole number"),
        }
    }

    /// Returns a duration that is given as a bare number. A value out of range is reported and
    /// ignored.
    pub fn time(&mut self, key: &'static str, unit: TimeUnit) -> Option<Duration> {
        let node = self.node(key)?;
        let number = match &node.value {
            TreeValue::Integer(number) => *number as f64,
            TreeValue::Fraction(spelled) => spelled.parse().unwrap_or(f64::NAN),
            _ => return self.mismatch_with_value(node, key, "a number"),
        };
        let millis = if unit == TimeUnit::Seconds { number * 1000.0 } else { number };
        // Beyond this the conversion is not exact, and `check_range` rejects far smaller values.
        let whole = (0.0..1e15).contains(&millis).then_some(millis.round() as u64);
        match whole.map_or(Err("it is out of range"), duration::check_range) {
            Ok(time) => Some(time),
            Err(why) => {
                let hint = "use a time from 1 millisecond to 7 days";
                self.warn(key, &format!("is ignored: {why}"), hint);
                None
            }
        }
    }

    /// Returns the value of one of the allowed words.
    pub fn choice<T: Copy>(
        &mut self,
        key: &'static str,
        choices: &[(&'static str, T)],
    ) -> Option<T> {
        let at = self.node(key)?.at;
        let text = self.text(key)?;
        let found = choices.iter().find(|(word, _)| *word == text);
        if found.is_none() {
            let hint = words_hint(text, choices.iter().map(|(word, _)| *word));
            let problem = format!("has an invalid `{key}`: {:?}", shorten_name(text));
            self.error_with_value(at, &problem, &hint);
        }
        found.map(|(_, value)| *value)
    }

    /// Reads a nested table. If it is unusable, so is this table.
    pub fn with_table<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&mut TableFields<'t>) -> T,
    ) -> Option<T> {
        let (at, members) = self.table(key)?;
        let mut inner = self.nested(format!("`{key}` of {}", self.what), at, members);
        let found = read(&mut inner);
        self.usable &= inner.finish();
        Some(found)
    }

    /// Reads every member as a table that `what` names in messages. If one is unusable, so is this
    /// table. `like` is an example for the hint.
    pub fn each_table(
        &mut self,
        what: &str,
        like: &str,
        mut read: impl FnMut(&'t TreeMember, &mut TableFields<'t>),
    ) {
        for member in self.members {
            if let Some(members) = self.expect_table(member, like) {
                let what = format!("{what} {:?}", member.key);
                self.read_nested(what, member.at, members, |fields| read(member, fields));
            }
        }
        self.allow_unknown();
    }

    /// Returns the fields of a member that must be a table.
    pub fn expect_table(&mut self, member: &'t TreeMember, like: &str) -> Option<&'t [TreeMember]> {
        let found = member.node.table();
        if found.is_none() {
            let (kind, key) = (member.node.value.kind(), &member.key);
            let problem = format!("has {kind} where `{key}` must be a table");
            self.error_at(member.node.at, &problem, &format!("write it like {like}"));
        }
        found
    }

    /// Returns the servers at a location below this table. Tables on the way may contain other
    /// fields, so their unknown fields are not reported.
    pub fn servers(&mut self, place: ServersLocation) -> Option<ServerEntries<'t>> {
        let (ServersLocation::Map(path) | ServersLocation::List(path)) = place;
        let (last, way) = path.split_last()?;
        if let Some((first, _)) = way.split_first() {
            let (at, members) = self.table(first)?;
            let mut inner = self.nested(format!("`{first}`"), at, members);
            return inner.servers(match place {
                ServersLocation::Map(path) => ServersLocation::Map(&path[1..]),
                ServersLocation::List(path) => ServersLocation::List(&path[1..]),
            });
        }
        match place {
            ServersLocation::Map(_) => self.table(last).map(|(_, it)| ServerEntries::Map(it)),
            ServersLocation::List(_) => {
                self.list(last).map(|items| ServerEntries::List(items.iter().collect()))
            }
        }
    }

    /// Returns fields that only other hosts use, so that they can be written back.
    pub fn read_extras(&mut self, keys: &[&'static str]) -> Vec<(String, ConfigValue)> {
        let found = keys.iter().filter_map(|key| Some(((*key).to_owned(), self.node(key)?.data())));
        found.collect()
    }

    fn mismatch<T>(&mut self, node: &TreeNode, key: &str, wanted: &str) -> Option<T> {
        let problem = format!("has {} where `{key}` must be {wanted}", node.value.kind());
        self.error_at(node.at, &problem, &format!("make `{key}` {wanted}"));
        None
    }

    /// Like `mismatch`, for a value that cannot be a credential.
    fn mismatch_with_value<T>(&mut self, node: &TreeNode, key: &str, wanted: &str) -> Option<T> {
        let problem = format!("has {} where `{key}` must be {wanted}", node.value.kind());
        self.error_with_value(node.at, &problem, &format!("make `{key}` {wanted}"));
        None
    }

    /// Warns about fields that this version ignores: a restriction without effect must not look
    /// effective.
    pub fn warn_unsupported(&mut self, keys: &[&'static str]) {
        for key in keys {
            if self.has(key) {
                let at = self.find(key).map_or(self.at, |member| member.at);
                let message = format!("{}: `{key}` has no effect yet", self.what);
                let hint = "a later version of toolgate will use it";
                self.diagnostics.warn_as(ErrorCode::ConfigUnenforced, at, message, hint);
            }
        }
    }

    /// Accepts fields that are not used.
    pub fn mark_known(&mut self, keys: &[&'static str]) {
        for key in keys {
            if !self.known.contains(key) {
                self.known.push(key);
            }
        }
    }

    /// Returns a hint with the known fields that the table does not have yet, the most important
    /// first.
    fn known_fields_hint(&self) -> String {
        let unused = self.known.iter().copied().filter(|key| self.find(key).is_none());
        let mut names: Vec<_> = unused.take(MOST_NAMES + 1).collect();
        if names.is_empty() {
            return "remove it: no other field is allowed here".to_owned();
        }
        if names.len() > MOST_NAMES {
            names[MOST_NAMES] = "…";
        }
        format!("known fields: {}", names.join(", "))
    }

    /// Reports unknown fields. Returns true if the table is usable.
    pub fn finish(self) -> bool {
        for (at, problem, hint) in self.unknown_fields() {
            let message = format!("{} {problem}", self.what);
            self.diagnostics.warn_as(ErrorCode::ConfigUnknownField, at, message, hint);
        }
        self.usable
    }

    /// Like [`Self::finish`], for tables in which every field restricts something: an unknown field
    /// makes the table unusable.
    pub fn finish_strict(mut self) -> bool {
        for (at, problem, hint) in self.unknown_fields() {
            self.error_as(ErrorCode::ConfigUnknownField, at, &problem, &hint);
        }
        self.usable
    }

    fn unknown_fields(&self) -> Vec<(usize, String, String)> {
        let unknown =
            self.members.iter().filter(|member| !self.known.contains(&member.key.as_str()));
        let problem = |member: &TreeMember| {
            let hint = match nearest(&member.key, &self.known) {
                Some(known) => format!("did you mean `{known}`?"),
                None => self.known_fields_hint(),
            };
            (member.at, format!("has an unknown field `{}`", member.key), hint)
        };
        unknown.map(problem).collect()
    }
}

/// Returns a hint for a word that is none of the allowed ones.
pub(super) fn words_hint(text: &str, words: impl Iterator<Item = &'static str>) -> String {
    let words: Vec<_> = words.collect();
    match nearest(text, &words) {
        Some(known) => format!("did you mean {known:?}?"),
        None => {
            let quoted: Vec<_> = words.iter().map(|word| format!("{word:?}")).collect();
            format!("use one of {}", quoted.join(", "))
        }
    }
}

/// Returns the absolute path of a file that a text names. A leading `~` or variable is left for the
/// caller to expand.
fn absolute(at: &FileRef, path: &str) -> String {
    match path.starts_with(['~', '$']) {
        true => path.to_owned(),
        false => join_normalized(at.folder(), path).to_string_lossy().into_owned(),
    }
}
