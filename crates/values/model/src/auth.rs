//! How a server wants to be told who we are, as far as a file says it.
//!
//! Only what was declared: tokens are elsewhere, and what a file leaves out is discovered.

use crate::Secret;

/// What a file says about authorization at one endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Auth {
    /// Where the identity comes from.
    pub provider: AuthProvider,
    /// What is known of the authorization server beforehand.
    pub oauth: OAuth,
}

/// Where the identity sent to an endpoint comes from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum AuthProvider {
    /// From whatever the endpoint asks for.
    #[default]
    Discovered,
    /// From nowhere: even if it asks, no login is begun.
    Off,
    /// OAuth, even if it does not ask.
    OAuth,
    /// The application's own Google credentials.
    GoogleCredentials,
    /// A Google service account that is impersonated.
    ServiceAccount {
        /// For whom the token is meant.
        audience: String,
        /// The account.
        account: String,
    },
    /// Another host's own login, by its name: nobody else can use it.
    Foreign(String),
}

/// What is known of the authorization server beforehand.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OAuth {
    /// The client's id.
    pub client_id: Option<String>,
    /// The client's secret.
    pub client_secret: Option<Secret<String>>,
    /// Who issues tokens.
    pub issuer: Option<String>,
    /// Where the metadata of the authorization server lies.
    pub metadata_url: Option<String>,
    /// Where the user is sent.
    pub authorization_url: Option<String>,
    /// Where tokens are had.
    pub token_url: Option<String>,
    /// Where clients register.
    pub registration_url: Option<String>,
    /// Where the user is sent back to.
    pub redirect_uri: Option<String>,
    /// The port he is sent back to.
    pub callback_port: Option<u16>,
    /// What is asked for.
    pub scopes: Vec<String>,
    /// For whom tokens are meant.
    pub audiences: Vec<String>,
    /// The resource they are for.
    pub resource: Option<String>,
    /// The query parameter the token travels in, where it is no header.
    pub token_param: Option<String>,
}

impl Auth {
    /// Everything that is said, in an order of its own: what a consent is bound to.
    pub(crate) fn parts(&self) -> Vec<&str> {
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
        parts.extend(self.oauth.said().into_iter().flat_map(|(name, text)| [name, text]));
        parts
    }
}

impl OAuth {
    /// Every text that is said, with the name of its field. Some are secret.
    pub fn said(&self) -> Vec<(&'static str, &str)> {
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
