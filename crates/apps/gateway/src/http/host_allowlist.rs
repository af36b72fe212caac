//! Checks the Host and Origin of a request.
//!
//! A page in the user's browser can send requests to the loopback, under any name that its owner's
//! DNS resolves to this machine. It cannot forge Host and Origin, so these are checked before
//! anything else, by exact comparison with the allowed values. Suffixes and prefixes never match.
//! Browsers send no Origin with an image or a script; there `Sec-Fetch-Site` shows that a page sent
//! the request.

use http::header::{HOST, ORIGIN};
use http::uri::Authority;
use http::{HeaderMap, HeaderName, Request, StatusCode};

use super::headers::{single_value, strip_prefix_ignore_case};
use crate::rejection::Rejection;

/// The names that always mean this machine.
const LOOPBACK: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// Tells where a browser's request comes from: `same-origin`, `same-site`, `cross-site` or `none`.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The hosts and origins that requests may name.
#[derive(Debug)]
pub(crate) struct HostAllowlist {
    hosts: Vec<String>,
    origins: Vec<String>,
}

impl HostAllowlist {
    /// Creates the list for a server on `port`, with additional hosts and origins.
    pub(crate) fn new(port: u16, hosts: &[String], origins: &[String]) -> Self {
        let mut allowed = Vec::new();
        for host in LOOPBACK {
            allowed.push(format!("{host}:{port}"));
            // Clients leave out the default port of the scheme.
            if port == 80 {
                allowed.push(host.to_owned());
            }
        }
        for host in hosts {
            if !has_port(host) {
                allowed.push(format!("{host}:{port}"));
            }
            allowed.push(host.clone());
        }
        Self { hosts: allowed, origins: origins.to_vec() }
    }

    /// Checks the Host and Origin of a request.
    pub(crate) fn check<B>(&self, request: &Request<B>) -> Result<(), Rejection> {
        let host = single_value(request.headers(), &HOST).ok_or_else(|| {
            Rejection::new(StatusCode::BAD_REQUEST, "the request must have exactly one Host header")
        })?;
        self.check_host(host.as_bytes())?;
        // A target in absolute form names the host a second time.
        if let Some(authority) = request.uri().authority() {
            self.check_host(authority.as_str().as_bytes())?;
        }
        self.check_origin(request.headers())
    }

    fn check_host(&self, host: &[u8]) -> Result<(), Rejection> {
        if self.allows_host(host) {
            return Ok(());
        }
        let legible = Authority::try_from(host).is_ok_and(|name| {
            let portless = name.host().len() == name.as_str().len();
            !name.as_str().contains('@') && (portless || name.port_u16().is_some())
        });
        Err(if legible {
            Rejection::new(StatusCode::FORBIDDEN, "this Host is not allowed")
        } else {
            Rejection::new(StatusCode::BAD_REQUEST, "the Host header is malformed")
        })
    }

    fn check_origin(&self, headers: &HeaderMap) -> Result<(), Rejection> {
        if !headers.contains_key(ORIGIN) {
            return check_fetch_site(headers);
        }
        let allowed = single_value(headers, &ORIGIN).is_some_and(|origin| {
            let origin = origin.as_bytes();
            let host = strip_prefix_ignore_case(origin, b"http://")
                .or_else(|| strip_prefix_ignore_case(origin, b"https://"));
            host.is_some_and(|host| self.allows_host(host))
                || self.origins.iter().any(|own| own.as_bytes().eq_ignore_ascii_case(origin))
        });
        match allowed {
            true => Ok(()),
            false => Err(Rejection::new(StatusCode::FORBIDDEN, "this Origin is not allowed")),
        }
    }

    fn allows_host(&self, host: &[u8]) -> bool {
        self.hosts.iter().any(|own| own.as_bytes().eq_ignore_ascii_case(host))
    }
}

/// Rejects a request that a page of another origin sent without an Origin header. Another port of
/// this machine is the same site but another origin, so only the gateway's own pages and the
/// address bar are allowed.
fn check_fetch_site(headers: &HeaderMap) -> Result<(), Rejection> {
    let own = |site: &[u8]| [&b"same-origin"[..], b"none"].contains(&site);
    match headers.get_all(FETCH_SITE).iter().all(|site| own(site.as_bytes())) {
        true => Ok(()),
        false => Err(Rejection::new(
            StatusCode::FORBIDDEN,
            "requests from pages of other origins are not allowed",
        )),
    }
}

fn has_port(host: &str) -> bool {
    host.rsplit_once(':').is_some_and(|(_, port)| {
        !port.is_empty() && port.bytes().all(|digit| digit.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the status of a request with these headers; 200 if it is accepted.
    fn knock(host: &[&str], origin: &[&str], target: &str) -> u16 {
        let allowlist = HostAllowlist::new(
            7420,
            &["gate.example:8443".into(), "box.example".into()],
            &["vscode-webview://panel".into()],
        );
        let mut request = Request::builder().uri(target);
        for host in host {
            request = request.header(HOST, *host);
        }
        for origin in origin {
            request = request.header(ORIGIN, *origin);
        }
        allowlist
            .check(&request.body(()).unwrap())
            .map_or_else(|refused| refused.status.as_u16(), |()| 200)
    }

    #[test]
    fn hosts_and_origins_are_allowed_by_name_and_port_only() {
        let own = "127.0.0.1:7420";
        let rows: &[(&[&str], &[&str], u16)] = &[
            (&[own], &[], 200),
            (&["localhost:7420"], &[], 200),
            (&["LocalHost:7420"], &[], 200),
            (&["[::1]:7420"], &[], 200),
            (&["gate.example:8443"], &[], 200),
            (&["box.example:7420"], &["https://box.example"], 200),
            (&[own], &["http://127.0.0.1:7420"], 200),
            (&[own], &["http://localhost:7420"], 200),
            (&[own], &["https://[::1]:7420"], 200),
            (&[own], &["vscode-webview://panel"], 200),
            (&["evil.example"], &[], 403),
            (&["evil.example:7420"], &["http://evil.example:7420"], 403),
            (&["localhost.evil.example:7420"], &[], 403),
            (&["127.0.0.1.nip.io:7420"], &[], 403),
            (&["127.0.0.1"], &[], 403),
            (&["127.0.0.1:7421"], &[], 403),
            (&["gate.example"], &[], 403),
            (&["0.0.0.0:7420"], &[], 403),
            (&["localhost.:7420"], &[], 403),
            (&[own], &["null"], 403),
            (&[own], &["http://evil.example"], 403),
            (&[own], &["http://127.0.0.1:9999"], 403),
            (&[own], &["http://127.0.0.1"], 403),
            (&[own], &["ftp://127.0.0.1:7420"], 403),
            (&[own], &["http://127.0.0.1:7420/"], 403),
            (&[own], &["http://a@127.0.0.1:7420"], 403),
            (&[own], &["http://127.0.0.1:7420", "http://evil.example"], 403),
            (&[], &[], 400),
            (&[""], &[], 400),
            (&[own, "evil.example"], &[], 400),
            (&["evil@127.0.0.1:7420"], &[], 400),
            (&["127.0.0.1:7420/x"], &[], 400),
            (&["127.0.0.1:74 20"], &[], 400),
            (&["127.0.0.1:999999"], &[], 400),
        ];
        for (host, origin, status) in rows {
            assert_eq!(knock(host, origin, "/mcp"), *status, "Host {host:?}, Origin {origin:?}");
        }
    }

    #[test]
    fn an_absolute_target_must_name_us_as_well() {
        assert_eq!(knock(&["localhost:7420"], &[], "http://localhost:7420/mcp"), 200);
        assert_eq!(knock(&["localhost:7420"], &[], "http://evil.example/mcp"), 403);
    }
}
