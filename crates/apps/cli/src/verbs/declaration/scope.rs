//! The `--scope` option, with the scope names of toolgate and of other programs.

use clap::ValueEnum;
use toolgate_host::ConfigScope;

use crate::out;

/// A value of `--scope`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum ScopeArg {
    /// This project, in its own folder
    #[default]
    Project,
    /// You, in every project
    User,
    /// Other programs' name for `user`
    #[value(hide = true)]
    Local,
    /// Other programs' name for `user`
    #[value(hide = true)]
    Global,
}

impl ScopeArg {
    /// Returns the scope. Prints a note for other programs' names.
    pub fn to_scope(self) -> ConfigScope {
        let word = match self {
            Self::Project => return ConfigScope::Project,
            Self::User => return ConfigScope::User,
            Self::Local => "local",
            Self::Global => "global",
        };
        out::remark(&format!("`{word}` means `--scope user` here"));
        ConfigScope::User
    }

    /// Returns true for the project scope.
    pub fn is_project(self) -> bool {
        self == Self::Project
    }
}
