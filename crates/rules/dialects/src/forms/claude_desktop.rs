//! `claude_desktop_config.json`: processes to start, beside other settings of the app.
//!
//! Endpoints are no part of this file: the app has connectors for them.

use toolgate_model::{ServerName, ServerSpec, TransportSpec};

use super::rest;
use crate::form::{Entry, Form, Place};
use crate::frame::server::{self, Keys};
use crate::frame::{Fields, Writer};
use crate::{Grammar, Syntax};

pub(crate) struct ClaudeDesktop;

const ID: &str = "claude-desktop";
const KEYS: Keys = Keys { tags: &["type"], cwd: None, ..Keys::COMMON };

impl Form for ClaudeDesktop {
    fn syntax(&self) -> Syntax {
        Syntax::Json
    }

    fn place(&self) -> Place {
        Place::Map(&["mcpServers"])
    }

    fn grammar(&self) -> Grammar {
        Grammar::Literal
    }

    fn is_own_file(&self) -> bool {
        false
    }

    fn read(&self, name: ServerName, entry: &mut Fields<'_, '_, '_>) -> Option<Entry> {
        let transport = server::transport(entry, &KEYS)?;
        if let TransportSpec::Http(_) = transport {
            let hint = "declare the endpoint in .mcp.json or toolgate.toml";
            entry.fail("has a `url`, but Claude Desktop only starts processes", hint);
        }
        Some(ServerSpec::new(name, transport).into())
    }

    fn write(&self, spec: &ServerSpec, writer: &mut Writer<'_>) {
        let mut rest = spec.clone();
        match &mut rest.transport {
            TransportSpec::Stdio(stdio) => rest::stdio(stdio, &KEYS, writer),
            TransportSpec::Http(_) => {
                return rest::undeclarable(writer, "Claude Desktop only starts processes");
            }
            TransportSpec::BuiltIn => return rest::undeclarable(writer, "it is built in"),
        }
        rest::finish(&rest, ID, writer);
    }
}
