//! opencode's `opencode.json`, second version. Shared code is in [`super::opencode`].

use toolgate_model::{ConfigValue, ServerName, ServerSpec, ServerTimeouts};

use super::{opencode, write_helpers};
use crate::common::tree::TreeMember;
use crate::common::{EntryWriter, TableFields};
use crate::dialect_format::{
    DialectFormat, EnabledField, ParsedEntry, ServerGroup, ServersLocation,
};
use crate::{Syntax, VariableSyntax};

/// The dialect of opencode, second version.
pub(crate) struct OpenCodeV2;

impl DialectFormat for OpenCodeV2 {
    fn syntax(&self) -> Syntax {
        Syntax::Json
    }

    fn servers_location(&self) -> ServersLocation {
        opencode::V2_LOCATION
    }

    fn locate_server(&self, document: &[TreeMember], name: &ServerName) -> ServersLocation {
        opencode::locate_in_document(document, name).unwrap_or(opencode::V2_LOCATION)
    }

    fn variable_syntax(&self) -> VariableSyntax {
        VariableSyntax::Curly
    }

    fn is_servers_only(&self) -> bool {
        false
    }

    fn enabled_field(&self) -> Option<EnabledField> {
        Some(EnabledField {
            field: "disabled",
            value_when_enabled: false,
            opposite_field: Some("enabled"),
        })
    }

    fn server_groups<'t>(&self, top: &mut TableFields<'t, '_, '_>) -> Vec<ServerGroup<'t>> {
        opencode::groups(top)
    }

    fn read(&self, name: ServerName, entry: &mut TableFields<'_, '_, '_>) -> Option<ParsedEntry> {
        opencode::read(name, entry)
    }

    fn apply_shared_settings(
        &self,
        spec: &mut ServerSpec,
        _entry: &[TreeMember],
        top: &mut TableFields<'_, '_, '_>,
    ) -> Option<(String, String)> {
        opencode::hidden_tools(spec, top)
    }

    fn write(&self, spec: &ServerSpec, writer: &mut EntryWriter<'_>) {
        let mut rest = spec.clone();
        if !opencode::write_transport(&mut rest.transport, &opencode::OAUTH_V2, writer) {
            return;
        }
        if !std::mem::replace(&mut rest.enabled, true) {
            writer.flag("disabled", true);
        }
        write_timeouts(&mut rest.timeouts, writer);
        write_helpers::report_losses(&rest, "opencode-v2", writer);
    }
}

fn write_timeouts(timeouts: &mut ServerTimeouts, writer: &mut EntryWriter<'_>) {
    let (usual, said) = (ServerTimeouts::default(), *timeouts);
    let mut fields = Vec::new();
    for (key, time) in [("startup", said.start), ("request", said.call)] {
        if let Some(time) = time {
            let millis = i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
            fields.push((key.to_owned(), ConfigValue::Integer(millis)));
        }
    }
    if !fields.is_empty() {
        writer.data("timeout", ConfigValue::Table(fields));
    }
    // Reading it back changes at most the limit of the whole call.
    let read = opencode::silence_timeouts(said.start, said.call);
    *timeouts = if read == said { usual } else { ServerTimeouts { max: said.max, ..usual } };
}
