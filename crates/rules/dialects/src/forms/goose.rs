//! Goose's `config.yaml`: `extensions`, of which some are servers.
//!
//! What Goose carries inside itself (`builtin`, `platform`, `frontend`, `inline_python`) declares
//! nothing that could be started here, and is said to be Goose's alone. Its variables are the names
//! in `env_keys`: looked up for a process, and put into the address and the headers of an endpoint.

mod substitution;

use std::collections::BTreeMap;
use std::time::Duration;

use toolgate_model::{
    Data, HttpKind, HttpSpec, Secret, ServerName, ServerSpec, StdioSpec, Timeouts, TransportSpec,
};

use self::substitution::Names;
use super::rest::{self, Covers};
use crate::form::{Entry, Form, Place, Switch};
use crate::frame::excerpt::beginning;
use crate::frame::fields::Unit;
use crate::frame::server::{self, Keys};
use crate::frame::{Fields, Writer};
use crate::template::{self, Piece, Source, Variable};
use crate::{Grammar, Syntax};

pub(crate) struct Goose;

const ID: &str = "goose";
const KEYS: Keys = Keys {
    tags: &["type"],
    words: &[],
    command: "cmd",
    args: "args",
    env: "envs",
    env_file: None,
    cwd: None,
    url: "uri",
    headers: "headers",
};
/// Fields that mean something to Goose only.
const KEPT: [&str; 2] = ["display_name", "bundled"];

/// What an extension is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    Stdio,
    Http(HttpKind),
    /// A part of Goose.
    Own,
}

const TYPES: [(&str, Type); 7] = [
    ("stdio", Type::Stdio),
    ("streamable_http", Type::Http(HttpKind::Streamable)),
    ("sse", Type::Http(HttpKind::Sse)),
    ("builtin", Type::Own),
    ("platform", Type::Own),
    ("frontend", Type::Own),
    ("inline_python", Type::Own),
];

/// Variables that decide which code a process loads or where it looks for things: Goose sets none
/// of them for an extension, in whatever case they are written.
const REFUSED: [&str; 31] = [
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

impl Form for Goose {
    fn syntax(&self) -> Syntax {
        Syntax::Yaml
    }

    fn place(&self) -> Place {
        Place::Map(&["extensions"])
    }

    /// A text means itself: what is put into addresses and headers depends on the entry.
    fn grammar(&self) -> Grammar {
        Grammar::Literal
    }

    fn is_own_file(&self) -> bool {
        false
    }

    fn switch(&self) -> Option<Switch> {
        Some(Switch { field: "enabled", on: true, other: None })
    }

    fn read(&self, name: ServerName, entry: &mut Fields<'_, '_, '_>) -> Option<Entry> {
        let kind = kind(entry)?;
        if kind == Type::Own {
            let hint = "nothing is started for it here";
            entry.warn("type", "names a part of Goose: only Goose has it", hint);
            entry.all_known();
            return None;
        }
        let names = names(entry);
        let transport = match kind {
            Type::Http(kind) => http(entry, kind, &names),
            _ => stdio(entry, names),
        };
        let timeout = entry.time("timeout", Unit::Seconds);
        let include = entry.texts("available_tools").unwrap_or_default();
        let description = entry.text("description").filter(|text| !text.is_empty());
        let enabled = entry.flag("enabled").unwrap_or(true);
        let extras = kept(entry, &name);
        let mut spec = ServerSpec::new(name, transport?);
        spec.selection.include = include;
        spec.description = description.map(str::to_owned);
        spec.extras.extend(extras.map(|kept| (ID.to_owned(), kept)));
        if let Some(time) = timeout {
            spec.timeouts = Timeouts::all(time);
        }
        Some(ServerSpec { enabled, ..spec }.into())
    }

    fn write(&self, spec: &ServerSpec, writer: &mut Writer<'_>) {
        let mut rest = spec.clone();
        let kept = take_name(&mut rest);
        let word = match &rest.transport {
            TransportSpec::BuiltIn => return rest::undeclarable(writer, "it is built in"),
            TransportSpec::Stdio(_) => "stdio",
            TransportSpec::Http(http) if http.kind == HttpKind::Sse => "sse",
            TransportSpec::Http(_) => "streamable_http",
        };
        // Goose leaves an entry out that lacks one of these, whatever it holds.
        writer.flag("enabled", std::mem::replace(&mut rest.enabled, true));
        writer.plain("type", Some(word));
        writer.plain("name", Some(kept.as_deref().unwrap_or(spec.name.as_str())));
        writer.plain("description", Some(rest.description.take().as_deref().unwrap_or_default()));
        match &mut rest.transport {
            TransportSpec::Stdio(stdio) => write_stdio(stdio, writer),
            TransportSpec::Http(http) => write_http(http, writer),
            TransportSpec::BuiltIn => {}
        }
        if let Some(time) = rest::timeout(&mut rest.timeouts, Covers::All, Duration::ZERO) {
            writer.seconds("timeout", time);
        }
        let include = std::mem::take(&mut rest.selection.include);
        let include = rest::exact(writer, "include", &include);
        writer.plains("available_tools", &include);
        rest::finish(&rest, ID, writer);
    }
}

/// What an extension is; without a word for it, what its fields say.
fn kind(entry: &mut Fields<'_, '_, '_>) -> Option<Type> {
    if entry.node("type").is_some() {
        let kind = entry.choice("type", &TYPES);
        if kind.is_none() {
            entry.all_known();
        }
        return kind;
    }
    let has = |entry: &mut Fields<'_, '_, '_>, key| entry.node(key).is_some();
    let (process, endpoint) = (has(entry, KEYS.command), has(entry, KEYS.url));
    let hint = "add `type: stdio` or `type: streamable_http`";
    match (process, endpoint) {
        (true, false) => {
            entry.warn("type", "is missing, and Goose leaves the entry out", hint);
            Some(Type::Stdio)
        }
        (false, true) => {
            entry.warn("type", "is missing, and Goose leaves the entry out", hint);
            Some(Type::Http(HttpKind::Streamable))
        }
        _ => {
            entry.fail("has no `type`", hint);
            entry.all_known();
            None
        }
    }
}

/// The variables an entry names: those it gives values to, and those that are looked up.
fn names(entry: &mut Fields<'_, '_, '_>) -> Names {
    let mut given = BTreeMap::new();
    for (name, value) in entry.secrets(KEYS.env) {
        match REFUSED.iter().any(|refused| refused.eq_ignore_ascii_case(&name)) {
            true => {
                let problem = format!("cannot set {name}: it decides which code is loaded");
                entry.warn(KEYS.env, &problem, "Goose leaves it out too: remove it");
            }
            false => drop(given.insert(name, value)),
        }
    }
    let mut looked_up = entry.texts("env_keys").unwrap_or_default();
    if let Some(odd) = looked_up.iter().find(|name| !template::is_env_name(name)) {
        let odd = beginning(odd);
        let problem = format!("names {odd:?}, which no variable can be called");
        entry.warn("env_keys", &problem, "remove it");
    }
    looked_up.retain(|name| template::is_env_name(name) && !given.contains_key(name));
    Names { given, looked_up }
}

fn stdio(entry: &mut Fields<'_, '_, '_>, names: Names) -> Option<TransportSpec> {
    let command = entry.template(KEYS.command);
    let args = entry.templates(KEYS.args).unwrap_or_default();
    if entry.node(KEYS.url).is_some() {
        let hint = "keep `cmd` to start a process, or make it `type: streamable_http`";
        entry.fail("has both `cmd` and `uri`", hint);
    }
    server::unused(entry, KEYS.command, &[KEYS.headers]);
    let Some(command) = command else {
        entry.fail("has no `cmd`", "name the program to start");
        return None;
    };
    let mut env = names.given;
    for name in names.looked_up {
        let value = Variable::env(&*name, None).to_string();
        env.insert(name, Secret::new(value));
    }
    let cwd = server::working_folder(entry.report().file(), None);
    let stdio = StdioSpec { command, args, env, cwd, ..StdioSpec::default() };
    server::check_stdio(entry, &stdio, KEYS.command);
    Some(TransportSpec::Stdio(stdio))
}

fn http(entry: &mut Fields<'_, '_, '_>, kind: HttpKind, names: &Names) -> Option<TransportSpec> {
    if kind == HttpKind::Sse {
        let hint = "use `streamable_http` if the server speaks it";
        entry.warn("type", "is not spoken by Goose any more", hint);
    }
    if entry.node(KEYS.command).is_some() {
        let hint = "keep `uri` to connect to an endpoint, or make it `type: stdio`";
        entry.fail("has both `uri` and `cmd`", hint);
    }
    server::unused(entry, KEYS.url, &[KEYS.args]);
    let url = entry.text(KEYS.url).map(str::to_owned);
    let headers = entry.secrets(KEYS.headers);
    let Some(url) = url else {
        entry.fail("has no `uri`", "name the endpoint to connect to");
        return None;
    };
    let mut put = |key: &str, text: &str| {
        let (pieces, unknown) = names.put_into(text);
        for name in unknown {
            let problem = format!("names {name}, which is sent as it is written");
            entry.warn(key, &problem, "add it to `env_keys`");
        }
        template::render(&pieces)
    };
    let url = put(KEYS.url, &url);
    let headers = headers.into_iter().map(|(name, value)| {
        // Read with a grammar in which every text means itself.
        let text = template::pieces(value.expose()).into_iter().map(|piece| match piece {
            Piece::Text(text) => text,
            Piece::Variable(variable) => variable.to_string(),
        });
        (name, Secret::new(put(KEYS.headers, &text.collect::<String>())))
    });
    let http = HttpSpec { url, headers: headers.collect(), kind, ..HttpSpec::default() };
    server::check_http(entry, &http, KEYS.url);
    Some(TransportSpec::Http(http))
}

/// What means something to Goose only; its name for people among it, where it is another.
fn kept(entry: &mut Fields<'_, '_, '_>, name: &ServerName) -> Option<Secret<Data>> {
    let shown = entry.text("name").filter(|shown| *shown != name.as_str());
    let mut fields = match entry.kept(&KEPT).map(|kept| kept.expose().clone()) {
        Some(Data::Table(fields)) => fields,
        _ => Vec::new(),
    };
    fields.extend(shown.map(|shown| ("name".to_owned(), Data::text(shown))));
    (!fields.is_empty()).then(|| Secret::new(Data::Table(fields)))
}

/// The name for people, out of what is written as it is.
fn take_name(rest: &mut ServerSpec) -> Option<String> {
    let Some(Data::Table(mut kept)) = rest.extras.get(ID).map(|it| it.expose().clone()) else {
        return None;
    };
    let at = kept.iter().position(|(key, _)| key == "name")?;
    let name = kept.remove(at).1;
    match kept.is_empty() {
        true => drop(rest.extras.remove(ID)),
        false => drop(rest.extras.insert(ID.to_owned(), Secret::new(Data::Table(kept)))),
    }
    match name {
        Data::Text(name) => Some(name),
        _ => None,
    }
}

fn write_stdio(stdio: &StdioSpec, writer: &mut Writer<'_>) {
    writer.template(KEYS.command, &stdio.command);
    let args: Vec<_> =
        stdio.args.iter().filter_map(|arg| writer.translated(KEYS.args, arg)).collect();
    writer.data(KEYS.args, Data::texts(args));
    let (looked_up, given): (BTreeMap<_, _>, BTreeMap<_, _>) =
        stdio.env.clone().into_iter().partition(|(name, value)| is_itself(name, value));
    let given = given.into_iter().filter(|(name, _)| {
        let refused = REFUSED.iter().any(|refused| refused.eq_ignore_ascii_case(name));
        if refused {
            writer.losses().add(format!("env.{name}"), "Goose sets no such variable");
        }
        !refused
    });
    let given = given.collect();
    writer.secrets(KEYS.env, "env", &given);
    writer.plains("env_keys", &looked_up.into_keys().collect::<Vec<_>>());
    writer.cwd(None, stdio.cwd.as_deref());
}

/// Whether a variable is to hold what it holds here.
fn is_itself(name: &str, value: &Secret<String>) -> bool {
    match template::pieces(value.expose()).as_slice() {
        [Piece::Variable(Variable { source: Source::Env, name: held, default: None })] => {
            held == name
        }
        _ => false,
    }
}

fn write_http(http: &mut HttpSpec, writer: &mut Writer<'_>) {
    match std::mem::take(&mut http.kind) {
        HttpKind::Streamable | HttpKind::Sse => {}
        HttpKind::Auto => {
            let why = "this dialect cannot leave open which HTTP transport it is";
            writer.losses().add("type", why);
        }
    }
    let texts = std::iter::once(&http.url).chain(http.headers.values().map(Secret::expose));
    let names = Names::of(texts);
    let mut write = |field: &str, text: &str| {
        let written = names.text(&template::pieces(text));
        written.map_err(|why| writer.losses().add(field, why)).ok()
    };
    let url = write("url", &http.url);
    let headers = http.headers.iter().filter_map(|(name, value)| {
        let text = write(&format!("headers.{name}"), value.expose())?;
        Some((name.clone(), Data::Text(text)))
    });
    let headers: Vec<_> = headers.collect();
    writer.plain(KEYS.url, url.as_deref());
    if !headers.is_empty() {
        writer.data(KEYS.headers, Data::Table(headers));
    }
    writer.plains("env_keys", &names.looked_up);
}
