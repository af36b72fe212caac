//! What is to be started, as the config declares it, and the same made exact.
//!
//! Does not judge the command: by the time it arrives here, consent has been given.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

use toolgate_model::Mask;

use crate::env::minimal_env;
use crate::error::LaunchError;
use crate::resolve::resolve;

/// A server's command as its entry declares it.
///
/// `Debug` shows the names of the variables in `env`, never their values.
#[derive(Clone, PartialEq, Eq)]
pub struct Command {
    /// What log lines and `ps` call this child: the server's name.
    pub label: String,
    /// A name to look up on the child's `PATH`, or a path.
    pub program: OsString,
    /// The arguments, without the program itself.
    pub args: Vec<OsString>,
    /// The folder it runs in; ours if none is given.
    pub cwd: Option<PathBuf>,
    /// The variables the entry names. They win over inherited ones.
    pub env: BTreeMap<String, String>,
    /// Patterns (`NAME`, `PREFIX_*`) of further variables taken from our own environment.
    pub env_inherit: Vec<String>,
    /// What is taken out of its standard error before that is logged.
    pub mask: Mask,
}

impl Command {
    /// A command without arguments, labelled by its program's file name.
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

    /// Names a variable.
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

    /// Everything decided that can be decided before a process exists.
    pub(crate) fn prepare(&self) -> Result<Prepared, LaunchError> {
        let cwd = working_folder(self.cwd.as_deref())?;
        let parent = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        let env = minimal_env(parent, &self.env, &self.env_inherit);
        let path = env.get("PATH").map(OsStr::new);
        let program = resolve(&self.program, path, &cwd)?;
        let prepared = Prepared {
            label: self.label.clone(),
            program,
            arg0: self.program.clone(),
            args: self.args.clone(),
            cwd,
            env,
        };
        prepared.refuse_nul()?;
        Ok(prepared)
    }
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Command")
            .field("label", &self.label)
            .field("program", &self.program)
            .field("args", &self.args)
            .field("cwd", &self.cwd)
            .field("env", &self.env.keys())
            .field("env_inherit", &self.env_inherit)
            .finish()
    }
}

/// A command with its program found, its folder checked and its whole environment known.
pub(crate) struct Prepared {
    pub(crate) label: String,
    pub(crate) program: PathBuf,
    pub(crate) arg0: OsString,
    pub(crate) args: Vec<OsString>,
    pub(crate) cwd: PathBuf,
    pub(crate) env: BTreeMap<String, String>,
}

impl Prepared {
    /// A NUL byte would end the string early on its way through the kernel: another command than
    /// the one consent was given for.
    fn refuse_nul(&self) -> Result<(), LaunchError> {
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

fn working_folder(asked: Option<&Path>) -> Result<PathBuf, LaunchError> {
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
        let shown = format!("{:?}", Command::new("npx").env("API_KEY", "canary"));
        assert!(shown.contains("API_KEY") && !shown.contains("canary"), "{shown}");
    }

    #[cfg(unix)]
    #[test]
    fn a_nul_byte_or_a_bad_variable_name_is_refused() {
        let refused =
            |command: Command| matches!(command.prepare(), Err(LaunchError::Malformed { .. }));
        assert!(refused(Command::new("sh").args(["a\0b"])));
        assert!(refused(Command::new("sh").env("A", "b\0c")));
        assert!(refused(Command::new("sh").env("A=B", "c")));
        assert!(!refused(Command::new("sh").env("A", "c")));
    }

    #[test]
    fn a_missing_working_folder_is_named() {
        let error = Command::new("sh").cwd("/no/such/folder").prepare().err().unwrap();
        assert!(matches!(error, LaunchError::Cwd { .. }));
        assert!(error.to_string().contains("/no/such/folder"), "{error}");
    }
}
