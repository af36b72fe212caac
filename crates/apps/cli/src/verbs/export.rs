//! `export`: writes the servers of this home in the dialect of another client.
//!
//! Values that may be credentials are written only with `--with-secrets`. Otherwise a variable
//! replaces them or the field is left out, and the report lists them.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use toolgate_host::config::{
    ConversionLoss, Dialect, EditError, EditOptions, FileAccess, FileRef, FileSettings, InputSpec,
    WrittenConfigText, edit_file, template,
};
use toolgate_host::{ConfigScope, PlanEntry, ServerSpec, Setup, TransportSpec};

use crate::cli_context::{CliContext, absolute, current_folder};
use crate::complete::server_names;
use crate::control::ConfigFinding;
use crate::exit::{CliError, ErrorCode, Exit, OrFail as _, Result};
use crate::out;
use crate::suggest::unknown_server_error;
use crate::suggesting_parser::with_suggestions;
use crate::transfer::literals::{
    CredentialLiteral, LiteralLocation, LiteralReplacement, replace_literals, variable_name,
};
use crate::transfer::losses::{self, loss_of, print_losses};

/// The arguments of `toolgate export`.
#[derive(Debug, Args)]
#[command(after_help = "Values that may be credentials are replaced with variables, or left out \
    if the dialect has no variables; the report lists them.\n\n\
    Examples:\n  toolgate export --to mcp-json\n  toolgate export --to codex github git -o config.toml\n  \
    toolgate export --to vscode -o .vscode/mcp.json --replace")]
pub struct ExportArgs {
    /// Names of the servers [default: all enabled servers]
    #[arg(value_name = "NAME", add = server_names())]
    names: Vec<String>,
    /// Dialect to write
    #[arg(long, value_name = "DIALECT", value_parser = with_suggestions(parse_dialect, dialect_names))]
    to: Dialect,
    /// Add the servers to this file instead of printing them
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the whole file
    #[arg(long, requires = "output")]
    replace: bool,
    /// Include values that may be credentials
    #[arg(long)]
    with_secrets: bool,
}

fn dialect_names() -> Vec<&'static str> {
    Dialect::ALL.map(Dialect::as_str).to_vec()
}

fn parse_dialect(text: &str) -> Result<Dialect, String> {
    Dialect::from_name(text)
        .ok_or_else(|| format!("expected one of {}", dialect_names().join(", ")))
}

/// The JSON output of `export`.
#[derive(Debug, Default, Serialize)]
struct ExportReport {
    dialect: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<PathBuf>,
    servers: Vec<String>,
    #[serde(serialize_with = "losses::serialize")]
    losses: Vec<ConversionLoss>,
    secrets: Vec<OmittedSecret>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

/// A credential that was not written.
#[derive(Debug, Serialize)]
struct OmittedSecret {
    server: String,
    field: String,
    /// The variable that replaces it, or `None` if the field is left out.
    instead: Option<String>,
}

pub async fn run(context: &CliContext, options: &ExportArgs) -> Result<Exit> {
    let setup = context.load_setup().await?;
    // These findings explain why a server may be missing.
    let findings: Vec<_> = setup.plan().diagnostics.iter().map(ConfigFinding::from).collect();
    out::print_findings_summary(&findings, context.verbose);
    let mut report = ExportReport {
        dialect: options.to.as_str(),
        file: options.output.clone(),
        ..ExportReport::default()
    };
    let specs = select_servers(&setup, options, &mut report)?;
    let at = output_location(options)?;
    let written = match &options.output {
        None => write_new(options.to, &specs, &at)
            .or_fail(ErrorCode::CliClientFile, format_args!("cannot write {}", options.to))?,
        Some(file) => write_into_file(options, &specs, &at, file)?,
    };
    report.losses.extend(written.losses);
    mark_omitted(&mut report);
    if options.output.is_none() {
        report.text = Some(written.text);
    }
    print_report(context, &report)?;
    Ok(Exit::Done)
}

/// Returns the selected servers, without what must not be written.
fn select_servers(
    setup: &Setup,
    options: &ExportArgs,
    report: &mut ExportReport,
) -> Result<Vec<ServerSpec>> {
    let entries = &setup.plan().entries;
    let named = |name: &String| {
        let entry = entries.iter().find(|entry| entry.spec.name.as_str() == name);
        let names = entries.iter().map(|entry| entry.spec.name.as_str());
        entry.ok_or_else(|| unknown_server_error(name, names))
    };
    let selected: Vec<&PlanEntry> = match &options.names[..] {
        [] => entries.iter().filter(|entry| entry.spec.enabled).collect(),
        names => names.iter().map(named).collect::<Result<_, _>>()?,
    };
    let mut specs = Vec::new();
    for PlanEntry { spec, .. } in selected {
        if spec.transport == TransportSpec::BuiltIn {
            let why = "it is built into toolgate";
            report.losses.push(loss_of(&spec.name, "server", why));
            continue;
        }
        report.servers.push(spec.name.to_string());
        specs.push(match options.with_secrets {
            true => spec.clone(),
            false => hide_secrets(spec, options, report),
        });
    }
    Ok(specs)
}

/// Replaces everything in a server that may be a credential with variables.
fn hide_secrets(spec: &ServerSpec, options: &ExportArgs, report: &mut ExportReport) -> ServerSpec {
    let server = spec.name.as_str();
    replace_literals(spec, &mut |literal| {
        let variable = placeholder_variable(server, literal);
        // Part of a text is not a field that the writer could leave out.
        let sayable = match literal.location {
            LiteralLocation::Env | LiteralLocation::Value => true,
            LiteralLocation::Embedded => options.to.can_express(&variable),
            LiteralLocation::Foreign => false,
        };
        let instead = sayable.then(|| variable.clone());
        let (server, field) = (server.to_owned(), literal.field.clone());
        report.secrets.push(OmittedSecret { server, field, instead });
        if sayable { LiteralReplacement::Text(variable) } else { LiteralReplacement::Remove }
    })
}

fn placeholder_variable(server: &str, literal: &CredentialLiteral) -> String {
    let name = match literal.location {
        LiteralLocation::Env => {
            let is_name = literal.name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
            if is_name { literal.name.clone() } else { variable_name(&[&literal.name]) }
        }
        _ => variable_name(&[server, &literal.name]),
    };
    literal.without_defaults.clone().unwrap_or_else(|| format!("${{env:{name}}}"))
}

/// Returns the location of the output, which decides how relative paths are written. Without a file
/// they are written as absolute paths.
fn output_location(options: &ExportArgs) -> Result<FileRef> {
    let here = current_folder()?;
    let Some(file) = &options.output else {
        return Ok(FileRef::new(here.join("export"), ConfigScope::User));
    };
    let file = absolute(file)?;
    Ok(match file.starts_with(&here) {
        true => FileRef::new(file, ConfigScope::Project).with_project(here),
        false => FileRef::new(file, ConfigScope::User),
    })
}

/// Returns a new document with only these servers. VS Code also needs a list of values to ask for.
fn write_new(
    to: Dialect,
    specs: &[ServerSpec],
    at: &FileRef,
) -> Result<WrittenConfigText, EditError> {
    let mut settings = FileSettings::default();
    if to == Dialect::VsCode {
        settings.inputs = secret_inputs(specs);
    }
    to.write(specs, &settings, at)
}

fn secret_inputs(specs: &[ServerSpec]) -> Vec<InputSpec> {
    let mut inputs: Vec<InputSpec> = Vec::new();
    for variable in specs.iter().flat_map(spec_texts).flat_map(|text| template::variables(&text)) {
        let known = inputs.iter().any(|input| input.id == variable.name);
        if variable.source == template::VariableSource::Secret && !known {
            inputs.push(InputSpec { id: variable.name, description: None, password: true });
        }
    }
    inputs
}

fn spec_texts(spec: &ServerSpec) -> Vec<String> {
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

fn write_into_file(
    options: &ExportArgs,
    specs: &[ServerSpec],
    at: &FileRef,
    file: &Path,
) -> Result<WrittenConfigText> {
    let access = match options.with_secrets || at.scope == ConfigScope::User {
        true => FileAccess::Private,
        false => FileAccess::Shared,
    };
    let mut losses = Vec::new();
    let editing = EditOptions { access, backup: true };
    let edited = edit_file(file, editing, |before| {
        if options.replace || before.trim().is_empty() {
            let written = write_new(options.to, specs, at)?;
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
        CliError::from(error).hint("use --replace to replace the whole file; a backup is kept")
    })?;
    out::note(&match (edited.changed, &edited.backup) {
        (false, _) => format!("{} is already up to date", file.display()),
        (true, None) => format!("wrote {}", file.display()),
        (true, Some(kept)) => format!("wrote {}; backup in {}", file.display(), kept.display()),
    });
    Ok(WrittenConfigText { text: String::new(), losses })
}

/// Marks credentials as left out if the dialect could not write their variable either, so that each
/// is reported once.
fn mark_omitted(report: &mut ExportReport) {
    let ExportReport { losses, secrets, .. } = report;
    for hidden in secrets {
        let before = losses.len();
        losses.retain(|lost| !is_loss_of(lost, hidden));
        if losses.len() < before {
            hidden.instead = None;
        }
    }
}

/// Returns true if a loss is about this credential. The dialect may name the table differently.
fn is_loss_of(lost: &ConversionLoss, hidden: &OmittedSecret) -> bool {
    let key = |field: &str| field.split_once('.').map_or(field, |(_, key)| key).to_owned();
    lost.server.as_ref().is_some_and(|server| server.as_str() == hidden.server)
        && key(&lost.field) == key(&hidden.field)
}

fn print_report(context: &CliContext, report: &ExportReport) -> Result<()> {
    if context.json {
        out::json(report)?;
    } else if let Some(text) = &report.text {
        out::data(text.as_bytes())?;
    }
    for OmittedSecret { server, field, instead } in &report.secrets {
        let instead = match instead {
            Some(variable) => format!("replaced with {variable}"),
            None => "left out".to_owned(),
        };
        out::note(&format!("not written: `{field}` of {server}: {instead}"));
    }
    if !report.secrets.is_empty() {
        out::hint("use --with-secrets to include values that may be credentials");
    }
    print_losses(&report.losses);
    if report.servers.is_empty() {
        out::note("nothing to export: no server is declared and enabled");
    }
    Ok(())
}
