//! What can fail here. Messages read after "failed to".

use std::io;
use std::path::PathBuf;

use toolgate_dialects::Input;
use toolgate_dialects::template::{Source, Variable};
use toolgate_model::{Origin, ServerName};

use crate::Entry;

/// Why configuration could not be found, read, written or resolved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// Neither a home was named nor is there a user's home folder.
    #[error("find a home: HOME is not set; name a folder with --home or TOOLGATE_HOME")]
    NoHome,
    /// A file that must be read could not be.
    #[error("read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file or folder could not be created.
    #[error("write {}", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A text could not be changed as asked.
    #[error("edit {}", path.display())]
    Edit {
        /// The file.
        path: PathBuf,
        /// Why.
        source: toolgate_dialects::EditError,
    },
    /// Somebody else of ours has been changing files beside it for too long.
    #[error("edit {}: another toolgate is changing it; try again when that is done", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// A variable that an entry names has no value.
    #[error("expand `{field}` of server \"{server}\"{}: {why}; {advice}", place(at))]
    Unset {
        /// The server.
        server: ServerName,
        /// The field, and the key inside it.
        field: String,
        /// The variable.
        variable: Box<Variable>,
        /// Where the entry begins.
        at: Option<Box<Origin>>,
        /// What is missing.
        why: String,
        /// What to do about it.
        advice: String,
    },
    /// Something an entry takes values from cannot be read.
    #[error("expand `{field}` of server \"{server}\"{}: {why}", place(at))]
    Unreadable {
        /// The server.
        server: ServerName,
        /// The field, and the key inside it.
        field: String,
        /// Where the entry begins.
        at: Option<Box<Origin>>,
        /// What, and why not; never what it holds.
        why: String,
    },
    /// A file of a project's server is not what the user consented to.
    #[error(
        "start server \"{server}\": a file it is started with has changed since you consented; see it with `toolgate consent {server}`"
    )]
    Changed {
        /// The server.
        server: ServerName,
    },
    /// A secret cannot be kept like that.
    #[error("keep the secret {name:?}: {why}")]
    BadSecret {
        /// Its name.
        name: String,
        /// What is wrong.
        why: &'static str,
    },
    /// A variable's value cannot be used where it is named. The value itself is not shown.
    #[error("expand `{field}` of server \"{server}\": the value of a variable holds {what}")]
    Unusable {
        /// The server.
        server: ServerName,
        /// The field, and the key inside it.
        field: String,
        /// What must not stand there.
        what: &'static str,
    },
}

impl ConfigError {
    /// A variable that has no value, and what to do about it.
    pub(crate) fn unset(server: &ServerName, field: &str, variable: &Variable) -> Self {
        let Variable { source, name, .. } = variable;
        let (why, advice) = match source {
            Source::Env => (
                format!("the variable {name} is not set or empty"),
                "set it where toolgate is started".to_owned(),
            ),
            Source::Secret => (
                format!("the secret {name:?} is not stored"),
                format!("store it with `toolgate secret set {name}`"),
            ),
            Source::Project | Source::ProjectName => (
                "no project is open".to_owned(),
                "start toolgate in the project's folder".to_owned(),
            ),
            _ => (format!("{variable} has no value"), "write it out instead".to_owned()),
        };
        let (server, field) = (server.clone(), field.to_owned());
        Self::Unset { server, field, variable: Box::new(variable.clone()), at: None, why, advice }
    }

    /// The same, with the place of the entry, what its file says of what is missing, and what can
    /// be written in it.
    pub(crate) fn about(mut self, entry: &Entry) -> Self {
        let Entry { origin, inputs, dialect, .. } = entry;
        match &mut self {
            Self::Unset { at, variable, why, advice, .. } => {
                *at = Some(Box::new(origin.clone()));
                let default = dialect.default_of(&variable.name);
                if let Some(default) = default.filter(|_| variable.source == Source::Env) {
                    *advice = format!("{advice}, or write a default as in `{default}`");
                }
                let wanted = |input: &&Input| input.id == variable.name;
                let input =
                    inputs.iter().find(wanted).filter(|_| variable.source == Source::Secret);
                if let Some(description) = input.and_then(|input| input.description.as_ref()) {
                    *why = format!("{why} ({description})");
                }
            }
            Self::Unreadable { at, .. } => *at = Some(Box::new(origin.clone())),
            _ => {}
        }
        self
    }
}

fn place(at: &Option<Box<Origin>>) -> String {
    at.as_ref().map(|at| format!(" ({at})")).unwrap_or_default()
}
