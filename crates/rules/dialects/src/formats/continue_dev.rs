//! Continue's `config.yaml`, and the blocks under `.continue/mcpServers`.
//!
//! Blocks from Continue's hub (`uses`) declare nothing that can be started. Headers are inside
//! `requestOptions`; its other fields are kept for Continue.

use std::time::Duration;

use toolgate_model::{
    ConfigValue, HttpSpec, HttpTransportKind, Secret, ServerName, ServerSpec, TransportSpec,
};

use super::write_helpers::{self, TimeoutScope};
use crate::common::fields::TimeUnit;
use crate::common::server::{self, EntryKeys};
use crate::common::tree::{TreeNode, TreeValue};
use crate::common::{EntryWriter, TableFields};
use crate::dialect_format::{
    DialectFormat, ParsedEntry, ServerEntries, ServerGroup, ServersLocation,
};
use crate::{Syntax, VariableSyntax};

/// The dialect of Continue.
pub(crate) struct Continue;

const ID: &str = "continue";
const KEYS: EntryKeys = EntryKeys {
    transport_keys: &["type"],
    transport_names: &[
        ("stdio", None),
        ("sse", Some(HttpTransportKind::Sse)),
        ("streamable-http", Some(HttpTransportKind::Streamable)),
    ],
    ..EntryKeys::COMMON
};
/// Fields that only Continue uses.
const KEPT: [&str; 3] = ["serverName", "faviconUrl", "sourceFile"];
/// Fields of `requestOptions` that only Continue uses.
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

impl DialectFormat for Continue {
    fn syntax(&self) -> Syntax {
        Syntax::Yaml
    }

    fn servers_location(&self) -> ServersLocation {
        ServersLocation::List(&["mcpServers"])
    }

    fn variable_syntax(&self) -> VariableSyntax {
        VariableSyntax::Secrets
    }

    fn is_servers_only(&self) -> bool {
        false
    }

    fn server_groups<'t>(&self, top: &mut TableFields<'t, '_, '_>) -> Vec<ServerGroup<'t>> {
        let Some(ServerEntries::List(items)) = top.servers(self.servers_location()) else {
            return Vec::new();
        };
        let (fetched, own): (Vec<_>, Vec<_>) = items.iter().partition(|item| is_fetched(item));
        for item in fetched {
            let message = "a server comes from Continue's hub, which only Continue can load";
            top.diagnostics().warn(item.at, message, "declare its command or URL to use it here");
        }
        vec![ServerGroup { servers: ServerEntries::Selected(own), only_in: None }]
    }

    fn read(&self, name: ServerName, entry: &mut TableFields<'_, '_, '_>) -> Option<ParsedEntry> {
        let mut transport = server::read_transport(entry, &KEYS);
        if entry.node(KEYS.headers).is_some() {
            let hint = "move them into `requestOptions` for Continue to send them too";
            entry.warn(KEYS.headers, "is not read by Continue in this place", hint);
        }
        let kept_options = options(entry, transport.as_mut());
        let start = entry.time("connectionTimeout", TimeUnit::Millis);
        let mut kept = match entry.read_extras(&KEPT).map(|kept| kept.expose().clone()) {
            Some(ConfigValue::Table(kept)) => kept,
            _ => Vec::new(),
        };
        let mut spec = ServerSpec::new(name, transport?);
        spec.timeouts.start = start;
        kept.extend(kept_options.map(|options| (OPTIONS.to_owned(), options)));
        if !kept.is_empty() {
            spec.extras.insert(ID.to_owned(), Secret::new(ConfigValue::Table(kept)));
        }
        Some(spec.into())
    }

    fn write(&self, spec: &ServerSpec, writer: &mut EntryWriter<'_>) {
        let mut rest = spec.clone();
        let kept_options = take_kept_options(&mut rest);
        match &mut rest.transport {
            TransportSpec::Stdio(stdio) => write_helpers::stdio(stdio, &KEYS, writer),
            TransportSpec::Http(http) => write_http(http, kept_options, writer),
            TransportSpec::BuiltIn => {
                return write_helpers::report_undeclarable(writer, "it is built in");
            }
        }
        if let Some(time) =
            write_helpers::timeout(&mut rest.timeouts, TimeoutScope::Start, Duration::ZERO)
        {
            writer.millis("connectionTimeout", time);
        }
        write_helpers::report_losses(&rest, ID, writer);
    }
}

/// Returns true if an item refers to a block of the hub instead of declaring a server.
fn is_fetched(item: &TreeNode) -> bool {
    let TreeValue::Table(members) = &item.value else { return false };
    let has = |key: &str| members.iter().any(|member| member.key == key);
    has("uses") && !has("command") && !has("url")
}

/// Reads `requestOptions` and `apiKey` into the headers of an endpoint. Returns the other options
/// to keep.
fn options(
    entry: &mut TableFields<'_, '_, '_>,
    transport: Option<&mut TransportSpec>,
) -> Option<ConfigValue> {
    let found = entry.with_table(OPTIONS, |inner| {
        (
            inner.secrets("headers"),
            inner.read_extras(&KEPT_OPTIONS).map(|kept| kept.expose().clone()),
        )
    });
    let key = entry.template("apiKey");
    let http = match transport {
        Some(TransportSpec::Http(http)) => http,
        Some(_) => {
            server::warn_unused(entry, KEYS.command, &[OPTIONS, "apiKey"]);
            return None;
        }
        None => return None,
    };
    let (headers, kept) = found.unwrap_or_default();
    // The URL has already been checked.
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

/// Removes and returns the kept options.
fn take_kept_options(rest: &mut ServerSpec) -> Vec<(String, ConfigValue)> {
    let Some(ConfigValue::Table(mut kept)) = rest.extras.remove(ID).map(|it| it.expose().clone())
    else {
        return Vec::new();
    };
    let options = kept.iter().position(|(key, _)| key == OPTIONS).map(|at| kept.remove(at).1);
    if !kept.is_empty() {
        rest.extras.insert(ID.to_owned(), Secret::new(ConfigValue::Table(kept)));
    }
    match options {
        Some(ConfigValue::Table(options)) => options,
        _ => Vec::new(),
    }
}

fn write_http(http: &mut HttpSpec, kept: Vec<(String, ConfigValue)>, writer: &mut EntryWriter<'_>) {
    let word = match std::mem::take(&mut http.kind) {
        // Without a type Continue tries both, as Toolgate does.
        HttpTransportKind::Auto => None,
        HttpTransportKind::Streamable => Some("streamable-http"),
        HttpTransportKind::Sse => Some("sse"),
    };
    writer.text("type", word);
    writer.template(KEYS.url, &http.url);
    writer.with_table(OPTIONS, |inner| {
        inner.secrets("headers", "headers", &http.headers);
        for (key, value) in kept {
            inner.data(&key, value);
        }
    });
}
