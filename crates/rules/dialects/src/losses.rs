//! What could not be carried from one dialect to another, and why.

use toolgate_model::{ServerName, Timeouts};

use crate::{FileApprovals, FileContext, Permissions, Settings};

/// One thing that is not said any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// Of which server; none: of the file.
    pub server: Option<ServerName>,
    /// Which field.
    pub field: String,
    /// Why.
    pub why: String,
}

impl std::fmt::Display for Loss {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.server {
            Some(server) => write!(f, "server \"{server}\": `{}`: {}", self.field, self.why),
            None => write!(f, "`{}`: {}", self.field, self.why),
        }
    }
}

/// Collects losses while something is written.
#[derive(Debug, Default)]
pub(crate) struct Losses {
    server: Option<ServerName>,
    found: Vec<Loss>,
}

impl Losses {
    /// What follows is about this server.
    pub fn about(&mut self, server: &ServerName) {
        self.server = Some(server.clone());
    }

    /// Something is not said any more.
    pub fn add(&mut self, field: impl Into<String>, why: impl Into<String>) {
        let (field, why) = (field.into(), why.into());
        self.found.push(Loss { server: self.server.clone(), field, why });
    }

    /// Something the dialect has no words for, if it was said.
    pub fn unsaid(&mut self, field: &str, said: bool) {
        if said {
            self.add(field, "this dialect has no field for it");
        }
    }

    /// None of the settings is said.
    pub fn settings(&mut self, settings: &Settings) {
        self.server = None;
        self.unsaid("roots", settings.roots.is_some());
        self.unsaid("naming", settings.naming.is_some());
        self.unsaid("prefix", settings.prefix.is_some());
        self.unsaid("profiles", !settings.profiles.is_empty());
        self.unsaid("clients", !settings.clients.is_empty());
        self.unsaid("inputs", !settings.inputs.is_empty());
        self.unsaid("permissions", settings.permissions != Permissions::default());
        self.unsaid("approvals", settings.approvals != FileApprovals::default());
        self.unsaid("launch.posture", settings.posture.is_some());
        self.unsaid("pins.recheck", settings.recheck.is_some());
        self.unsaid("timeouts", settings.timeouts != Timeouts::default());
        self.unsaid("context", settings.context != FileContext::default());
        for dialect in settings.extras.keys() {
            self.add(format!("extra.{dialect}"), "it means something to that host only");
        }
    }

    pub fn finish(self) -> Vec<Loss> {
        self.found
    }
}
