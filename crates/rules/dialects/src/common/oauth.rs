//! Reads and writes OAuth settings. Dialects share the settings and differ in the names of the
//! fields.
//!
//! A dialect lists its field names with their meaning once, for both reading and writing. The
//! provider of the identity is read elsewhere.

use toolgate_model::{ConfigValue, OAuthSpec, Secret};

use super::{EntryWriter, TableFields};

/// One OAuth setting, by its form.
#[derive(Debug, Clone, Copy)]
pub(crate) enum OAuthField {
    /// A single string.
    Text(fn(&mut OAuthSpec) -> &mut Option<String>),
    /// A list of strings.
    List(fn(&mut OAuthSpec) -> &mut Vec<String>),
    /// The scopes as one string, separated by spaces.
    ScopeText,
    ClientSecret,
    CallbackPort,
}

impl OAuthField {
    pub const CLIENT_ID: Self = Self::Text(|oauth| &mut oauth.client_id);
    pub const ISSUER: Self = Self::Text(|oauth| &mut oauth.issuer);
    pub const METADATA_URL: Self = Self::Text(|oauth| &mut oauth.metadata_url);
    pub const AUTHORIZATION_URL: Self = Self::Text(|oauth| &mut oauth.authorization_url);
    pub const TOKEN_URL: Self = Self::Text(|oauth| &mut oauth.token_url);
    pub const REGISTRATION_URL: Self = Self::Text(|oauth| &mut oauth.registration_url);
    pub const REDIRECT_URI: Self = Self::Text(|oauth| &mut oauth.redirect_uri);
    pub const RESOURCE: Self = Self::Text(|oauth| &mut oauth.resource);
    pub const TOKEN_PARAM: Self = Self::Text(|oauth| &mut oauth.token_param);
    pub const SCOPES: Self = Self::List(|oauth| &mut oauth.scopes);
    pub const AUDIENCES: Self = Self::List(|oauth| &mut oauth.audiences);
}

/// The OAuth field names of a dialect, each with its meaning.
pub(crate) type OAuthKeys = [(&'static str, OAuthField)];

/// Reads the OAuth settings of a table. A missing field leaves its setting unchanged.
pub(crate) fn read(fields: &mut TableFields<'_>, names: &OAuthKeys, into: &mut OAuthSpec) {
    for (key, field) in names {
        match field {
            OAuthField::Text(slot) => {
                let slot = slot(into);
                *slot = fields.template(key).or(slot.take());
            }
            OAuthField::List(slot) => {
                let slot = slot(into);
                *slot = fields.templates(key).unwrap_or(std::mem::take(slot));
            }
            OAuthField::ScopeText => {
                if let Some(text) = fields.template(key) {
                    into.scopes = text.split_whitespace().map(str::to_owned).collect();
                }
            }
            OAuthField::ClientSecret => {
                let found = fields.template(key).map(Secret::new);
                into.client_secret = found.or(into.client_secret.take());
            }
            OAuthField::CallbackPort => {
                let words = (&*format!("`{key}`"), "use a port from 1 to 65535");
                into.callback_port = read_port(fields, key, words).or(into.callback_port);
            }
        }
    }
}

/// Returns a local port. `what` names it in messages.
pub(crate) fn read_port(
    fields: &mut TableFields<'_>,
    key: &'static str,
    (what, hint): (&str, &str),
) -> Option<u16> {
    let number = fields.integer(key)?;
    let port = u16::try_from(number).ok().filter(|port| *port != 0);
    if port.is_none() {
        let at = fields.node(key)?.at;
        fields.error_with_value(at, &format!("has an invalid {what}: {number}"), hint);
    }
    port
}

/// Writes the OAuth settings that have a name in this dialect, and removes them from the spec. The
/// dialect cannot express the rest.
pub(crate) fn write(writer: &mut EntryWriter<'_>, names: &OAuthKeys, oauth: &mut OAuthSpec) {
    for (key, field) in names {
        let ours = format!("auth.{key}");
        let value = match field {
            OAuthField::Text(slot) => slot(oauth).take().map(ConfigValue::Text),
            OAuthField::List(slot) => list(std::mem::take(slot(oauth))),
            OAuthField::ScopeText => {
                let scopes = std::mem::take(&mut oauth.scopes);
                (!scopes.is_empty()).then(|| ConfigValue::Text(scopes.join(" ")))
            }
            OAuthField::ClientSecret => {
                oauth.client_secret.take().map(|it| ConfigValue::text(it.expose()))
            }
            OAuthField::CallbackPort => {
                oauth.callback_port.take().map(|port| ConfigValue::Integer(port.into()))
            }
        };
        if let Some(value) = value.and_then(|value| translate(writer, &ours, value)) {
            writer.data(key, value);
        }
    }
}

fn list(texts: Vec<String>) -> Option<ConfigValue> {
    (!texts.is_empty()).then(|| ConfigValue::texts(texts))
}

fn translate(writer: &mut EntryWriter<'_>, field: &str, value: ConfigValue) -> Option<ConfigValue> {
    match value {
        ConfigValue::Text(text) => writer.translate(field, &text).map(ConfigValue::Text),
        ConfigValue::List(items) => {
            let items = items.into_iter().filter_map(|item| translate(writer, field, item));
            Some(ConfigValue::List(items.collect()))
        }
        other => Some(other),
    }
}
