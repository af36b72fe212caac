//! Toolgate's folders: one home that contains everything, or the platform's folders for
//! configuration, state and cache.

use std::path::{Path, PathBuf};

use toolgate_dialects::Dialect;

use crate::ConfigError;
use crate::host_files::HostFiles;
use crate::platform::{files, paths};

/// The folders and files of one user's Toolgate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    config: PathBuf,
    state: PathBuf,
    cache: PathBuf,
    /// The administrator's files, Toolgate's own first. Empty for a home that was named explicitly,
    /// because it is independent of the system.
    system: Vec<(PathBuf, Dialect)>,
    /// The user's home folder, to which `~` expands.
    user: Option<PathBuf>,
    /// The paths where other hosts keep this user's files.
    host_files: Option<HostFiles>,
}

impl Home {
    /// Finds the home: `dir` (from `--home`), else `TOOLGATE_HOME`, else the user's folders.
    pub fn find(
        dir: Option<PathBuf>,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, ConfigError> {
        let set = |name| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let user = set("HOME").or_else(|| set("USERPROFILE"));
        let hosts = user.as_deref().map(|user| HostFiles::find(user, env));
        if let Some(dir) = dir.or_else(|| set("TOOLGATE_HOME")) {
            return Ok(Self { user, host_files: hosts, ..Self::at(dir) });
        }
        let user = user.ok_or(ConfigError::NoHome)?;
        // The XDG specification says to ignore relative paths.
        let xdg = |name, default: &str| {
            let named = set(name).filter(|path| path.is_absolute());
            named.unwrap_or_else(|| user.join(default)).join("toolgate")
        };
        Ok(Self {
            config: xdg("XDG_CONFIG_HOME", ".config"),
            state: xdg("XDG_STATE_HOME", ".local/state"),
            cache: xdg("XDG_CACHE_HOME", ".cache"),
            system: paths::system_files(),
            user: Some(user),
            host_files: hosts,
        })
    }

    /// Returns a home inside one folder, independent of the system's and the user's folders.
    pub fn at(dir: impl Into<PathBuf>) -> Self {
        let dir = dir.into();
        let dir = std::path::absolute(&dir).unwrap_or(dir);
        Self {
            cache: dir.join("cache"),
            state: dir.clone(),
            config: dir,
            system: Vec::new(),
            user: None,
            host_files: None,
        }
    }

    /// Takes the administrator's files from below this folder instead of the platform's folders.
    #[must_use]
    pub fn with_system_below(self, folder: &Path) -> Self {
        Self { system: paths::system_files_below(folder), ..self }
    }

    /// Returns the path of the user's configuration file.
    pub fn config_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// Returns the path of the administrator's configuration file, if this home uses one.
    pub fn system_file(&self) -> Option<&Path> {
        let ours = self.system.iter().find(|(_, dialect)| dialect.is_toolgate());
        ours.map(|(path, _)| path.as_path())
    }

    /// Returns the administrator's files, Toolgate's own first.
    pub(crate) fn system_files(&self) -> &[(PathBuf, Dialect)] {
        &self.system
    }

    /// Returns where other hosts keep this user's files; `None` for a home without a user.
    pub(crate) fn host_files(&self) -> Option<&HostFiles> {
        self.host_files.as_ref()
    }

    /// Returns the path of the user's secrets.
    pub fn secrets_file(&self) -> PathBuf {
        self.state.join("secrets.json")
    }

    /// Returns the folder for persistent state.
    pub fn state_dir(&self) -> &Path {
        &self.state
    }

    /// Returns the path of the database of consents and catalogs.
    pub fn state_db(&self) -> PathBuf {
        self.state.join("state.db")
    }

    /// Returns the socket through which other commands reach a running `serve`.
    pub fn control_socket(&self) -> PathBuf {
        self.state.join("control.sock")
    }

    /// Returns the folder for data that can be recreated.
    pub fn cache_dir(&self) -> &Path {
        &self.cache
    }

    /// Returns the user's home folder.
    pub fn user_dir(&self) -> Option<&Path> {
        self.user.as_deref()
    }

    /// Creates the folders for configuration and state, accessible only to the user.
    pub fn create(&self) -> Result<(), ConfigError> {
        for dir in [&self.config, &self.state] {
            files::create_private_folder(dir)
                .map_err(|source| ConfigError::Write { path: dir.clone(), source })?;
        }
        Ok(())
    }

    /// Expands a leading `~`; returns other paths unchanged.
    pub(crate) fn expand(&self, path: &Path) -> PathBuf {
        match (path.strip_prefix("~"), &self.user) {
            (Ok(rest), Some(user)) => user.join(rest).components().collect(),
            _ => path.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env<'a>(set: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
        |name| set.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
    }

    #[test]
    fn a_named_home_holds_everything() {
        let named = Home::find(Some("/h".into()), &env(&[("TOOLGATE_HOME", "/other")])).unwrap();
        let paths = [named.config_file(), named.state_db(), named.control_socket()];
        assert!(paths.iter().all(|path| path.starts_with("/h")), "{paths:?}");
        assert!(named.cache_dir().starts_with("/h"));
        assert_eq!(named.system_file(), None);

        let from_env = Home::find(None, &env(&[("TOOLGATE_HOME", "/h"), ("HOME", "/u")])).unwrap();
        assert_eq!(from_env.config_file(), named.config_file());
        assert_eq!(from_env.user_dir(), Some(Path::new("/u")));
    }

    #[test]
    fn without_one_the_users_folders_are_taken() {
        let home = Home::find(None, &env(&[("HOME", "/u"), ("XDG_STATE_HOME", "/s")])).unwrap();
        assert_eq!(home.config_file(), Path::new("/u/.config/toolgate/config.toml"));
        assert_eq!(home.control_socket(), Path::new("/s/toolgate/control.sock"));
        assert_eq!(home.cache_dir(), Path::new("/u/.cache/toolgate"));
        assert!(home.system_file().is_some());
    }

    #[test]
    fn a_relative_or_empty_variable_is_ignored() {
        let set = [("HOME", "/u"), ("XDG_CONFIG_HOME", "here"), ("TOOLGATE_HOME", "")];
        let home = Home::find(None, &env(&set)).unwrap();
        assert_eq!(home.config_file(), Path::new("/u/.config/toolgate/config.toml"));
        assert!(matches!(Home::find(None, &env(&[])), Err(ConfigError::NoHome)));
    }

    #[cfg(unix)]
    #[test]
    fn created_folders_are_for_the_user_alone() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path().join("deep/home"));
        home.create().unwrap();
        let mode = std::fs::metadata(home.state_dir()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }
}
