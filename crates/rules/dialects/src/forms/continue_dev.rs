//! Continue's `config.yaml`, and the blocks under `.continue/mcpServers`.
//!
//! Blocks that are fetched from Continue's hub (`uses`) declare nothing that could be started.
//! Headers stand inside `requestOptions`, whose other fields are kept for Continue.

use std::time::Duration;

use toolgate_model::{Data, HttpKind, HttpSpec, Secret, ServerName, ServerSpec, TransportSpec};

use super::rest::{self, Covers};
use crate::form::{Entry, Form, Group, Place, Servers};
use crate::frame::fields::Unit;
use crate::frame::server::{self, Keys};
use crate::frame::tree::{Node, Value};
use crate::frame::{Fields, Writer};
use crate::{Grammar, Syntax};

pub(crate) struct Continue;

const ID: &str = "continue";
const KEYS: Keys = Keys {
    tags: &["type"],
    words: &[
        ("stdio", None),
        ("sse", Some(HttpKind::Sse)),
        ("streamable-http", Some(HttpKind::Streamable)),
    ],
    ..Keys::COMMON
};
/// Fields that mean something to Continue only.
const KEPT: [&str; 3] = ["serverName", "faviconUrl", "sourceFile"];
/// The same of `requestOptions`.
const KEPT_OPTIONS: [&str; 8] = [
    "timeout",
    "verifySsl",
    "caBundlePath",
    "proxy",
    "noProxy",
    "extraBodyProperties",
    "clientCertificate",
    "gzip",
];
const OPTIONS: &str = "requestOptions";
const AUTHORIZATION: &str = "Authorization";

impl Form for Continue {
    fn syntax(&self) -> Syntax {
        Syntax::Yaml
    }

    fn place(&self) -> Place {
        Place::List(&["mcpServers"])
    }

    fn grammar(&self) -> Grammar {
        Grammar::Secrets
    }

    fn is_own_file(&self) -> bool {
        false
    }

    fn groups<'t>(&self, top: &mut Fields<'t, '_, '_>) -> Vec<Group<'t>> {
        let Some(Servers::List(items)) = top.servers(self.place()) else { return Vec::new() };
        let (fetched, own): (Vec<_>, Vec<_>) = items.iter().partition(|item| is_fetched(item));
        for item in fetched {
            let message = "a server is fetched from Continue's hub: only Continue has it";
            top.report().warn(item.at, message, "write out what it starts to use it here");
        }
        vec![Group { servers: Servers::Some(own), only_in: None }]
    }

    fn read(&self, name: ServerName, entry: &mut Fields<'_, '_, '_>) -> Option<Entry> {
        let mut transport = server::transport(entry, &KEYS);
        if entry.node(KEYS.headers).is_some() {
            let hint = "move them into `requestOptions` for Continue to send them too";
            entry.warn(KEYS.headers, "stands where Continue does not look", hint);
        }
        let kept_options = options(entry, transport.as_mut());
        let start = entry.time("connectionTimeout", Unit::Millis);
        let mut kept = match entry.kept(&KEPT).map(|kept| kept.expose().clone()) {
            Some(Data::Table(kept)) => kept,
            _ => Vec::new(),
        };
        let mut spec = ServerSpec::new(name, transport?);
        spec.timeouts.start = start;
        kept.extend(kept_options.map(|options| (OPTIONS.to_owned(), options)));
        if !kept.is_empty() {
            spec.extras.insert(ID.to_owned(), Secret::new(Data::Table(kept)));
        }
        Some(spec.into())
    }

    fn write(&self, spec: &ServerSpec, writer: &mut Writer<'_>) {
        let mut rest = spec.clone();
        let kept_options = take_kept_options(&mut rest);
        match &mut rest.transport {
            TransportSpec::Stdio(stdio) => rest::stdio(stdio, &KEYS, writer),
            TransportSpec::Http(http) => write_http(http, kept_options, writer),
            TransportSpec::BuiltIn => return rest::undeclarable(writer, "it is built in"),
        }
        if let Some(time) = rest::timeout(&mut rest.timeouts, Covers::Start, Duration::ZERO) {
            writer.millis("connectionTimeout", time);
        }
        rest::finish(&rest, ID, writer);
    }
}

/// Whether an item names a block of the hub instead of a server.
fn is_fetched(item: &Node) -> bool {
    let Value::Table(members) = &item.value else { return false };
    let has = |key: &str| members.iter().any(|member| member.key == key);
    has("uses") && !has("command") && !has("url")
}

/// Reads `requestOptions` and `apiKey` into an endpoint's headers; the rest of the options comes
/// back to be kept.
fn options(entry: &mut Fields<'_, '_, '_>, transport: Option<&mut TransportSpec>) -> Option<Data> {
    let found = entry.within(OPTIONS, |inner| {
        (inner.secrets("headers"), inner.kept(&KEPT_OPTIONS).map(|kept| kept.expose().clone()))
    });
    let key = entry.template("apiKey");
    let http = match transport {
        Some(TransportSpec::Http(http)) => http,
        Some(_) => {
            server::unused(entry, KEYS.command, &[OPTIONS, "apiKey"]);
            return None;
        }
        None => return None,
    };
    let (headers, kept) = found.unwrap_or_default();
    // The address was looked at already.
    let sent = HttpSpec { url: "https://".to_owned(), headers, ..HttpSpec::default() };
    server::check_http(entry, &sent, KEYS.url);
    http.headers.extend(sent.headers);
    if let Some(key) = key {
        let is_authorization = |name: &String| name.eq_ignore_ascii_case(AUTHORIZATION);
        match http.headers.keys().any(is_authorization) {
            true => {
                entry.warn("apiKey", "has no effect beside an Authorization header", "keep one")
            }
            false => {
                let value = Secret::new(format!("Bearer {key}"));
                http.headers.insert(AUTHORIZATION.to_owned(), value);
            }
        }
    }
    kept
}

/// The options that were kept, out of what is written as it is.
fn take_kept_options(rest: &mut ServerSpec) -> Vec<(String, Data)> {
    let Some(Data::Table(mut kept)) = rest.extras.remove(ID).map(|it| it.expose().clone()) else {
        return Vec::new();
    };
    let options = kept.iter().position(|(key, _)| key == OPTIONS).map(|at| kept.remove(at).1);
    if !kept.is_empty() {
        rest.extras.insert(ID.to_owned(), Secret::new(Data::Table(kept)));
    }
    match options {
        Some(Data::Table(options)) => options,
        _ => Vec::new(),
    }
}

fn write_http(http: &mut HttpSpec, kept: Vec<(String, Data)>, writer: &mut Writer<'_>) {
    let word = match std::mem::take(&mut http.kind) {
        // Without a type Continue tries both, as we do.
        HttpKind::Auto => None,
        HttpKind::Streamable => Some("streamable-http"),
        HttpKind::Sse => Some("sse"),
    };
    writer.plain("type", word);
    writer.template(KEYS.url, &http.url);
    writer.within(OPTIONS, |inner| {
        inner.secrets("headers", "headers", &http.headers);
        for (key, value) in kept {
            inner.data(&key, value);
        }
    });
}
