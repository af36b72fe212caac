//! What can fail here. Messages read after "failed to".

use std::io;
use std::path::PathBuf;

use toolgate_model::ServerName;

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
    /// A variable that an entry names has no value.
    #[error("expand `{field}` of server \"{server}\": the variable {variable} is not set or empty")]
    Unset {
        /// The server.
        server: ServerName,
        /// The field, and the key inside it.
        field: String,
        /// The variable.
        variable: String,
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
