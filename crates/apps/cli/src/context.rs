//! What every verb starts from: the home, the files to read, and how to answer.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolgate_context::{Shelf, shell_word};
use toolgate_host::{DEFAULT_PROFILE, Home, Setup, SetupOptions, ensure_user_config};

use crate::carry::installed::Register;
use crate::cli::Globals;
use crate::exit::{Failure, chain};
use crate::operator::Typed;

/// The options of this run, resolved.
#[derive(Debug)]
pub struct Context {
    /// Where config and state lie.
    pub home: Home,
    /// The one file to read, as an absolute path.
    pub config: Option<PathBuf>,
    /// The profile to see with; none: the default, or what a client gets.
    pub profile: Option<String>,
    /// Whether data is printed as JSON.
    pub json: bool,
    /// Whether to say more on stderr.
    pub verbose: bool,
    /// Where the operator's passphrase comes from.
    pub typed: Arc<Typed>,
}

impl Context {
    /// Finds the home and the files.
    pub fn new(globals: &Globals) -> Result<Self, Failure> {
        let env = |name: &str| std::env::var(name).ok();
        let home = Home::find(globals.home.clone(), &env)
            .map_err(|error| Failure::usage(chain(&error)))?;
        let config = globals.config.as_deref().map(absolute).transpose()?;
        let Globals { profile, json, verbose, passphrase_stdin, .. } = globals;
        let typed = Arc::new(Typed::new(*passphrase_stdin));
        Ok(Self { home, config, profile: profile.clone(), json: *json, verbose: *verbose, typed })
    }

    /// The profile this run sees with: an operator who names none sees what everybody does.
    pub fn seeing(&self) -> &str {
        self.profile.as_deref().unwrap_or(DEFAULT_PROFILE)
    }

    /// Where to look for servers: the named file alone, or the user's and this project's.
    pub fn options(&self) -> Result<SetupOptions, Failure> {
        let project_dir = match self.config {
            Some(_) => None,
            None => Some(std::env::current_dir().map_err(|error| {
                Failure::failed(format!("find the current folder: {error}"))
                    .hint("change into a folder that exists")
            })?),
        };
        let (home, config) = (self.home.clone(), self.config.clone());
        // An entry that `install` wrote leads back here, whether somebody serves there or not.
        let own_endpoints = Register::of(&home).endpoints();
        Ok(SetupOptions { home, config, project_dir, own_endpoints })
    }

    /// Reads the files and opens the state.
    pub async fn setup(&self) -> Result<Setup, Failure> {
        Ok(Setup::load(self.options()?).await?)
    }

    /// Where the local context lies, and how documents get into it from a shell.
    pub fn shelf(&self) -> Shelf {
        let usual = Home::find(None, &|name| std::env::var(name).ok());
        let is_usual = usual.is_ok_and(|usual| usual.state_dir() == self.home.state_dir());
        let shelf = Shelf::at(self.context_file());
        match is_usual {
            true => shelf,
            false => {
                let home = self.home.state_dir().display().to_string();
                shelf.command(&format!("toolgate --home {} context ingest", shell_word(&home)))
            }
        }
    }

    /// The file of the local context, which need not exist.
    pub fn context_file(&self) -> PathBuf {
        self.home.state_dir().join("context.db")
    }

    /// Gives a user who has no config one to begin with; where he wrote it, if he has none.
    pub fn first_run(&self) -> Result<Option<PathBuf>, Failure> {
        if self.config.is_some() {
            return Ok(None);
        }
        let created = ensure_user_config(&self.home, &own_program()?);
        let created = created.map_err(|error| Failure::usage(chain(&error)))?;
        Ok(created.then(|| self.home.config_file()))
    }
}

/// The program that runs now.
pub fn own_program() -> Result<PathBuf, Failure> {
    std::env::current_exe().map_err(|error| Failure::failed(format!("find this program: {error}")))
}

fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    let failed = |error| Failure::usage(format!("find {}: {error}", path.display()));
    std::path::absolute(path).map_err(failed)
}
