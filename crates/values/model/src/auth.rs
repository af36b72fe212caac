//! How the gateway authenticates to a server, as far as a file declares it.
//!
//! Tokens are stored elsewhere, and what a file leaves out is discovered.

use crate::Secret;

/// The declared authorization for one endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AuthSpec {
    /// How the gateway obtains its identity.
    pub provider: AuthProvider,
    /// The authorization server settings that are known in advance.
    pub oauth: OAuthSpec,
}

/// How the gateway obtains the identity that it sends to an endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum AuthProvider {
    /// Whatever method the endpoint asks for.
    #[default]
    Discovered,
    /// None: no login starts even if the endpoint asks for one.
    Off,
    /// OAuth, even if the endpoint does not ask.
    OAuth,
    /// Google application default credentials.
    GoogleCredentials,
    /// An impersonated Google service account.
    ServiceAccount {
        /// The audience of the token.
        audience: String,
        /// The account.
        account: String,
    },
    /// The login of another host, by name. Only that host can use it.
    Foreign(String),
}

/// The authorization server settings that are known in advance.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OAuthSpec {
    /// The client id.
    pub client_id: Option<String>,
    /// The client secret.
    pub client_secret: Option<Secret<String>>,
    /// The issuer of tokens.
    pub issuer: Option<String>,
    /// The URL of the authorization server's metadata.
    pub metadata_url: Option<String>,
    /// The authorization endpoint, where the user logs in.
    pub authorization_url: Option<String>,
    /// The token endpoint.
    pub token_url: Option<String>,
    /// The registration endpoint.
    pub registration_url: Option<String>,
    /// The redirect URI after the login.
    pub redirect_uri: Option<String>,
    /// The port of the redirect URI.
    pub callback_port: Option<u16>,
    /// The requested scopes.
    pub scopes: Vec<String>,
    /// The audiences of tokens.
    pub audiences: Vec<String>,
    /// The resource that tokens are for.
    pub resource: Option<String>,
    /// The query parameter that carries the token, if it is not a header.
    pub token_param: Option<String>,
}

impl AuthSpec {
    /// Returns everything declared, in a fixed order, for the digest that a consent is bound to.
    pub(crate) fn digest_parts(&self) -> Vec<&str> {
        let mut parts = match &self.provider {
            AuthProvider::Discovered => Vec::new(),
            AuthProvider::Off => vec!["off"],
            AuthProvider::OAuth => vec!["oauth"],
            AuthProvider::GoogleCredentials => vec!["google credentials"],
            AuthProvider::ServiceAccount { audience, account } => {
                vec!["service account", audience, account]
            }
            AuthProvider::Foreign(name) => vec!["foreign", name],
        };
        parts.extend(self.oauth.fields().into_iter().flat_map(|(name, text)| [name, text]));
        parts
    }
}

impl OAuthSpec {
    /// Returns every declared text with the name of its field. Some texts are secret.
    pub fn fields(&self) -> Vec<(&'static str, &str)> {
        let one = [
            ("client_id", self.client_id.as_deref()),
            ("client_secret", self.client_secret.as_ref().map(|it| it.expose().as_str())),
            ("issuer", self.issuer.as_deref()),
            ("metadata_url", self.metadata_url.as_deref()),
            ("authorization_url", self.authorization_url.as_deref()),
            ("token_url", self.token_url.as_deref()),
            ("registration_url", self.registration_url.as_deref()),
            ("redirect_uri", self.redirect_uri.as_deref()),
            ("resource", self.resource.as_deref()),
            ("token_param", self.token_param.as_deref()),
        ];
        let one = one.into_iter().filter_map(|(name, text)| Some((name, text?)));
        let scopes = self.scopes.iter().map(|text| ("scopes", text.as_str()));
        let audiences = self.audiences.iter().map(|text| ("audiences", text.as_str()));
        one.chain(scopes).chain(audiences).collect()
    }
}
