//! Cursor's `mcp.json`.
//!
//! Cursor keeps approved tools in another file, by the hash of an entry. Toolgate does not read
//! that file.

use toolgate_model::{
    HttpSpec, HttpTransportKind, OAuthSpec, Secret, ServerName, ServerSpec, TransportSpec,
};

use super::write_helpers;
use crate::common::server::{self, EntryKeys};
use crate::common::{EntryWriter, TableFields};
use crate::dialect_format::{DialectFormat, ParsedEntry, ServersLocation};
use crate::{Syntax, VariableSyntax};

/// The dialect of Cursor.
pub(crate) struct Cursor;

const ID: &str = "cursor";
const KEYS: EntryKeys = EntryKeys {
    transport_keys: &["type"],
    transport_names: &[
        ("stdio", None),
        ("http", Some(HttpTransportKind::Auto)),
        ("sse", Some(HttpTransportKind::Sse)),
        ("streamable-http", Some(HttpTransportKind::Streamable)),
        ("streamableHttp", Some(HttpTransportKind::Streamable)),
    ],
    env_file: Some("envFile"),
    cwd: None,
    ..EntryKeys::COMMON
};

impl DialectFormat for Cursor {
    fn syntax(&self) -> Syntax {
        Syntax::Json
    }

    fn servers_location(&self) -> ServersLocation {
        ServersLocation::Map(&["mcpServers"])
    }

    fn variable_syntax(&self) -> VariableSyntax {
        VariableSyntax::Editor
    }

    fn is_servers_only(&self) -> bool {
        true
    }

    fn read(&self, name: ServerName, entry: &mut TableFields<'_, '_, '_>) -> Option<ParsedEntry> {
        let mut transport = server::read_transport(entry, &KEYS);
        let oauth = entry.with_table("auth", oauth);
        match &mut transport {
            Some(TransportSpec::Http(http)) => {
                http.auth.oauth = oauth.unwrap_or_default();
                server::warn_unused(entry, KEYS.url, &["envFile"]);
            }
            Some(_) => server::warn_unused(entry, KEYS.command, &["auth"]),
            None => {}
        }
        Some(ServerSpec::new(name, transport?).into())
    }

    fn write(&self, spec: &ServerSpec, writer: &mut EntryWriter<'_>) {
        let mut rest = spec.clone();
        match &mut rest.transport {
            TransportSpec::Stdio(stdio) => write_helpers::stdio(stdio, &KEYS, writer),
            TransportSpec::Http(http) => write_http(http, writer),
            TransportSpec::BuiltIn => {
                return write_helpers::report_undeclarable(writer, "it is built in");
            }
        }
        write_helpers::report_losses(&rest, ID, writer);
    }
}

fn oauth(fields: &mut TableFields<'_, '_, '_>) -> OAuthSpec {
    OAuthSpec {
        client_id: fields.template("CLIENT_ID"),
        client_secret: fields.template("CLIENT_SECRET").map(Secret::new),
        scopes: fields.templates("scopes").unwrap_or_default(),
        ..OAuthSpec::default()
    }
}

/// Writes an endpoint. Cursor detects the HTTP transport, so it is only written if it is fixed.
fn write_http(http: &mut HttpSpec, writer: &mut EntryWriter<'_>) {
    match std::mem::take(&mut http.kind) {
        HttpTransportKind::Auto => {}
        HttpTransportKind::Streamable => writer.text("type", Some("streamable-http")),
        HttpTransportKind::Sse => writer.text("type", Some("sse")),
    }
    write_helpers::http(http, &KEYS, writer);
    let OAuthSpec { client_id, client_secret, scopes, .. } = &mut http.auth.oauth;
    writer.with_table("auth", |inner| {
        if let Some(id) = client_id.take() {
            inner.template("CLIENT_ID", &id);
        }
        if let Some(secret) = client_secret.take() {
            inner.template("CLIENT_SECRET", secret.expose());
        }
        inner.templates("scopes", &std::mem::take(scopes));
    });
}
