//! Checks the URLs that servers ask a person to visit.
//!
//! Only `https` is allowed, or `http` on this machine. A user name before the host is refused,
//! because it can make one host look like another; so are invisible characters. The host is shown
//! in punycode. No URL is ever fetched here.

use std::borrow::Cow;

use toolgate_model::{ServerName, is_invisible};
use toolgate_wire::view::RpcError;
use toolgate_wire::{Frame, code, scan};
use url::{Host, Url};

use crate::present::failure_instead;

/// A URL that may be shown.
pub(super) struct VettedElicitationUrl {
    /// The host and port, in punycode.
    pub(super) host: String,
    /// The URL in ASCII, if it was not.
    pub(super) ascii: Option<String>,
}

/// Checks a URL; the error says why it must not be shown.
pub(super) fn vet_url(address: &str) -> Result<VettedElicitationUrl, &'static str> {
    if address.chars().any(|c| is_invisible(c) || c.is_whitespace() || c == '\\') {
        return Err("its URL contains invisible or blank characters");
    }
    let url = Url::parse(address).map_err(|_| "its URL is not valid")?;
    let local = match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        None => return Err("its URL has no host"),
    };
    match url.scheme() {
        "https" => {}
        "http" if local => {}
        _ => return Err("its URL is not https"),
    }
    if !url.username().is_empty() || url.password().is_some() || has_userinfo(address) {
        return Err("its URL contains a user name, which can hide the host");
    }
    let host = url.host_str().unwrap_or_default();
    let host = match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    };
    let spelled = (!address.is_ascii()).then(|| url.to_string());
    Ok(VettedElicitationUrl { host, ascii: spelled })
}

/// Returns true if the authority contains `@`, even with an empty user name.
fn has_userinfo(address: &str) -> bool {
    let rest = address.split_once("//").map_or(address, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().is_some_and(|authority| authority.contains('@'))
}

/// Replaces an answer that requires visits to unsafe URLs, because a client shows those itself.
pub(crate) fn reject_unsafe_urls(server: &ServerName, answer: Frame) -> Frame {
    let Some(error) = answer.error() else { return answer };
    let demands = RpcError::of(error).and_then(|error| error.code)
        == Some(i64::from(code::URL_ELICITATION_REQUIRED));
    if !demands {
        return answer;
    }
    let why = addresses(error).find_map(|address| vet_url(&address).err());
    let Some(why) = why else { return answer };
    tracing::warn!(target: "toolgate::gate", %server, "refused a required visit to a URL: {why}");
    let message = format!("the server requires a visit to a URL that cannot be shown: {why}");
    failure_instead(&answer, code::REFUSED, &message)
}

fn addresses(error: &[u8]) -> impl Iterator<Item = Cow<'_, str>> {
    let list = scan::pointer(error, &["data", "elicitations"]);
    let list = list.map(|at| at.slice(error)).unwrap_or_default();
    scan::elements(list).map(move |at| scan::member_text(at.slice(list), "url").unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_known_by_their_host() {
        for (address, host) in [
            ("https://example.com/login?x=1", "example.com"),
            ("https://example.com:8443/", "example.com:8443"),
            ("http://localhost:3000/cb", "localhost:3000"),
            ("http://127.0.0.1/", "127.0.0.1"),
            ("http://[::1]:8/", "[::1]:8"),
            ("https://githսb.com/x", "xn--githb-8jf.com"),
        ] {
            let judged = vet_url(address).map(|it| it.host);
            match address.is_ascii() {
                true => assert_eq!(judged, Ok(host.to_owned())),
                false => assert!(judged.is_ok_and(|it| it.starts_with("xn--") && it.is_ascii())),
            }
        }
    }

    #[test]
    fn what_deceives_is_not_shown() {
        for address in [
            "https://github.com@evil.example/",
            "https://user:pw@evil.example/",
            "https://@evil.example/",
            "http://example.com/",
            "javascript:alert(1)",
            "file:///etc/passwd",
            "data:text/html,x",
            "https:\\\\evil.example",
            "https://evil\u{200b}.example/",
            "https://a b/",
            "not an address",
            "",
        ] {
            assert!(vet_url(address).is_err(), "{address}");
        }
    }
}
