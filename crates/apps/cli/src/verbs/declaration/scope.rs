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
        if matches!(self, Self::Local | Self::Global) {
            let word = if self == Self::Local { "local" } else { "global" };
            out::remark(&format!("`{word}` means `--scope user` here"));
        }
        self.scope()
    }

    /// Returns the scope.
    pub fn scope(self) -> ConfigScope {
        match self {
            Self::Project => ConfigScope::Project,
            Self::User | Self::Local | Self::Global => ConfigScope::User,
        }
    }
}
