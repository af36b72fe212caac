//! Gemini CLI's and LLxprt Code's `settings.json`.
//!
//! Where LLxprt's documents and its code differ, the code is followed and the document's spelling
//! is taken with a warning: `transport` for `type`, and the flat fields of a login. `timeout` is
//! one limit of everything. Which servers are on is said by two lists beside them.

use std::time::Duration;

use toolgate_model::{
    Auth, AuthProvider, Data, HttpKind, HttpSpec, ServerName, ServerSpec, Timeouts, TransportSpec,
};

use super::rest::{self, Covers};
use crate::form::{Entry, Form, Listing, Place};
use crate::frame::fields::Unit;
use crate::frame::oauth::{self, Part};
use crate::frame::server::{self, Keys};
use crate::frame::tools::Lists;
use crate::frame::tree::Member;
use crate::frame::{Fields, Writer};
use crate::{Grammar, Settings, Syntax};

/// One of the two hosts that share the dialect.
pub(crate) struct Gemini {
    /// Its name in `extra`.
    id: &'static str,
}

impl Gemini {
    pub const GEMINI: Self = Self { id: "gemini" };
    pub const LLXPRT: Self = Self { id: "llxprt" };
}

const KEYS: Keys = Keys {
    words: &[
        ("stdio", None),
        ("http", Some(HttpKind::Streamable)),
        ("sse", Some(HttpKind::Sse)),
        ("streamable-http", Some(HttpKind::Streamable)),
    ],
    ..Keys::COMMON
};
/// The older field for an endpoint, which says its transport too.
const HTTP_URL: &str = "httpUrl";
/// Fields that mean something to these hosts only.
const KEPT: [&str; 2] = ["extension", "tcp"];
const TOOLS: Lists = Lists { include: "includeTools", exclude: "excludeTools" };
const LISTING: Listing = Listing { allowed: &["mcp", "allowed"], excluded: &["mcp", "excluded"] };
const OAUTH: [(&str, Part); 10] = [
    ("clientId", Part::ClientId),
    ("clientSecret", Part::ClientSecret),
    ("authorizationUrl", Part::AuthorizationUrl),
    ("issuer", Part::Issuer),
    ("tokenUrl", Part::TokenUrl),
    ("scopes", Part::Scopes),
    ("audiences", Part::Audiences),
    ("redirectUri", Part::RedirectUri),
    ("tokenParamName", Part::TokenParam),
    ("registrationUrl", Part::RegistrationUrl),
];
/// The same as LLxprt's documents spell it, and how its code does.
const FLAT: [(&str, Part, &str); 4] = [
    ("oauthClientId", Part::ClientId, "clientId"),
    ("oauthAuthorizationUrl", Part::AuthorizationUrl, "authorizationUrl"),
    ("oauthTokenUrl", Part::TokenUrl, "tokenUrl"),
    ("oauthScopes", Part::Scopes, "scopes"),
];
const PROVIDERS: [(&str, Provider); 3] = [
    ("dynamic_discovery", Provider::Discovered),
    ("google_credentials", Provider::Google),
    ("service_account_impersonation", Provider::Account),
];
/// Fields that mean something at an endpoint only.
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

#[derive(Clone, Copy, PartialEq, Eq)]
enum Provider {
    Discovered,
    Google,
    Account,
}

impl Form for Gemini {
    fn syntax(&self) -> Syntax {
        Syntax::Json
    }

    fn place(&self) -> Place {
        Place::Map(&["mcpServers"])
    }

    fn grammar(&self) -> Grammar {
        Grammar::Dollar
    }

    fn is_own_file(&self) -> bool {
        false
    }

    fn listing(&self) -> Option<Listing> {
        Some(LISTING)
    }

    /// Nothing of the settings is ours, but a list of the wrong shape switches nothing off.
    fn settings(&self, top: &mut Fields<'_, '_, '_>) -> Settings {
        if let Some((at, members)) = top.table("mcp") {
            let mut mcp = Fields::of(top.report(), "`mcp`".to_owned(), at, members);
            for key in ["allowed", "excluded"] {
                mcp.texts(key);
            }
        }
        Settings::default()
    }

    fn complete(
        &self,
        spec: &mut ServerSpec,
        _entry: &[Member],
        top: &mut Fields<'_, '_, '_>,
    ) -> Option<(String, String)> {
        if LISTING.allows(top.members(), spec.name.as_str()) {
            return None;
        }
        spec.enabled = false;
        let hint = "change `mcp.allowed` or `mcp.excluded` to start it".to_owned();
        Some(("is switched off by the lists in `mcp`".to_owned(), hint))
    }

    fn read(&self, name: ServerName, entry: &mut Fields<'_, '_, '_>) -> Option<Entry> {
        let mut transport = transport(entry, self.id == Self::LLXPRT.id);
        match &mut transport {
            Some(TransportSpec::Http(http)) => *http.auth = auth(entry),
            Some(_) => server::unused(entry, "command", &HTTP_ONLY),
            None => entry.ignored(&HTTP_ONLY),
        }
        let selection = TOOLS.read(entry);
        let trust = entry.flag("trust").unwrap_or(false);
        let description = entry.text("description").map(str::to_owned);
        let limit = entry.time("timeout", Unit::Millis);
        let timeouts = limit.map(Timeouts::all).unwrap_or_default();
        let extras = entry.kept(&KEPT).map(|kept| (self.id.to_owned(), kept));
        let mut spec = ServerSpec::new(name, transport?);
        spec.extras.extend(extras);
        Some(ServerSpec { selection, trust, description, timeouts, ..spec }.into())
    }

    fn write(&self, spec: &ServerSpec, writer: &mut Writer<'_>) {
        let mut rest = spec.clone();
        // The lists beside the servers say it.
        rest.enabled = true;
        match &mut rest.transport {
            TransportSpec::Stdio(stdio) => rest::stdio(stdio, &KEYS, writer),
            TransportSpec::Http(http) => write_http(http, writer),
            TransportSpec::BuiltIn => return rest::undeclarable(writer, "it is built in"),
        }
        if let Some(limit) = rest::timeout(&mut rest.timeouts, Covers::All, Duration::ZERO) {
            writer.millis("timeout", limit);
        }
        if std::mem::take(&mut rest.trust) {
            writer.flag("trust", true);
        }
        writer.plain("description", rest.description.take().as_deref());
        TOOLS.write(writer, &mut rest.selection);
        rest::finish(&rest, self.id, writer);
    }
}

/// Reads what to start, or where to connect. The older `httpUrl` is an endpoint too, and speaks
/// Streamable HTTP.
fn transport(entry: &mut Fields<'_, '_, '_>, documents_transport: bool) -> Option<TransportSpec> {
    if entry.node("tcp").is_some() {
        entry.warn("tcp", "has no effect: web sockets are not spoken", "give its HTTP endpoint");
    }
    if let (Some(_), Some(node)) = (entry.node("url"), entry.node(HTTP_URL)) {
        let hint = format!("keep `url`, with \"type\": \"http\", and remove `{HTTP_URL}`");
        entry.fault(node.at, &format!("has both `url` and `{HTTP_URL}`"), &hint);
    }
    let found = match entry.node(HTTP_URL) {
        None => server::transport(entry, &KEYS),
        Some(_) => {
            let older = server::transport(entry, &Keys { url: HTTP_URL, ..KEYS });
            older.map(|transport| streamable(entry, transport))
        }
    };
    // LLxprt documents it, Gemini CLI does not read it.
    if !documents_transport && entry.node("transport").is_some() {
        entry.warn("transport", "is not read by this host", "call it `type`");
    }
    found
}

fn streamable(entry: &mut Fields<'_, '_, '_>, mut transport: TransportSpec) -> TransportSpec {
    if let TransportSpec::Http(http) = &mut transport {
        if http.kind == HttpKind::Sse {
            server::unused(entry, HTTP_URL, &["type"]);
        }
        http.kind = HttpKind::Streamable;
    }
    transport
}

/// Reads how an endpoint is told who we are.
fn auth(entry: &mut Fields<'_, '_, '_>) -> Auth {
    let mut auth = Auth::default();
    for (key, part, nested) in FLAT {
        if entry.node(key).is_some() {
            let hint = format!("write it as \"oauth\": {{\"{nested}\": …}}");
            entry.warn(key, "is not read by LLxprt itself", &hint);
            oauth::read(entry, &[(key, part)], &mut auth.oauth);
        }
    }
    let enabled = entry.within("oauth", |inner| {
        oauth::read(inner, &OAUTH, &mut auth.oauth);
        inner.flag("enabled")
    });
    let provider = entry.choice("authProviderType", &PROVIDERS).unwrap_or(Provider::Discovered);
    auth.provider = match (provider, enabled.flatten()) {
        (Provider::Discovered, Some(true)) => AuthProvider::OAuth,
        (Provider::Discovered, Some(false)) => AuthProvider::Off,
        (Provider::Discovered, None) => AuthProvider::Discovered,
        (Provider::Google, _) => AuthProvider::GoogleCredentials,
        (Provider::Account, _) => service_account(entry),
    };
    if provider != Provider::Account {
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

/// An account is impersonated for somebody: neither can be left out.
fn service_account(entry: &mut Fields<'_, '_, '_>) -> AuthProvider {
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

fn write_http(http: &mut HttpSpec, writer: &mut Writer<'_>) {
    rest::http(http, &KEYS, writer);
    let word = match std::mem::take(&mut http.kind) {
        HttpKind::Auto => None,
        HttpKind::Streamable => Some("http"),
        HttpKind::Sse => Some("sse"),
    };
    writer.plain("type", word);
    let mut oauth = oauth::write(writer, &OAUTH, &mut http.auth.oauth);
    match std::mem::take(&mut http.auth.provider) {
        AuthProvider::Discovered => {}
        AuthProvider::OAuth => oauth.insert(0, ("enabled".to_owned(), Data::Flag(true))),
        AuthProvider::Off => oauth.insert(0, ("enabled".to_owned(), Data::Flag(false))),
        AuthProvider::GoogleCredentials => {
            writer.plain("authProviderType", Some("google_credentials"));
        }
        AuthProvider::ServiceAccount { audience, account } => {
            writer.plain("authProviderType", Some("service_account_impersonation"));
            writer.template("targetAudience", &audience);
            writer.template("targetServiceAccount", &account);
        }
        other @ AuthProvider::Foreign(_) => http.auth.provider = other,
    }
    if !oauth.is_empty() {
        writer.data("oauth", Data::Table(oauth));
    }
}
