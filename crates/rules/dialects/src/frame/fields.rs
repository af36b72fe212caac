//! Typed access to the fields of one table, with a diagnostic for every field that does not fit.
//!
//! Asking for a field is what makes it known: whatever nobody asked for is reported as unknown, so
//! a reader cannot forget to list a field it reads. An error marks the table as unusable; the
//! caller finds that out once, from [`Fields::finish`].

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use toolgate_model::{Data, Secret};

use super::Report;
use super::excerpt::beginning;
use super::nearest::nearest;
use super::tree::{Member, Node, Value};
use crate::form::{Place, Servers};
use crate::template::{self, Piece, Source, Variable};
use crate::{FileRef, Said, duration};

/// How many names a hint lists at most.
const MOST_NAMES: usize = 12;

/// What a bare number of time counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Millis,
    Seconds,
}

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

    /// Everything that stands in the table.
    pub fn members(&self) -> &'t [Member] {
        self.members
    }

    /// Nothing in the table is unknown: its keys are names.
    pub fn all_known(&mut self) {
        self.members = &[];
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

    /// The same, because of a value that is no credential: it is shown.
    pub fn wrong(&mut self, at: usize, problem: &str, hint: &str) {
        self.usable = false;
        self.report.wrong(at, format!("{} {problem}", self.what), hint);
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

    /// Says something about a place without giving the table up.
    pub fn remark(&mut self, at: usize, problem: &str, hint: &str) {
        self.report.warn(at, format!("{}: {problem}", self.what), hint);
    }

    /// A field and its place; null is the same as not being there.
    pub fn node(&mut self, key: &'static str) -> Option<&'t Node> {
        self.ignored(&[key]);
        let node = &self.find(key)?.node;
        (node.value != Value::Null).then_some(node)
    }

    /// Line and column of a place.
    pub fn place(&self, at: usize) -> (u32, u32) {
        let origin = self.report.origin(at);
        (origin.line, origin.column)
    }

    /// What the field `key` says, with its place.
    pub fn said<T>(&mut self, key: &'static str, value: Option<T>) -> Option<Said<T>> {
        let at = self.place(self.find(key)?.at);
        value.map(|value| Said { value, at })
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

    /// A text whose variables are translated into our grammar.
    pub fn template(&mut self, key: &'static str) -> Option<String> {
        self.text(key).map(|text| self.translated(text))
    }

    /// A list of texts whose variables are translated into our grammar.
    pub fn templates(&mut self, key: &'static str) -> Option<Vec<String>> {
        let texts = self.texts(key)?;
        Some(texts.iter().map(|text| self.translated(text)).collect())
    }

    /// A text of this file in our grammar of variables. Files it names are found from its folder,
    /// wherever the text is carried.
    pub fn translated(&self, text: &str) -> String {
        let mut pieces = self.report.grammar().pieces(text);
        for piece in &mut pieces {
            if let Piece::Variable(Variable { source: Source::File, name, .. }) = piece {
                *name = absolute(self.report.file(), name);
            }
        }
        template::render(&pieces)
    }

    pub fn flag(&mut self, key: &'static str) -> Option<bool> {
        let node = self.node(key)?;
        match &node.value {
            Value::Flag(flag) => Some(*flag),
            other => self.unfit(node, key, "true or false", other),
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
                    let value = Secret::new(self.translated(text));
                    if secrets.insert(member.key.clone(), value).is_some() {
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

    /// A list, whatever it holds.
    pub fn list(&mut self, key: &'static str) -> Option<&'t [Node]> {
        let node = self.node(key)?;
        match &node.value {
            Value::List(items) => Some(items),
            other => self.mismatch(node, key, "a list", other),
        }
    }

    /// A whole number.
    pub fn integer(&mut self, key: &'static str) -> Option<i64> {
        let node = self.node(key)?;
        match &node.value {
            Value::Integer(number) => Some(*number),
            other => self.unfit(node, key, "a whole number", other),
        }
    }

    /// A length of time in a bare number. One that makes no sense is reported and left out.
    pub fn time(&mut self, key: &'static str, unit: Unit) -> Option<Duration> {
        let node = self.node(key)?;
        let number = match &node.value {
            Value::Integer(number) => *number as f64,
            Value::Fraction(spelled) => spelled.parse().unwrap_or(f64::NAN),
            other => return self.unfit(node, key, "a number", other),
        };
        let millis = if unit == Unit::Seconds { number * 1000.0 } else { number };
        // Beyond this the conversion would not be exact, and `checked` refuses far less.
        let whole = (0.0..1e15).contains(&millis).then_some(millis.round() as u64);
        match whole.map(duration::checked) {
            Some(Ok(time)) => Some(time),
            Some(Err(why)) => {
                self.warn(key, &format!("is ignored: {why}"), "give a sensible time");
                None
            }
            None => {
                self.warn(key, "is ignored: it is out of range", "give a sensible time");
                None
            }
        }
    }

    /// One of a few words.
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
            self.wrong(at, &format!("cannot have `{key}` {:?}", beginning(text)), &hint);
        }
        found.map(|(_, value)| *value)
    }

    /// Reads a table inside this one; if it cannot be used, neither can this.
    pub fn within<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&mut Fields<'t, '_, 'a>) -> T,
    ) -> Option<T> {
        let (at, members) = self.table(key)?;
        let what = format!("`{key}` of {}", self.what);
        let mut inner = Fields::of(self.report, what, at, members);
        let found = read(&mut inner);
        if !inner.finish() {
            self.usable = false;
        }
        Some(found)
    }

    /// Reads every member as a table; if one cannot be used, neither can this. `like` shows how one
    /// is written.
    pub fn each_table(
        &mut self,
        what: impl Fn(&str) -> String,
        like: &str,
        mut read: impl FnMut(&str, &mut Fields<'t, '_, 'a>),
    ) {
        for member in self.members {
            let Value::Table(members) = &member.node.value else {
                let (kind, key) = (member.node.value.kind(), &member.key);
                let problem = format!("has {kind} where `{key}` must be a table");
                self.fault(member.node.at, &problem, &format!("write it like {like}"));
                continue;
            };
            let mut fields = Fields::of(self.report, what(&member.key), member.at, members);
            read(&member.key, &mut fields);
            if !fields.finish() {
                self.usable = false;
            }
        }
        self.all_known();
    }

    /// The servers that stand at a place below this table. Tables on the way are not checked for
    /// unknown fields: they are about other things too.
    pub fn servers(&mut self, place: Place) -> Option<Servers<'t>> {
        let (Place::Map(path) | Place::List(path)) = place;
        let (last, way) = path.split_last()?;
        let Some((first, _)) = way.split_first() else {
            return match place {
                Place::Map(_) => self.table(last).map(|(_, members)| Servers::Map(members)),
                Place::List(_) => self.list(last).map(Servers::List),
            };
        };
        let (at, members) = self.table(first)?;
        let what = format!("`{first}`");
        let mut inner = Fields::of(self.report, what, at, members);
        match place {
            Place::Map(path) => inner.servers(Place::Map(&path[1..])),
            Place::List(path) => inner.servers(Place::List(&path[1..])),
        }
    }

    /// Fields that mean something to other hosts only: kept, so that they can be written back.
    pub fn kept(&mut self, keys: &[&'static str]) -> Option<Secret<Data>> {
        let found = keys.iter().filter_map(|key| Some(((*key).to_owned(), self.node(key)?.data())));
        let found: Vec<_> = found.collect();
        (!found.is_empty()).then(|| Secret::new(Data::Table(found)))
    }

    fn mismatch<T>(&mut self, node: &Node, key: &str, wanted: &str, found: &Value) -> Option<T> {
        let problem = format!("has {} where `{key}` must be {wanted}", found.kind());
        self.fault(node.at, &problem, &format!("make `{key}` {wanted}"));
        None
    }

    /// The same where no credential can be meant.
    fn unfit<T>(&mut self, node: &Node, key: &str, wanted: &str, found: &Value) -> Option<T> {
        let problem = format!("has {} where `{key}` must be {wanted}", found.kind());
        self.wrong(node.at, &problem, &format!("make `{key}` {wanted}"));
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
        for key in keys {
            if !self.known.contains(key) {
                self.known.push(key);
            }
        }
    }

    /// The names that could have been meant: those it does not have yet, the most important first.
    fn known_here(&self) -> String {
        let unused = self.known.iter().copied().filter(|key| self.find(key).is_none());
        let mut names: Vec<_> = unused.take(MOST_NAMES + 1).collect();
        if names.is_empty() {
            return "remove it: nothing else is known here".to_owned();
        }
        if names.len() > MOST_NAMES {
            names[MOST_NAMES] = "…";
        }
        format!("known here: {}", names.join(", "))
    }

    /// Reports what nobody asked for, and says whether the table can be used.
    pub fn finish(self) -> bool {
        for (at, problem, hint) in self.unknown() {
            self.report.warn(at, format!("{} {problem}", self.what), hint);
        }
        self.usable
    }

    /// The same where every word restricts: with one that is not understood the table cannot be
    /// used.
    pub fn finish_whole(mut self) -> bool {
        for (at, problem, hint) in self.unknown() {
            self.fault(at, &problem, &hint);
        }
        self.usable
    }

    fn unknown(&self) -> Vec<(usize, String, String)> {
        let unknown =
            self.members.iter().filter(|member| !self.known.contains(&member.key.as_str()));
        let told = |member: &Member| {
            let hint = match nearest(&member.key, &self.known) {
                Some(known) => format!("did you mean `{known}`?"),
                None => self.known_here(),
            };
            (member.at, format!("has an unknown field `{}`", member.key), hint)
        };
        unknown.map(told).collect()
    }
}

/// Where a file named by a text lies. `~` and a variable at the front are left for whoever knows
/// their meaning.
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
