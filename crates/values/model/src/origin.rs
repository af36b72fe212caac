//! Where a declaration came from: its scope, file and line.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// How near a declaration is to the user's own word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Inside the binary, or added by the program that embeds the library.
    BuiltIn,
    /// The machine's administrator.
    System,
    /// The user, in his own configuration or by naming a file on the command line.
    User,
    /// A file in the project folder: it only proposes, until the user consents.
    Project,
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BuiltIn => "builtin",
            Self::System => "system",
            Self::User => "user",
            Self::Project => "project",
        })
    }
}

/// One place in one file, or none for what is built in.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Origin {
    /// How near it is to the user's own word.
    pub scope: Scope,
    /// The file.
    pub file: Option<Arc<PathBuf>>,
    /// Line, from 1; 0 where the whole file is meant.
    pub line: u32,
    /// Column in characters, from 1; 0 where the whole line is meant.
    pub column: u32,
}

impl Origin {
    /// The origin of what no file declares.
    pub fn built_in() -> Self {
        Self { scope: Scope::BuiltIn, file: None, line: 0, column: 0 }
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
