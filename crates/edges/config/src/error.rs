//! The errors of this crate.

use std::io;
use std::path::PathBuf;

use toolgate_dialects::InputSpec;
use toolgate_dialects::template::{TemplateVariable, VariableSource};
use toolgate_model::{CodedError, ErrorCode, Origin, ServerName, StartBlock};

use crate::PlanEntry;

/// An error while finding, reading, writing or resolving configuration.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// No home was given, and the user has no home folder.
    #[error("cannot find a home folder: HOME is not set")]
    NoHome,
    /// A file could not be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file or folder could not be created.
    #[error("cannot write {}", path.display())]
    Write {
        /// The path of the file or folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A document could not be edited.
    #[error("cannot edit {}", path.display())]
    Edit {
        /// The path of the file.
        path: PathBuf,
        /// The cause.
        source: toolgate_dialects::EditError,
    },
    /// Another Toolgate process kept the folder locked for too long.
    #[error("cannot edit {}: another toolgate is changing it", path.display())]
    Busy {
        /// The path of the file.
        path: PathBuf,
    },
    /// A variable of an entry has no value.
    #[error("cannot expand `{field}` of server \"{server}\"{}: {why}", place(at))]
    Unset {
        /// The server.
        server: ServerName,
        /// The field, with the key inside it.
        field: String,
        /// The variable.
        variable: Box<TemplateVariable>,
        /// The origin of the entry.
        at: Option<Box<Origin>>,
        /// What is missing.
        why: String,
        /// What to do about it.
        advice: String,
    },
    /// A value cannot be read, or is not allowed in this field. The value is not shown.
    #[error("cannot expand `{field}` of server \"{server}\"{}: {why}", place(at))]
    BadValue {
        /// The server.
        server: ServerName,
        /// The field, with the key inside it.
        field: String,
        /// The origin of the entry.
        at: Option<Box<Origin>>,
        /// What is wrong; never a value.
        why: String,
    },
    /// A file of a project's server has changed since the user consented.
    #[error(
        "cannot start server \"{server}\": a file that it is started with has changed since the user consented"
    )]
    Changed {
        /// The server.
        server: ServerName,
    },
    /// The name or the value of a secret is not valid.
    #[error("cannot store the secret {name:?}: {why}")]
    BadSecret {
        /// The name of the secret.
        name: String,
        /// What is wrong.
        why: &'static str,
    },
}

impl ConfigError {
    /// Returns the error for a variable without a value, with advice.
    pub(crate) fn unset(server: &ServerName, field: &str, variable: &TemplateVariable) -> Self {
        let TemplateVariable { source, name, .. } = variable;
        let (why, advice) = match source {
            VariableSource::Env => (
                format!("the variable {name} is not set or empty"),
                "set it in the environment of toolgate".to_owned(),
            ),
            VariableSource::Secret => (
                format!("the secret {name:?} is not stored"),
                format!("store it with `toolgate secret set {name}`"),
            ),
            VariableSource::Project | VariableSource::ProjectName => (
                "no project is open".to_owned(),
                "start toolgate in the project's folder".to_owned(),
            ),
            _ => (format!("{variable} has no value"), "write the value instead".to_owned()),
        };
        let (server, field) = (server.clone(), field.to_owned());
        Self::Unset { server, field, variable: Box::new(variable.clone()), at: None, why, advice }
    }

    /// Adds the origin of the entry, the description of a missing secret, and the default that the
    /// dialect can express.
    pub(crate) fn with_entry(mut self, entry: &PlanEntry) -> Self {
        let PlanEntry { origin, inputs, dialect, .. } = entry;
        match &mut self {
            Self::Unset { at, variable, why, advice, .. } => {
                *at = Some(Box::new(origin.clone()));
                let default = dialect.env_with_default(&variable.name);
                if let Some(default) = default.filter(|_| variable.source == VariableSource::Env) {
                    *advice = format!("{advice}, or write a default as in `{default}`");
                }
                let wanted = |input: &&InputSpec| input.id == variable.name;
                let input = inputs
                    .iter()
                    .find(wanted)
                    .filter(|_| variable.source == VariableSource::Secret);
                if let Some(description) = input.and_then(|input| input.description.as_ref()) {
                    *why = format!("{why} ({description})");
                }
            }
            Self::BadValue { at, .. } => *at = Some(Box::new(origin.clone())),
            _ => {}
        }
        self
    }
}

impl CodedError for ConfigError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::NoHome => ErrorCode::ConfigNoHome,
            Self::Read { .. } => ErrorCode::ConfigUnreadable,
            Self::Write { .. } => ErrorCode::ConfigWrite,
            Self::Edit { source, .. } => source.code(),
            Self::Busy { .. } => ErrorCode::ConfigBusy,
            Self::Unset { .. } => ErrorCode::ConfigUnset,
            Self::BadValue { .. } => ErrorCode::ConfigBadValue,
            Self::Changed { .. } => ErrorCode::ConsentChanged,
            Self::BadSecret { .. } => ErrorCode::ConfigSecret,
        }
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NoHome => "pass --home, or set TOOLGATE_HOME".to_owned(),
            Self::Read { .. } | Self::Write { .. } => {
                "check the permissions of the file, and the paths given with --home and --config"
                    .to_owned()
            }
            Self::Edit { .. } => "run `toolgate config check` to check the file".to_owned(),
            Self::Busy { .. } => "try again later".to_owned(),
            Self::Unset { advice, .. } => advice.clone(),
            Self::Changed { server } => {
                format!("run `toolgate consent {server}` to see what it would start, and allow it")
            }
            Self::BadValue { .. } | Self::BadSecret { .. } => return None,
        })
    }
}

impl From<&ConfigError> for StartBlock {
    fn from(error: &ConfigError) -> Self {
        Self { code: error.code(), reason: error.to_string(), hint: error.hint() }
    }
}

fn place(at: &Option<Box<Origin>>) -> String {
    at.as_ref().map(|at| format!(" ({at})")).unwrap_or_default()
}
