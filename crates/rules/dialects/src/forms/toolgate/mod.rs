//! Our own dialect: `toolgate.toml` in a project, `config.toml` of the user and of the system.
//!
//! Everything a server or the settings can be is said here, so whatever another dialect says can be
//! kept. What is understood but not enforced yet is read all the same, and said to do nothing.

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

use toolgate_model::{Data, ServerName, ServerSpec};

use crate::form::{Entry, Form, Place, Switch};
use crate::frame::{Fields, Writer};
use crate::losses::Losses;
use crate::{Grammar, Settings, Syntax};

pub(crate) struct Toolgate;

impl Form for Toolgate {
    fn syntax(&self) -> Syntax {
        Syntax::Toml
    }

    fn place(&self) -> Place {
        Place::Map(&["servers"])
    }

    fn grammar(&self) -> Grammar {
        Grammar::Ours
    }

    fn is_own_file(&self) -> bool {
        true
    }

    fn switch(&self) -> Option<Switch> {
        Some(Switch { field: "enabled", on: true, other: None })
    }

    fn settings(&self, top: &mut Fields<'_, '_, '_>) -> Settings {
        settings::read(top)
    }

    fn read(&self, name: ServerName, entry: &mut Fields<'_, '_, '_>) -> Option<Entry> {
        entry::read(name, entry)
    }

    fn write(&self, spec: &ServerSpec, writer: &mut Writer<'_>) {
        write::server(spec, writer);
    }

    fn write_settings(
        &self,
        settings: &Settings,
        losses: &mut Losses,
    ) -> Vec<(&'static [&'static str], Data)> {
        settings::write(settings, losses)
    }
}
