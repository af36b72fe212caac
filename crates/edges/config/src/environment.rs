//! Looks up the values of variables: in the environment, in files, in the user's secrets, and the
//! folders `${project}` and `${home}`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolgate_dialects::template::{TemplateVariable, VariableSource};

use crate::files::read_bounded;
use crate::{PlanEntry, VariableContext};

/// The size limit of a file that a variable refers to.
const MAX_BYTES: u64 = 64 * 1024;

/// Looks up an environment variable by name.
type EnvLookup = dyn Fn(&str) -> Option<String> + Send + Sync;

/// The sources in which variables are looked up.
#[derive(Clone)]
pub struct Environment {
    env: Arc<EnvLookup>,
    /// Lists the names of all environment variables.
    names: fn() -> Vec<String>,
    variable_context: VariableContext,
}

/// The value of a variable, or the reason why it cannot be read. A reason never contains a value.
pub(crate) type LookupResult = Result<Option<String>, String>;

impl Environment {
    /// Looks up environment variables with `env`; has no folders and no secrets.
    pub fn new(env: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self { env: Arc::new(env), names: Vec::new, variable_context: VariableContext::default() }
    }

    /// Looks up variables in the environment of this process.
    pub fn of_process() -> Self {
        let names =
            || std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()).collect();
        Self { names, ..Self::new(|name| std::env::var(name).ok()) }
    }

    /// Sets the folders and secrets of an entry.
    pub(crate) fn for_entry(&self, entry: &PlanEntry) -> Self {
        Self { variable_context: entry.variable_context.clone(), ..self.clone() }
    }

    /// Returns the value of a variable; `None` if it is not set.
    pub(crate) fn look_up(&self, variable: &TemplateVariable) -> LookupResult {
        let text = |path: &PathBuf| path.to_str().map(str::to_owned);
        Ok(match variable.source {
            VariableSource::Env => self.variable(&variable.name),
            VariableSource::Project => self.variable_context.project.as_ref().and_then(text),
            VariableSource::Home => self.variable_context.user.as_ref().and_then(text),
            VariableSource::ProjectName => {
                let name = self.variable_context.project.as_deref().and_then(Path::file_name);
                name.and_then(|name| name.to_str()).map(str::to_owned)
            }
            VariableSource::Separator => Some(std::path::MAIN_SEPARATOR.to_string()),
            VariableSource::File => return self.file(Path::new(&variable.name)).map(Some),
            VariableSource::Secret => return self.secret(&variable.name),
        })
    }

    /// Returns the value of an environment variable.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        (self.env)(name)
    }

    /// Returns the names of the environment variables that match a pattern.
    pub(crate) fn matching_names(&self, pattern: &str) -> Vec<String> {
        let fits = |name: &String| toolgate_model::matches_tool_pattern(pattern, name);
        (self.names)().into_iter().filter(fits).collect()
    }

    /// Returns the content of a file, without its final line break.
    pub(crate) fn file(&self, path: &Path) -> Result<String, String> {
        let path = match (path.strip_prefix("~"), &self.variable_context.user) {
            (Ok(rest), Some(user)) => user.join(rest),
            _ => path.to_owned(),
        };
        let mut text = read_bounded(&path, MAX_BYTES)
            .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        if text.ends_with('\n') {
            text.pop();
            if text.ends_with('\r') {
                text.pop();
            }
        }
        Ok(text)
    }

    fn secret(&self, name: &str) -> LookupResult {
        let Some(secrets) = &self.variable_context.secrets else { return Ok(None) };
        let found = secrets.get(name).map_err(|error| {
            let source = std::error::Error::source(&error);
            let why = source.map(|source| format!(": {source}")).unwrap_or_default();
            format!("{error}{why}")
        })?;
        Ok(found.map(|secret| secret.expose().clone()))
    }
}
