//! Builds the fields of an entry. Each field is only written if it is set, with its variables in
//! the syntax of the dialect.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use toolgate_model::{ConfigScope, ConfigValue, Secret, ServerSpec};

use crate::dialect_format::WrittenFields;
use crate::losses::ConversionLosses;
use crate::{FileRef, VariableSyntax, template};

/// The fields of one entry while it is written.
pub(crate) struct EntryWriter<'l> {
    grammar: VariableSyntax,
    /// The file that is written.
    pub file: &'l FileRef,
    pub fields: WrittenFields,
    pub losses: &'l mut ConversionLosses,
}

impl<'l> EntryWriter<'l> {
    /// Creates a writer for an entry of `file`.
    pub fn new(
        grammar: VariableSyntax,
        file: &'l FileRef,
        losses: &'l mut ConversionLosses,
    ) -> Self {
        Self { grammar, file, fields: Vec::new(), losses }
    }

    /// Writes a nested table, unless it is empty.
    pub fn with_table(&mut self, key: &str, write: impl FnOnce(&mut EntryWriter<'_>)) {
        let fields = self.nested_fields(write);
        self.table(key, fields);
    }

    /// Returns the fields of a nested table without writing it.
    pub fn nested_fields(&mut self, write: impl FnOnce(&mut EntryWriter<'_>)) -> WrittenFields {
        let mut inner = EntryWriter::new(self.grammar, self.file, self.losses);
        write(&mut inner);
        inner.fields
    }

    /// Writes the fields of a nested table, unless there are none.
    pub fn table(&mut self, key: &str, fields: WrittenFields) {
        if !fields.is_empty() {
            self.data(key, ConfigValue::Table(fields));
        }
    }

    pub fn data(&mut self, key: &str, value: ConfigValue) {
        self.fields.push((key.to_owned(), value));
    }

    /// Writes a string without variables.
    pub fn text(&mut self, key: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.data(key, ConfigValue::text(text));
        }
    }

    /// Writes a list of strings without variables, unless it is empty.
    pub fn texts(&mut self, key: &str, texts: &[String]) {
        if !texts.is_empty() {
            self.data(key, ConfigValue::texts(texts.iter().cloned()));
        }
    }

    pub fn flag(&mut self, key: &str, flag: bool) {
        self.data(key, ConfigValue::Bool(flag));
    }

    /// Writes a string, with its variables translated into the dialect.
    pub fn template(&mut self, key: &str, text: &str) {
        if let Some(text) = self.translate(key, text) {
            self.data(key, ConfigValue::Text(text));
        }
    }

    /// Writes a list of strings, with their variables translated, unless it is empty.
    pub fn templates(&mut self, key: &str, texts: &[String]) {
        if !texts.is_empty() {
            let texts: Vec<_> = texts.iter().filter_map(|it| self.translate(key, it)).collect();
            self.data(key, ConfigValue::texts(texts));
        }
    }

    /// Writes a path, if there is one.
    pub fn path(&mut self, key: &str, path: Option<&Path>) {
        if let Some(path) = path {
            self.template(key, &self.relative_to_project(path).to_string_lossy());
        }
    }

    /// Returns the path relative to the project's folder, if it is inside and a project's file is
    /// written: other users have the project elsewhere.
    fn relative_to_project<'p>(&self, path: &'p Path) -> &'p Path {
        let inside = path.strip_prefix(self.file.project.as_path()).ok();
        let is_plain = |inside: &&Path| {
            let text = inside.to_string_lossy();
            !text.is_empty() && !text.starts_with(['~', '$'])
        };
        let inside = inside.filter(|_| self.file.scope == ConfigScope::Project).filter(is_plain);
        inside.unwrap_or(path)
    }

    /// Writes the working folder, unless it is the default. Without a key it is a loss.
    pub fn cwd(&mut self, key: Option<&str>, cwd: Option<&Path>) {
        let is_project = self.file.scope == ConfigScope::Project;
        let usual = is_project.then_some(self.file.project.as_path());
        match key {
            _ if cwd == usual => {}
            Some(key) => self.path(key, cwd),
            None => self.losses.add_if_set("cwd", cwd.is_some()),
        }
    }

    /// Writes a table of secrets, unless it is empty. Losses use Toolgate's field name `ours`,
    /// because the user knows that name and not the dialect's.
    pub fn secrets(&mut self, key: &str, ours: &str, values: &BTreeMap<String, Secret<String>>) {
        if values.is_empty() {
            return;
        }
        let written = values.iter().filter_map(|(name, value)| {
            let text = self.translate(&format!("{ours}.{name}"), value.expose())?;
            Some((name.clone(), ConfigValue::Text(text)))
        });
        let written = written.collect();
        self.data(key, ConfigValue::Table(written));
    }

    pub fn millis(&mut self, key: &str, time: Duration) {
        self.data(key, ConfigValue::Integer(i64::try_from(time.as_millis()).unwrap_or(i64::MAX)));
    }

    pub fn seconds(&mut self, key: &str, time: Duration) {
        let whole = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
        self.data(
            key,
            match time.subsec_millis() {
                0 => ConfigValue::Integer(whole),
                _ => ConfigValue::Decimal(time.as_secs_f64().to_string()),
            },
        );
    }

    /// Writes the fields that only this dialect uses.
    pub fn write_extras(&mut self, dialect: &str, spec: &ServerSpec) {
        if let Some(ConfigValue::Table(fields)) = spec.extras.get(dialect).map(Secret::expose) {
            self.fields.extend(fields.iter().cloned());
        }
        for other in spec.extras.keys().filter(|other| *other != dialect) {
            self.losses.add(format!("extra.{other}"), "only that host uses it");
        }
    }

    /// Translates the variables of a text into the dialect. Records a loss if that is impossible.
    pub fn translate(&mut self, field: &str, text: &str) -> Option<String> {
        let written = self.grammar.render_parts(&template::parse_template(text));
        written.map_err(|why| self.losses.add(field, why)).ok()
    }
}
