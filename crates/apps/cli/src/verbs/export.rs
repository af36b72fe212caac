//! `export`: the servers of this home, in another host's dialect.
//!
//! What may be a credential is written only where that was asked for: otherwise a variable stands
//! there, or nothing, and the report says which.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use toolgate_host::config::{
    Access, Dialect, EditError, Editing, FileRef, FileSettings, Input, Written, edit_file, template,
};
use toolgate_host::{Entry, Scope, ServerSpec, Setup, TransportSpec};

use crate::carry::literals::{Instead, Literal, Place, replaced, variable_name};
use crate::carry::report::{Lost, tell_lost};
use crate::context::Context;
use crate::control::{Finding, no_server};
use crate::exit::{Exit, Failure, chain};
use crate::offered::offered;
use crate::out::{self, visible};

#[derive(Debug, Args)]
#[command(after_help = "Values that may be credentials are replaced by variables, or left out \
    where the dialect has none; the report says which.\n\n\
    Examples:\n  toolgate export --to mcp-json\n  toolgate export --to codex github git -o config.toml\n  \
    toolgate export --to vscode -o .vscode/mcp.json --replace")]
pub struct Export {
    /// Which servers; without one, every enabled one
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// In which dialect
    #[arg(long, value_name = "DIALECT", value_parser = offered(dialect, dialects))]
    to: Dialect,
    /// Write them into this file, beside what it declares already
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write the file anew instead
    #[arg(long, requires = "output")]
    replace: bool,
    /// Write values that may be credentials as they are
    #[arg(long)]
    with_secrets: bool,
}

fn dialects() -> Vec<&'static str> {
    Dialect::ALL.map(Dialect::as_str).to_vec()
}

fn dialect(text: &str) -> Result<Dialect, String> {
    Dialect::named(text).ok_or_else(|| format!("there are {}", dialects().join(", ")))
}

/// What became of an export.
#[derive(Debug, Serialize)]
struct Report {
    dialect: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<PathBuf>,
    servers: Vec<String>,
    losses: Vec<Lost>,
    secrets: Vec<Hidden>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

/// A value that was not written.
#[derive(Debug, Serialize)]
struct Hidden {
    server: String,
    field: String,
    /// The variable that stands there; none: the field is left out.
    instead: Option<String>,
}

pub async fn run(context: &Context, options: &Export) -> Result<Exit, Failure> {
    let setup = context.setup().await?;
    // A server that is missing may be one of these.
    let findings: Vec<_> = setup.plan().diagnostics.iter().map(Finding::from).collect();
    out::faults(&findings, context.verbose);
    let mut report = Report {
        dialect: options.to.as_str(),
        file: options.output.clone(),
        servers: Vec::new(),
        losses: Vec::new(),
        secrets: Vec::new(),
        text: None,
    };
    let specs = chosen(&setup, options, &mut report)?;
    let at = place(options)?;
    let written = match &options.output {
        None => anew(options.to, &specs, &at).map_err(|error| unwritable(options.to, &error))?,
        Some(file) => into_file(options, &specs, &at, file)?,
    };
    report.losses.extend(written.losses.iter().map(Lost::from));
    left_out(&mut report);
    if options.output.is_none() {
        report.text = Some(written.text);
    }
    tell(context, &report)?;
    Ok(Exit::Done)
}

/// The servers that are meant, without what must not be written.
fn chosen(
    setup: &Setup,
    options: &Export,
    report: &mut Report,
) -> Result<Vec<ServerSpec>, Failure> {
    let entries = &setup.plan().entries;
    let named = |name: &String| {
        let entry = entries.iter().find(|entry| entry.spec.name.as_str() == name);
        let names = entries.iter().map(|entry| entry.spec.name.as_str());
        entry.ok_or_else(|| no_server(name, names))
    };
    let meant: Vec<&Entry> = match &options.names[..] {
        [] => entries.iter().filter(|entry| entry.spec.enabled).collect(),
        names => names.iter().map(named).collect::<Result<_, _>>()?,
    };
    let mut specs = Vec::new();
    for Entry { spec, .. } in meant {
        if spec.transport == TransportSpec::BuiltIn {
            let why = "it lives inside this program";
            report.losses.push(Lost::of(spec.name.as_str(), "server", why));
            continue;
        }
        report.servers.push(spec.name.to_string());
        specs.push(if options.with_secrets { spec.clone() } else { veiled(spec, options, report) });
    }
    Ok(specs)
}

/// The server with a variable in the place of whatever may be a credential.
fn veiled(spec: &ServerSpec, options: &Export, report: &mut Report) -> ServerSpec {
    let server = spec.name.as_str();
    replaced(spec, &mut |literal| {
        let variable = stand_in(server, literal);
        // Inside a text there is no field of its own that could be left out by the writer.
        let sayable = match literal.place {
            Place::Env | Place::Value => true,
            Place::Inside => options.to.says(&variable),
            Place::Foreign => false,
        };
        let instead = sayable.then(|| variable.clone());
        let (server, field) = (server.to_owned(), literal.field.clone());
        report.secrets.push(Hidden { server, field, instead });
        if sayable { Instead::Text(variable) } else { Instead::Nothing }
    })
}

fn stand_in(server: &str, literal: &Literal) -> String {
    let name = match literal.place {
        Place::Env => {
            let is_name = literal.name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
            if is_name { literal.name.clone() } else { variable_name(&[&literal.name]) }
        }
        _ => variable_name(&[server, &literal.name]),
    };
    literal.bare.clone().unwrap_or_else(|| format!("${{env:{name}}}"))
}

/// Where the text is to lie: it decides what relative paths mean. Without a file nobody knows, and
/// everything is written out.
fn place(options: &Export) -> Result<FileRef, Failure> {
    let failed = |error| Failure::failed(format!("find the current folder: {error}"));
    let here = std::env::current_dir().map_err(failed)?;
    Ok(match &options.output {
        None => FileRef::new(here.join("export"), Scope::User),
        Some(file) => {
            let file = std::path::absolute(file).map_err(failed)?;
            match file.starts_with(&here) {
                true => FileRef::new(file, Scope::Project).of_project(here),
                false => FileRef::new(file, Scope::User),
            }
        }
    })
}

/// A document of these servers alone. Where the dialect asks people for values it needs to be told
/// which.
fn anew(to: Dialect, specs: &[ServerSpec], at: &FileRef) -> Result<Written, EditError> {
    let mut settings = FileSettings::default();
    if to == Dialect::VsCode {
        settings.inputs = asked_for(specs);
    }
    to.write(specs, &settings, at)
}

fn asked_for(specs: &[ServerSpec]) -> Vec<Input> {
    let mut inputs: Vec<Input> = Vec::new();
    for variable in specs.iter().flat_map(texts).flat_map(|text| template::variables(&text)) {
        let known = inputs.iter().any(|input| input.id == variable.name);
        if variable.source == template::Source::Secret && !known {
            inputs.push(Input { id: variable.name, description: None, password: true });
        }
    }
    inputs
}

fn texts(spec: &ServerSpec) -> Vec<String> {
    let mut texts = Vec::new();
    match &spec.transport {
        TransportSpec::Stdio(stdio) => {
            texts.push(stdio.command.clone());
            texts.extend(stdio.args.iter().cloned());
            texts.extend(stdio.env.values().map(|value| value.expose().clone()));
        }
        TransportSpec::Http(http) => {
            texts.push(http.url.clone());
            texts.extend(http.headers.values().map(|value| value.expose().clone()));
        }
        TransportSpec::BuiltIn => {}
    }
    texts
}

fn into_file(
    options: &Export,
    specs: &[ServerSpec],
    at: &FileRef,
    file: &Path,
) -> Result<Written, Failure> {
    let access = match options.with_secrets || at.scope == Scope::User {
        true => Access::Private,
        false => Access::Shared,
    };
    let mut losses = Vec::new();
    let editing = Editing { access, backup: true };
    let edited = edit_file(file, editing, |before| {
        if options.replace || before.trim().is_empty() {
            let written = anew(options.to, specs, at)?;
            losses = written.losses;
            return Ok(Some(written.text));
        }
        let mut text = before.to_owned();
        for spec in specs {
            let written = options.to.set(&text, spec, at)?;
            losses.extend(written.losses);
            text = written.text;
        }
        Ok(Some(text))
    });
    let edited = edited.map_err(|error| {
        Failure::failed(chain(&error)).hint("--replace writes the file anew, and keeps a backup")
    })?;
    out::note(&match (edited.changed, &edited.backup) {
        (false, _) => format!("{} says all of it already", file.display()),
        (true, None) => format!("wrote {}", file.display()),
        (true, Some(kept)) => {
            format!("wrote {}; what it held before is in {}", file.display(), kept.display())
        }
    });
    Ok(Written { text: String::new(), losses })
}

/// A variable the dialect could not say after all is no stand-in: the field is gone, and told of
/// once.
fn left_out(report: &mut Report) {
    let Report { losses, secrets, .. } = report;
    for hidden in secrets {
        let before = losses.len();
        losses.retain(|lost| !is_about(lost, hidden));
        if losses.len() < before {
            hidden.instead = None;
        }
    }
}

/// Whether a loss is that of a hidden value: its dialect may have another word for the table.
fn is_about(lost: &Lost, hidden: &Hidden) -> bool {
    let key = |field: &str| field.split_once('.').map_or(field, |(_, key)| key).to_owned();
    lost.server.as_ref() == Some(&hidden.server) && key(&lost.field) == key(&hidden.field)
}

fn unwritable(to: Dialect, error: &EditError) -> Failure {
    Failure::failed(format!("write {to}: failed to {error}"))
}

fn tell(context: &Context, report: &Report) -> Result<(), Failure> {
    if context.json {
        out::json(report)?;
    } else if let Some(text) = &report.text {
        out::data(text.as_bytes())?;
    }
    for Hidden { server, field, instead } in &report.secrets {
        let instead = match instead {
            Some(variable) => format!("{variable} stands there"),
            None => "it is left out".to_owned(),
        };
        out::note(&format!("not written: `{}` of {server}: {}", visible(field), visible(&instead)));
    }
    if !report.secrets.is_empty() {
        out::note(&format!(
            "{} --with-secrets writes values that may be credentials",
            out::cyan("hint:")
        ));
    }
    tell_lost(&report.losses);
    if report.servers.is_empty() {
        out::note("no server is declared and enabled: there is nothing to export");
    }
    Ok(())
}
