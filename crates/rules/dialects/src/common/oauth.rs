//! Reads and writes OAuth settings. Dialects share the settings and differ in the names of the
//! fields.
//!
//! A dialect lists its field names with their meaning once, for both reading and writing. The
//! provider of the identity is read elsewhere.

use toolgate_model::{ConfigValue, OAuthSpec, Secret};

use super::{EntryWriter, TableFields};

/// One OAuth setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OAuthField {
    ClientId,
    ClientSecret,
    Issuer,
    MetadataUrl,
    AuthorizationUrl,
    TokenUrl,
    RegistrationUrl,
    RedirectUri,
    CallbackPort,
    /// A list of scopes.
    Scopes,
    /// The scopes as one string, separated by spaces.
    ScopeText,
    Audiences,
    Resource,
    TokenParam,
}

/// The OAuth field names of a dialect, each with its meaning.
pub(crate) type OAuthKeys = [(&'static str, OAuthField)];

/// Reads the OAuth settings of a table.
pub(crate) fn read(fields: &mut TableFields<'_, '_, '_>, names: &OAuthKeys, into: &mut OAuthSpec) {
    for (key, part) in names {
        match part {
            OAuthField::ClientSecret => {
                into.client_secret =
                    fields.template(key).map(Secret::new).or(into.client_secret.take());
            }
            OAuthField::CallbackPort => {
                into.callback_port = port(fields, key).or(into.callback_port)
            }
            OAuthField::Scopes => replace(&mut into.scopes, fields.templates(key)),
            OAuthField::Audiences => replace(&mut into.audiences, fields.templates(key)),
            OAuthField::ScopeText => {
                let text = fields.template(key);
                let words = text.map(|it| it.split_whitespace().map(str::to_owned).collect());
                replace(&mut into.scopes, words);
            }
            other => {
                let found = fields.template(key);
                if let Some(slot) = text_of(into, *other) {
                    *slot = found.or(slot.take());
                }
            }
        }
    }
}

fn replace(list: &mut Vec<String>, found: Option<Vec<String>>) {
    if let Some(found) = found {
        *list = found;
    }
}

/// Returns a local port.
fn port(fields: &mut TableFields<'_, '_, '_>, key: &'static str) -> Option<u16> {
    let number = fields.integer(key)?;
    let port = u16::try_from(number).ok().filter(|port| *port != 0);
    if port.is_none() {
        let at = fields.node(key)?.at;
        fields.error_with_value(
            at,
            &format!("has an invalid `{key}`: {number}"),
            "use a port from 1 to 65535",
        );
    }
    port
}

/// Returns the setting if it is a single string.
fn text_of(oauth: &mut OAuthSpec, part: OAuthField) -> Option<&mut Option<String>> {
    match part {
        OAuthField::ClientId => Some(&mut oauth.client_id),
        OAuthField::Issuer => Some(&mut oauth.issuer),
        OAuthField::MetadataUrl => Some(&mut oauth.metadata_url),
        OAuthField::AuthorizationUrl => Some(&mut oauth.authorization_url),
        OAuthField::TokenUrl => Some(&mut oauth.token_url),
        OAuthField::RegistrationUrl => Some(&mut oauth.registration_url),
        OAuthField::RedirectUri => Some(&mut oauth.redirect_uri),
        OAuthField::Resource => Some(&mut oauth.resource),
        OAuthField::TokenParam => Some(&mut oauth.token_param),
        OAuthField::ClientSecret
        | OAuthField::CallbackPort
        | OAuthField::Scopes
        | OAuthField::ScopeText
        | OAuthField::Audiences => None,
    }
}

/// Writes the OAuth settings that have a name in this dialect, and removes them from the spec. The
/// dialect cannot express the rest.
pub(crate) fn write(
    writer: &mut EntryWriter<'_>,
    names: &OAuthKeys,
    oauth: &mut OAuthSpec,
) -> Vec<(String, ConfigValue)> {
    let written = names.iter().filter_map(|(key, part)| {
        let value = take(oauth, *part)?;
        let value = translate(writer, &format!("auth.{key}"), value)?;
        Some(((*key).to_owned(), value))
    });
    written.collect()
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

/// Removes and returns one setting, if it is set.
fn take(oauth: &mut OAuthSpec, part: OAuthField) -> Option<ConfigValue> {
    let list = |texts: Vec<String>| (!texts.is_empty()).then(|| ConfigValue::texts(texts));
    match part {
        OAuthField::ClientSecret => {
            oauth.client_secret.take().map(|it| ConfigValue::text(it.expose()))
        }
        OAuthField::CallbackPort => {
            oauth.callback_port.take().map(|port| ConfigValue::Integer(port.into()))
        }
        OAuthField::Scopes => list(std::mem::take(&mut oauth.scopes)),
        OAuthField::ScopeText => {
            let scopes = std::mem::take(&mut oauth.scopes);
            (!scopes.is_empty()).then(|| ConfigValue::Text(scopes.join(" ")))
        }
        OAuthField::Audiences => list(std::mem::take(&mut oauth.audiences)),
        text => text_of(oauth, text)?.take().map(ConfigValue::Text),
    }
}
