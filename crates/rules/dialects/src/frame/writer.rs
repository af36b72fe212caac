//! Builds the fields of an entry that is to be written: each only if there is something to say, its
//! variables in the grammar of the dialect.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use toolgate_model::{Data, Scope, Secret, ServerSpec};

use crate::losses::Losses;
use crate::{FileRef, Grammar, template};

/// The fields of one entry.
pub(crate) struct Writer<'l> {
    grammar: Grammar,
    at: &'l FileRef,
    fields: Vec<(String, Data)>,
    losses: &'l mut Losses,
}

impl<'l> Writer<'l> {
    /// For an entry of a document that is to lie there.
    pub fn new(grammar: Grammar, at: &'l FileRef, losses: &'l mut Losses) -> Self {
        Self { grammar, at, fields: Vec::new(), losses }
    }

    pub fn losses(&mut self) -> &mut Losses {
        self.losses
    }

    /// The file that is written.
    pub fn file(&self) -> &'l FileRef {
        self.at
    }

    /// A table inside this one, unless nothing is said in it.
    pub fn within(&mut self, key: &str, write: impl FnOnce(&mut Writer<'_>)) {
        let mut inner = Writer::new(self.grammar, self.at, self.losses);
        write(&mut inner);
        let fields = inner.finish();
        if !fields.is_empty() {
            self.data(key, Data::Table(fields));
        }
    }

    pub fn data(&mut self, key: &str, value: Data) {
        self.fields.push((key.to_owned(), value));
    }

    /// A text that holds no variables.
    pub fn plain(&mut self, key: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.data(key, Data::text(text));
        }
    }

    /// Texts that hold no variables, unless there are none.
    pub fn plains(&mut self, key: &str, texts: &[String]) {
        if !texts.is_empty() {
            self.data(key, Data::texts(texts.iter().cloned()));
        }
    }

    pub fn flag(&mut self, key: &str, flag: bool) {
        self.data(key, Data::Flag(flag));
    }

    /// A text in our grammar, written in the dialect's.
    pub fn template(&mut self, key: &str, text: &str) {
        if let Some(text) = self.translated(key, text) {
            self.data(key, Data::Text(text));
        }
    }

    /// Texts in our grammar, unless there are none.
    pub fn templates(&mut self, key: &str, texts: &[String]) {
        if !texts.is_empty() {
            let texts: Vec<_> = texts.iter().filter_map(|it| self.translated(key, it)).collect();
            self.data(key, Data::texts(texts));
        }
    }

    /// A folder or file, unless there is none.
    pub fn path(&mut self, key: &str, path: Option<&Path>) {
        if let Some(path) = path {
            self.template(key, &self.near(path).to_string_lossy());
        }
    }

    /// A path as a file of a project says it, which others have elsewhere: from the project's
    /// folder, if it lies there.
    fn near<'p>(&self, path: &'p Path) -> &'p Path {
        let inside = path.strip_prefix(self.at.project.as_path()).ok();
        let is_plain = |inside: &&Path| {
            let text = inside.to_string_lossy();
            !text.is_empty() && !text.starts_with(['~', '$'])
        };
        let inside = inside.filter(|_| self.at.scope == Scope::Project).filter(is_plain);
        inside.unwrap_or(path)
    }

    /// The folder a process runs in, unless it is the one it would run in anyway. Without a key the
    /// dialect cannot say it.
    pub fn cwd(&mut self, key: Option<&str>, cwd: Option<&Path>) {
        let is_project = self.at.scope == Scope::Project;
        let usual = is_project.then_some(self.at.project.as_path());
        match key {
            _ if cwd == usual => {}
            Some(key) => self.path(key, cwd),
            None => self.losses.unsaid("cwd", cwd.is_some()),
        }
    }

    /// Values by their names, unless there are none. A loss is told by what we call the field:
    /// whoever reads of it knows what he declared, not what the other dialect would have said.
    pub fn secrets(&mut self, key: &str, ours: &str, values: &BTreeMap<String, Secret<String>>) {
        if values.is_empty() {
            return;
        }
        let written = values.iter().filter_map(|(name, value)| {
            let text = self.translated(&format!("{ours}.{name}"), value.expose())?;
            Some((name.clone(), Data::Text(text)))
        });
        let written = written.collect();
        self.data(key, Data::Table(written));
    }

    pub fn millis(&mut self, key: &str, time: Duration) {
        self.data(key, Data::Integer(i64::try_from(time.as_millis()).unwrap_or(i64::MAX)));
    }

    pub fn seconds(&mut self, key: &str, time: Duration) {
        let whole = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
        self.data(
            key,
            match time.subsec_millis() {
                0 => Data::Integer(whole),
                _ => Data::Fraction(time.as_secs_f64().to_string()),
            },
        );
    }

    /// What the same dialect said that means nothing to us.
    pub fn kept(&mut self, dialect: &str, spec: &ServerSpec) {
        if let Some(Data::Table(fields)) = spec.extras.get(dialect).map(Secret::expose) {
            self.fields.extend(fields.iter().cloned());
        }
        for other in spec.extras.keys().filter(|other| *other != dialect) {
            self.losses.add(format!("extra.{other}"), "it means something to that host only");
        }
    }

    /// A text in our grammar as the dialect writes it; where it cannot, that is a loss.
    pub fn translated(&mut self, field: &str, text: &str) -> Option<String> {
        let written = self.grammar.text(&template::pieces(text));
        written.map_err(|why| self.losses.add(field, why)).ok()
    }

    pub fn finish(self) -> Vec<(String, Data)> {
        self.fields
    }
}
