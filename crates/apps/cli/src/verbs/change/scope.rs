//! Whose servers are meant, in the words of this and of other programs.

use clap::ValueEnum;
use toolgate_host::Scope;

use crate::out;

/// Whose servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum ScopeWord {
    /// The project's, in its own folder
    #[default]
    Project,
    /// Yours, in every project
    User,
    /// Yours, as another program calls it
    #[value(hide = true)]
    Local,
    /// Yours, as another program calls it
    #[value(hide = true)]
    Global,
}

impl ScopeWord {
    /// What it means here; other programs' words are told what they came to mean.
    pub fn meant(self) -> Scope {
        let word = match self {
            Self::Project => return Scope::Project,
            Self::User => return Scope::User,
            Self::Local => "local",
            Self::Global => "global",
        };
        out::note(&format!("{} `{word}` means `--scope user` here", out::cyan("note:")));
        Scope::User
    }

    /// Whether it is the project's.
    pub fn means_project(self) -> bool {
        self == Self::Project
    }
}
