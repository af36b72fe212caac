//! VS Code's `mcp.json`.
//!
//! The same servers stand in a devcontainer under `customizations.vscode.mcp` and in settings under
//! `mcp`; they are read and changed there, and new files are like `mcp.json`. `http` means whichever of the HTTP
//! transports the endpoint speaks.

mod inputs;

use toolgate_model::{Data, HttpKind, HttpSpec, Sandbox, ServerName, ServerSpec, TransportSpec};

use super::rest;
use crate::form::{Entry, Form, Group, Place};
use crate::frame::oauth::{self, Part};
use crate::frame::server::{self, Keys};
use crate::frame::tree::{Member, Node, Value};
use crate::frame::{Fields, Writer};
use crate::losses::Losses;
use crate::{Grammar, Settings, Syntax};

pub(crate) struct VsCode;

const ID: &str = "vscode";
const KEYS: Keys = Keys {
    tags: &["type"],
    words: &[("stdio", None), ("http", Some(HttpKind::Auto)), ("sse", Some(HttpKind::Sse))],
    env_file: Some("envFile"),
    ..Keys::COMMON
};
const SERVERS: Place = Place::Map(&["servers"]);
/// Where else servers stand, in files that are about other things too.
const ELSEWHERE: [&[&str]; 2] =
    [&["mcp", "servers"], &["customizations", "vscode", "mcp", "servers"]];
/// Fields that mean something to VS Code only: what it watches and debugs, and where it found the
/// server.
const KEPT: [&str; 3] = ["dev", "gallery", "version"];
const OAUTH: [(&str, Part); 1] = [("clientId", Part::ClientId)];

impl Form for VsCode {
    fn syntax(&self) -> Syntax {
        Syntax::Json
    }

    fn place(&self) -> Place {
        SERVERS
    }

    fn place_in(&self, document: &[Member], name: &ServerName) -> Place {
        let has = |path: &&&[&str]| {
            let servers = table_at(document, path);
            servers.is_some_and(|(_, servers)| servers.iter().any(|it| it.key == name.as_str()))
        };
        let is_there = |path: &&&[&str]| table_at(document, path).is_some();
        let usual: &'static [&'static str] = &["servers"];
        let places = [usual, ELSEWHERE[0], ELSEWHERE[1]];
        let found = places.iter().find(has).or_else(|| places.iter().find(is_there));
        Place::Map(found.copied().unwrap_or(usual))
    }

    fn grammar(&self) -> Grammar {
        Grammar::Editor
    }

    fn is_own_file(&self) -> bool {
        true
    }

    fn groups<'t>(&self, top: &mut Fields<'t, '_, '_>) -> Vec<Group<'t>> {
        let mut groups: Vec<_> = top.servers(SERVERS).into_iter().collect();
        for (at, members) in elsewhere(top) {
            let mut inner = Fields::of(top.report(), "`mcp`".to_owned(), at, members);
            groups.extend(inner.servers(SERVERS));
        }
        groups.into_iter().map(|servers| Group { servers, only_in: None }).collect()
    }

    fn settings(&self, top: &mut Fields<'_, '_, '_>) -> Settings {
        let mut settings = Settings::default();
        inputs::read(top, &mut settings);
        top.within("sandbox", |inner| sandbox(inner));
        let elsewhere = elsewhere(top);
        for (at, members) in &elsewhere {
            let mut inner = Fields::of(top.report(), "`mcp`".to_owned(), *at, members);
            inputs::read(&mut inner, &mut settings);
            inner.within("sandbox", |inner| sandbox(inner));
            inner.ignored(&["servers"]);
            inner.finish();
        }
        if !elsewhere.is_empty() {
            top.all_known();
        }
        settings
    }

    fn read(&self, name: ServerName, entry: &mut Fields<'_, '_, '_>) -> Option<Entry> {
        let mut transport = transport(entry);
        match &mut transport {
            Some(TransportSpec::Http(http)) => {
                entry.within("oauth", |inner| oauth::read(inner, &OAUTH, &mut http.auth.oauth));
                server::unused(entry, "url", &["envFile", "sandbox", "sandboxEnabled"]);
            }
            Some(_) => server::unused(entry, "command", &["oauth"]),
            None => entry.ignored(&["oauth"]),
        }
        let mut confined = entry.within("sandbox", |inner| sandbox(inner)).unwrap_or_default();
        confined.enabled = entry.flag("sandboxEnabled");
        let extras = entry.kept(&KEPT).map(|kept| (ID.to_owned(), kept));
        let mut spec = ServerSpec::new(name, transport?);
        if matches!(spec.transport, TransportSpec::Stdio(_)) {
            spec.safety.sandbox = confined;
        }
        spec.extras.extend(extras);
        Some(spec.into())
    }

    /// A sandbox beside the servers is that of every process without one of its own.
    fn complete(
        &self,
        spec: &mut ServerSpec,
        entry: &[Member],
        top: &mut Fields<'_, '_, '_>,
    ) -> Option<(String, String)> {
        let is_process = matches!(spec.transport, TransportSpec::Stdio(_));
        if !is_process || entry.iter().any(|member| member.key == "sandbox") {
            return None;
        }
        let mut found = top.within("sandbox", |inner| sandbox(inner));
        for (at, members) in elsewhere(top) {
            let mut inner = Fields::of(top.report(), "`mcp`".to_owned(), at, members);
            found = found.or(inner.within("sandbox", |inner| sandbox(inner)));
        }
        let enabled = spec.safety.sandbox.enabled;
        spec.safety.sandbox = Sandbox { enabled, ..found.unwrap_or_default() };
        None
    }

    fn write(&self, spec: &ServerSpec, writer: &mut Writer<'_>) {
        let mut rest = spec.clone();
        match &mut rest.transport {
            TransportSpec::Stdio(stdio) => {
                writer.plain("type", Some("stdio"));
                rest::stdio(stdio, &KEYS, writer);
                write_sandbox(&mut rest.safety.sandbox, writer);
            }
            TransportSpec::Http(http) => write_http(http, writer),
            TransportSpec::BuiltIn => return rest::undeclarable(writer, "it is built in"),
        }
        rest::finish(&rest, ID, writer);
    }

    fn implied(&self, document: &[Member], entry: &[Member], fields: &mut Vec<(String, Data)>) {
        let places = [&["sandbox"][..], &["mcp", "sandbox"]];
        let places =
            places.into_iter().chain([&["customizations", "vscode", "mcp", "sandbox"][..]]);
        let Some((at, members)) = places.filter_map(|path| table_at(document, path)).next() else {
            return;
        };
        if entry.iter().any(|member| member.key == "sandbox") {
            return;
        }
        let usual = Node { at, value: Value::Table(members.to_vec()) }.data();
        fields.retain(|(key, said)| key != "sandbox" || !same_tables(said, &usual));
    }

    fn write_settings(
        &self,
        settings: &Settings,
        losses: &mut Losses,
    ) -> Vec<(&'static [&'static str], Data)> {
        let inputs = inputs::write(settings, losses);
        match inputs.is_empty() {
            true => Vec::new(),
            false => vec![(&["inputs"], Data::List(inputs))],
        }
    }
}

/// Whether two tables say the same, in whatever order.
fn same_tables(a: &Data, b: &Data) -> bool {
    match (a, b) {
        (Data::Table(fields), Data::Table(others)) => {
            let has = |(key, value): &(String, Data)| {
                b.get(key).is_some_and(|other| same_tables(value, other))
            };
            fields.len() == others.len() && fields.iter().all(has)
        }
        _ => a == b,
    }
}

/// The tables of files about other things that hold what `mcp.json` holds.
fn elsewhere<'t>(top: &mut Fields<'t, '_, '_>) -> Vec<(usize, &'t [Member])> {
    top.ignored(&["mcp", "customizations"]);
    let document = top.members();
    ELSEWHERE.iter().filter_map(|path| table_at(document, &path[..path.len() - 1])).collect()
}

fn table_at<'t>(members: &'t [Member], path: &[&str]) -> Option<(usize, &'t [Member])> {
    let (first, rest) = path.split_first()?;
    let node = &members.iter().find(|member| member.key == *first)?.node;
    match &node.value {
        Value::Table(inner) if rest.is_empty() => Some((node.at, inner)),
        Value::Table(inner) => table_at(inner, rest),
        _ => None,
    }
}

/// Reads what to start, or where to connect.
fn transport(entry: &mut Fields<'_, '_, '_>) -> Option<TransportSpec> {
    if let Some(Node { at, value: Value::Text(url) }) = entry.node("url")
        && let Some(scheme) = ["unix", "pipe"].into_iter().find(|it| is_of(url, it))
    {
        let problem = format!("is behind a {scheme} address, which is not spoken");
        entry.fault(*at, &problem, "give its http:// or https:// address");
        entry.ignored(&["type", "command", "args", "env", "envFile", "cwd", "headers"]);
        return None;
    }
    server::transport(entry, &KEYS)
}

fn is_of(url: &str, scheme: &str) -> bool {
    url.strip_prefix(scheme).is_some_and(|rest| rest.starts_with(':'))
}

/// Reads how a process is confined.
fn sandbox(fields: &mut Fields<'_, '_, '_>) -> Sandbox {
    let mut sandbox = Sandbox::default();
    fields.within("filesystem", |inner| {
        sandbox.allow_write = inner.templates("allowWrite").unwrap_or_default();
        sandbox.deny_read = inner.templates("denyRead").unwrap_or_default();
        sandbox.deny_write = inner.templates("denyWrite").unwrap_or_default();
    });
    fields.within("network", |inner| {
        sandbox.allowed_domains = inner.texts("allowedDomains").unwrap_or_default();
        sandbox.denied_domains = inner.texts("deniedDomains").unwrap_or_default();
    });
    sandbox
}

fn write_http(http: &mut HttpSpec, writer: &mut Writer<'_>) {
    let word = match std::mem::take(&mut http.kind) {
        // What it tries first.
        HttpKind::Auto | HttpKind::Streamable => "http",
        HttpKind::Sse => "sse",
    };
    writer.plain("type", Some(word));
    rest::http(http, &KEYS, writer);
    let oauth = oauth::write(writer, &OAUTH, &mut http.auth.oauth);
    if !oauth.is_empty() {
        writer.data("oauth", Data::Table(oauth));
    }
}

fn write_sandbox(sandbox: &mut Sandbox, writer: &mut Writer<'_>) {
    let profile = sandbox.profile.take();
    let said = std::mem::replace(sandbox, Sandbox { profile, ..Sandbox::default() });
    let Sandbox { enabled, allow_write, deny_read, deny_write, .. } = said;
    if let Some(enabled) = enabled {
        writer.flag("sandboxEnabled", enabled);
    }
    let paths = [("allowWrite", allow_write), ("denyRead", deny_read), ("denyWrite", deny_write)];
    let filesystem = paths.into_iter().map(|(key, paths)| {
        let written = paths.iter().filter_map(|path| writer.translated("sandbox", path));
        (key, written.collect())
    });
    let filesystem = lists(filesystem.collect());
    let network = lists(vec![
        ("allowedDomains", said.allowed_domains),
        ("deniedDomains", said.denied_domains),
    ]);
    let parts = [("filesystem", filesystem), ("network", network)].into_iter();
    let parts = parts.filter_map(|(key, part)| Some((key.to_owned(), part?)));
    let parts: Vec<_> = parts.collect();
    if !parts.is_empty() {
        writer.data("sandbox", Data::Table(parts));
    }
}

/// Those of the lists that hold anything.
fn lists(lists: Vec<(&str, Vec<String>)>) -> Option<Data> {
    let full = lists.into_iter().filter(|(_, texts)| !texts.is_empty());
    let full: Vec<_> = full.map(|(key, texts)| (key.to_owned(), Data::texts(texts))).collect();
    (!full.is_empty()).then_some(Data::Table(full))
}
