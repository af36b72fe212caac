//! The resolved global options that every verb starts from.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolgate_context::{LibraryHandle, shell_word};
use toolgate_host::{ConfigSources, DEFAULT_PROFILE, Home, Setup, ensure_user_config};

use crate::cli::GlobalArgs;
use crate::exit::{ErrorCode, OrFail as _, Result, cli_error};
use crate::operator::PassphraseInput;
use crate::transfer::install_registry::InstallRegistry;

/// The global options of this run, with the home and the file paths resolved.
#[derive(Debug)]
pub struct CliContext {
    /// The home: the folders of config and state.
    pub home: Home,
    /// The config file given with `--config`, as an absolute path.
    pub config: Option<PathBuf>,
    /// The profile given with `--as`. If `None`, the default profile, or the one the gateway gives
    /// the client.
    pub profile: Option<String>,
    /// Whether to print data as JSON.
    pub json: bool,
    /// Whether to print more details to stderr.
    pub verbose: bool,
    /// The source of the operator's passphrase.
    pub passphrase_input: Arc<PassphraseInput>,
}

impl CliContext {
    /// Resolves the home and the config path.
    pub fn new(globals: &GlobalArgs) -> Result<Self> {
        let GlobalArgs { profile, json, verbose, passphrase_stdin, .. } = globals;
        Ok(Self {
            profile: profile.clone(),
            json: *json,
            verbose: *verbose,
            passphrase_input: Arc::new(PassphraseInput::new(*passphrase_stdin)),
            ..Self::of_files(globals.home.clone(), globals.config.clone())?
        })
    }

    /// Returns the context with this home and config file, and no other option.
    pub fn of_files(home: Option<PathBuf>, config: Option<PathBuf>) -> Result<Self> {
        let home = Home::find(home, &|name| std::env::var(name).ok())?;
        Ok(Self {
            home,
            config: config.as_deref().map(absolute).transpose()?,
            profile: None,
            json: false,
            verbose: false,
            passphrase_input: Arc::default(),
        })
    }

    /// Returns the profile given with `--as`, or the default profile.
    pub fn profile_or_default(&self) -> &str {
        self.profile.as_deref().unwrap_or(DEFAULT_PROFILE)
    }

    /// Returns which files to read: only the one given with `--config`, or those of the user and of
    /// the current project.
    pub fn setup_options(&self) -> Result<ConfigSources> {
        let project_dir = match self.config {
            Some(_) => None,
            None => Some(current_folder()?),
        };
        let (home, config) = (self.home.clone(), self.config.clone());
        // Entries written by `install` point to this gateway, even if nothing serves there now.
        let own_endpoints = InstallRegistry::of(&home).endpoints();
        Ok(ConfigSources { home, config, project_dir, own_endpoints })
    }

    /// Reads the files and opens the state.
    pub async fn load_setup(&self) -> Result<Setup> {
        Ok(Setup::load(self.setup_options()?).await?)
    }

    /// Reads the user's and the system's files, without those of a project, and opens the state.
    pub async fn load_user_setup(&self) -> Result<Setup> {
        let (home, config) = (self.home.clone(), self.config.clone());
        let own_endpoints = Vec::new();
        Ok(Setup::load(ConfigSources { home, config, project_dir: None, own_endpoints }).await?)
    }

    /// Returns the handle of the local context, with the shell command that ingests documents into
    /// it.
    pub fn shelf(&self) -> LibraryHandle {
        let default = Home::find(None, &|name| std::env::var(name).ok());
        let is_default = default.is_ok_and(|home| home.state_dir() == self.home.state_dir());
        let library = LibraryHandle::at(self.context_file());
        match is_default {
            true => library,
            false => {
                let home = self.home.state_dir().display().to_string();
                library.command(&format!("toolgate --home {} context ingest", shell_word(&home)))
            }
        }
    }

    /// Returns the path of the local context's file. The file may not exist.
    pub fn context_file(&self) -> PathBuf {
        self.home.state_dir().join("context.db")
    }

    /// Creates the user's config file if there is none. Returns its path if it was created.
    pub fn ensure_config(&self) -> Result<Option<PathBuf>> {
        if self.config.is_some() {
            return Ok(None);
        }
        let created = ensure_user_config(&self.home, &own_program()?)?;
        Ok(created.then(|| self.home.config_file()))
    }
}

/// Returns the path of this executable.
pub fn own_program() -> Result<PathBuf> {
    std::env::current_exe().or_fail(ErrorCode::CliInternal, "cannot find this executable")
}

/// Returns the current folder.
pub fn current_folder() -> Result<PathBuf> {
    std::env::current_dir().map_err(|error| {
        cli_error!(CliRead, "cannot find the current folder: {error}")
            .hint("change to an existing folder")
    })
}

/// Returns the absolute path of a file that the user named.
pub fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path)
        .or_fail(ErrorCode::CliUsage, format_args!("cannot resolve {}", path.display()))
}
