//! opencode's `opencode.json`, as its second version writes it. What the two versions share is in
//! [`super::opencode`].

use toolgate_model::{Data, ServerName, ServerSpec, Timeouts};

use super::{opencode, rest};
use crate::form::{Entry, Form, Group, Place, Switch};
use crate::frame::tree::Member;
use crate::frame::{Fields, Writer};
use crate::{Grammar, Syntax};

pub(crate) struct OpenCodeV2;

impl Form for OpenCodeV2 {
    fn syntax(&self) -> Syntax {
        Syntax::Json
    }

    fn place(&self) -> Place {
        opencode::SECOND
    }

    fn place_in(&self, document: &[Member], name: &ServerName) -> Place {
        opencode::place_in(document, name).unwrap_or(opencode::SECOND)
    }

    fn grammar(&self) -> Grammar {
        Grammar::Curly
    }

    fn is_own_file(&self) -> bool {
        false
    }

    fn switch(&self) -> Option<Switch> {
        Some(Switch { field: "disabled", on: false, other: Some("enabled") })
    }

    fn groups<'t>(&self, top: &mut Fields<'t, '_, '_>) -> Vec<Group<'t>> {
        opencode::groups(top)
    }

    fn read(&self, name: ServerName, entry: &mut Fields<'_, '_, '_>) -> Option<Entry> {
        opencode::read(name, entry)
    }

    fn complete(
        &self,
        spec: &mut ServerSpec,
        _entry: &[Member],
        top: &mut Fields<'_, '_, '_>,
    ) -> Option<(String, String)> {
        opencode::hidden_tools(spec, top)
    }

    fn write(&self, spec: &ServerSpec, writer: &mut Writer<'_>) {
        let mut rest = spec.clone();
        if !opencode::transport(&mut rest.transport, &opencode::OAUTH_V2, writer) {
            return;
        }
        if !std::mem::replace(&mut rest.enabled, true) {
            writer.flag("disabled", true);
        }
        write_timeouts(&mut rest.timeouts, writer);
        rest::finish(&rest, "opencode-v2", writer);
    }
}

fn write_timeouts(timeouts: &mut Timeouts, writer: &mut Writer<'_>) {
    let (usual, said) = (Timeouts::default(), *timeouts);
    let mut fields = Vec::new();
    for (key, time) in [("startup", said.start), ("request", said.call)] {
        if let Some(time) = time {
            let millis = i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
            fields.push((key.to_owned(), Data::Integer(millis)));
        }
    }
    if !fields.is_empty() {
        writer.data("timeout", Data::Table(fields));
    }
    // What is read again differs in the longest call alone, if at all.
    let read = opencode::of_silence(said.start, said.call);
    *timeouts = if read == said { usual } else { Timeouts { max: said.max, ..usual } };
}
