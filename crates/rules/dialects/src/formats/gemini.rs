//! `settings.json` of Gemini CLI and LLxprt Code.
//!
//! Where LLxprt's documentation and code differ, the code counts, and the documented spelling is
//! accepted with a warning: `transport` for `type`, and flat OAuth fields. `timeout` limits
//! everything. Two lists beside the servers enable and disable them.

use toolgate_model::{AuthProvider, AuthSpec, HttpTransportKind, ServerSpec, TransportSpec};

use crate::common::entry::{self, EntryField, TimeoutField, TimeoutScope};
use crate::common::fields::TimeUnit;
use crate::common::oauth::{self, OAuthField};
use crate::common::server::{self, EntryKeys, SSE, STREAMABLE};
use crate::common::tool_filter::ToolFilterKeys;
use crate::common::{EntryWriter, TableFields};
use crate::dialect_format::{DialectFormat, EnabledServerListKeys};
use crate::{FileSettings, VariableSyntax};

/// The dialect of LLxprt Code.
pub(crate) const LLXPRT: DialectFormat = DialectFormat {
    name: "llxprt",
    paths: &[".llxprt/settings.json", "llxprt-code/settings.json"],
    extras: "llxprt",
    variables: VariableSyntax::Dollar,
    servers_only: false,
    server_filter: Some(LISTING),
    fields: &[
        // The lists beside the servers carry this setting.
        EntryField::Other(read_transport, |rest, writer| {
            rest.enabled = true;
            server::write_transport(&mut rest.transport, &KEYS, writer);
        }),
        EntryField::Other(read_auth, write_auth),
        EntryField::Tools(ToolFilterKeys { include: "includeTools", exclude: "excludeTools" }),
        EntryField::Flag("trust", |spec| &mut spec.trust),
        EntryField::Text("description", |spec| &mut spec.description),
        EntryField::Timeout(TimeoutField::new("timeout", TimeUnit::Millis, TimeoutScope::All)),
        EntryField::Kept(&["extension", "tcp"]),
    ],
    // Lists of the wrong type are reported, because they would disable nothing.
    read_settings: |top| {
        if let Some((at, members)) = top.table("mcp") {
            let mut mcp = top.nested("`mcp`", at, members);
            let _ = ["allowed", "excluded"].map(|key| mcp.texts(key));
        }
        FileSettings::default()
    },
    apply_shared_settings: |spec, _, top| {
        if LISTING.allows(top.members, spec.name.as_str()) {
            return None;
        }
        spec.enabled = false;
        let hint = "change `mcp.allowed` or `mcp.excluded` to start it".to_owned();
        Some(("is disabled by the lists in `mcp`".to_owned(), hint))
    },
    ..DialectFormat::MCP_SERVERS
};

/// The dialect of Gemini CLI. It does not read `transport`, which LLxprt documents.
pub(crate) const FORMAT: DialectFormat = DialectFormat {
    name: "gemini",
    paths: &[".gemini/settings.json", "gemini-cli/settings.json"],
    extras: "gemini",
    read: |format, name, fields| {
        let found = entry::read(format, name, fields);
        if fields.has("transport") {
            fields.warn("transport", "is not read by this host", "rename it to `type`");
        }
        found
    },
    ..LLXPRT
};

const KEYS: EntryKeys = EntryKeys {
    transport_names: &[
        ("stdio", None),
        ("http", STREAMABLE),
        ("sse", SSE),
        ("streamable-http", STREAMABLE),
    ],
    written_names: &[("http", STREAMABLE), ("sse", SSE)],
    ..EntryKeys::COMMON
};
/// The older field for an endpoint, which implies the transport.
const HTTP_URL: &str = "httpUrl";
const LISTING: EnabledServerListKeys =
    EnabledServerListKeys { allowed: &["mcp", "allowed"], excluded: &["mcp", "excluded"] };
const OAUTH: [(&str, OAuthField); 10] = [
    ("clientId", OAuthField::CLIENT_ID),
    ("clientSecret", OAuthField::ClientSecret),
    ("authorizationUrl", OAuthField::AUTHORIZATION_URL),
    ("issuer", OAuthField::ISSUER),
    ("tokenUrl", OAuthField::TOKEN_URL),
    ("scopes", OAuthField::SCOPES),
    ("audiences", OAuthField::AUDIENCES),
    ("redirectUri", OAuthField::REDIRECT_URI),
    ("tokenParamName", OAuthField::TOKEN_PARAM),
    ("registrationUrl", OAuthField::REGISTRATION_URL),
];
/// OAuth fields as LLxprt documents them, and as its code reads them.
const FLAT: [(&str, OAuthField, &str); 4] = [
    ("oauthClientId", OAuthField::CLIENT_ID, "clientId"),
    ("oauthAuthorizationUrl", OAuthField::AUTHORIZATION_URL, "authorizationUrl"),
    ("oauthTokenUrl", OAuthField::TOKEN_URL, "tokenUrl"),
    ("oauthScopes", OAuthField::SCOPES, "scopes"),
];
/// Fields that only apply to endpoints, besides the flat ones.
const HTTP_ONLY: [&str; 4] = ["oauth", PROVIDER, "targetAudience", "targetServiceAccount"];
const PROVIDER: &str = "authProviderType";
const GOOGLE: &str = "google_credentials";
const ACCOUNT: &str = "service_account_impersonation";

/// Reads the process to start or the endpoint to connect to. The older `httpUrl` is an endpoint
/// with Streamable HTTP.
fn read_transport(entry: &mut TableFields<'_>, spec: &mut ServerSpec) {
    if entry.has("tcp") {
        entry.warn("tcp", "has no effect: WebSocket is not supported", "give its HTTP endpoint");
    }
    let (has_url, older) = (entry.has("url"), entry.node(HTTP_URL));
    if let (true, Some(node)) = (has_url, older) {
        let hint = format!("keep `url`, with \"type\": \"http\", and remove `{HTTP_URL}`");
        entry.error_at(node.at, &format!("has both `url` and `{HTTP_URL}`"), &hint);
    }
    let url = if older.is_some() { HTTP_URL } else { KEYS.url };
    let Some(mut transport) = server::read_transport(entry, &EntryKeys { url, ..KEYS }) else {
        return;
    };
    if let (TransportSpec::Http(http), Some(_)) = (&mut transport, older) {
        if http.kind == HttpTransportKind::Sse {
            server::warn_unused(entry, HTTP_URL, &["type"]);
        }
        http.kind = HttpTransportKind::Streamable;
    }
    spec.transport = transport;
}

/// Reads how Toolgate authenticates to an endpoint.
fn read_auth(entry: &mut TableFields<'_>, spec: &mut ServerSpec) {
    match &mut spec.transport {
        TransportSpec::Http(http) => *http.auth = auth(entry),
        TransportSpec::Stdio(_) => {
            server::warn_unused(entry, "command", &HTTP_ONLY);
            server::warn_unused(entry, "command", &FLAT.map(|(key, ..)| key));
        }
        TransportSpec::BuiltIn => {
            entry.mark_known(&HTTP_ONLY);
            entry.mark_known(&FLAT.map(|(key, ..)| key));
        }
    }
}

fn auth(entry: &mut TableFields<'_>) -> AuthSpec {
    let mut auth = AuthSpec::default();
    for (key, field, nested) in FLAT {
        if entry.has(key) {
            let hint = format!("write it as \"oauth\": {{\"{nested}\": …}}");
            entry.warn(key, "is not read by LLxprt itself", &hint);
            oauth::read(entry, &[(key, field)], &mut auth.oauth);
        }
    }
    let enabled = entry.with_table("oauth", |inner| {
        oauth::read(inner, &OAUTH, &mut auth.oauth);
        inner.flag("enabled")
    });
    let discovered = match enabled.flatten() {
        Some(true) => AuthProvider::OAuth,
        Some(false) => AuthProvider::Off,
        None => AuthProvider::Discovered,
    };
    let words = [("dynamic_discovery", ""), (GOOGLE, GOOGLE), (ACCOUNT, ACCOUNT)];
    let provider = entry.choice(PROVIDER, &words).unwrap_or_default();
    auth.provider = match provider {
        GOOGLE => AuthProvider::GoogleCredentials,
        ACCOUNT => service_account(entry),
        _ => discovered,
    };
    for key in ["targetAudience", "targetServiceAccount"] {
        if provider != ACCOUNT && entry.has(key) {
            let hint = "set it to \"service_account_impersonation\"";
            entry.warn(key, &format!("has no effect with this `{PROVIDER}`"), hint);
        }
    }
    auth
}

/// Reads a service account to impersonate, which needs an account and an audience.
fn service_account(entry: &mut TableFields<'_>) -> AuthProvider {
    let mut required = |key: &'static str, what: &str| {
        if !entry.has(key) {
            let problem = format!("impersonates a service account without `{key}`");
            entry.fail(&problem, &format!("add {what}"));
        }
        entry.template(key).unwrap_or_default()
    };
    AuthProvider::ServiceAccount {
        audience: required("targetAudience", "the client id the token is meant for"),
        account: required("targetServiceAccount", "the account's address"),
    }
}

fn write_auth(rest: &mut ServerSpec, writer: &mut EntryWriter<'_>) {
    let TransportSpec::Http(http) = &mut rest.transport else { return };
    let mut enabled = None;
    match std::mem::take(&mut http.auth.provider) {
        AuthProvider::Discovered => {}
        AuthProvider::OAuth => enabled = Some(true),
        AuthProvider::Off => enabled = Some(false),
        AuthProvider::GoogleCredentials => writer.text(PROVIDER, Some(GOOGLE)),
        AuthProvider::ServiceAccount { audience, account } => {
            writer.text(PROVIDER, Some(ACCOUNT));
            writer.template("targetAudience", &audience);
            writer.template("targetServiceAccount", &account);
        }
        other @ AuthProvider::Foreign(_) => http.auth.provider = other,
    }
    writer.with_table("oauth", |inner| {
        if let Some(enabled) = enabled {
            inner.flag("enabled", enabled);
        }
        oauth::write(inner, &OAUTH, &mut http.auth.oauth);
    });
}
