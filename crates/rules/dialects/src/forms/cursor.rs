//! Cursor's `mcp.json`.
//!
//! Which tools are approved stands in another file, by the hash of an entry: it is not ours to read.

use toolgate_model::{HttpKind, HttpSpec, OAuth, Secret, ServerName, ServerSpec, TransportSpec};

use super::rest;
use crate::form::{Entry, Form, Place};
use crate::frame::server::{self, Keys};
use crate::frame::{Fields, Writer};
use crate::{Grammar, Syntax};

pub(crate) struct Cursor;

const ID: &str = "cursor";
const KEYS: Keys = Keys {
    tags: &["type"],
    words: &[
        ("stdio", None),
        ("http", Some(HttpKind::Auto)),
        ("sse", Some(HttpKind::Sse)),
        ("streamable-http", Some(HttpKind::Streamable)),
        ("streamableHttp", Some(HttpKind::Streamable)),
    ],
    env_file: Some("envFile"),
    cwd: None,
    ..Keys::COMMON
};

impl Form for Cursor {
    fn syntax(&self) -> Syntax {
        Syntax::Json
    }

    fn place(&self) -> Place {
        Place::Map(&["mcpServers"])
    }

    fn grammar(&self) -> Grammar {
        Grammar::Editor
    }

    fn is_own_file(&self) -> bool {
        true
    }

    fn read(&self, name: ServerName, entry: &mut Fields<'_, '_, '_>) -> Option<Entry> {
        let mut transport = server::transport(entry, &KEYS);
        let oauth = entry.within("auth", oauth);
        match &mut transport {
            Some(TransportSpec::Http(http)) => {
                http.auth.oauth = oauth.unwrap_or_default();
                server::unused(entry, KEYS.url, &["envFile"]);
            }
            Some(_) => server::unused(entry, KEYS.command, &["auth"]),
            None => {}
        }
        Some(ServerSpec::new(name, transport?).into())
    }

    fn write(&self, spec: &ServerSpec, writer: &mut Writer<'_>) {
        let mut rest = spec.clone();
        match &mut rest.transport {
            TransportSpec::Stdio(stdio) => rest::stdio(stdio, &KEYS, writer),
            TransportSpec::Http(http) => write_http(http, writer),
            TransportSpec::BuiltIn => return rest::undeclarable(writer, "it is built in"),
        }
        rest::finish(&rest, ID, writer);
    }
}

fn oauth(fields: &mut Fields<'_, '_, '_>) -> OAuth {
    OAuth {
        client_id: fields.template("CLIENT_ID"),
        client_secret: fields.template("CLIENT_SECRET").map(Secret::new),
        scopes: fields.templates("scopes").unwrap_or_default(),
        ..OAuth::default()
    }
}

/// Cursor finds out which HTTP transport it is; only what is not to be left open is said.
fn write_http(http: &mut HttpSpec, writer: &mut Writer<'_>) {
    match std::mem::take(&mut http.kind) {
        HttpKind::Auto => {}
        HttpKind::Streamable => writer.plain("type", Some("streamable-http")),
        HttpKind::Sse => writer.plain("type", Some("sse")),
    }
    rest::http(http, &KEYS, writer);
    let OAuth { client_id, client_secret, scopes, .. } = &mut http.auth.oauth;
    writer.within("auth", |inner| {
        if let Some(id) = client_id.take() {
            inner.template("CLIENT_ID", &id);
        }
        if let Some(secret) = client_secret.take() {
            inner.template("CLIENT_SECRET", secret.expose());
        }
        inner.templates("scopes", &std::mem::take(scopes));
    });
}
