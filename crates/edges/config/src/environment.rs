//! Where the values of variables come from: the environment, files, the user's secrets, and the
//! folders the words for them mean.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolgate_dialects::template::{Source, Variable};

use crate::files::read_bounded;
use crate::{Secrets, Surroundings};

/// The largest file a variable may mean.
const MAX_BYTES: u64 = 64 * 1024;

/// Looks a name up.
type LookUp = dyn Fn(&str) -> Option<String> + Send + Sync;

/// Everything variables are looked up in.
#[derive(Clone)]
pub struct Environment {
    env: Arc<LookUp>,
    /// The names there are to look up.
    names: fn() -> Vec<String>,
    around: Surroundings,
}

/// What was found under a name, or why nothing: a reason never holds a value.
pub(crate) type Found = Result<Option<String>, String>;

impl Environment {
    /// Variables from this function, folders and secrets from nowhere.
    pub fn new(env: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self { env: Arc::new(env), names: Vec::new, around: Surroundings::default() }
    }

    /// The variables of this process.
    pub fn of_process() -> Self {
        let names =
            || std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()).collect();
        Self { names, ..Self::new(|name| std::env::var(name).ok()) }
    }

    /// Says which folders `${project}` and `${home}` mean.
    #[must_use]
    pub fn folders(self, project: Option<PathBuf>, user: Option<PathBuf>) -> Self {
        Self { around: Surroundings { project, user, ..self.around }, ..self }
    }

    /// Says where `${secret:…}` is looked up.
    #[must_use]
    pub fn secrets(self, secrets: Secrets) -> Self {
        Self { around: Surroundings { secrets: Some(secrets), ..self.around }, ..self }
    }

    /// The same for an entry: what is said here counts, what is left open is as the entry has it.
    pub(crate) fn within(self, entry: &Surroundings) -> Self {
        let Surroundings { project, user, secrets } = self.around;
        let around = Surroundings {
            project: project.or_else(|| entry.project.clone()),
            user: user.or_else(|| entry.user.clone()),
            secrets: secrets.or_else(|| entry.secrets.clone()),
        };
        Self { around, ..self }
    }

    /// The value of a variable; an error says why there can be none.
    pub(crate) fn look_up(&self, variable: &Variable) -> Found {
        let text = |path: &PathBuf| path.to_str().map(str::to_owned);
        Ok(match variable.source {
            Source::Env => self.variable(&variable.name),
            Source::Project => self.around.project.as_ref().and_then(text),
            Source::Home => self.around.user.as_ref().and_then(text),
            Source::ProjectName => {
                let name = self.around.project.as_deref().and_then(Path::file_name);
                name.and_then(|name| name.to_str()).map(str::to_owned)
            }
            Source::Separator => Some(std::path::MAIN_SEPARATOR.to_string()),
            Source::File => return self.file(Path::new(&variable.name)).map(Some),
            Source::Secret => return self.secret(&variable.name),
        })
    }

    /// The value of a variable of the environment.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        (self.env)(name)
    }

    /// The variables there are whose names fit a pattern.
    pub(crate) fn fitting(&self, pattern: &str) -> Vec<String> {
        let fits = |name: &String| toolgate_model::matches(pattern, name);
        (self.names)().into_iter().filter(fits).collect()
    }

    /// What a file holds, without its last line end.
    pub(crate) fn file(&self, path: &Path) -> Result<String, String> {
        let path = match (path.strip_prefix("~"), &self.around.user) {
            (Ok(rest), Some(user)) => user.join(rest),
            _ => path.to_owned(),
        };
        let mut text = read_bounded(&path, MAX_BYTES)
            .map_err(|error| format!("the file {} cannot be read: {error}", path.display()))?;
        if text.ends_with('\n') {
            text.pop();
            if text.ends_with('\r') {
                text.pop();
            }
        }
        Ok(text)
    }

    fn secret(&self, name: &str) -> Found {
        let Some(secrets) = &self.around.secrets else { return Ok(None) };
        let found = secrets.get(name).map_err(|error| {
            let source = std::error::Error::source(&error);
            let why = source.map(|source| format!(": {source}")).unwrap_or_default();
            format!("failed to {error}{why}")
        })?;
        Ok(found.map(|secret| secret.expose().clone()))
    }
}
