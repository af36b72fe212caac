//! One declared server: how to reach it, and with what limits.
//!
//! Values of `env` and `headers` may hold credentials, so they are [`Secret`]s from the moment a
//! file was read. Interpolation has not happened yet: it is done once, when a connection is made.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::{Digest, Secret, ServerName};

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
}

impl ServerSpec {
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
    /// Patterns of variables taken over from our own environment.
    pub env_inherit: Vec<String>,
}

impl StdioSpec {
    /// Exact command, arguments, working folder and the names (not the values) of its variables.
    fn digest(&self) -> Digest {
        let cwd = self.cwd.as_ref().map(|path| path.to_string_lossy().into_owned());
        let counts = [self.args.len(), self.env.len(), self.env_inherit.len()];
        let counts = format!("{counts:?}");
        let mut parts = vec![counts.as_bytes(), self.command.as_bytes()];
        parts.extend(self.args.iter().map(String::as_bytes));
        parts.push(cwd.as_deref().unwrap_or_default().as_bytes());
        parts.extend(self.env.keys().map(String::as_bytes));
        parts.extend(self.env_inherit.iter().map(String::as_bytes));
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
    /// Which of the HTTP transports it speaks.
    pub kind: HttpKind,
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
    /// The address with its headers as they are written: a variable in one of them is something of
    /// the user's that would be sent there. The transport is left out: it changes how things are
    /// said there, not what is sent or to whom.
    fn digest(&self) -> Digest {
        let headers = self.headers.iter().flat_map(|(name, value)| [name, value.expose()]);
        let parts = ["http", &self.url].into_iter().chain(headers.map(String::as_str));
        Digest::of_parts(parts.map(str::as_bytes))
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

        let changes: [fn(&mut StdioSpec); 5] = [
            |s| s.command = "node".into(),
            |s| s.args.push("--x".into()),
            |s| s.cwd = Some("elsewhere".into()),
            |s| drop(s.env.insert("MORE".into(), Secret::default())),
            |s| s.env_inherit.push("AWS_*".into()),
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
            kind: HttpKind::Auto,
        };
        assert_eq!(spec("${TOKEN}").digest(), spec("${TOKEN}").digest());
        assert_ne!(spec("${TOKEN}").digest(), spec("${OTHER}").digest());
        let elsewhere = HttpSpec { url: "https://example.com/".into(), ..spec("${TOKEN}") };
        assert_ne!(spec("${TOKEN}").digest(), elsewhere.digest());
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
