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

use toolgate_model::{ConfigValue, ServerName, ServerSpec};

use crate::common::{EntryWriter, TableFields};
use crate::dialect_format::{DialectFormat, EnabledField, ParsedEntry, ServersLocation};
use crate::losses::ConversionLosses;
use crate::{FileSettings, Syntax, VariableSyntax};

/// Toolgate's own dialect.
pub(crate) struct Toolgate;

impl DialectFormat for Toolgate {
    fn syntax(&self) -> Syntax {
        Syntax::Toml
    }

    fn servers_location(&self) -> ServersLocation {
        ServersLocation::Map(&["servers"])
    }

    fn variable_syntax(&self) -> VariableSyntax {
        VariableSyntax::Toolgate
    }

    fn is_servers_only(&self) -> bool {
        true
    }

    fn enabled_field(&self) -> Option<EnabledField> {
        Some(EnabledField { field: "enabled", value_when_enabled: true, opposite_field: None })
    }

    fn read_settings(&self, top: &mut TableFields<'_, '_, '_>) -> FileSettings {
        settings::read(top)
    }

    fn read(&self, name: ServerName, entry: &mut TableFields<'_, '_, '_>) -> Option<ParsedEntry> {
        entry::read(name, entry)
    }

    fn write(&self, spec: &ServerSpec, writer: &mut EntryWriter<'_>) {
        write::server(spec, writer);
    }

    fn write_settings(
        &self,
        settings: &FileSettings,
        losses: &mut ConversionLosses,
    ) -> Vec<(&'static [&'static str], ConfigValue)> {
        settings::write(settings, losses)
    }
}
