//! The login an entry prepares: dialects agree on what can be said of it and differ in the names.
//!
//! A dialect lists its names with what they mean, once; reading and writing follow from that list.
//! Who logs in, and whether at all, is read elsewhere.

use toolgate_model::{Data, OAuth, Secret};

use super::{Fields, Writer};

/// One thing that can be said of a login.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    ClientId,
    ClientSecret,
    Issuer,
    MetadataUrl,
    AuthorizationUrl,
    TokenUrl,
    RegistrationUrl,
    RedirectUri,
    CallbackPort,
    /// A list of them.
    Scopes,
    /// The same in one text, with spaces between them.
    ScopeText,
    Audiences,
    Resource,
    TokenParam,
}

/// The names of a dialect, and what each means.
pub(crate) type Names = [(&'static str, Part)];

/// Reads what a table says of a login.
pub(crate) fn read(fields: &mut Fields<'_, '_, '_>, names: &Names, into: &mut OAuth) {
    for (key, part) in names {
        match part {
            Part::ClientSecret => {
                into.client_secret =
                    fields.template(key).map(Secret::new).or(into.client_secret.take());
            }
            Part::CallbackPort => into.callback_port = port(fields, key).or(into.callback_port),
            Part::Scopes => replace(&mut into.scopes, fields.templates(key)),
            Part::Audiences => replace(&mut into.audiences, fields.templates(key)),
            Part::ScopeText => {
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

/// A port of this machine.
fn port(fields: &mut Fields<'_, '_, '_>, key: &'static str) -> Option<u16> {
    let number = fields.integer(key)?;
    let port = u16::try_from(number).ok().filter(|port| *port != 0);
    if port.is_none() {
        let at = fields.node(key)?.at;
        fields.wrong(at, &format!("cannot have `{key}` {number}"), "give a port from 1 to 65535");
    }
    port
}

/// The parts that are one text.
fn text_of(oauth: &mut OAuth, part: Part) -> Option<&mut Option<String>> {
    match part {
        Part::ClientId => Some(&mut oauth.client_id),
        Part::Issuer => Some(&mut oauth.issuer),
        Part::MetadataUrl => Some(&mut oauth.metadata_url),
        Part::AuthorizationUrl => Some(&mut oauth.authorization_url),
        Part::TokenUrl => Some(&mut oauth.token_url),
        Part::RegistrationUrl => Some(&mut oauth.registration_url),
        Part::RedirectUri => Some(&mut oauth.redirect_uri),
        Part::Resource => Some(&mut oauth.resource),
        Part::TokenParam => Some(&mut oauth.token_param),
        Part::ClientSecret
        | Part::CallbackPort
        | Part::Scopes
        | Part::ScopeText
        | Part::Audiences => None,
    }
}

/// What these names say of a login, taken out of it: what is left has no name here.
pub(crate) fn write(
    writer: &mut Writer<'_>,
    names: &Names,
    oauth: &mut OAuth,
) -> Vec<(String, Data)> {
    let written = names.iter().filter_map(|(key, part)| {
        let said = take(oauth, *part)?;
        let said = translated(writer, &format!("auth.{key}"), said)?;
        Some(((*key).to_owned(), said))
    });
    written.collect()
}

fn translated(writer: &mut Writer<'_>, field: &str, said: Data) -> Option<Data> {
    match said {
        Data::Text(text) => writer.translated(field, &text).map(Data::Text),
        Data::List(items) => {
            let items = items.into_iter().filter_map(|item| translated(writer, field, item));
            Some(Data::List(items.collect()))
        }
        other => Some(other),
    }
}

/// One part, if it says anything.
fn take(oauth: &mut OAuth, part: Part) -> Option<Data> {
    let list = |texts: Vec<String>| (!texts.is_empty()).then(|| Data::texts(texts));
    match part {
        Part::ClientSecret => oauth.client_secret.take().map(|it| Data::text(it.expose())),
        Part::CallbackPort => oauth.callback_port.take().map(|port| Data::Integer(port.into())),
        Part::Scopes => list(std::mem::take(&mut oauth.scopes)),
        Part::ScopeText => {
            let scopes = std::mem::take(&mut oauth.scopes);
            (!scopes.is_empty()).then(|| Data::Text(scopes.join(" ")))
        }
        Part::Audiences => list(std::mem::take(&mut oauth.audiences)),
        text => text_of(oauth, text)?.take().map(Data::Text),
    }
}
