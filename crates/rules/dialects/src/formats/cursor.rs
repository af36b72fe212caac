//! Cursor's `mcp.json`.
//!
//! Cursor keeps approved tools in another file, by the hash of an entry. Toolgate does not read
//! that file. Cursor detects the HTTP transport, so it is only written if it is fixed.

use crate::VariableSyntax;
use crate::common::entry::EntryField;
use crate::common::oauth::OAuthField;
use crate::common::server::EntryKeys;
use crate::dialect_format::DialectFormat;

/// The dialect of Cursor.
pub(crate) const FORMAT: DialectFormat = DialectFormat {
    name: "cursor",
    paths: &[".cursor/mcp.json"],
    extras: "cursor",
    variables: VariableSyntax::Editor,
    keys: EntryKeys {
        transport_keys: &["type"],
        env_file: Some("envFile"),
        cwd: None,
        ..EntryKeys::COMMON
    },
    fields: &[
        EntryField::Transport,
        EntryField::OAuth(
            "auth",
            &[
                ("CLIENT_ID", OAuthField::CLIENT_ID),
                ("CLIENT_SECRET", OAuthField::ClientSecret),
                ("scopes", OAuthField::SCOPES),
            ],
        ),
    ],
    ..DialectFormat::MCP_SERVERS
};
