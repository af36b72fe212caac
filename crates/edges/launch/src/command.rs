//! A command as the configuration declares it, and the same command prepared for execution.
//!
//! This module does not decide whether a command may run: the user has consented before.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

use toolgate_model::Mask;

use crate::env::minimal_env;
use crate::error::LaunchError;
use crate::resolve::resolve_program;

/// A server's command as its entry declares it.
///
/// `Debug` shows the names of the variables in `env`, never their values.
#[derive(Clone, PartialEq, Eq)]
pub struct LaunchSpec {
    /// The name of this child in log lines and in `ps`: the server's name.
    pub label: String,
    /// A name to look up on the child's `PATH`, or a path.
    pub program: OsString,
    /// The arguments, without the program itself.
    pub args: Vec<OsString>,
    /// The working folder. Defaults to the one of this process.
    pub cwd: Option<PathBuf>,
    /// The variables that the entry sets. They override inherited ones.
    pub env: BTreeMap<String, String>,
    /// Patterns (`NAME`, `PREFIX_*`) of further variables inherited from this process.
    pub env_inherit: Vec<String>,
    /// The secrets to remove from standard error before it is logged.
    pub mask: Mask,
}

impl LaunchSpec {
    /// Creates a command without arguments, labelled with the file name of its program.
    pub fn new(program: impl Into<OsString>) -> Self {
        let program = program.into();
        let label = Path::new(&program).file_name().unwrap_or(&program).to_string_lossy();
        Self {
            label: label.into_owned(),
            program,
            args: Vec::new(),
            cwd: None,
            env: BTreeMap::new(),
            env_inherit: Vec::new(),
            mask: Mask::default(),
        }
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets a variable.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }

    /// Sets the working folder.
    #[must_use]
    pub fn cwd(mut self, folder: impl Into<PathBuf>) -> Self {
        self.cwd = Some(folder.into());
        self
    }

    /// Sets the label.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Resolves the program, the working folder and the environment.
    pub(crate) fn prepare(&self) -> Result<PreparedLaunch, LaunchError> {
        let cwd = resolve_working_folder(self.cwd.as_deref())?;
        let parent = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        let env = minimal_env(parent, &self.env, &self.env_inherit);
        let path = env.get("PATH").map(OsStr::new);
        let program = resolve_program(&self.program, path, &cwd)?;
        let prepared = PreparedLaunch {
            program,
            arg0: self.program.clone(),
            args: self.args.clone(),
            cwd,
            env,
        };
        prepared.reject_nul()?;
        Ok(prepared)
    }
}

impl fmt::Debug for LaunchSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LaunchSpec")
            .field("label", &self.label)
            .field("program", &self.program)
            .field("args", &self.args)
            .field("cwd", &self.cwd)
            .field("env", &self.env.keys())
            .field("env_inherit", &self.env_inherit)
            .finish()
    }
}

/// A command with a resolved program, a checked working folder and its complete environment.
#[derive(PartialEq, Eq)]
pub(crate) struct PreparedLaunch {
    pub(crate) program: PathBuf,
    pub(crate) arg0: OsString,
    pub(crate) args: Vec<OsString>,
    pub(crate) cwd: PathBuf,
    pub(crate) env: BTreeMap<String, String>,
}

impl PreparedLaunch {
    /// Refuses NUL bytes and invalid variable names. The kernel would cut a string at a NUL byte,
    /// and so run a different command than the user consented to.
    fn reject_nul(&self) -> Result<(), LaunchError> {
        let words = std::iter::once(&self.arg0).chain(&self.args).map(OsString::as_os_str);
        let env = self.env.iter().flat_map(|(name, value)| [OsStr::new(name), OsStr::new(value)]);
        let has_nul = |text: &OsStr| text.as_encoded_bytes().contains(&0);
        let bad_name = |name: &String| name.is_empty() || name.contains('=');
        if words.chain(env).any(has_nul) || self.env.keys().any(bad_name) {
            return Err(LaunchError::Malformed { program: self.arg0.clone() });
        }
        Ok(())
    }
}

fn resolve_working_folder(asked: Option<&Path>) -> Result<PathBuf, LaunchError> {
    let asked = asked.unwrap_or(Path::new("."));
    let refused = |source| LaunchError::Cwd { folder: asked.to_owned(), source };
    let folder = std::path::absolute(asked).map_err(refused)?;
    match std::fs::metadata(&folder) {
        Ok(found) if found.is_dir() => Ok(folder),
        Ok(_) => Err(refused(std::io::ErrorKind::NotADirectory.into())),
        Err(source) => Err(refused(source)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_the_names_of_variables_but_no_value() {
        let shown = format!("{:?}", LaunchSpec::new("npx").env("API_KEY", "canary"));
        assert!(shown.contains("API_KEY") && !shown.contains("canary"), "{shown}");
    }

    #[cfg(unix)]
    #[test]
    fn a_nul_byte_or_a_bad_variable_name_is_refused() {
        let refused =
            |command: LaunchSpec| matches!(command.prepare(), Err(LaunchError::Malformed { .. }));
        assert!(refused(LaunchSpec::new("sh").args(["a\0b"])));
        assert!(refused(LaunchSpec::new("sh").env("A", "b\0c")));
        assert!(refused(LaunchSpec::new("sh").env("A=B", "c")));
        assert!(!refused(LaunchSpec::new("sh").env("A", "c")));
    }

    #[test]
    fn a_missing_working_folder_is_named() {
        let error = LaunchSpec::new("sh").cwd("/no/such/folder").prepare().err().unwrap();
        assert!(matches!(error, LaunchError::Cwd { .. }));
        assert!(error.to_string().contains("/no/such/folder"), "{error}");
    }
}
