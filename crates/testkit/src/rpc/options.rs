//! The command-line options that all servers of the kit share.

use std::net::SocketAddr;

use super::http::TestHttpOptions;
use super::revision::LegacyRevision;

/// The transport of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerTransport {
    /// On our stdin and stdout.
    Stdio,
    /// On Streamable HTTP at this address.
    Http(SocketAddr),
    /// On HTTP with a stream of its own for the server's messages, as 2024-11-05 had it.
    Sse(SocketAddr),
}

/// The parsed command line of a server.
#[derive(Debug, Clone)]
pub struct Options {
    /// How the server is reached.
    pub carrier: ServerTransport,
    /// What concerns HTTP only.
    pub http: TestHttpOptions,
    /// The newest revision it agrees to.
    pub revision: LegacyRevision,
    /// How many entries a list page holds.
    pub page: Option<usize>,
    /// Ask for the client's roots as soon as there is a client.
    pub ask_roots: bool,
}

/// The options, for a usage line.
pub const USAGE: &str = "(--stdio | --http HOST:PORT | --sse HOST:PORT) [--json] \
                         [--forget-sessions-after N] [--until-eof] [--revision R] [--page N] \
                         [--ask-roots]";

impl Options {
    /// Reads the command line; an error says what was wrong with it.
    pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut arguments = arguments.into_iter();
        let mut carrier = None;
        let mut options = Self {
            carrier: ServerTransport::Stdio,
            http: TestHttpOptions::default(),
            revision: LegacyRevision::NEWEST,
            page: None,
            ask_roots: false,
        };
        while let Some(flag) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{flag} needs a value"));
            match flag.as_str() {
                "--stdio" => carrier = Some(ServerTransport::Stdio),
                "--http" => carrier = Some(ServerTransport::Http(number(&value()?)?)),
                "--sse" => carrier = Some(ServerTransport::Sse(number(&value()?)?)),
                "--json" => options.http.json = true,
                "--ask-roots" => options.ask_roots = true,
                "--until-eof" => options.http.until_eof = true,
                "--forget-sessions-after" => options.http.forget_after = Some(number(&value()?)?),
                "--page" => options.page = Some(number::<usize>(&value()?)?.max(1)),
                "--revision" => options.revision = revision(&value()?)?,
                _ => return Err(format!("unknown option {flag}; usage: {USAGE}")),
            }
        }
        options.carrier = carrier.ok_or(format!("usage: {USAGE}"))?;
        Ok(options)
    }
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("not understood: {text}"))
}

fn revision(text: &str) -> Result<LegacyRevision, String> {
    LegacyRevision::parse(text).ok_or(format!("unknown revision {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, String> {
        Options::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn a_carrier_must_be_chosen() {
        assert!(parse("--json").is_err());
    }

    #[test]
    fn every_option_is_read() {
        let line = "--http 127.0.0.1:0 --json --page 2 --revision 2025-03-26";
        let options = parse(&format!("{line} --forget-sessions-after 3")).expect("valid");
        assert!(matches!(options.carrier, ServerTransport::Http(address) if address.port() == 0));
        assert_eq!(options.http.forget_after, Some(3));
        assert_eq!((options.page, options.revision), (Some(2), LegacyRevision::V2025_03_26));
    }
}
