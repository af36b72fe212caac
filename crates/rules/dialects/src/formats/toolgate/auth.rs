//! `auth` of an entry: the source of the identity, and the OAuth settings.

use toolgate_model::{AuthProvider, AuthSpec, OAuthSpec};

use crate::common::oauth::{self, OAuthField, OAuthKeys};
use crate::common::{EntryWriter, TableFields};

const NAMES: &OAuthKeys = &[
    ("client_id", OAuthField::CLIENT_ID),
    ("client_secret", OAuthField::ClientSecret),
    ("issuer", OAuthField::ISSUER),
    ("metadata_url", OAuthField::METADATA_URL),
    ("authorization_url", OAuthField::AUTHORIZATION_URL),
    ("token_url", OAuthField::TOKEN_URL),
    ("registration_url", OAuthField::REGISTRATION_URL),
    ("redirect_uri", OAuthField::REDIRECT_URI),
    ("callback_port", OAuthField::CallbackPort),
    ("scopes", OAuthField::SCOPES),
    ("audiences", OAuthField::AUDIENCES),
    ("resource", OAuthField::RESOURCE),
    ("token_param", OAuthField::TOKEN_PARAM),
];
/// Names of identity sources.
const PROVIDERS: [&str; 5] = ["discover", "none", "oauth", "google", SERVICE_ACCOUNT];
const SERVICE_ACCOUNT: &str = "service-account";
/// The prefix of the name of another host's login.
const FOREIGN: &str = "host:";

pub(super) fn read(entry: &mut TableFields<'_>) -> AuthSpec {
    let read = entry.with_table("auth", |inner| {
        let mut known = OAuthSpec::default();
        oauth::read(inner, NAMES, &mut known);
        AuthSpec { provider: provider(inner), oauth: known }
    });
    read.unwrap_or_default()
}

fn provider(fields: &mut TableFields<'_>) -> AuthProvider {
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

pub(super) fn write(mut auth: AuthSpec, writer: &mut EntryWriter<'_>) {
    writer.with_table("auth", |inner| {
        let word = match &auth.provider {
            AuthProvider::Discovered => None,
            AuthProvider::Off => Some("none".to_owned()),
            AuthProvider::OAuth => Some("oauth".to_owned()),
            AuthProvider::GoogleCredentials => Some("google".to_owned()),
            AuthProvider::ServiceAccount { .. } => Some(SERVICE_ACCOUNT.to_owned()),
            AuthProvider::Foreign(host) => Some(format!("{FOREIGN}{host}")),
        };
        inner.text("provider", word.as_deref());
        if let AuthProvider::ServiceAccount { audience, account } = &auth.provider {
            inner.template("audience", audience);
            inner.template("account", account);
        }
        oauth::write(inner, NAMES, &mut auth.oauth);
    });
}
