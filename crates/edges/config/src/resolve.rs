//! Expands the variables of one server, at the moment it is reached.
//!
//! A variable without a value is an error that names server, field and variable: a server is never
//! reached with an empty credential. Where a dialect promises the empty text for what is not set,
//! it gets it, except in an address and in what is sent as a credential.
//!
//! Whatever is found on the way that must not be shown again becomes the [`Mask`] of the server.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use toolgate_dialects::template::{self, Source, Variable};
use toolgate_model::{
    Auth, AuthProvider, HttpSpec, Mask, OAuth, Resolved, Secret, ServerName, ServerSpec, StdioSpec,
    TransportSpec, hidden_in_args, hidden_in_url, is_secret_like,
};

use crate::{ConfigError, Environment, credentials, env_file};

/// Variables every process has and everybody knows: hiding them would hide half of every message.
const EVERYBODYS: [&str; 12] = [
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LANGUAGE", "TZ", "TMPDIR", "PWD",
    "HOSTNAME",
];

/// Values by their keys, hidden.
type Hidden = BTreeMap<String, Secret<String>>;

/// The server with every variable replaced by its value.
pub fn resolve(spec: &ServerSpec, environment: &Environment) -> Result<Resolved, ConfigError> {
    let (spec, secret) = expand(spec, environment)?;
    Ok(Resolved { spec, mask: Mask::new(secret) })
}

/// The same, with the values that must not be shown as they are: making a mask of them costs more
/// than finding out whether a server can be reached.
pub(crate) fn expand(
    spec: &ServerSpec,
    environment: &Environment,
) -> Result<(ServerSpec, Vec<String>), ConfigError> {
    let expander = Expander {
        server: &spec.name,
        environment,
        found: RefCell::default(),
        trouble: RefCell::default(),
    };
    let transport = match &spec.transport {
        TransportSpec::Stdio(stdio) => TransportSpec::Stdio(expander.stdio(stdio)?),
        TransportSpec::Http(http) => TransportSpec::Http(expander.http(http)?),
        TransportSpec::BuiltIn => TransportSpec::BuiltIn,
    };
    Ok((ServerSpec { transport, ..spec.clone() }, expander.found.take()))
}

struct Expander<'a> {
    server: &'a ServerName,
    environment: &'a Environment,
    /// What must not be shown.
    found: RefCell<Vec<String>>,
    /// Why the variable looked up last has no value, where there is more to say.
    trouble: RefCell<Option<String>>,
}

impl Expander<'_> {
    fn stdio(&self, stdio: &StdioSpec) -> Result<StdioSpec, ConfigError> {
        let args = stdio.args.iter().enumerate();
        let args: Vec<_> = args
            .map(|(index, arg)| self.text(&format!("args[{index}]"), arg))
            .collect::<Result<_, _>>()?;
        let command = self.text("command", &stdio.command)?;
        self.hide(hidden_in_args(&args));
        self.hide(hidden_in_args(std::slice::from_ref(&command)));
        let mut env = self.file_variables(stdio)?;
        let named = self.each("env", &stdio.env, Self::text)?;
        env.extend(named);
        env.values().for_each(|value| self.hide(credentials::in_value(value.expose())));
        self.hide_inherited(&stdio.env_inherit);
        Ok(StdioSpec {
            command,
            args,
            cwd: stdio.cwd.as_deref().map(|cwd| self.path("cwd", cwd)).transpose()?,
            env,
            env_file: stdio.env_file.clone(),
            env_inherit: stdio.env_inherit.clone(),
            files: stdio.files.clone(),
        })
    }

    fn http(&self, http: &HttpSpec) -> Result<HttpSpec, ConfigError> {
        let url = self.credential("url", &http.url)?;
        self.hide(hidden_in_url(&url));
        let headers = self.each("headers", &http.headers, Self::header)?;
        headers.values().for_each(|value| self.hide(credentials::in_value(value.expose())));
        let helper = http.headers_helper.as_ref();
        Ok(HttpSpec {
            url,
            headers,
            headers_helper: helper.map(|it| self.secret("headers_helper", it)).transpose()?,
            kind: http.kind,
            auth: Box::new(self.auth(&http.auth)?),
        })
    }

    fn auth(&self, auth: &Auth) -> Result<Auth, ConfigError> {
        let provider = match &auth.provider {
            AuthProvider::ServiceAccount { audience, account } => AuthProvider::ServiceAccount {
                audience: self.line("auth.audience", audience)?,
                account: self.line("auth.account", account)?,
            },
            other => other.clone(),
        };
        Ok(Auth { provider, oauth: self.oauth(&auth.oauth)? })
    }

    fn oauth(&self, oauth: &OAuth) -> Result<OAuth, ConfigError> {
        let one = |field: &str, text: &Option<String>| {
            text.as_ref().map(|text| self.line(&format!("oauth.{field}"), text)).transpose()
        };
        let all = |field: &str, texts: &[String]| {
            let field = format!("oauth.{field}");
            texts.iter().map(|text| self.line(&field, text)).collect::<Result<Vec<_>, _>>()
        };
        let secret = oauth.client_secret.as_ref();
        let expanded = OAuth {
            client_id: one("client_id", &oauth.client_id)?,
            client_secret: secret.map(|it| self.secret("oauth.client_secret", it)).transpose()?,
            issuer: one("issuer", &oauth.issuer)?,
            metadata_url: one("metadata_url", &oauth.metadata_url)?,
            authorization_url: one("authorization_url", &oauth.authorization_url)?,
            token_url: one("token_url", &oauth.token_url)?,
            registration_url: one("registration_url", &oauth.registration_url)?,
            redirect_uri: one("redirect_uri", &oauth.redirect_uri)?,
            callback_port: oauth.callback_port,
            scopes: all("scopes", &oauth.scopes)?,
            audiences: all("audiences", &oauth.audiences)?,
            resource: one("resource", &oauth.resource)?,
            token_param: one("token_param", &oauth.token_param)?,
        };
        let urls = [
            &expanded.issuer,
            &expanded.metadata_url,
            &expanded.authorization_url,
            &expanded.token_url,
            &expanded.registration_url,
            &expanded.redirect_uri,
            &expanded.resource,
        ];
        let urls = urls.into_iter().flatten().chain(&expanded.audiences);
        urls.for_each(|url| self.hide(hidden_in_url(url)));
        Ok(expanded)
    }

    /// Every value of a table, none of which is shown.
    fn each(
        &self,
        field: &str,
        values: &Hidden,
        expand: fn(&Self, &str, &str) -> Result<String, ConfigError>,
    ) -> Result<Hidden, ConfigError> {
        let expanded = values.iter().map(|(key, value)| {
            let value = expand(self, &format!("{field}.{key}"), value.expose())?;
            self.hide([value.clone()]);
            Ok((key.clone(), Secret::new(value)))
        });
        expanded.collect()
    }

    /// The variables a file sets: those that were read with the configuration, because a consent is
    /// bound to them.
    fn file_variables(&self, stdio: &StdioSpec) -> Result<Hidden, ConfigError> {
        let Some(path) = &stdio.env_file else { return Ok(Hidden::new()) };
        if let Some(set) = stdio.files.env_file.as_ref().and_then(|it| it.variables.as_ref()) {
            self.hide(set.values().map(|value| value.expose().clone()));
            return Ok(set.clone());
        }
        // It could not be read then: it is looked at again only to say why.
        let path = self.path("env_file", path)?;
        let refused = |why| self.refused("env_file", why);
        let text = self.environment.file(&path).map_err(refused)?;
        let named = |why| refused(format!("the file {}: {why}", path.display()));
        env_file::parse(&text).map_err(named)?;
        Err(named("it was not there when the configuration was read".to_owned()))
    }

    /// What is inherited is not ours to show either: what is asked for by its name, as every
    /// variable, and of what a pattern means, as far as its name says that it is a secret.
    fn hide_inherited(&self, patterns: &[String]) {
        for pattern in patterns {
            let is_pattern = pattern.contains(['*', '?']);
            let names = match is_pattern {
                true => self.environment.fitting(pattern),
                false => vec![pattern.clone()],
            };
            let is_open = |name: &&String| match is_pattern {
                true => !is_secret_like(name),
                false => is_everybodys(name),
            };
            let names = names.iter().filter(|name| !is_open(name));
            self.hide(names.filter_map(|name| self.environment.variable(name)));
        }
    }

    /// Anything a process is given: only NUL cannot be passed on.
    fn text(&self, field: &str, text: &str) -> Result<String, ConfigError> {
        self.expanded(field, text, template::expand, &['\0'])
    }

    /// Anything said to an endpoint.
    fn line(&self, field: &str, text: &str) -> Result<String, ConfigError> {
        self.expanded(field, text, template::expand, &['\r', '\n', '\0'])
    }

    /// Anything that must not come out empty.
    fn credential(&self, field: &str, text: &str) -> Result<String, ConfigError> {
        self.expanded(field, text, template::expand_credential, &['\r', '\n', '\0'])
    }

    /// A header: one line, and if it is a credential, none that is empty.
    fn header(&self, field: &str, text: &str) -> Result<String, ConfigError> {
        let name = field.strip_prefix("headers.").unwrap_or(field);
        match credentials::is_header(name, text) {
            true => self.credential(field, text),
            false => self.line(field, text),
        }
    }

    fn secret(&self, field: &str, text: &Secret<String>) -> Result<Secret<String>, ConfigError> {
        let value = self.credential(field, text.expose())?;
        self.hide([value.clone()]);
        Ok(Secret::new(value))
    }

    fn expanded(
        &self,
        field: &str,
        text: &str,
        expand: fn(&str, &template::Lookup<'_>) -> Result<String, template::Unset>,
        unusable: &[char],
    ) -> Result<String, ConfigError> {
        let value = expand(text, &|variable| self.look_up(variable))
            .map_err(|unset| self.unset(field, &unset.variable))?;
        match value.chars().find(|c| unusable.contains(c)) {
            Some('\0') => Err(self.unusable(field, "a NUL character")),
            Some(_) => Err(self.unusable(field, "a line break")),
            None => Ok(value),
        }
    }

    /// A path that is no text cannot name a variable either.
    fn path(&self, field: &str, path: &Path) -> Result<PathBuf, ConfigError> {
        match path.to_str() {
            Some(text) => self.text(field, text).map(PathBuf::from),
            None => Ok(path.to_owned()),
        }
    }

    fn look_up(&self, variable: &Variable) -> Option<String> {
        let value = match self.environment.look_up(variable) {
            Ok(value) => value?,
            Err(why) => {
                self.trouble.replace(Some(why));
                return None;
            }
        };
        // Where the project lies is no secret, and hiding it would hide half of every message.
        if matches!(variable.source, Source::Env | Source::File | Source::Secret) {
            self.hide(credentials::in_value(&value));
            self.hide([value.clone()]);
        }
        Some(value)
    }

    fn hide(&self, values: impl IntoIterator<Item = String>) {
        self.found.borrow_mut().extend(values);
    }

    fn unset(&self, field: &str, variable: &Variable) -> ConfigError {
        match self.trouble.take() {
            Some(why) => self.refused(field, why),
            None => ConfigError::unset(self.server, field, variable),
        }
    }

    fn refused(&self, field: &str, why: String) -> ConfigError {
        let (server, field) = (self.server.clone(), field.to_owned());
        ConfigError::Unreadable { server, field, at: None, why }
    }

    fn unusable(&self, field: &str, what: &'static str) -> ConfigError {
        ConfigError::Unusable { server: self.server.clone(), field: field.to_owned(), what }
    }
}

/// Whether a variable of this name says nothing that is to be hidden.
fn is_everybodys(name: &str) -> bool {
    EVERYBODYS.contains(&name) || name.starts_with("LC_") || name.starts_with("XDG_")
}
