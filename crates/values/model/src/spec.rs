//! One declared server: how to reach it, and within which limits.
//!
//! Values of `env` and `headers` may be credentials, so they are [`Secret`]s as soon as a file is
//! read. `rules/dialects` translates variables into Toolgate's own syntax; they are expanded once,
//! when the gateway connects.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::{
    AuthSpec, ConfigValue, Digest, LaunchFiles, Mask, SafetySpec, SamplingLimits, Secret,
    ServerName, ToolSelection, is_loader_variable, secrets_in_args, secrets_in_url,
};

/// A server as declared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSpec {
    /// The name it was declared under.
    pub name: ServerName,
    /// The transport.
    pub transport: TransportSpec,
    /// Whether the server may start at all.
    pub enabled: bool,
    /// The timeouts.
    pub timeouts: ServerTimeouts,
    /// Which callers share one connection.
    pub pool: PoolScope,
    /// The purpose, as the declaration describes it.
    pub description: Option<String>,
    /// The tags of its tools; `None` for the default tags.
    pub tags: Option<Vec<String>>,
    /// Whether its tools run without asking. Only user and system files can set this.
    pub trust: bool,
    /// What it may ask of its callers' models; `None`: nothing. Only user and system files can set
    /// this.
    pub sampling: Option<SamplingLimits>,
    /// Whether its resources may become part of the local context. Only user and system files can
    /// set this.
    pub compile: bool,
    /// Whether clients wait until it is ready.
    pub required: bool,
    /// Which of its tools are visible.
    pub selection: ToolSelection,
    /// What was reviewed, and how the process is sandboxed.
    pub safety: SafetySpec,
    /// Settings that only other hosts understand, by dialect, kept so that they can be written
    /// back.
    pub extras: BTreeMap<String, Secret<ConfigValue>>,
}

impl ServerSpec {
    /// Creates a server with defaults for everything else.
    pub fn new(name: ServerName, transport: TransportSpec) -> Self {
        Self {
            name,
            transport,
            enabled: true,
            timeouts: ServerTimeouts::default(),
            pool: PoolScope::default(),
            description: None,
            tags: None,
            trust: false,
            sampling: None,
            compile: false,
            required: false,
            selection: ToolSelection::default(),
            safety: SafetySpec::default(),
            extras: BTreeMap::new(),
        }
    }

    /// Returns the identity of the process or endpoint, so that what the gateway learnt about one
    /// command or address does not apply to another of the same name. A consent covers more, see
    /// [`Self::consent_digest`].
    pub fn digest(&self) -> Digest {
        match &self.transport {
            TransportSpec::Stdio(stdio) => stdio.digest(),
            TransportSpec::Http(http) => http.digest(),
            TransportSpec::BuiltIn => Digest::of_parts([b"builtin", self.name.as_str().as_bytes()]),
        }
    }

    /// Returns the digest that a consent is bound to: the identity, every `env` value as written,
    /// and the contents of the files that are read or run. Variables such as `${env:NAME}` count by
    /// name. The version changes with the set of inputs, so that a consent given to less becomes
    /// invalid.
    pub fn consent_digest(&self) -> Digest {
        let identity = self.digest();
        let mut parts = vec![b"toolgate consent, version 2".as_slice(), identity.as_bytes()];
        if let TransportSpec::Stdio(stdio) = &self.transport {
            for (name, value) in &stdio.env {
                parts.extend([b"env".as_slice(), name.as_bytes(), value.expose().as_bytes()]);
            }
            if let Some(file) = &stdio.files.env_file {
                let content = file.digest.as_ref().map_or(b"unread".as_slice(), |it| it.as_bytes());
                parts.extend([b"env file".as_slice(), content]);
            }
            for file in &stdio.files.project {
                if let Some(digest) = &file.digest {
                    parts.extend([b"file".as_slice(), file.written.as_bytes(), digest.as_bytes()]);
                }
            }
        }
        Digest::of_parts(parts)
    }
}

/// A server with its variables expanded, ready to connect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedServer {
    /// The server, with all variables expanded.
    pub spec: ServerSpec,
    /// The values that must not be shown: the values of variables, and every value of `env`,
    /// headers and logins.
    pub mask: Mask,
}

impl From<ServerSpec> for ResolvedServer {
    /// Takes a server without variables; the mask covers the values that look secret.
    fn from(spec: ServerSpec) -> Self {
        let secret: Vec<_> = match &spec.transport {
            TransportSpec::Stdio(stdio) => {
                let env = stdio.env.values().map(|value| value.expose().clone());
                env.chain(secrets_in_args(&stdio.args)).collect()
            }
            TransportSpec::Http(http) => {
                let headers = http.headers.values().map(|value| value.expose().clone());
                headers.chain(secrets_in_url(&http.url)).collect()
            }
            TransportSpec::BuiltIn => Vec::new(),
        };
        Self { spec, mask: Mask::new(secret) }
    }
}

/// How the gateway reaches a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TransportSpec {
    /// A child process that communicates over its standard streams.
    Stdio(StdioSpec),
    /// An HTTP endpoint.
    Http(HttpSpec),
    /// A server inside this process, identified by its name.
    BuiltIn,
}

impl TransportSpec {
    /// Returns the transport as a word for listings.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Stdio(_) => "stdio",
            Self::Http(http) if http.kind == HttpTransportKind::Sse => "sse",
            Self::Http(_) => "http",
            Self::BuiltIn => "builtin",
        }
    }
}

/// The process of a stdio server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StdioSpec {
    /// The executable: a name to look up on the child's `PATH`, or a path.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its working directory.
    pub cwd: Option<PathBuf>,
    /// Environment variables declared in the entry.
    pub env: BTreeMap<String, Secret<String>>,
    /// A file with more variables, one `NAME=value` per line; `env` takes precedence.
    pub env_file: Option<PathBuf>,
    /// Patterns of variables to inherit from the gateway's environment.
    pub env_inherit: Vec<String>,
    /// The files it is started with, as they were when the configuration was read; empty before.
    pub files: LaunchFiles,
}

impl StdioSpec {
    /// Digests the exact command, arguments, working directory and variable names. Values do not
    /// count, so that a token can be replaced, with two exceptions: a value with a variable counts
    /// as written because it takes something from the user, and a loader variable counts because it
    /// decides which code runs.
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
            if value.expose().contains("${") || is_loader_variable(name) {
                parts.extend([b"taken".as_slice(), name.as_bytes(), value.expose().as_bytes()]);
            }
        }
        let of_file = self.files.env_file.iter().filter_map(|file| file.variables.as_ref());
        for (name, value) in of_file.flatten().filter(|(name, _)| is_loader_variable(name)) {
            parts.extend([b"from file".as_slice(), name.as_bytes(), value.expose().as_bytes()]);
        }
        Digest::of_parts(parts)
    }
}

/// The endpoint of an HTTP server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HttpSpec {
    /// Its URL.
    pub url: String,
    /// Headers sent with every request.
    pub headers: BTreeMap<String, Secret<String>>,
    /// A command that prints more headers.
    pub headers_helper: Option<Secret<String>>,
    /// The HTTP transport it uses.
    pub kind: HttpTransportKind,
    /// How the gateway authenticates.
    pub auth: Box<AuthSpec>,
}

/// Which HTTP transport an endpoint uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HttpTransportKind {
    /// Detected when connecting.
    #[default]
    Auto,
    /// Streamable HTTP only.
    Streamable,
    /// HTTP+SSE, the transport of 2024-11-05.
    Sse,
}

impl HttpSpec {
    /// Digests the address with headers and login as written, because a variable in one of them, or
    /// an identity, is sent to that address. The transport does not count: it changes how requests
    /// are sent, not what is sent or to whom.
    fn digest(&self) -> Digest {
        let headers = self.headers.iter().flat_map(|(name, value)| [name, value.expose()]);
        let helper = self.headers_helper.as_ref().map(Secret::expose);
        let parts = ["http", &self.url].into_iter().chain(headers.map(String::as_str));
        let helper = helper.into_iter().flat_map(|helper| ["headers helper", helper]);
        let login = self.auth.digest_parts();
        let login = (!login.is_empty()).then_some("login").into_iter().chain(login);
        Digest::of_parts(parts.chain(helper).chain(login).map(str::as_bytes))
    }
}

/// The configured timeouts of one server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ServerTimeouts {
    /// The limit from start to the end of the handshake.
    pub start: Option<Duration>,
    /// The limit for a call without any sign of life; progress restarts it. Without it a call may
    /// be silent until `max`: clients have limits of their own, and many tools report no progress.
    pub call: Option<Duration>,
    /// The limit for a call in total.
    pub max: Option<Duration>,
}

impl ServerTimeouts {
    const START: Duration = Duration::from_secs(30);
    const MAX: Duration = Duration::from_secs(60 * 60);
    /// The default for the gateway's own requests. They are short, and several callers may wait for
    /// one of them.
    const OWN_REQUEST: Duration = Duration::from_secs(60);

    /// Sets one limit for everything.
    pub fn all(limit: Duration) -> Self {
        Self { start: Some(limit), ..Self::calls(limit) }
    }

    /// Sets one limit for every call, whatever happens meanwhile.
    pub fn calls(limit: Duration) -> Self {
        Self { start: None, call: Some(limit), max: Some(limit) }
    }

    /// Returns these limits, with the missing ones taken from `general`.
    pub fn or(self, general: Self) -> Self {
        Self {
            start: self.start.or(general.start),
            call: self.call.or(general.call),
            max: self.max.or(general.max),
        }
    }

    /// Returns the limit of the handshake.
    pub fn start(self) -> Duration {
        self.start.unwrap_or(Self::START)
    }

    /// Returns the total limit of a call.
    pub fn max(self) -> Duration {
        self.max.unwrap_or(Self::MAX)
    }

    /// Returns how long one of the gateway's own requests, such as a list request, may be silent.
    pub fn own_request(self) -> Duration {
        self.call.unwrap_or(Self::OWN_REQUEST).min(self.max())
    }
}

/// Which callers share one connection to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PoolScope {
    /// All callers share one.
    #[default]
    Shared,
    /// Each caller has its own: for servers that keep state, roots or credentials per caller.
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

        let changes: [fn(&mut StdioSpec); 8] = [
            |s| drop(s.env.insert("TOKEN".into(), Secret::new("${file:~/.ssh/id}".into()))),
            |s| s.command = "node".into(),
            |s| s.args.push("--x".into()),
            |s| s.cwd = Some("elsewhere".into()),
            |s| drop(s.env.insert("MORE".into(), Secret::default())),
            |s| s.env_inherit.push("AWS_*".into()),
            |s| s.env_file = Some("more".into()),
            |s| {
                let variables = [("PYTHONPATH".to_owned(), Secret::new("lib".to_owned()))];
                let file =
                    crate::EnvFile { variables: Some(variables.into()), ..Default::default() };
                s.files.env_file = Some(file);
            },
        ];
        for change in changes {
            let mut changed = spec();
            change(&mut changed);
            assert_ne!(given, changed.digest(), "{changed:?}");
        }
    }

    #[test]
    fn a_loader_variable_is_part_of_the_command() {
        let with = |value: &str| {
            let mut spec = spec();
            spec.env.insert("PYTHONPATH".into(), Secret::new(value.into()));
            spec.digest()
        };
        assert_eq!(with("lib"), with("lib"));
        assert_ne!(with("lib"), with("other"));
    }

    #[test]
    fn a_consent_is_bound_to_values_and_to_what_files_hold() {
        let consent = |change: &dyn Fn(&mut StdioSpec)| {
            let mut stdio = spec();
            change(&mut stdio);
            let name = ServerName::new("a").unwrap();
            ServerSpec::new(name, TransportSpec::Stdio(stdio)).consent_digest()
        };
        let content = |text: &'static str| {
            consent(&move |s| {
                let digest = Some(Digest::of(text.as_bytes()));
                let file = crate::EnvFile { digest, ..Default::default() };
                s.files.env_file = Some(file);
            })
        };
        let file = |digest: Option<Digest>| {
            consent(&move |s| {
                let (written, path) = ("server.py".to_owned(), "server.py".into());
                s.files.project = vec![crate::LaunchProjectFile { written, path, digest }];
            })
        };
        let plain = consent(&|_| {});
        let value = consent(&|s| drop(s.env.insert("TOKEN".into(), Secret::new("two".into()))));
        let pinned = [file(Some(Digest::of(b"1"))), file(Some(Digest::of(b"2")))];
        let all = [plain, value, content("A=1"), content("A=2"), pinned[0], pinned[1]];
        let told_apart: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(told_apart.len(), all.len());
        assert_eq!(file(None), plain, "what is not pinned does not count");
        assert_ne!(plain, spec().digest(), "what was once consented to by less does not count");
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
        let older = HttpSpec { kind: HttpTransportKind::Sse, ..spec("${TOKEN}") };
        assert_eq!(spec("${TOKEN}").digest(), older.digest(), "the same place, told differently");
    }

    #[test]
    fn a_listing_tells_the_old_transport_apart_where_it_was_asked_for() {
        let listed = |kind| TransportSpec::Http(HttpSpec { kind, ..HttpSpec::default() }).as_str();
        assert_eq!(
            [HttpTransportKind::Auto, HttpTransportKind::Streamable, HttpTransportKind::Sse]
                .map(listed),
            ["http", "http", "sse"]
        );
    }

    #[test]
    fn a_debugged_spec_shows_no_value() {
        assert!(!format!("{:?}", spec()).contains("canary"));
    }
}
