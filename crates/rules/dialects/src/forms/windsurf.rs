//! Windsurf's `mcp_config.json`.
//!
//! An endpoint is `serverUrl` or `url`, and Windsurf finds out which HTTP transport it speaks.

use toolgate_model::{ServerName, ServerSpec, TransportSpec};

use super::rest;
use crate::form::{Entry, Form, Place, Switch};
use crate::frame::server::{self, Keys};
use crate::frame::{Fields, Writer};
use crate::{Grammar, Syntax};

pub(crate) struct Windsurf;

const ID: &str = "windsurf";
const KEYS: Keys = Keys { tags: &[], words: &[], cwd: None, url: "serverUrl", ..Keys::COMMON };

impl Form for Windsurf {
    fn syntax(&self) -> Syntax {
        Syntax::Json
    }

    fn place(&self) -> Place {
        Place::Map(&["mcpServers"])
    }

    fn grammar(&self) -> Grammar {
        Grammar::Windsurf
    }

    fn is_own_file(&self) -> bool {
        true
    }

    fn switch(&self) -> Option<Switch> {
        Some(Switch { field: "disabled", on: false, other: None })
    }

    fn read(&self, name: ServerName, entry: &mut Fields<'_, '_, '_>) -> Option<Entry> {
        let keys = keys(entry);
        let transport = server::transport(entry, &keys);
        let enabled = !entry.flag("disabled").unwrap_or(false);
        let exclude = entry.texts("disabledTools").unwrap_or_default();
        let mut spec = ServerSpec::new(name, transport?);
        spec.selection.exclude = exclude;
        Some(ServerSpec { enabled, ..spec }.into())
    }

    fn write(&self, spec: &ServerSpec, writer: &mut Writer<'_>) {
        let mut rest = spec.clone();
        match &mut rest.transport {
            TransportSpec::Stdio(stdio) => rest::stdio(stdio, &KEYS, writer),
            TransportSpec::Http(http) => rest::http(http, &KEYS, writer),
            TransportSpec::BuiltIn => return rest::undeclarable(writer, "it is built in"),
        }
        if !std::mem::replace(&mut rest.enabled, true) {
            writer.flag("disabled", true);
        }
        let exclude = std::mem::take(&mut rest.selection.exclude);
        let hidden = rest::exact(writer, "exclude", &exclude);
        writer.plains("disabledTools", &hidden);
        rest::finish(&rest, ID, writer);
    }
}

/// Which of the two words for an endpoint the entry uses.
fn keys(entry: &mut Fields<'_, '_, '_>) -> Keys {
    let (server_url, url) = (entry.node("serverUrl").is_some(), entry.node("url").is_some());
    if server_url && url {
        entry.fail("has both `serverUrl` and `url`", "keep `serverUrl`");
    }
    match server_url || !url {
        true => KEYS,
        false => Keys { url: "url", ..KEYS },
    }
}
