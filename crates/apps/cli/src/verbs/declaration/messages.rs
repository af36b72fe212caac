//! Messages about added servers. They never contain values of variables or headers.

use std::path::Path;

use serde_json::json;
use toolgate_host::config::{ConfigDocument, consent_text};
use toolgate_host::{ServerName, ServerSpec, Setup};

use crate::cli_context::CliContext;
use crate::exit::{CliError, Exit, Result, cli_error};
use crate::out::{self, escape_invisible};
use crate::transfer::literals::{
    LiteralLocation, LiteralReplacement, replace_literals, variable_name,
};

/// Prints that a server was added or replaced.
pub fn print_added(
    context: &CliContext,
    file: &ConfigDocument,
    name: &ServerName,
    existed: bool,
) -> Result<Exit> {
    let (action, into) = if existed { ("replaced", "in") } else { ("added", "to") };
    let value = json!({
        "name": name, "action": action, "file": file.path(), "scope": file.at.scope,
        "dialect": file.dialect.as_str(),
    });
    let text = format!("{action} {name} {into} {}", display_path(file.path()));
    out::print_done(context, &value, &text)
}

/// Returns a path for display, relative if it is below the current folder.
pub fn display_path(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    escape_invisible(&path.strip_prefix(&here).unwrap_or(path).display().to_string())
}

/// Prints the existing declaration and returns the error that the server is already declared.
pub fn already_declared_error(file: &ConfigDocument, name: &ServerName) -> Result<CliError> {
    let reading = file.read(&file.text()?);
    let declared = reading.servers.iter().find(|declared| declared.spec.name == *name);
    let place = match declared {
        Some(declared) => {
            out::note(&format!("current declaration of {name}:"));
            out::note_lines(&consent_text(&declared.spec));
            format!("{}:{}", display_path(file.path()), declared.origin.line)
        }
        None => display_path(file.path()),
    };
    Ok(cli_error!(ConfigConflict, "`{name}` is already declared in {place}")
        .hint(format!("use --force to replace it, or run `toolgate get {name}` to see all of it")))
}

/// Prints a hint if values that look like credentials were written into the file.
pub fn warn_about_literals(file: &ConfigDocument, spec: &ServerSpec) {
    let mut fields = Vec::new();
    let mut first = None;
    replace_literals(spec, &mut |literal| {
        if literal.location == LiteralLocation::Embedded
            || toolgate_model::is_secret_like(&literal.name)
        {
            fields.push(literal.field.clone());
            first.get_or_insert_with(|| literal.name.clone());
        }
        LiteralReplacement::Keep
    });
    let Some(name) = first else { return };
    let variable = variable_name(&[name.trim_start_matches('-')]);
    out::hint(&format!(
        "{} may be a credential and is now in {} in plain text; to keep it out of the file, use \
         `${{env:{variable}}}`, or run `toolgate secret set {variable}` and use \
         `${{secret:{variable}}}`",
        fields.join(", "),
        display_path(file.path())
    ));
}

/// Prints which declaration takes precedence over the added one, or why the added one is invalid.
pub fn note_overriding(setup: &Setup, name: &ServerName) {
    match setup.entry(name.as_str()) {
        Ok(entry) => out::remark(&format!(
            "{} takes precedence: that entry is used instead of the added one",
            entry.origin
        )),
        Err(_) => {
            let findings = setup.plan().diagnostics.iter();
            let about_it = findings.filter(|found| found.server.as_ref() == Some(name));
            about_it.for_each(|found| out::note_lines(&found.to_string()));
        }
    }
}

/// Prints which declarations the added one takes precedence over.
pub fn note_shadowed(setup: &Setup, name: &ServerName) {
    let Ok(entry) = setup.entry(name.as_str()) else { return };
    for shadow in &entry.shadows {
        out::remark(&format!("it takes precedence over {shadow}"));
    }
}
