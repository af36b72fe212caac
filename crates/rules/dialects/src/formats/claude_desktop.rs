//! `claude_desktop_config.json`: processes to start, besides other settings of the app.
//!
//! This file has no endpoints; the app uses connectors for them.

use crate::common::server::EntryKeys;
use crate::dialect_format::DialectFormat;

/// The dialect of Claude Desktop.
pub(crate) const FORMAT: DialectFormat = DialectFormat {
    name: "claude-desktop",
    paths: &["claude_desktop_config.json"],
    extras: "claude-desktop",
    servers_only: false,
    stdio_only: Some("Claude Desktop only starts processes"),
    keys: EntryKeys { transport_keys: &["type"], cwd: None, ..EntryKeys::COMMON },
    ..DialectFormat::MCP_SERVERS
};
