//! `auth` of an entry: where the identity comes from, and what is known of the login beforehand.

use toolgate_model::{Auth, AuthProvider, OAuth};

use crate::frame::oauth::{self, Names, Part};
use crate::frame::{Fields, Writer};

const NAMES: &Names = &[
    ("client_id", Part::ClientId),
    ("client_secret", Part::ClientSecret),
    ("issuer", Part::Issuer),
    ("metadata_url", Part::MetadataUrl),
    ("authorization_url", Part::AuthorizationUrl),
    ("token_url", Part::TokenUrl),
    ("registration_url", Part::RegistrationUrl),
    ("redirect_uri", Part::RedirectUri),
    ("callback_port", Part::CallbackPort),
    ("scopes", Part::Scopes),
    ("audiences", Part::Audiences),
    ("resource", Part::Resource),
    ("token_param", Part::TokenParam),
];
/// Words for where the identity comes from.
const PROVIDERS: [&str; 5] = ["discover", "none", "oauth", "google", SERVICE_ACCOUNT];
const SERVICE_ACCOUNT: &str = "service-account";
/// What the name of another host's own login begins with.
const FOREIGN: &str = "host:";

pub(super) fn read(entry: &mut Fields<'_, '_, '_>) -> Auth {
    let read = entry.within("auth", |inner| {
        let mut known = OAuth::default();
        oauth::read(inner, NAMES, &mut known);
        Auth { provider: provider(inner), oauth: known }
    });
    read.unwrap_or_default()
}

fn provider(fields: &mut Fields<'_, '_, '_>) -> AuthProvider {
    let (audience, account) = (fields.template("audience"), fields.template("account"));
    let named = fields.node("provider").and_then(|_| fields.text("provider"));
    if named != Some(SERVICE_ACCOUNT) && (audience.is_some() || account.is_some()) {
        let key = if audience.is_some() { "audience" } else { "account" };
        let hint = "add `provider = \"service-account\"`, or remove it";
        fields.warn(key, "has no effect without a service account", hint);
    }
    match named {
        None | Some("discover") => AuthProvider::Discovered,
        Some("none") => AuthProvider::Off,
        Some("oauth") => AuthProvider::OAuth,
        Some("google") => AuthProvider::GoogleCredentials,
        Some(SERVICE_ACCOUNT) => {
            let (Some(audience), Some(account)) = (audience, account) else {
                fields.fail("lacks `audience` or `account`", "a service account needs both");
                return AuthProvider::Off;
            };
            AuthProvider::ServiceAccount { audience, account }
        }
        Some(other) => match other.strip_prefix(FOREIGN).filter(|host| !host.is_empty()) {
            Some(host) => AuthProvider::Foreign(host.to_owned()),
            None => {
                let words = PROVIDERS.map(|word| (word, ()));
                fields.choice("provider", &words);
                AuthProvider::Off
            }
        },
    }
}

pub(super) fn write(auth: &Auth, writer: &mut Writer<'_>) {
    writer.within("auth", |inner| {
        let word = match &auth.provider {
            AuthProvider::Discovered => None,
            AuthProvider::Off => Some("none".to_owned()),
            AuthProvider::OAuth => Some("oauth".to_owned()),
            AuthProvider::GoogleCredentials => Some("google".to_owned()),
            AuthProvider::ServiceAccount { .. } => Some(SERVICE_ACCOUNT.to_owned()),
            AuthProvider::Foreign(host) => Some(format!("{FOREIGN}{host}")),
        };
        inner.plain("provider", word.as_deref());
        if let AuthProvider::ServiceAccount { audience, account } = &auth.provider {
            inner.template("audience", audience);
            inner.template("account", account);
        }
        for (key, said) in oauth::write(inner, NAMES, &mut auth.oauth.clone()) {
            inner.data(&key, said);
        }
    });
}
