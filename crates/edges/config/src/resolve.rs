//! Expands the variables of one server, at the moment it is reached.
//!
//! A variable without a value is an error that names server, field and variable: a server is never
//! reached with an empty credential.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use toolgate_model::{HttpSpec, Secret, ServerName, ServerSpec, StdioSpec, TransportSpec};

use crate::{ConfigError, Interpolation};

/// The server with every variable replaced by its value in `env`.
pub fn resolve(
    spec: &ServerSpec,
    interpolation: Interpolation,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<ServerSpec, ConfigError> {
    let expander = Expander { server: &spec.name, interpolation, env };
    let transport = match &spec.transport {
        TransportSpec::Stdio(stdio) => TransportSpec::Stdio(expander.stdio(stdio)?),
        TransportSpec::Http(http) => TransportSpec::Http(expander.http(http)?),
        TransportSpec::BuiltIn => TransportSpec::BuiltIn,
    };
    Ok(ServerSpec { transport, ..spec.clone() })
}

struct Expander<'a> {
    server: &'a ServerName,
    interpolation: Interpolation,
    env: &'a dyn Fn(&str) -> Option<String>,
}

impl Expander<'_> {
    fn stdio(&self, stdio: &StdioSpec) -> Result<StdioSpec, ConfigError> {
        let args = stdio.args.iter().enumerate();
        Ok(StdioSpec {
            command: self.text("command", &stdio.command)?,
            args: args
                .map(|(index, arg)| self.text(&format!("args[{index}]"), arg))
                .collect::<Result<_, _>>()?,
            cwd: stdio.cwd.as_deref().map(|cwd| self.folder(cwd)).transpose()?,
            env: self.secrets("env", &stdio.env, Self::text)?,
            env_inherit: stdio.env_inherit.clone(),
        })
    }

    fn http(&self, http: &HttpSpec) -> Result<HttpSpec, ConfigError> {
        Ok(HttpSpec {
            url: self.header("url", &http.url)?,
            headers: self.secrets("headers", &http.headers, Self::header)?,
            kind: http.kind,
        })
    }

    fn secrets(
        &self,
        field: &str,
        values: &BTreeMap<String, Secret<String>>,
        expand: fn(&Self, &str, &str) -> Result<String, ConfigError>,
    ) -> Result<BTreeMap<String, Secret<String>>, ConfigError> {
        let expanded = values.iter().map(|(key, value)| {
            let value = expand(self, &format!("{field}.{key}"), value.expose())?;
            Ok((key.clone(), Secret::new(value)))
        });
        expanded.collect()
    }

    /// Anything a process is given: only NUL cannot be passed on.
    fn text(&self, field: &str, text: &str) -> Result<String, ConfigError> {
        let expanded = self.interpolation.expand(text, self.env);
        let value = expanded.map_err(|unset| self.unset(field, unset.variable))?;
        if value.contains('\0') {
            return Err(self.unusable(field, "a NUL character"));
        }
        Ok(value)
    }

    /// Anything an endpoint is sent: one line, and no empty credential.
    fn header(&self, field: &str, text: &str) -> Result<String, ConfigError> {
        let expanded = self.interpolation.expand_credential(text, self.env);
        let value = expanded.map_err(|unset| self.unset(field, unset.variable))?;
        if value.contains(['\r', '\n', '\0']) {
            return Err(self.unusable(field, "a line break"));
        }
        Ok(value)
    }

    /// A folder that is no text cannot name a variable either.
    fn folder(&self, cwd: &Path) -> Result<PathBuf, ConfigError> {
        match cwd.to_str() {
            Some(text) => self.text("cwd", text).map(PathBuf::from),
            None => Ok(cwd.to_owned()),
        }
    }

    fn unset(&self, field: &str, variable: String) -> ConfigError {
        ConfigError::Unset { server: self.server.clone(), field: field.to_owned(), variable }
    }

    fn unusable(&self, field: &str, what: &'static str) -> ConfigError {
        ConfigError::Unusable { server: self.server.clone(), field: field.to_owned(), what }
    }
}
