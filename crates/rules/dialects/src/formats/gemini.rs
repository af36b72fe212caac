//! `settings.json` of Gemini CLI and LLxprt Code.
//!
//! Where LLxprt's documentation and code differ, the code counts, and the documented spelling is
//! accepted with a warning: `transport` for `type`, and flat OAuth fields. `timeout` limits
//! everything. Two lists beside the servers enable and disable them.

use std::time::Duration;

use toolgate_model::{
    AuthProvider, AuthSpec, ConfigValue, HttpSpec, HttpTransportKind, ServerName, ServerSpec,
    ServerTimeouts, TransportSpec,
};

use super::write_helpers::{self, TimeoutScope};
use crate::common::fields::TimeUnit;
use crate::common::oauth::{self, OAuthField};
use crate::common::server::{self, EntryKeys};
use crate::common::tool_filter::ToolFilterKeys;
use crate::common::tree::TreeMember;
use crate::common::{EntryWriter, TableFields};
use crate::dialect_format::{DialectFormat, ParsedEntry, ServerFilterKeys, ServersLocation};
use crate::{FileSettings, Syntax, VariableSyntax};

/// The dialect of Gemini CLI or LLxprt Code.
pub(crate) struct Gemini {
    /// The name in `extra`.
    id: &'static str,
}

impl Gemini {
    pub const GEMINI: Self = Self { id: "gemini" };
    pub const LLXPRT: Self = Self { id: "llxprt" };
}

const KEYS: EntryKeys = EntryKeys {
    transport_names: &[
        ("stdio", None),
        ("http", Some(HttpTransportKind::Streamable)),
        ("sse", Some(HttpTransportKind::Sse)),
        ("streamable-http", Some(HttpTransportKind::Streamable)),
    ],
    ..EntryKeys::COMMON
};
/// The older field for an endpoint, which implies the transport.
const HTTP_URL: &str = "httpUrl";
/// Fields that only these hosts use.
const KEPT: [&str; 2] = ["extension", "tcp"];
const TOOLS: ToolFilterKeys = ToolFilterKeys { include: "includeTools", exclude: "excludeTools" };
const LISTING: ServerFilterKeys =
    ServerFilterKeys { allowed: &["mcp", "allowed"], excluded: &["mcp", "excluded"] };
const OAUTH: [(&str, OAuthField); 10] = [
    ("clientId", OAuthField::ClientId),
    ("clientSecret", OAuthField::ClientSecret),
    ("authorizationUrl", OAuthField::AuthorizationUrl),
    ("issuer", OAuthField::Issuer),
    ("tokenUrl", OAuthField::TokenUrl),
    ("scopes", OAuthField::Scopes),
    ("audiences", OAuthField::Audiences),
    ("redirectUri", OAuthField::RedirectUri),
    ("tokenParamName", OAuthField::TokenParam),
    ("registrationUrl", OAuthField::RegistrationUrl),
];
/// OAuth fields as LLxprt documents them, and as its code reads them.
const FLAT: [(&str, OAuthField, &str); 4] = [
    ("oauthClientId", OAuthField::ClientId, "clientId"),
    ("oauthAuthorizationUrl", OAuthField::AuthorizationUrl, "authorizationUrl"),
    ("oauthTokenUrl", OAuthField::TokenUrl, "tokenUrl"),
    ("oauthScopes", OAuthField::Scopes, "scopes"),
];
const PROVIDERS: [(&str, GeminiAuthProvider); 3] = [
    ("dynamic_discovery", GeminiAuthProvider::Discovered),
    ("google_credentials", GeminiAuthProvider::Google),
    ("service_account_impersonation", GeminiAuthProvider::Account),
];
/// Fields that only apply to endpoints.
const HTTP_ONLY: [&str; 8] = [
    "oauth",
    "authProviderType",
    "targetAudience",
    "targetServiceAccount",
    FLAT[0].0,
    FLAT[1].0,
    FLAT[2].0,
    FLAT[3].0,
];

/// The providers of `authProviderType`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum GeminiAuthProvider {
    Discovered,
    Google,
    Account,
}

impl DialectFormat for Gemini {
    fn syntax(&self) -> Syntax {
        Syntax::Json
    }

    fn servers_location(&self) -> ServersLocation {
        ServersLocation::Map(&["mcpServers"])
    }

    fn variable_syntax(&self) -> VariableSyntax {
        VariableSyntax::Dollar
    }

    fn is_servers_only(&self) -> bool {
        false
    }

    fn server_filter(&self) -> Option<ServerFilterKeys> {
        Some(LISTING)
    }

    /// Reads no settings, but reports lists of the wrong type, which would disable nothing.
    fn read_settings(&self, top: &mut TableFields<'_, '_, '_>) -> FileSettings {
        if let Some((at, members)) = top.table("mcp") {
            let mut mcp = TableFields::of(top.diagnostics(), "`mcp`".to_owned(), at, members);
            for key in ["allowed", "excluded"] {
                mcp.texts(key);
            }
        }
        FileSettings::default()
    }

    fn apply_shared_settings(
        &self,
        spec: &mut ServerSpec,
        _entry: &[TreeMember],
        top: &mut TableFields<'_, '_, '_>,
    ) -> Option<(String, String)> {
        if LISTING.allows(top.members(), spec.name.as_str()) {
            return None;
        }
        spec.enabled = false;
        let hint = "change `mcp.allowed` or `mcp.excluded` to start it".to_owned();
        Some(("is disabled by the lists in `mcp`".to_owned(), hint))
    }

    fn read(&self, name: ServerName, entry: &mut TableFields<'_, '_, '_>) -> Option<ParsedEntry> {
        let mut transport = transport(entry, self.id == Self::LLXPRT.id);
        match &mut transport {
            Some(TransportSpec::Http(http)) => *http.auth = auth(entry),
            Some(_) => server::warn_unused(entry, "command", &HTTP_ONLY),
            None => entry.mark_known(&HTTP_ONLY),
        }
        let selection = TOOLS.read(entry);
        let trust = entry.flag("trust").unwrap_or(false);
        let description = entry.text("description").map(str::to_owned);
        let limit = entry.time("timeout", TimeUnit::Millis);
        let timeouts = limit.map(ServerTimeouts::all).unwrap_or_default();
        let extras = entry.read_extras(&KEPT).map(|kept| (self.id.to_owned(), kept));
        let mut spec = ServerSpec::new(name, transport?);
        spec.extras.extend(extras);
        Some(ServerSpec { selection, trust, description, timeouts, ..spec }.into())
    }

    fn write(&self, spec: &ServerSpec, writer: &mut EntryWriter<'_>) {
        let mut rest = spec.clone();
        // The lists beside the servers carry this setting.
        rest.enabled = true;
        match &mut rest.transport {
            TransportSpec::Stdio(stdio) => write_helpers::stdio(stdio, &KEYS, writer),
            TransportSpec::Http(http) => write_http(http, writer),
            TransportSpec::BuiltIn => {
                return write_helpers::report_undeclarable(writer, "it is built in");
            }
        }
        if let Some(limit) =
            write_helpers::timeout(&mut rest.timeouts, TimeoutScope::All, Duration::ZERO)
        {
            writer.millis("timeout", limit);
        }
        if std::mem::take(&mut rest.trust) {
            writer.flag("trust", true);
        }
        writer.text("description", rest.description.take().as_deref());
        TOOLS.write(writer, &mut rest.selection);
        write_helpers::report_losses(&rest, self.id, writer);
    }
}

/// Reads the process to start or the endpoint to connect to. The older `httpUrl` is an endpoint
/// with Streamable HTTP.
fn transport(
    entry: &mut TableFields<'_, '_, '_>,
    documents_transport: bool,
) -> Option<TransportSpec> {
    if entry.node("tcp").is_some() {
        entry.warn("tcp", "has no effect: WebSocket is not supported", "give its HTTP endpoint");
    }
    if let (Some(_), Some(node)) = (entry.node("url"), entry.node(HTTP_URL)) {
        let hint = format!("keep `url`, with \"type\": \"http\", and remove `{HTTP_URL}`");
        entry.error_at(node.at, &format!("has both `url` and `{HTTP_URL}`"), &hint);
    }
    let found = match entry.node(HTTP_URL) {
        None => server::read_transport(entry, &KEYS),
        Some(_) => {
            let older = server::read_transport(entry, &EntryKeys { url: HTTP_URL, ..KEYS });
            older.map(|transport| set_streamable(entry, transport))
        }
    };
    // LLxprt documents `transport`; Gemini CLI does not read it.
    if !documents_transport && entry.node("transport").is_some() {
        entry.warn("transport", "is not read by this host", "rename it to `type`");
    }
    found
}

fn set_streamable(
    entry: &mut TableFields<'_, '_, '_>,
    mut transport: TransportSpec,
) -> TransportSpec {
    if let TransportSpec::Http(http) = &mut transport {
        if http.kind == HttpTransportKind::Sse {
            server::warn_unused(entry, HTTP_URL, &["type"]);
        }
        http.kind = HttpTransportKind::Streamable;
    }
    transport
}

/// Reads how Toolgate authenticates to an endpoint.
fn auth(entry: &mut TableFields<'_, '_, '_>) -> AuthSpec {
    let mut auth = AuthSpec::default();
    for (key, part, nested) in FLAT {
        if entry.node(key).is_some() {
            let hint = format!("write it as \"oauth\": {{\"{nested}\": …}}");
            entry.warn(key, "is not read by LLxprt itself", &hint);
            oauth::read(entry, &[(key, part)], &mut auth.oauth);
        }
    }
    let enabled = entry.with_table("oauth", |inner| {
        oauth::read(inner, &OAUTH, &mut auth.oauth);
        inner.flag("enabled")
    });
    let provider =
        entry.choice("authProviderType", &PROVIDERS).unwrap_or(GeminiAuthProvider::Discovered);
    auth.provider = match (provider, enabled.flatten()) {
        (GeminiAuthProvider::Discovered, Some(true)) => AuthProvider::OAuth,
        (GeminiAuthProvider::Discovered, Some(false)) => AuthProvider::Off,
        (GeminiAuthProvider::Discovered, None) => AuthProvider::Discovered,
        (GeminiAuthProvider::Google, _) => AuthProvider::GoogleCredentials,
        (GeminiAuthProvider::Account, _) => service_account(entry),
    };
    if provider != GeminiAuthProvider::Account {
        let beside = "authProviderType";
        for key in ["targetAudience", "targetServiceAccount"] {
            if entry.node(key).is_some() {
                let hint = "set it to \"service_account_impersonation\"";
                entry.warn(key, &format!("has no effect with this `{beside}`"), hint);
            }
        }
    }
    auth
}

/// Reads a service account to impersonate, which needs an account and an audience.
fn service_account(entry: &mut TableFields<'_, '_, '_>) -> AuthProvider {
    let mut required = |key: &'static str, what: &str| {
        let found = entry.template(key);
        if found.is_none() && entry.node(key).is_none() {
            let problem = format!("impersonates a service account without `{key}`");
            entry.fail(&problem, &format!("add {what}"));
        }
        found.unwrap_or_default()
    };
    AuthProvider::ServiceAccount {
        audience: required("targetAudience", "the client id the token is meant for"),
        account: required("targetServiceAccount", "the account's address"),
    }
}

fn write_http(http: &mut HttpSpec, writer: &mut EntryWriter<'_>) {
    write_helpers::http(http, &KEYS, writer);
    let word = match std::mem::take(&mut http.kind) {
        HttpTransportKind::Auto => None,
        HttpTransportKind::Streamable => Some("http"),
        HttpTransportKind::Sse => Some("sse"),
    };
    writer.text("type", word);
    let mut oauth = oauth::write(writer, &OAUTH, &mut http.auth.oauth);
    match std::mem::take(&mut http.auth.provider) {
        AuthProvider::Discovered => {}
        AuthProvider::OAuth => oauth.insert(0, ("enabled".to_owned(), ConfigValue::Bool(true))),
        AuthProvider::Off => oauth.insert(0, ("enabled".to_owned(), ConfigValue::Bool(false))),
        AuthProvider::GoogleCredentials => {
            writer.text("authProviderType", Some("google_credentials"));
        }
        AuthProvider::ServiceAccount { audience, account } => {
            writer.text("authProviderType", Some("service_account_impersonation"));
            writer.template("targetAudience", &audience);
            writer.template("targetServiceAccount", &account);
        }
        other @ AuthProvider::Foreign(_) => http.auth.provider = other,
    }
    if !oauth.is_empty() {
        writer.data("oauth", ConfigValue::Table(oauth));
    }
}
