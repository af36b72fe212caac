//! Windsurf's `mcp_config.json`.
//!
//! An endpoint is `serverUrl` or `url`, and Windsurf detects its HTTP transport.

use toolgate_model::HttpTransportKind;

use crate::VariableSyntax;
use crate::common::TableFields;
use crate::common::entry::{self, EntryField};
use crate::common::server::EntryKeys;
use crate::dialect_format::{DialectFormat, EnabledField};

/// The dialect of Windsurf.
pub(crate) const FORMAT: DialectFormat = DialectFormat {
    name: "windsurf",
    paths: &[".codeium/mcp_config.json", "windsurf/mcp_config.json"],
    extras: "windsurf",
    variables: VariableSyntax::Windsurf,
    enabled: Some(EnabledField::DISABLED),
    keys: EntryKeys {
        url: "serverUrl",
        lost_kinds: &[HttpTransportKind::Streamable, HttpTransportKind::Sse],
        ..EntryKeys::UNTYPED
    },
    fields: &[
        EntryField::Transport,
        EntryField::Enabled,
        EntryField::Names("disabledTools", "exclude", |spec| &mut spec.selection.exclude),
    ],
    read: |format, name, fields| match uses_url(fields) {
        true => entry::read(&WITH_URL, name, fields),
        false => entry::read(format, name, fields),
    },
    ..DialectFormat::MCP_SERVERS
};

/// The same for an entry that has its endpoint in `url`.
const WITH_URL: DialectFormat =
    DialectFormat { keys: EntryKeys { url: "url", ..FORMAT.keys }, ..FORMAT };

/// Returns true if the endpoint is in `url` and not in `serverUrl`.
fn uses_url(fields: &mut TableFields<'_>) -> bool {
    let (server_url, url) = (fields.has("serverUrl"), fields.has("url"));
    if server_url && url {
        fields.fail("has both `serverUrl` and `url`", "keep `serverUrl`");
    }
    url && !server_url
}
