//! One declared server: how to reach it, and with what limits.
//!
//! Values of `env` and `headers` may hold credentials, so they are [`Secret`]s from the moment a
//! file was read. Variables stand in our own grammar, whatever the file's (`rules/dialects` has
//! translated them), and are not expanded yet: that is done once, when a connection is made.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::{
    Auth, Data, Digest, Mask, Safety, SamplingLimits, Secret, Selection, ServerName,
    hidden_in_args, hidden_in_url,
};

/// A server as it was declared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSpec {
    /// The name it was declared under.
    pub name: ServerName,
    /// How it is reached.
    pub transport: TransportSpec,
    /// Whether it is to be started at all.
    pub enabled: bool,
    /// How long things may take.
    pub timeouts: Timeouts,
    /// Who shares one connection.
    pub pool: PoolScope,
    /// What it is for, in the words of whoever declared it.
    pub description: Option<String>,
    /// The tags of its tools; `None`: the usual one.
    pub tags: Option<Vec<String>>,
    /// Whether its tools are called without asking. Only the user's or the system's word counts.
    pub trust: bool,
    /// What it may ask of its callers' models; none: nothing. Only the user's or the system's word
    /// counts.
    pub sampling: Option<SamplingLimits>,
    /// Whether its resources may become part of the local context. Only the user's or the system's
    /// word counts.
    pub compile: bool,
    /// Whether clients are to wait for it.
    pub required: bool,
    /// Which of its tools are visible.
    pub selection: Selection,
    /// What was reviewed, and how it is confined.
    pub safety: Safety,
    /// What its file says that means something to other hosts only, by dialect: kept, so that it
    /// can be written back.
    pub extras: BTreeMap<String, Secret<Data>>,
}

impl ServerSpec {
    /// A server of which nothing but this is said.
    pub fn new(name: ServerName, transport: TransportSpec) -> Self {
        Self {
            name,
            transport,
            enabled: true,
            timeouts: Timeouts::default(),
            pool: PoolScope::default(),
            description: None,
            tags: None,
            trust: false,
            sampling: None,
            compile: false,
            required: false,
            selection: Selection::default(),
            safety: Safety::default(),
            extras: BTreeMap::new(),
        }
    }

    /// The identity of what is started or reached. A consent is bound to it, and what was learnt
    /// of one command or address is not believed of another under the same name.
    pub fn digest(&self) -> Digest {
        match &self.transport {
            TransportSpec::Stdio(stdio) => stdio.digest(),
            TransportSpec::Http(http) => http.digest(),
            TransportSpec::BuiltIn => Digest::of_parts([b"builtin", self.name.as_str().as_bytes()]),
        }
    }
}

/// A server with its variables expanded, for the moment it is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// The server, every text meaning itself.
    pub spec: ServerSpec,
    /// The values that are not to be shown: whatever variables held, and every value of `env`,
    /// headers and logins.
    pub mask: Mask,
}

impl From<ServerSpec> for Resolved {
    /// A server whose texts mean themselves: what is secret in it is what looks like it.
    fn from(spec: ServerSpec) -> Self {
        let secret: Vec<_> = match &spec.transport {
            TransportSpec::Stdio(stdio) => {
                let env = stdio.env.values().map(|value| value.expose().clone());
                env.chain(hidden_in_args(&stdio.args)).collect()
            }
            TransportSpec::Http(http) => {
                let headers = http.headers.values().map(|value| value.expose().clone());
                headers.chain(hidden_in_url(&http.url)).collect()
            }
            TransportSpec::BuiltIn => Vec::new(),
        };
        Self { spec, mask: Mask::new(secret) }
    }
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TransportSpec {
    /// A child process that speaks on its standard streams.
    Stdio(StdioSpec),
    /// An HTTP endpoint.
    Http(HttpSpec),
    /// A server inside this process, found by its name.
    BuiltIn,
}

impl TransportSpec {
    /// The word for it in listings.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Stdio(_) => "stdio",
            Self::Http(http) if http.kind == HttpKind::Sse => "sse",
            Self::Http(_) => "http",
            Self::BuiltIn => "builtin",
        }
    }
}

/// A process to start.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StdioSpec {
    /// One executable: a name looked up on the child's `PATH`, or a path.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its working folder.
    pub cwd: Option<PathBuf>,
    /// Variables named by the entry.
    pub env: BTreeMap<String, Secret<String>>,
    /// A file of more variables, `NAME=value` per line; `env` wins over it.
    pub env_file: Option<PathBuf>,
    /// Patterns of variables taken over from our own environment.
    pub env_inherit: Vec<String>,
}

impl StdioSpec {
    /// Exact command, arguments, working folder and the names (not the values) of its variables. A
    /// value that names something of the user's counts as it is written: what is taken is part of
    /// what he agrees to.
    fn digest(&self) -> Digest {
        let cwd = self.cwd.as_ref().map(|path| path.to_string_lossy().into_owned());
        let counts = [self.args.len(), self.env.len(), self.env_inherit.len()];
        let counts = format!("{counts:?}");
        let mut parts = vec![counts.as_bytes(), self.command.as_bytes()];
        parts.extend(self.args.iter().map(String::as_bytes));
        parts.push(cwd.as_deref().unwrap_or_default().as_bytes());
        parts.extend(self.env.keys().map(String::as_bytes));
        parts.extend(self.env_inherit.iter().map(String::as_bytes));
        let env_file = self.env_file.as_ref().map(|path| path.to_string_lossy().into_owned());
        if let Some(env_file) = &env_file {
            parts.extend([b"env file".as_slice(), env_file.as_bytes()]);
        }
        for (name, value) in &self.env {
            if value.expose().contains("${") {
                parts.extend([b"taken".as_slice(), name.as_bytes(), value.expose().as_bytes()]);
            }
        }
        Digest::of_parts(parts)
    }
}

/// An endpoint to connect to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HttpSpec {
    /// Its URL.
    pub url: String,
    /// Headers sent with every request.
    pub headers: BTreeMap<String, Secret<String>>,
    /// A command that prints more headers.
    pub headers_helper: Option<Secret<String>>,
    /// Which of the HTTP transports it speaks.
    pub kind: HttpKind,
    /// How it is told who we are.
    pub auth: Box<Auth>,
}

/// Which HTTP transport an endpoint speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HttpKind {
    /// Whatever it turns out to speak.
    #[default]
    Auto,
    /// Streamable HTTP, and nothing else is tried.
    Streamable,
    /// HTTP+SSE, the transport of 2024-11-05.
    Sse,
}

impl HttpSpec {
    /// The address with its headers and the login as they are written: a variable in one of them is
    /// something of the user's that would be sent there, and so is an identity. The transport is left out: it changes how things are
    /// said there, not what is sent or to whom.
    fn digest(&self) -> Digest {
        let headers = self.headers.iter().flat_map(|(name, value)| [name, value.expose()]);
        let helper = self.headers_helper.as_ref().map(Secret::expose);
        let parts = ["http", &self.url].into_iter().chain(headers.map(String::as_str));
        let helper = helper.into_iter().flat_map(|helper| ["headers helper", helper]);
        let login = self.auth.parts();
        let login = (!login.is_empty()).then_some("login").into_iter().chain(login);
        Digest::of_parts(parts.chain(helper).chain(login).map(str::as_bytes))
    }
}

/// How long things may take with one server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// From the start to the end of the handshake.
    pub start: Duration,
    /// A call without any sign of life; progress begins it anew.
    pub call: Duration,
    /// A call, whatever happens meanwhile.
    pub max: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(30),
            call: Duration::from_secs(60),
            max: Duration::from_secs(600),
        }
    }
}

/// Who shares one connection to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PoolScope {
    /// All callers.
    #[default]
    Shared,
    /// Each caller has one of his own: for servers whose state, roots or credentials are his.
    PerCaller,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> StdioSpec {
        StdioSpec {
            command: "npx".into(),
            args: vec!["-y".into(), "server".into()],
            env: [("TOKEN".to_owned(), Secret::new("canary".to_owned()))].into(),
            ..StdioSpec::default()
        }
    }

    #[test]
    fn a_process_is_told_apart_by_everything_but_the_values_of_variables() {
        let given = spec().digest();
        let mut other_value = spec();
        other_value.env.insert("TOKEN".into(), Secret::new("two".into()));
        assert_eq!(given, other_value.digest());

        let changes: [fn(&mut StdioSpec); 7] = [
            |s| drop(s.env.insert("TOKEN".into(), Secret::new("${file:~/.ssh/id}".into()))),
            |s| s.command = "node".into(),
            |s| s.args.push("--x".into()),
            |s| s.cwd = Some("elsewhere".into()),
            |s| drop(s.env.insert("MORE".into(), Secret::default())),
            |s| s.env_inherit.push("AWS_*".into()),
            |s| s.env_file = Some("more".into()),
        ];
        for change in changes {
            let mut changed = spec();
            change(&mut changed);
            assert_ne!(given, changed.digest(), "{changed:?}");
        }
    }

    #[test]
    fn an_endpoint_is_told_apart_by_its_headers_as_written() {
        let spec = |value: &str| HttpSpec {
            url: "https://example.com/mcp".into(),
            headers: [("Authorization".to_owned(), Secret::new(value.to_owned()))].into(),
            ..HttpSpec::default()
        };
        assert_eq!(spec("${TOKEN}").digest(), spec("${TOKEN}").digest());
        assert_ne!(spec("${TOKEN}").digest(), spec("${OTHER}").digest());
        let elsewhere = HttpSpec { url: "https://example.com/".into(), ..spec("${TOKEN}") };
        assert_ne!(spec("${TOKEN}").digest(), elsewhere.digest());
        for said in ["token_url", "client_secret", "provider"] {
            let mut other = spec("${TOKEN}");
            match said {
                "token_url" => other.auth.oauth.token_url = Some("https://evil".into()),
                "client_secret" => {
                    other.auth.oauth.client_secret = Some(Secret::new("${secret:x}".into()));
                }
                _ => other.auth.provider = crate::AuthProvider::GoogleCredentials,
            }
            assert_ne!(spec("${TOKEN}").digest(), other.digest(), "{said}");
        }
        let older = HttpSpec { kind: HttpKind::Sse, ..spec("${TOKEN}") };
        assert_eq!(spec("${TOKEN}").digest(), older.digest(), "the same place, told differently");
    }

    #[test]
    fn a_listing_tells_the_old_transport_apart_where_it_was_asked_for() {
        let listed = |kind| TransportSpec::Http(HttpSpec { kind, ..HttpSpec::default() }).as_str();
        assert_eq!(
            [HttpKind::Auto, HttpKind::Streamable, HttpKind::Sse].map(listed),
            ["http", "http", "sse"]
        );
    }

    #[test]
    fn a_debugged_spec_shows_no_value() {
        assert!(!format!("{:?}", spec()).contains("canary"));
    }
}
