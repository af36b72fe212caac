//! Toolgate's own dialect: `toolgate.toml` in a project, and `config.toml` of the user and the
//! system.
//!
//! It can express every server and setting, so it can keep everything from other dialects. Settings
//! that are not enforced yet are read, and reported as having no effect.

mod auth;
mod context;
mod entry;
mod policy;
mod profiles;
mod sampling;
mod settings;
mod tools;
mod variables;
mod write;

use crate::dialect_format::{DialectFormat, EnabledField, ServersLocation};
use crate::{Syntax, VariableSyntax};

/// Toolgate's own dialect.
pub(crate) const FORMAT: DialectFormat = DialectFormat {
    name: "toolgate",
    paths: &["toolgate.toml", "toolgate/config.toml"],
    extras: "toolgate",
    syntax: Syntax::Toml,
    servers: ServersLocation::Map(&["servers"]),
    variables: VariableSyntax::Toolgate,
    enabled: Some(EnabledField::ENABLED),
    fields: entry::FIELDS,
    read: entry::read,
    read_settings: settings::read,
    write_settings: settings::write,
    ..DialectFormat::MCP_SERVERS
};
