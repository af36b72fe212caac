//! Continue's `config.yaml`, and the blocks under `.continue/mcpServers`.
//!
//! Blocks from Continue's hub (`uses`) declare nothing that can be started. Headers are inside
//! `requestOptions`; its other fields are kept for Continue.

use toolgate_model::{ConfigValue, HttpSpec, Secret, ServerSpec, TransportSpec};

use crate::common::entry::{EntryField, TimeoutField, TimeoutScope, keep, take_kept_field};
use crate::common::fields::TimeUnit;
use crate::common::server::{self, EntryKeys, SSE, STREAMABLE};
use crate::common::tree::TreeNode;
use crate::common::{EntryWriter, TableFields};
use crate::dialect_format::{DialectFormat, ServerEntries, ServersLocation};
use crate::{Syntax, VariableSyntax};

/// The dialect of Continue.
pub(crate) const FORMAT: DialectFormat = DialectFormat {
    name: ID,
    extras: ID,
    syntax: Syntax::Yaml,
    servers: ServersLocation::List(&["mcpServers"]),
    variables: VariableSyntax::Secrets,
    servers_only: false,
    fields: &[
        EntryField::Other(read_transport, write_transport),
        EntryField::Timeout(TimeoutField::new(
            "connectionTimeout",
            TimeUnit::Millis,
            TimeoutScope::Start,
        )),
        EntryField::Kept(&["serverName", "faviconUrl", "sourceFile"]),
    ],
    server_groups: Some(|top| {
        let Some(ServerEntries::List(items)) = top.servers(FORMAT.servers) else {
            return Vec::new();
        };
        let (fetched, own): (Vec<_>, Vec<_>) = items.into_iter().partition(|it| is_fetched(it));
        for item in fetched {
            let message = "a server comes from Continue's hub, which only Continue can load";
            top.diagnostics.warn(item.at, message, "declare its command or URL to use it here");
        }
        vec![ServerEntries::List(own).into()]
    }),
    ..DialectFormat::MCP_SERVERS
};

const ID: &str = "continue";
// Without a type Continue tries both HTTP transports, as Toolgate does.
const KEYS: EntryKeys = EntryKeys {
    transport_keys: &["type"],
    transport_names: &[("stdio", None), ("sse", SSE), ("streamable-http", STREAMABLE)],
    ..EntryKeys::COMMON
};
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

/// Returns true if an item refers to a block of the hub instead of declaring a server.
fn is_fetched(item: &TreeNode) -> bool {
    let has = |key: &str| item.field(key).is_some();
    has("uses") && !has("command") && !has("url")
}

/// Reads the process or the endpoint, with `requestOptions` and `apiKey` as headers.
fn read_transport(entry: &mut TableFields<'_>, spec: &mut ServerSpec) {
    let transport = server::read_transport(entry, &KEYS);
    if entry.has(KEYS.headers) {
        let hint = "move them into `requestOptions` for Continue to send them too";
        entry.warn(KEYS.headers, "is not read by Continue in this place", hint);
    }
    let options = entry
        .with_table(OPTIONS, |inner| (inner.secrets("headers"), inner.read_extras(&KEPT_OPTIONS)));
    let key = entry.template("apiKey");
    let Some(transport) = transport else { return };
    spec.transport = transport;
    let TransportSpec::Http(http) = &mut spec.transport else {
        return server::warn_unused(entry, KEYS.command, &[OPTIONS, "apiKey"]);
    };
    let (headers, kept) = options.unwrap_or_default();
    // The URL has already been checked.
    let sent = HttpSpec { url: "https://".to_owned(), headers, ..HttpSpec::default() };
    server::check_http(entry, &sent, KEYS.url);
    http.headers.extend(sent.headers);
    if let Some(key) = key {
        match http.headers.keys().any(|name| name.eq_ignore_ascii_case(AUTHORIZATION)) {
            true => {
                entry.warn("apiKey", "has no effect beside an Authorization header", "keep one")
            }
            false => {
                let value = Secret::new(format!("Bearer {key}"));
                http.headers.insert(AUTHORIZATION.to_owned(), value);
            }
        }
    }
    if !kept.is_empty() {
        keep(spec, ID, vec![(OPTIONS.to_owned(), ConfigValue::Table(kept))]);
    }
}

fn write_transport(rest: &mut ServerSpec, writer: &mut EntryWriter<'_>) {
    let options = take_kept_field(rest, ID, OPTIONS);
    let TransportSpec::Http(http) = &rest.transport else {
        return server::write_transport(&mut rest.transport, &KEYS, writer);
    };
    let (url, headers) = (http.url.clone(), http.headers.clone());
    server::write_type(&mut rest.transport, &KEYS, writer);
    writer.template(KEYS.url, &url);
    writer.with_table(OPTIONS, |inner| {
        inner.secrets("headers", "headers", &headers);
        if let Some(ConfigValue::Table(kept)) = options {
            kept.into_iter().for_each(|(key, value)| inner.data(&key, value));
        }
    });
}
