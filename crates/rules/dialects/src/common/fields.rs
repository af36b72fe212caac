//! Typed access to the fields of one table, with a diagnostic for every invalid field.
//!
//! Reading a field marks it as known. Fields that were never read are reported as unknown, so a
//! reader cannot forget to list a field. An error marks the table as unusable, which
//! [`TableFields::finish`] reports to the caller.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use toolgate_model::{ConfigValue, ErrorCode, Secret};

use super::FileDiagnostics;
use super::excerpt::shorten_name;
use super::nearest::nearest;
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
pub(crate) struct TableFields<'t, 'r, 'a> {
    /// The name of the table in messages: `server "git"`.
    what: String,
    at: usize,
    members: &'t [TreeMember],
    known: Vec<&'static str>,
    usable: bool,
    diagnostics: &'r mut FileDiagnostics<'a>,
}

impl<'t, 'r, 'a> TableFields<'t, 'r, 'a> {
    /// Begins to read a table. A duplicate field makes the table unusable, because parsers disagree
    /// on which one counts.
    pub fn of(
        report: &'r mut FileDiagnostics<'a>,
        what: String,
        at: usize,
        members: &'t [TreeMember],
    ) -> Self {
        let mut fields =
            Self { what, at, members, known: Vec::new(), usable: true, diagnostics: report };
        let mut seen = BTreeSet::new();
        for member in members {
            if !seen.insert(&member.key) {
                fields.usable = false;
                let message = format!("{} has `{}` twice", fields.what, member.key);
                let code = ErrorCode::ConfigDuplicate;
                fields.diagnostics.error_as(code, member.at, message, "keep one");
            }
        }
        fields
    }

    /// Returns all members of the table.
    pub fn members(&self) -> &'t [TreeMember] {
        self.members
    }

    /// Accepts all keys of the table, because they are names.
    pub fn allow_unknown(&mut self) {
        self.members = &[];
    }

    pub fn diagnostics(&mut self) -> &mut FileDiagnostics<'a> {
        self.diagnostics
    }

    /// Reports an error about the whole table, and marks it as unusable.
    pub fn fail(&mut self, problem: &str, hint: &str) {
        self.error_at(self.at, problem, hint);
    }

    /// Reports an error at a position, and marks the table as unusable.
    pub fn error_at(&mut self, at: usize, problem: &str, hint: &str) {
        self.usable = false;
        self.diagnostics.error(at, format!("{} {problem}", self.what), hint);
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
    pub fn warn(&mut self, key: &str, problem: &str, hint: &str) {
        let at = self.find(key).map_or(self.at, |member| member.at);
        self.diagnostics.warn(at, format!("{}: `{key}` {problem}", self.what), hint);
    }

    /// Warns about a position. The table stays usable.
    pub fn warn_at(&mut self, at: usize, problem: &str, hint: &str) {
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

    /// Returns the value with the position of the field `key`.
    pub fn with_position<T>(
        &mut self,
        key: &'static str,
        value: Option<T>,
    ) -> Option<LocatedValue<T>> {
        let at = self.position_at(self.find(key)?.at);
        value.map(|value| LocatedValue { value, at })
    }

    fn find(&self, key: &str) -> Option<&'t TreeMember> {
        self.members.iter().find(|member| member.key == key)
    }

    pub fn text(&mut self, key: &'static str) -> Option<&'t str> {
        let node = self.node(key)?;
        match &node.value {
            TreeValue::Text(text) => Some(text),
            other => self.mismatch(node, key, "a string", other),
        }
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
        let mut pieces = self.diagnostics.grammar().parse(text);
        for piece in &mut pieces {
            if let ConfigTemplatePart::Variable(TemplateVariable {
                source: VariableSource::File,
                name,
                ..
            }) = piece
            {
                *name = absolute(self.diagnostics.file(), name);
            }
        }
        template::render(&pieces)
    }

    pub fn flag(&mut self, key: &'static str) -> Option<bool> {
        let node = self.node(key)?;
        match &node.value {
            TreeValue::Flag(flag) => Some(*flag),
            other => self.mismatch_with_value(node, key, "true or false", other),
        }
    }

    pub fn table(&mut self, key: &'static str) -> Option<(usize, &'t [TreeMember])> {
        let node = self.node(key)?;
        match &node.value {
            TreeValue::Table(members) => Some((node.at, members)),
            other => self.mismatch(node, key, "a table", other),
        }
    }

    pub fn texts(&mut self, key: &'static str) -> Option<Vec<String>> {
        let node = self.node(key)?;
        let TreeValue::List(items) = &node.value else {
            return self.mismatch(node, key, "a list of strings", &node.value);
        };
        let mut texts = Vec::with_capacity(items.len());
        for item in items {
            match &item.value {
                TreeValue::Text(text) => texts.push(text.clone()),
                other => return self.mismatch(item, key, "a list of strings", other),
            }
        }
        Some(texts)
    }

    /// Returns a table of strings that may be credentials, as secrets.
    pub fn secrets(&mut self, key: &'static str) -> BTreeMap<String, Secret<String>> {
        let Some((_, members)) = self.table(key) else {
            return BTreeMap::new();
        };
        let mut secrets = BTreeMap::new();
        for member in members {
            match &member.node.value {
                TreeValue::Text(text) => {
                    let value = Secret::new(self.translate(text));
                    if secrets.insert(member.key.clone(), value).is_some() {
                        let problem = format!("has `{key}.{}` twice", member.key);
                        self.error_at(member.at, &problem, "keep one");
                    }
                }
                other => {
                    let problem = format!(
                        "has {} where `{key}.{}` must be a string",
                        other.kind(),
                        member.key
                    );
                    self.error_at(member.node.at, &problem, "write the value in quotes");
                }
            }
        }
        secrets
    }

    /// Returns a list with items of any kind.
    pub fn list(&mut self, key: &'static str) -> Option<&'t [TreeNode]> {
        let node = self.node(key)?;
        match &node.value {
            TreeValue::List(items) => Some(items),
            other => self.mismatch(node, key, "a list", other),
        }
    }

    /// Returns an integer.
    pub fn integer(&mut self, key: &'static str) -> Option<i64> {
        let node = self.node(key)?;
        match &node.value {
            TreeValue::Integer(number) => Some(*number),
            other => self.mismatch_with_value(node, key, "a whole number", other),
        }
    }

    /// Returns a duration that is given as a bare number. A value out of range is reported and
    /// ignored.
    pub fn time(&mut self, key: &'static str, unit: TimeUnit) -> Option<Duration> {
        let node = self.node(key)?;
        let number = match &node.value {
            TreeValue::Integer(number) => *number as f64,
            TreeValue::Fraction(spelled) => spelled.parse().unwrap_or(f64::NAN),
            other => return self.mismatch_with_value(node, key, "a number", other),
        };
        let millis = if unit == TimeUnit::Seconds { number * 1000.0 } else { number };
        // Beyond this the conversion is not exact, and `check_range` rejects far smaller values.
        let whole = (0.0..1e15).contains(&millis).then_some(millis.round() as u64);
        match whole.map(duration::check_range) {
            Some(Ok(time)) => Some(time),
            Some(Err(why)) => {
                self.warn(
                    key,
                    &format!("is ignored: {why}"),
                    "use a time from 1 millisecond to 7 days",
                );
                None
            }
            None => {
                self.warn(
                    key,
                    "is ignored: it is out of range",
                    "use a time from 1 millisecond to 7 days",
                );
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
            let words: Vec<_> = choices.iter().map(|(word, _)| *word).collect();
            let hint = match nearest(text, &words) {
                Some(known) => format!("did you mean {known:?}?"),
                None => {
                    let quoted: Vec<_> = words.iter().map(|word| format!("{word:?}")).collect();
                    format!("use one of {}", quoted.join(", "))
                }
            };
            self.error_with_value(
                at,
                &format!("has an invalid `{key}`: {:?}", shorten_name(text)),
                &hint,
            );
        }
        found.map(|(_, value)| *value)
    }

    /// Reads a nested table. If it is unusable, so is this table.
    pub fn with_table<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&mut TableFields<'t, '_, 'a>) -> T,
    ) -> Option<T> {
        let (at, members) = self.table(key)?;
        let what = format!("`{key}` of {}", self.what);
        let mut inner = TableFields::of(self.diagnostics, what, at, members);
        let found = read(&mut inner);
        if !inner.finish() {
            self.usable = false;
        }
        Some(found)
    }

    /// Reads every member as a table. If one is unusable, so is this table. `like` is an example
    /// for the hint.
    pub fn each_table(
        &mut self,
        what: impl Fn(&str) -> String,
        like: &str,
        mut read: impl FnMut(&str, &mut TableFields<'t, '_, 'a>),
    ) {
        for member in self.members {
            let TreeValue::Table(members) = &member.node.value else {
                let (kind, key) = (member.node.value.kind(), &member.key);
                let problem = format!("has {kind} where `{key}` must be a table");
                self.error_at(member.node.at, &problem, &format!("write it like {like}"));
                continue;
            };
            let mut fields =
                TableFields::of(self.diagnostics, what(&member.key), member.at, members);
            read(&member.key, &mut fields);
            if !fields.finish() {
                self.usable = false;
            }
        }
        self.allow_unknown();
    }

    /// Returns the servers at a location below this table. Tables on the way may contain other
    /// fields, so their unknown fields are not reported.
    pub fn servers(&mut self, place: ServersLocation) -> Option<ServerEntries<'t>> {
        let (ServersLocation::Map(path) | ServersLocation::List(path)) = place;
        let (last, way) = path.split_last()?;
        let Some((first, _)) = way.split_first() else {
            return match place {
                ServersLocation::Map(_) => {
                    self.table(last).map(|(_, members)| ServerEntries::Map(members))
                }
                ServersLocation::List(_) => self.list(last).map(ServerEntries::List),
            };
        };
        let (at, members) = self.table(first)?;
        let what = format!("`{first}`");
        let mut inner = TableFields::of(self.diagnostics, what, at, members);
        match place {
            ServersLocation::Map(path) => inner.servers(ServersLocation::Map(&path[1..])),
            ServersLocation::List(path) => inner.servers(ServersLocation::List(&path[1..])),
        }
    }

    /// Returns fields that only other hosts use, so that they can be written back.
    pub fn read_extras(&mut self, keys: &[&'static str]) -> Option<Secret<ConfigValue>> {
        let found = keys.iter().filter_map(|key| Some(((*key).to_owned(), self.node(key)?.data())));
        let found: Vec<_> = found.collect();
        (!found.is_empty()).then(|| Secret::new(ConfigValue::Table(found)))
    }

    fn mismatch<T>(
        &mut self,
        node: &TreeNode,
        key: &str,
        wanted: &str,
        found: &TreeValue,
    ) -> Option<T> {
        let problem = format!("has {} where `{key}` must be {wanted}", found.kind());
        self.error_at(node.at, &problem, &format!("make `{key}` {wanted}"));
        None
    }

    /// Like `mismatch`, for a value that cannot be a credential.
    fn mismatch_with_value<T>(
        &mut self,
        node: &TreeNode,
        key: &str,
        wanted: &str,
        found: &TreeValue,
    ) -> Option<T> {
        let problem = format!("has {} where `{key}` must be {wanted}", found.kind());
        self.error_with_value(node.at, &problem, &format!("make `{key}` {wanted}"));
        None
    }

    /// Warns about fields that this version ignores: a restriction without effect must not look
    /// effective.
    pub fn warn_unsupported(&mut self, keys: &[&'static str]) {
        for key in keys {
            if self.node(key).is_some() {
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
            self.usable = false;
            let message = format!("{} {problem}", self.what);
            self.diagnostics.error_as(ErrorCode::ConfigUnknownField, at, message, hint);
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

/// Returns the absolute path of a file that a text names. A leading `~` or variable is left for the
/// caller to expand.
fn absolute(at: &FileRef, path: &str) -> String {
    match path.starts_with(['~', '$']) {
        true => path.to_owned(),
        false => {
            let joined: std::path::PathBuf =
                at.folder().join(Path::new(path)).components().collect();
            joined.to_string_lossy().into_owned()
        }
    }
}
