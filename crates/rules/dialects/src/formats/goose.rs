//! Goose's `config.yaml`: `extensions`, some of which are servers.
//!
//! Extensions that are part of Goose (`builtin`, `platform`, `frontend`, `inline_python`) cannot be
//! started by Toolgate, and are reported. The variables are the names in `env_keys`: they are
//! passed to a process, and expanded in the URL and headers of an endpoint.

mod substitution;

use std::collections::BTreeMap;

use toolgate_model::{
    ConfigValue, HttpSpec, HttpTransportKind, Secret, ServerSpec, StdioSpec, TransportSpec,
};

use self::substitution::GooseVariables;
use crate::Syntax;
use crate::common::entry::{self, EntryField, TimeoutField, TimeoutScope, keep, take_kept_field};
use crate::common::excerpt::shorten_name;
use crate::common::fields::TimeUnit;
use crate::common::server::{self, EntryKeys};
use crate::common::{EntryWriter, TableFields};
use crate::dialect_format::{DialectFormat, EnabledField, ServersLocation};
use crate::template::{self, ConfigTemplatePart, TemplateVariable, VariableSource};

/// The dialect of Goose. Strings have no variables in general: which names are expanded in URLs and
/// headers depends on the entry. Goose ignores an entry without `enabled`, `type`, `name` or
/// `description`.
pub(crate) const FORMAT: DialectFormat = DialectFormat {
    name: ID,
    paths: &["goose/config.yaml", "goose/config.yml"],
    extras: ID,
    syntax: Syntax::Yaml,
    servers: ServersLocation::Map(&["extensions"]),
    servers_only: false,
    enabled: Some(EnabledField { is_required: true, ..EnabledField::ENABLED }),
    fields: &[
        EntryField::Other(read_transport, write_transport),
        EntryField::Timeout(TimeoutField::new("timeout", TimeUnit::Seconds, TimeoutScope::All)),
        EntryField::Names("available_tools", "include", |spec| &mut spec.selection.include),
        EntryField::ReadOnly(|entry, spec| {
            let description = entry.text("description").filter(|text| !text.is_empty());
            spec.description = description.map(str::to_owned);
            spec.enabled = entry.flag("enabled").unwrap_or(true);
            // The display name, if it differs.
            let shown = entry.text("name").filter(|shown| *shown != spec.name.as_str());
            keep(spec, ID, entry.read_extras(&["display_name", "bundled"]));
            if let Some(shown) = shown {
                keep(spec, ID, vec![("name".to_owned(), ConfigValue::text(shown))]);
            }
        }),
    ],
    read: |format, name, fields| {
        if kind(fields)? == GooseExtensionKind::BuiltIn {
            let hint = "nothing is started for it here";
            fields.warn("type", "names an extension that is part of Goose", hint);
            fields.allow_unknown();
            return None;
        }
        entry::read(format, name, fields)
    },
    ..DialectFormat::MCP_SERVERS
};

const ID: &str = "goose";
const KEYS: EntryKeys = EntryKeys { command: "cmd", env: "envs", url: "uri", ..EntryKeys::UNTYPED };

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
const BLOCKED_VARIABLES: &str = "\
    PATH PATHEXT SystemRoot windir LD_LIBRARY_PATH LD_PRELOAD LD_AUDIT LD_DEBUG LD_BIND_NOW \
    LD_ASSUME_KERNEL DYLD_LIBRARY_PATH DYLD_INSERT_LIBRARIES DYLD_FRAMEWORK_PATH PYTHONPATH \
    PYTHONHOME NODE_OPTIONS RUBYOPT GEM_PATH GEM_HOME CLASSPATH GO111MODULE GOROOT \
    APPINIT_DLLS SESSIONNAME ComSpec TEMP TMP LOCALAPPDATA USERPROFILE HOMEDRIVE HOMEPATH";

/// Returns the kind of an extension; without a `type`, infers it from the fields.
fn kind(entry: &mut TableFields<'_>) -> Option<GooseExtensionKind> {
    if entry.has("type") {
        let kind = entry.choice("type", &TYPES);
        if kind.is_none() {
            entry.allow_unknown();
        }
        return kind;
    }
    let (process, endpoint) = (entry.has(KEYS.command), entry.has(KEYS.url));
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
fn read_variables(entry: &mut TableFields<'_>) -> GooseVariables {
    let mut given = BTreeMap::new();
    for (name, value) in entry.secrets(KEYS.env) {
        match is_blocked(&name) {
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

/// Returns true if Goose does not set this variable.
fn is_blocked(name: &str) -> bool {
    BLOCKED_VARIABLES.split(' ').any(|blocked| blocked.eq_ignore_ascii_case(name))
}

fn read_transport(entry: &mut TableFields<'_>, spec: &mut ServerSpec) {
    let kind = entry.choice("type", &TYPES);
    let is_process = kind == Some(GooseExtensionKind::Stdio) || kind.is_none() && entry.has("cmd");
    let names = read_variables(entry);
    let transport = match kind {
        Some(GooseExtensionKind::Http(kind)) => http(entry, kind, &names),
        _ if is_process => stdio(entry, names),
        _ => http(entry, HttpTransportKind::Streamable, &names),
    };
    spec.transport = transport.unwrap_or(TransportSpec::BuiltIn);
}

fn stdio(entry: &mut TableFields<'_>, names: GooseVariables) -> Option<TransportSpec> {
    let command = entry.template(KEYS.command);
    let args = entry.templates(KEYS.args).unwrap_or_default();
    if entry.has(KEYS.url) {
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
    let cwd = server::working_folder(entry.file(), None);
    let stdio = StdioSpec { command, args, env, cwd, ..StdioSpec::default() };
    server::check_stdio(entry, &stdio, KEYS.command);
    Some(TransportSpec::Stdio(stdio))
}

fn http(
    entry: &mut TableFields<'_>,
    kind: HttpTransportKind,
    names: &GooseVariables,
) -> Option<TransportSpec> {
    if kind == HttpTransportKind::Sse {
        let hint = "use `streamable_http` if the server speaks it";
        entry.warn("type", "is no longer supported by Goose", hint);
    }
    if entry.has(KEYS.command) {
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
    let put = |key: &str, text: &str| {
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

fn write_transport(rest: &mut ServerSpec, writer: &mut EntryWriter<'_>) {
    let shown = match take_kept_field(rest, ID, "name") {
        Some(ConfigValue::Text(name)) => name,
        _ => rest.name.to_string(),
    };
    let word = match &rest.transport {
        TransportSpec::Http(http) if http.kind == HttpTransportKind::Sse => "sse",
        TransportSpec::Http(_) => "streamable_http",
        _ => "stdio",
    };
    writer.flag("enabled", std::mem::replace(&mut rest.enabled, true));
    writer.text("type", Some(word));
    writer.text("name", Some(&shown));
    writer.text("description", Some(&rest.description.take().unwrap_or_default()));
    match &mut rest.transport {
        TransportSpec::Stdio(stdio) => write_stdio(stdio, writer),
        TransportSpec::Http(http) => write_http(http, writer),
        TransportSpec::BuiltIn => {}
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
        let refused = is_blocked(name);
        if refused {
            writer.losses.add(format!("env.{name}"), "Goose does not set this variable");
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
    if std::mem::take(&mut http.kind) == HttpTransportKind::Auto {
        writer.losses.add("type", "this dialect must name one HTTP transport");
    }
    let texts = std::iter::once(&http.url).chain(http.headers.values().map(Secret::expose));
    let names = GooseVariables::from_texts(texts);
    let mut write = |field: &str, text: &str| {
        let written = names.render_parts(&template::parse_template(text));
        written.map_err(|why| writer.losses.add(field, why)).ok()
    };
    let url = write("url", &http.url);
    let headers = http.headers.iter().filter_map(|(name, value)| {
        let text = write(&format!("headers.{name}"), value.expose())?;
        Some((name.clone(), ConfigValue::Text(text)))
    });
    let headers: Vec<_> = headers.collect();
    writer.text(KEYS.url, url.as_deref());
    writer.table(KEYS.headers, headers);
    writer.texts("env_keys", &names.looked_up);
}
