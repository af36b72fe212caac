//! What is told about a server that was added. No value of it is ever shown.

use std::path::Path;

use serde::Serialize;
use toolgate_host::config::{Document, consent_text};
use toolgate_host::{ServerName, ServerSpec, Setup};

use super::unwritable;
use crate::carry::literals::{Instead, Place, replaced};
use crate::context::Context;
use crate::exit::Failure;
use crate::out::{self, visible};

/// What became of it.
#[derive(Debug, Serialize)]
pub struct Added {
    name: String,
    action: &'static str,
    file: String,
    scope: toolgate_host::Scope,
    dialect: &'static str,
}

impl Added {
    pub fn new(file: &Document, spec: &ServerSpec, existed: bool) -> Self {
        Self {
            name: spec.name.to_string(),
            action: if existed { "replaced" } else { "added" },
            file: file.path().display().to_string(),
            scope: file.at.scope,
            dialect: file.dialect.as_str(),
        }
    }

    pub fn tell(&self, context: &Context) -> Result<(), Failure> {
        if context.json {
            return out::json(self);
        }
        let (name, file) = (visible(&self.name), shown(Path::new(&self.file)));
        out::note(&match self.action {
            "added" => format!("added {name} to {file}"),
            _ => format!("replaced {name} in {file}"),
        });
        Ok(())
    }
}

/// A file as it is named to people: from where they are, if it is below.
pub fn shown(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    visible(&path.strip_prefix(&here).unwrap_or(path).display().to_string())
}

/// There is one already; it is shown, and what to do.
pub fn exists(file: &Document, name: &ServerName) -> Result<Failure, Failure> {
    let reading = file.read(&file.text().map_err(unwritable)?);
    let declared = reading.servers.iter().find(|declared| declared.spec.name == *name);
    let place = match declared {
        Some(declared) => {
            out::note(&format!("{name} is declared so far as"));
            out::note(&out::visible_lines(&consent_text(&declared.spec)));
            format!("{}:{}", shown(file.path()), declared.origin.line)
        }
        None => shown(file.path()),
    };
    Ok(Failure::failed(format!("add `{name}`: {place} declares it already"))
        .hint(format!("--force replaces it; `toolgate get {name}` shows all of it")))
}

/// Says which values were written out that look like credentials, and how to keep them elsewhere.
pub fn literals(file: &Document, spec: &ServerSpec) {
    let mut fields = Vec::new();
    let mut first = None;
    replaced(spec, &mut |literal| {
        if literal.place == Place::Inside || toolgate_model::is_secret_like(&literal.name) {
            fields.push(visible(&literal.field));
            first.get_or_insert_with(|| literal.name.clone());
        }
        Instead::Itself
    });
    let Some(name) = first else { return };
    let variable: String = name
        .trim_start_matches('-')
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' })
        .collect();
    out::note(&format!(
        "{} {} may be a credential and stands in {} as it was typed; `${{env:{variable}}}`, or \
         `toolgate secret set {variable}` and `${{secret:{variable}}}`, keeps it out of the file",
        out::cyan("hint:"),
        fields.join(", "),
        shown(file.path())
    ));
}

/// Says who is used instead of what was added.
pub fn outdone(setup: &Setup, name: &ServerName) {
    let note = out::cyan("note:");
    match setup.entry(name.as_str()) {
        Ok(entry) => out::note(&format!(
            "{note} {} wins over it: that one is used, and this one is not started",
            visible(&entry.origin.to_string())
        )),
        Err(_) => {
            let about = format!("server \"{name}\"");
            let findings = setup.plan().diagnostics.iter();
            findings.filter(|found| found.message.contains(&about)).for_each(|found| {
                out::note(&out::visible_lines(&found.to_string()));
            });
        }
    }
}

/// Says which declarations what was added wins over.
pub fn shadows(setup: &Setup, name: &ServerName) {
    let Ok(entry) = setup.entry(name.as_str()) else { return };
    for shadow in &entry.shadows {
        let shadow = visible(&shadow.to_string());
        out::note(&format!("{} it wins over the one in {shadow}", out::cyan("note:")));
    }
}
