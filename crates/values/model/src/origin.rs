//! The origin of a declaration: its scope, file and line.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use toolgate_wire::words;

words! {
    /// The level of configuration that a file belongs to.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[derive(serde::Serialize, serde::Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum ConfigScope {
        /// Inside the binary, or added by the program that embeds the library.
        BuiltIn = "builtin",
        /// The machine's administrator.
        System = "system",
        /// The user's own configuration, or a file named on the command line.
        User = "user",
        /// A file in the project folder. It only proposes until the user consents.
        Project = "project",
    }
}

/// A position in a file, or no file for what is built in.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Origin {
    /// The level of configuration.
    pub scope: ConfigScope,
    /// The file.
    pub file: Option<Arc<PathBuf>>,
    /// The line, from 1; 0 for the whole file.
    pub line: u32,
    /// The column in characters, from 1; 0 for the whole line.
    pub column: u32,
}

impl Origin {
    /// Returns the origin of built-in items.
    pub fn built_in() -> Self {
        Self { scope: ConfigScope::BuiltIn, file: None, line: 0, column: 0 }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(file) = &self.file else { return f.write_str("built in") };
        write!(f, "{}", file.display())?;
        match (self.line, self.column) {
            (0, _) => Ok(()),
            (line, 0) => write!(f, ":{line}"),
            (line, column) => write!(f, ":{line}:{column}"),
        }
    }
}
