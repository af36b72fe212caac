//! Goose's `config.yaml`: `extensions`, some of which are servers.
//!
//! Extensions that are part of Goose (`builtin`, `platform`, `frontend`, `inline_python`) cannot be
//! started by Toolgate, and are reported. The variables are the names in `env_keys`: they are
//! passed to a process, and expanded in the URL and headers of an endpoint.

mod substitution;

use std::collections::BTreeMap;
use std::time::Duration;

use toolgate_model::{
    ConfigValue, HttpSpec, HttpTransportKind, Secret, ServerName, ServerSpec, ServerTimeouts,
    StdioSpec, TransportSpec,
};

use self::substitution::GooseVariables;
use super::write_helpers::{self, TimeoutScope};
use crate::common::excerpt::shorten_name;
use crate::common::fields::TimeUnit;
use crate::common::server::{self, EntryKeys};
use crate::common::{EntryWriter, TableFields};
use crate::dialect_format::{DialectFormat, EnabledField, ParsedEntry, ServersLocation};
use crate::template::{self, ConfigTemplatePart, TemplateVariable, VariableSource};
use crate::{Syntax, VariableSyntax};

/// The dialect of Goose.
pub(crate) struct Goose;

const ID: &str = "goose";
const KEYS: EntryKeys = EntryKeys {
    transport_keys: &["type"],
    transport_names: &[],
    command: "cmd",
    args: "args",
    env: "envs",
    env_file: None,
    cwd: None,
    url: "uri",
    headers: "headers",
};
/// Fields that only Goose uses.
const KEPT: [&str; 2] = ["display_name", "bundled"];

/// The kind of an extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GooseExtensionKind {
    Stdio,
    Http(HttpTransportKind),
    /// Part of Goose itself.
    BuiltIn,
}

const TYPES: [(&str, GooseExtensionKind); 7] = [
    ("stdio", GooseExtensionKind::Stdio),
    ("streamable_http", GooseExtensionKind::Http(HttpTransportKind::Streamable)),
    ("sse", GooseExtensionKind::Http(HttpTransportKind::Sse)),
    ("builtin", GooseExtensionKind::BuiltIn),
    ("platform", GooseExtensionKind::BuiltIn),
    ("frontend", GooseExtensionKind::BuiltIn),
    ("inline_python", GooseExtensionKind::BuiltIn),
];

/// Variables that determine which code a process loads or where it looks for files. Goose sets none
/// of them for an extension, regardless of case.
const BLOCKED_VARIABLES: [&str; 31] = [
    "PATH",
    "PATHEXT",
    "SystemRoot",
    "windir",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "LD_AUDIT",
    "LD_DEBUG",
    "LD_BIND_NOW",
    "LD_ASSUME_KERNEL",
    "DYLD_LIBRARY_PATH",
    "DYLD_INSERT_LIBRARIES",
    "DYLD_FRAMEWORK_PATH",
    "PYTHONPATH",
    "PYTHONHOME",
    "NODE_OPTIONS",
    "RUBYOPT",
    "GEM_PATH",
    "GEM_HOME",
    "CLASSPATH",
    "GO111MODULE",
    "GOROOT",
    "APPINIT_DLLS",
    "SESSIONNAME",
    "ComSpec",
    "TEMP",
    "TMP",
    "LOCALAPPDATA",
    "USERPROFILE",
    "HOMEDRIVE",
    "HOMEPATH",
];

impl DialectFormat for Goose {
    fn syntax(&self) -> Syntax {
        Syntax::Yaml
    }

    fn servers_location(&self) -> ServersLocation {
        ServersLocation::Map(&["extensions"])
    }

    /// Strings have no variables in general: which names are expanded in URLs and headers depends
    /// on the entry.
    fn variable_syntax(&self) -> VariableSyntax {
        VariableSyntax::Literal
    }

    fn is_servers_only(&self) -> bool {
        false
    }

    fn enabled_field(&self) -> Option<EnabledField> {
        Some(EnabledField { field: "enabled", value_when_enabled: true, opposite_field: None })
    }

    fn read(&self, name: ServerName, entry: &mut TableFields<'_, '_, '_>) -> Option<ParsedEntry> {
        let kind = kind(entry)?;
        if kind == GooseExtensionKind::BuiltIn {
            let hint = "nothing is started for it here";
            entry.warn("type", "names an extension that is part of Goose", hint);
            entry.allow_unknown();
            return None;
        }
        let names = read_variables(entry);
        let transport = match kind {
            GooseExtensionKind::Http(kind) => http(entry, kind, &names),
            _ => stdio(entry, names),
        };
        let timeout = entry.time("timeout", TimeUnit::Seconds);
        let include = entry.texts("available_tools").unwrap_or_default();
        let description = entry.text("description").filter(|text| !text.is_empty());
        let enabled = entry.flag("enabled").unwrap_or(true);
        let extras = read_goose_extras(entry, &name);
        let mut spec = ServerSpec::new(name, transport?);
        spec.selection.include = include;
        spec.description = description.map(str::to_owned);
        spec.extras.extend(extras.map(|kept| (ID.to_owned(), kept)));
        if let Some(time) = timeout {
            spec.timeouts = ServerTimeouts::all(time);
        }
        Some(ServerSpec { enabled, ..spec }.into())
    }

    fn write(&self, spec: &ServerSpec, writer: &mut EntryWriter<'_>) {
        let mut rest = spec.clone();
        let kept = take_name(&mut rest);
        let word = match &rest.transport {
            TransportSpec::BuiltIn => {
                return write_helpers::report_undeclarable(writer, "it is built in");
            }
            TransportSpec::Stdio(_) => "stdio",
            TransportSpec::Http(http) if http.kind == HttpTransportKind::Sse => "sse",
            TransportSpec::Http(_) => "streamable_http",
        };
        // Goose ignores an entry that lacks one of these fields.
        writer.flag("enabled", std::mem::replace(&mut rest.enabled, true));
        writer.text("type", Some(word));
        writer.text("name", Some(kept.as_deref().unwrap_or(spec.name.as_str())));
        writer.text("description", Some(rest.description.take().as_deref().unwrap_or_default()));
        match &mut rest.transport {
            TransportSpec::Stdio(stdio) => write_stdio(stdio, writer),
            TransportSpec::Http(http) => write_http(http, writer),
            TransportSpec::BuiltIn => {}
        }
        if let Some(time) =
            write_helpers::timeout(&mut rest.timeouts, TimeoutScope::All, Duration::ZERO)
        {
            writer.seconds("timeout", time);
        }
        let include = std::mem::take(&mut rest.selection.include);
        let include = write_helpers::exact_names(writer, "include", &include);
        writer.texts("available_tools", &include);
        write_helpers::report_losses(&rest, ID, writer);
    }
}

/// Returns the kind of an extension; without a `type`, infers it from the fields.
fn kind(entry: &mut TableFields<'_, '_, '_>) -> Option<GooseExtensionKind> {
    if entry.node("type").is_some() {
        let kind = entry.choice("type", &TYPES);
        if kind.is_none() {
            entry.allow_unknown();
        }
        return kind;
    }
    let has = |entry: &mut TableFields<'_, '_, '_>, key| entry.node(key).is_some();
    let (process, endpoint) = (has(entry, KEYS.command), has(entry, KEYS.url));
    let hint = "add `type: stdio` or `type: streamable_http`";
    match (process, endpoint) {
        (true, false) => {
            entry.warn("type", "is missing, so Goose ignores the entry", hint);
            Some(GooseExtensionKind::Stdio)
        }
        (false, true) => {
            entry.warn("type", "is missing, so Goose ignores the entry", hint);
            Some(GooseExtensionKind::Http(HttpTransportKind::Streamable))
        }
        _ => {
            entry.fail("has no `type`", hint);
            entry.allow_unknown();
            None
        }
    }
}

/// Returns the variables of an entry: those with a value, and those that are looked up.
fn read_variables(entry: &mut TableFields<'_, '_, '_>) -> GooseVariables {
    let mut given = BTreeMap::new();
    for (name, value) in entry.secrets(KEYS.env) {
        match BLOCKED_VARIABLES.iter().any(|refused| refused.eq_ignore_ascii_case(&name)) {
            true => {
                let problem = format!("cannot set {name}: it decides which code is loaded");
                entry.warn(KEYS.env, &problem, "remove it: Goose ignores it too");
            }
            false => drop(given.insert(name, value)),
        }
    }
    let mut looked_up = entry.texts("env_keys").unwrap_or_default();
    if let Some(odd) = looked_up.iter().find(|name| !template::is_env_name(name)) {
        let odd = shorten_name(odd);
        let problem = format!("names {odd:?}, which is not a valid variable name");
        entry.warn("env_keys", &problem, "remove it");
    }
    looked_up.retain(|name| template::is_env_name(name) && !given.contains_key(name));
    GooseVariables { given, looked_up }
}

fn stdio(entry: &mut TableFields<'_, '_, '_>, names: GooseVariables) -> Option<TransportSpec> {
    let command = entry.template(KEYS.command);
    let args = entry.templates(KEYS.args).unwrap_or_default();
    if entry.node(KEYS.url).is_some() {
        let hint = "keep `cmd` to start a process, or make it `type: streamable_http`";
        entry.fail("has both `cmd` and `uri`", hint);
    }
    server::warn_unused(entry, KEYS.command, &[KEYS.headers]);
    let Some(command) = command else {
        entry.fail("has no `cmd`", "name the program to start");
        return None;
    };
    let mut env = names.given;
    for name in names.looked_up {
        let value = TemplateVariable::env(&*name, None).to_string();
        env.insert(name, Secret::new(value));
    }
    let cwd = server::working_folder(entry.diagnostics().file(), None);
    let stdio = StdioSpec { command, args, env, cwd, ..StdioSpec::default() };
    server::check_stdio(entry, &stdio, KEYS.command);
    Some(TransportSpec::Stdio(stdio))
}

fn http(
    entry: &mut TableFields<'_, '_, '_>,
    kind: HttpTransportKind,
    names: &GooseVariables,
) -> Option<TransportSpec> {
    if kind == HttpTransportKind::Sse {
        let hint = "use `streamable_http` if the server speaks it";
        entry.warn("type", "is no longer supported by Goose", hint);
    }
    if entry.node(KEYS.command).is_some() {
        let hint = "keep `uri` to connect to an endpoint, or make it `type: stdio`";
        entry.fail("has both `uri` and `cmd`", hint);
    }
    server::warn_unused(entry, KEYS.url, &[KEYS.args]);
    let url = entry.text(KEYS.url).map(str::to_owned);
    let headers = entry.secrets(KEYS.headers);
    let Some(url) = url else {
        entry.fail("has no `uri`", "name the endpoint to connect to");
        return None;
    };
    let mut put = |key: &str, text: &str| {
        let (pieces, unknown) = names.parse_parts(text);
        for name in unknown {
            let problem = format!("names {name}, which is sent without being expanded");
            entry.warn(key, &problem, "add it to `env_keys`");
        }
        template::render(&pieces)
    };
    let url = put(KEYS.url, &url);
    let headers = headers.into_iter().map(|(name, value)| {
        // The file was read with a syntax that has no variables.
        let text = template::parse_template(value.expose()).into_iter().map(|piece| match piece {
            ConfigTemplatePart::Text(text) => text,
            ConfigTemplatePart::Variable(variable) => variable.to_string(),
        });
        (name, Secret::new(put(KEYS.headers, &text.collect::<String>())))
    });
    let http = HttpSpec { url, headers: headers.collect(), kind, ..HttpSpec::default() };
    server::check_http(entry, &http, KEYS.url);
    Some(TransportSpec::Http(http))
}

/// Returns the fields that only Goose uses, including the display name if it differs.
fn read_goose_extras(
    entry: &mut TableFields<'_, '_, '_>,
    name: &ServerName,
) -> Option<Secret<ConfigValue>> {
    let shown = entry.text("name").filter(|shown| *shown != name.as_str());
    let mut fields = match entry.read_extras(&KEPT).map(|kept| kept.expose().clone()) {
        Some(ConfigValue::Table(fields)) => fields,
        _ => Vec::new(),
    };
    fields.extend(shown.map(|shown| ("name".to_owned(), ConfigValue::text(shown))));
    (!fields.is_empty()).then(|| Secret::new(ConfigValue::Table(fields)))
}

/// Removes and returns the display name from the kept fields.
fn take_name(rest: &mut ServerSpec) -> Option<String> {
    let Some(ConfigValue::Table(mut kept)) = rest.extras.get(ID).map(|it| it.expose().clone())
    else {
        return None;
    };
    let at = kept.iter().position(|(key, _)| key == "name")?;
    let name = kept.remove(at).1;
    match kept.is_empty() {
        true => drop(rest.extras.remove(ID)),
        false => drop(rest.extras.insert(ID.to_owned(), Secret::new(ConfigValue::Table(kept)))),
    }
    match name {
        ConfigValue::Text(name) => Some(name),
        _ => None,
    }
}

fn write_stdio(stdio: &StdioSpec, writer: &mut EntryWriter<'_>) {
    writer.template(KEYS.command, &stdio.command);
    let args: Vec<_> =
        stdio.args.iter().filter_map(|arg| writer.translate(KEYS.args, arg)).collect();
    writer.data(KEYS.args, ConfigValue::texts(args));
    let (looked_up, given): (BTreeMap<_, _>, BTreeMap<_, _>) =
        stdio.env.clone().into_iter().partition(|(name, value)| is_same_variable(name, value));
    let given = given.into_iter().filter(|(name, _)| {
        let refused = BLOCKED_VARIABLES.iter().any(|refused| refused.eq_ignore_ascii_case(name));
        if refused {
            writer.losses().add(format!("env.{name}"), "Goose does not set this variable");
        }
        !refused
    });
    let given = given.collect();
    writer.secrets(KEYS.env, "env", &given);
    writer.texts("env_keys", &looked_up.into_keys().collect::<Vec<_>>());
    writer.cwd(None, stdio.cwd.as_deref());
}

/// Returns true if the variable is passed on unchanged, with its value from the environment.
fn is_same_variable(name: &str, value: &Secret<String>) -> bool {
    match template::parse_template(value.expose()).as_slice() {
        [
            ConfigTemplatePart::Variable(TemplateVariable {
                source: VariableSource::Env,
                name: held,
                default: None,
            }),
        ] => held == name,
        _ => false,
    }
}

fn write_http(http: &mut HttpSpec, writer: &mut EntryWriter<'_>) {
    match std::mem::take(&mut http.kind) {
        HttpTransportKind::Streamable | HttpTransportKind::Sse => {}
        HttpTransportKind::Auto => {
            let why = "this dialect must name one HTTP transport";
            writer.losses().add("type", why);
        }
    }
    let texts = std::iter::once(&http.url).chain(http.headers.values().map(Secret::expose));
    let names = GooseVariables::from_texts(texts);
    let mut write = |field: &str, text: &str| {
        let written = names.render_parts(&template::parse_template(text));
        written.map_err(|why| writer.losses().add(field, why)).ok()
    };
    let url = write("url", &http.url);
    let headers = http.headers.iter().filter_map(|(name, value)| {
        let text = write(&format!("headers.{name}"), value.expose())?;
        Some((name.clone(), ConfigValue::Text(text)))
    });
    let headers: Vec<_> = headers.collect();
    writer.text(KEYS.url, url.as_deref());
    if !headers.is_empty() {
        writer.data(KEYS.headers, ConfigValue::Table(headers));
    }
    writer.texts("env_keys", &names.looked_up);
}
