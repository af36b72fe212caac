//! Recognises entries that lead back to this program: gateways must not start gateways.

use std::path::Path;

use toolgate_model::{ServerSpec, StdioSpec, TransportSpec};

/// Why an entry would be a gateway of ours, if it would.
pub(crate) fn leads_back(spec: &ServerSpec, own_endpoints: &[String]) -> Option<&'static str> {
    match &spec.transport {
        TransportSpec::Stdio(stdio) if starts_a_gateway(stdio) => {
            Some("would start a gateway inside the gateway")
        }
        TransportSpec::Http(http) => {
            let target = authority(&http.url)?;
            let ours = own_endpoints.iter().any(|own| authority(own).as_ref() == Some(&target));
            ours.then_some("points at this gateway itself")
        }
        TransportSpec::Stdio(_) | TransportSpec::BuiltIn => None,
    }
}

/// Our binary as a gateway; its sample server is a server like any other.
fn starts_a_gateway(stdio: &StdioSpec) -> bool {
    let program = Path::new(&stdio.command).file_stem().and_then(|stem| stem.to_str());
    program.is_some_and(|program| program.eq_ignore_ascii_case("toolgate"))
        && stdio.args.iter().any(|arg| arg == "serve")
}

/// Host and port of a URL, the many names of this machine made one.
fn authority(url: &str) -> Option<(String, u16)> {
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host_and_port = authority.rsplit('@').next()?;
    let default = if scheme.eq_ignore_ascii_case("https") { 443 } else { 80 };
    let (host, port) = match host_and_port.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()?),
        _ => (host_and_port, default),
    };
    let host = host.trim_matches(['[', ']']).to_ascii_lowercase();
    let loopback = ["localhost", "::1", "0.0.0.0", "::"].contains(&host.as_str())
        || host.starts_with("127.")
        || host.ends_with(".localhost");
    Some((if loopback { "localhost".to_owned() } else { host }, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_this_machine_are_one() {
        let own = authority("http://127.0.0.1:7420/mcp");
        for url in ["http://localhost:7420", "http://[::1]:7420/x?y", "http://me@LOCALHOST:7420/"] {
            assert_eq!(authority(url), own, "{url}");
        }
        for url in ["http://127.0.0.1:7421/mcp", "http://example.com:7420/mcp", "https://localhost"]
        {
            assert_ne!(authority(url), own, "{url}");
        }
        assert_eq!(authority("http://[::1]"), Some(("localhost".into(), 80)));
    }

    #[test]
    fn only_serving_is_being_a_gateway() {
        let stdio = |command: &str, args: &[&str]| StdioSpec {
            command: command.into(),
            args: args.iter().map(ToString::to_string).collect(),
            ..StdioSpec::default()
        };
        assert!(starts_a_gateway(&stdio("/opt/bin/toolgate", &["serve", "--stdio"])));
        assert!(starts_a_gateway(&stdio("toolgate.exe", &["mcp", "serve"])));
        assert!(!starts_a_gateway(&stdio("toolgate", &["sample-server"])));
        assert!(!starts_a_gateway(&stdio("other", &["serve"])));
    }
}
