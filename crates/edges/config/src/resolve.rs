//! Expands the variables of one server, right before it is reached.
//!
//! A variable without a value is an error that names the server, the field and the variable: a
//! server is never reached with an empty credential. If a dialect defines unset variables as empty,
//! they expand to the empty string, except in URLs and credentials.
//!
//! All values found that must not be shown become the [`Mask`] of the server.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use toolgate_dialects::template::{self, TemplateVariable};
use toolgate_model::{
    AuthProvider, AuthSpec, HttpSpec, Mask, OAuthSpec, ResolvedServer, Secret, ServerName,
    ServerSpec, StdioSpec, TransportSpec, is_secret_like, secrets_in_args, secrets_in_url,
};

use crate::{ConfigError, Environment, credentials, env_file};

/// Variables that every process has and that are not secret. Masking them would make most messages
/// unreadable.
const COMMON_VARIABLES: [&str; 12] = [
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LANGUAGE", "TZ", "TMPDIR", "PWD",
    "HOSTNAME",
];

/// Secret values by key.
type SecretMap = BTreeMap<String, Secret<String>>;

/// Replaces every variable of the server by its value.
pub fn resolve(
    spec: &ServerSpec,
    environment: &Environment,
) -> Result<ResolvedServer, ConfigError> {
    let (spec, secret) = expand(spec, environment)?;
    Ok(ResolvedServer { spec, mask: Mask::new(secret) })
}

/// Like [`resolve`], but returns the values to mask as a list: building a mask costs more than
/// checking whether a server can be reached.
pub(crate) fn expand(
    spec: &ServerSpec,
    environment: &Environment,
) -> Result<(ServerSpec, Vec<String>), ConfigError> {
    let expander = VariableExpander {
        server: &spec.name,
        environment,
        secret_values: RefCell::default(),
        lookup_error: RefCell::default(),
    };
    let transport = match &spec.transport {
        TransportSpec::Stdio(stdio) => TransportSpec::Stdio(expander.stdio(stdio)?),
        TransportSpec::Http(http) => TransportSpec::Http(expander.http(http)?),
        TransportSpec::BuiltIn => TransportSpec::BuiltIn,
    };
    Ok((ServerSpec { transport, ..spec.clone() }, expander.secret_values.take()))
}

/// Expands the variables of one server, and collects the values to mask.
struct VariableExpander<'a> {
    server: &'a ServerName,
    environment: &'a Environment,
    /// The values that must not be shown.
    secret_values: RefCell<Vec<String>>,
    /// Why the last lookup failed, if there is more to report.
    lookup_error: RefCell<Option<String>>,
}

impl VariableExpander<'_> {
    fn stdio(&self, stdio: &StdioSpec) -> Result<StdioSpec, ConfigError> {
        let args = stdio.args.iter().enumerate();
        let args: Vec<_> = args
            .map(|(index, arg)| self.text(&format!("args[{index}]"), arg))
            .collect::<Result<_, _>>()?;
        let command = self.text("command", &stdio.command)?;
        self.hide(secrets_in_args(&args));
        self.hide(secrets_in_args(std::slice::from_ref(&command)));
        let mut env = self.file_variables(stdio)?;
        let named = self.each("env", &stdio.env, Self::text)?;
        env.extend(named);
        env.values().for_each(|value| self.hide(credentials::credential_parts(value.expose())));
        self.hide_inherited(&stdio.env_inherit);
        Ok(StdioSpec {
            command,
            args,
            cwd: stdio.cwd.as_deref().map(|cwd| self.path("cwd", cwd)).transpose()?,
            env,
            ..stdio.clone()
        })
    }

    fn http(&self, http: &HttpSpec) -> Result<HttpSpec, ConfigError> {
        let url = self.credential("url", &http.url)?;
        self.hide(secrets_in_url(&url));
        let headers = self.each("headers", &http.headers, Self::header)?;
        headers.values().for_each(|value| self.hide(credentials::credential_parts(value.expose())));
        let helper = http.headers_helper.as_ref();
        Ok(HttpSpec {
            url,
            headers,
            headers_helper: helper.map(|it| self.secret("headers_helper", it)).transpose()?,
            kind: http.kind,
            auth: Box::new(self.auth(&http.auth)?),
        })
    }

    fn auth(&self, auth: &AuthSpec) -> Result<AuthSpec, ConfigError> {
        let provider = match &auth.provider {
            AuthProvider::ServiceAccount { audience, account } => AuthProvider::ServiceAccount {
                audience: self.line("auth.audience", audience)?,
                account: self.line("auth.account", account)?,
            },
            other => other.clone(),
        };
        Ok(AuthSpec { provider, oauth: self.oauth(&auth.oauth)? })
    }

    fn oauth(&self, oauth: &OAuthSpec) -> Result<OAuthSpec, ConfigError> {
        let mut oauth = oauth.clone();
        let single = [
            ("client_id", &mut oauth.client_id),
            ("issuer", &mut oauth.issuer),
            ("metadata_url", &mut oauth.metadata_url),
            ("authorization_url", &mut oauth.authorization_url),
            ("token_url", &mut oauth.token_url),
            ("registration_url", &mut oauth.registration_url),
            ("redirect_uri", &mut oauth.redirect_uri),
            ("resource", &mut oauth.resource),
            ("token_param", &mut oauth.token_param),
        ];
        let single = single.into_iter().filter_map(|(field, text)| Some((field, text.as_mut()?)));
        let scopes = oauth.scopes.iter_mut().map(|text| ("scopes", text));
        let audiences = oauth.audiences.iter_mut().map(|text| ("audiences", text));
        for (field, text) in single.chain(scopes).chain(audiences) {
            *text = self.line(&format!("oauth.{field}"), text)?;
            self.hide(secrets_in_url(text));
        }
        if let Some(secret) = &mut oauth.client_secret {
            *secret = self.secret("oauth.client_secret", secret)?;
        }
        Ok(oauth)
    }

    /// Expands every value of a table, and masks it.
    fn each(
        &self,
        field: &str,
        values: &SecretMap,
        expand: fn(&Self, &str, &str) -> Result<String, ConfigError>,
    ) -> Result<SecretMap, ConfigError> {
        let expanded = values.iter().map(|(key, value)| {
            let value = expand(self, &format!("{field}.{key}"), value.expose())?;
            self.hide([value.clone()]);
            Ok((key.clone(), Secret::new(value)))
        });
        expanded.collect()
    }

    /// Returns the variables of the env file. They were read with the configuration, because a
    /// consent is bound to them.
    fn file_variables(&self, stdio: &StdioSpec) -> Result<SecretMap, ConfigError> {
        let Some(path) = &stdio.env_file else { return Ok(SecretMap::new()) };
        if let Some(set) = stdio.files.env_file.as_ref().and_then(|it| it.variables.as_ref()) {
            self.hide(set.values().map(|value| value.expose().clone()));
            return Ok(set.clone());
        }
        // The file could not be read then. Reads it again only to report the cause.
        let path = self.path("env_file", path)?;
        let refused = |why| self.bad_value("env_file", why);
        let text = self.environment.file(&path).map_err(refused)?;
        let named = |why| refused(format!("cannot read {}: {why}", path.display()));
        env_file::parse(&text).map_err(named)?;
        Err(named("it did not exist when the configuration was read".to_owned()))
    }

    /// Masks inherited variables: those named exactly, and those matching a pattern if their name
    /// looks like a secret.
    fn hide_inherited(&self, patterns: &[String]) {
        for pattern in patterns {
            let is_pattern = pattern.contains(['*', '?']);
            let names = match is_pattern {
                true => self.environment.matching_names(pattern),
                false => vec![pattern.clone()],
            };
            let is_open = |name: &&String| match is_pattern {
                true => !is_secret_like(name),
                false => is_common_variable(name),
            };
            let names = names.iter().filter(|name| !is_open(name));
            self.hide(names.filter_map(|name| self.environment.variable(name)));
        }
    }

    /// Expands a value for a process, which can contain anything but NUL.
    fn text(&self, field: &str, text: &str) -> Result<String, ConfigError> {
        self.expand_checked(field, text, template::expand, &['\0'])
    }

    /// Expands a value that is sent to an endpoint.
    fn line(&self, field: &str, text: &str) -> Result<String, ConfigError> {
        self.expand_checked(field, text, template::expand, &['\r', '\n', '\0'])
    }

    /// Expands a value that must not be empty.
    fn credential(&self, field: &str, text: &str) -> Result<String, ConfigError> {
        self.expand_checked(field, text, template::expand_credential, &['\r', '\n', '\0'])
    }

    /// Expands a header: one line, and not empty if it is a credential.
    fn header(&self, field: &str, text: &str) -> Result<String, ConfigError> {
        let name = field.strip_prefix("headers.").unwrap_or(field);
        match credentials::is_credential_header(name, text) {
            true => self.credential(field, text),
            false => self.line(field, text),
        }
    }

    fn secret(&self, field: &str, text: &Secret<String>) -> Result<Secret<String>, ConfigError> {
        let value = self.credential(field, text.expose())?;
        self.hide([value.clone()]);
        Ok(Secret::new(value))
    }

    fn expand_checked(
        &self,
        field: &str,
        text: &str,
        expand: fn(&str, &template::VariableLookup<'_>) -> Result<String, TemplateVariable>,
        unusable: &[char],
    ) -> Result<String, ConfigError> {
        let value =
            expand(text, &|variable| self.look_up(variable)).map_err(|variable| {
                match self.lookup_error.take() {
                    Some(why) => self.bad_value(field, why),
                    None => ConfigError::unset(self.server, field, &variable),
                }
            })?;
        match value.chars().find(|c| unusable.contains(c)) {
            Some(c) => {
                let what = if c == '\0' { "a NUL character" } else { "a line break" };
                Err(self.bad_value(field, format!("the value of a variable contains {what}")))
            }
            None => Ok(value),
        }
    }

    /// Expands a path. A path that is not UTF-8 cannot contain variables.
    fn path(&self, field: &str, path: &Path) -> Result<PathBuf, ConfigError> {
        match path.to_str() {
            Some(text) => self.text(field, text).map(PathBuf::from),
            None => Ok(path.to_owned()),
        }
    }

    fn look_up(&self, variable: &TemplateVariable) -> Option<String> {
        let value = match self.environment.look_up(variable) {
            Ok(value) => value?,
            Err(why) => {
                self.lookup_error.replace(Some(why));
                return None;
            }
        };
        // The project's folder is not secret, and masking it would make most messages unreadable.
        if variable.source.is_of_user() {
            self.hide(credentials::credential_parts(&value));
            self.hide([value.clone()]);
        }
        Some(value)
    }

    fn hide(&self, values: impl IntoIterator<Item = String>) {
        self.secret_values.borrow_mut().extend(values);
    }

    fn bad_value(&self, field: &str, why: String) -> ConfigError {
        let (server, field) = (self.server.clone(), field.to_owned());
        ConfigError::BadValue { server, field, at: None, why }
    }
}

/// Returns true if a variable of this name is not secret.
fn is_common_variable(name: &str) -> bool {
    COMMON_VARIABLES.contains(&name) || name.starts_with("LC_") || name.starts_with("XDG_")
}
