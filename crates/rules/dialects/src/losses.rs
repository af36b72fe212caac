//! Settings that are lost when a server is written in another dialect.

use toolgate_model::{ServerName, ServerTimeouts};

use crate::{FileApprovalSettings, FileContextSettings, FileSettings, Permissions};

/// One setting that was lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversionLoss {
    /// The server; `None` for settings of the file.
    pub server: Option<ServerName>,
    /// The field.
    pub field: String,
    /// The reason.
    pub why: String,
}

impl std::fmt::Display for ConversionLoss {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.server {
            Some(server) => write!(f, "server \"{server}\": `{}`: {}", self.field, self.why),
            None => write!(f, "`{}`: {}", self.field, self.why),
        }
    }
}

/// Collects losses while a document is written.
#[derive(Debug, Default)]
pub(crate) struct ConversionLosses {
    /// The server that the following losses belong to.
    pub server: Option<ServerName>,
    pub found: Vec<ConversionLoss>,
}

impl ConversionLosses {
    /// Adds a loss.
    pub fn add(&mut self, field: impl Into<String>, why: impl Into<String>) {
        let (field, why) = (field.into(), why.into());
        self.found.push(ConversionLoss { server: self.server.clone(), field, why });
    }

    /// Adds a loss for a field that the dialect does not have, if it is set.
    pub fn add_if_set(&mut self, field: &str, said: bool) {
        if said {
            self.add(field, "this dialect has no field for it");
        }
    }

    /// Adds a loss for every setting of a file.
    pub fn add_settings(&mut self, settings: &FileSettings) {
        self.server = None;
        self.add_if_set("roots", settings.roots.is_some());
        self.add_if_set("naming", settings.naming.is_some());
        self.add_if_set("prefix", settings.prefix.is_some());
        self.add_if_set("profiles", !settings.profiles.is_empty());
        self.add_if_set("clients", !settings.clients.is_empty());
        self.add_if_set("inputs", !settings.inputs.is_empty());
        self.add_if_set("permissions", settings.permissions != Permissions::default());
        self.add_if_set("approvals", settings.approvals != FileApprovalSettings::default());
        self.add_if_set("launch.posture", settings.posture.is_some());
        self.add_if_set("pins.recheck", settings.recheck.is_some());
        self.add_if_set("timeouts", settings.timeouts != ServerTimeouts::default());
        self.add_if_set("context", settings.context != FileContextSettings::default());
        for dialect in settings.extras.keys() {
            self.add(format!("extra.{dialect}"), "only that host uses it");
        }
    }
}
