//! One HTTP endpoint: its address, the headers of every request, and its connections.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{HOST, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Request, Uri};
use http_body_util::Full;
use url::Url;

use super::dial::{self, ConnectTarget};
use super::pool::ConnectionPool;
use super::response::HttpResponse;
use crate::TransportError;

/// An HTTP endpoint with its headers and its connection pool.
#[derive(Debug)]
pub struct HttpEndpoint {
    url: Url,
    target: ConnectTarget,
    uri: Uri,
    /// The headers of every request. Their values are marked sensitive, so `Debug` hides them.
    headers: HeaderMap,
    pool: Arc<ConnectionPool>,
}

impl HttpEndpoint {
    /// Creates an endpoint. Returns an error if the address or a header is not valid.
    pub fn new<'a>(
        url: &str,
        headers: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, TransportError> {
        let wrong = |reason: String| TransportError::Address { url: redact_url(url), reason };
        let parsed = Url::parse(url).map_err(|error| wrong(error.to_string()))?;
        let tls = match parsed.scheme() {
            "http" => false,
            "https" => true,
            other => return Err(wrong(format!("`{other}` is neither http nor https"))),
        };
        let host = parsed.host_str().ok_or_else(|| wrong("it has no host".into()))?.to_owned();
        let port = parsed.port_or_known_default().unwrap_or(if tls { 443 } else { 80 });
        let uri = request_target(&parsed).ok_or_else(|| wrong("its path is not valid".into()))?;
        let authority = &parsed[url::Position::BeforeHost..url::Position::AfterPort];
        let mut all = HeaderMap::new();
        insert_header(&mut all, HOST.as_str(), authority).map_err(&wrong)?;
        for (name, value) in headers {
            insert_header(&mut all, name, value).map_err(&wrong)?;
        }
        let target = ConnectTarget { host, port, tls };
        Ok(Self { url: parsed, target, uri, headers: all, pool: Arc::default() })
    }

    /// Returns an endpoint at another path of the same origin, with the same headers and
    /// connections. Refuses another origin, because that one must not receive the headers.
    pub fn at_same_origin(&self, reference: &str) -> Result<Self, TransportError> {
        let wrong = |reason: String| TransportError::Address { url: redact_url(reference), reason };
        let url = self.url.join(reference).map_err(|error| wrong(error.to_string()))?;
        if url.origin() != self.url.origin() {
            let origin = self.url.origin().ascii_serialization();
            let reason = format!("it is not of the origin {origin} that sent it");
            return Err(TransportError::Address { url: redact_url(url.as_str()), reason });
        }
        let uri = request_target(&url).ok_or_else(|| wrong("its path is not valid".into()))?;
        let (target, headers, pool) =
            (self.target.clone(), self.headers.clone(), self.pool.clone());
        Ok(Self { url, target, uri, headers, pool })
    }

    /// Returns `more` together with the headers of every request. Keeping and cloning the result is
    /// cheaper than building it for each request.
    pub fn headers(&self, more: HeaderMap) -> HeaderMap {
        let mut headers = more;
        headers.extend(self.headers.iter().map(|(name, value)| (name.clone(), value.clone())));
        headers
    }

    /// Sends one request and waits for the head of the response. `headers` are all its headers, made
    /// by [`HttpEndpoint::headers`].
    pub async fn send(
        &self,
        method: Method,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<HttpResponse, TransportError> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method;
        *request.uri_mut() = self.uri.clone();
        *request.headers_mut() = headers;
        while let Some(mut sender) = self.pool.take().await {
            match sender.try_send_request(request).await {
                Ok(response) => return Ok(HttpResponse::new(response, sender, self.pool.clone())),
                Err(mut error) => match error.take_message() {
                    Some(unsent) => request = unsent,
                    None => return Err(error.into_error().into()),
                },
            }
        }
        let mut sender = dial::connect(&self.target).await?;
        let response = sender.send_request(request).await?;
        Ok(HttpResponse::new(response, sender, self.pool.clone()))
    }
}

fn request_target(url: &Url) -> Option<Uri> {
    url[url::Position::BeforePath..url::Position::AfterQuery].parse().ok()
}

fn insert_header(headers: &mut HeaderMap, name: &str, value: &str) -> Result<(), String> {
    let name: HeaderName = name.parse().map_err(|_| format!("`{name}` is not a header name"))?;
    let mut value: HeaderValue =
        value.parse().map_err(|_| format!("the value of header `{name}` is not valid"))?;
    value.set_sensitive(true);
    headers.insert(name, value);
    Ok(())
}

/// Returns the address without parts that may be credentials: user, password and query.
fn redact_url(url: &str) -> String {
    let Ok(mut parsed) = Url::parse(url) else { return "(not an address)".into() };
    let _ = parsed.set_password(None);
    let _ = parsed.set_username("");
    parsed.set_query(None);
    parsed.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_checked_before_anything_is_sent() {
        for (url, reason) in [
            ("ftp://host/x", "neither http nor https"),
            ("nonsense", "relative URL"),
            ("http://", "empty host"),
        ] {
            let error = HttpEndpoint::new(url, []).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
        let error = HttpEndpoint::new("http://127.0.0.1/", [("a b", "c")]).unwrap_err().to_string();
        assert!(error.contains("`a b` is not a header name"), "{error}");
    }

    #[test]
    fn another_path_is_of_the_same_origin_or_refused() {
        let endpoint = HttpEndpoint::new("http://127.0.0.1:1/a/sse?x=1", [("x-key", "k")]).unwrap();
        for (reference, uri) in [
            ("/messages?session=2", "/messages?session=2"),
            ("messages", "/a/messages"),
            ("?s=3", "/a/sse?s=3"),
            ("http://127.0.0.1:1/b", "/b"),
        ] {
            let other = endpoint.at_same_origin(reference).unwrap();
            assert_eq!(other.uri, uri);
            assert_eq!(other.headers, endpoint.headers);
        }
        for reference in
            ["http://127.0.0.1:2/b", "https://127.0.0.1:1/b", "//127.0.0.2:1/b", "file:///b"]
        {
            let error = endpoint.at_same_origin(reference).unwrap_err().to_string();
            assert!(error.contains("not of the origin http://127.0.0.1:1"), "{error}");
        }
    }

    #[test]
    fn no_header_value_shows_in_debug() {
        let endpoint =
            HttpEndpoint::new("http://127.0.0.1:1/mcp?x=1", [("x-key", "canary")]).unwrap();
        assert!(!format!("{endpoint:?}").contains("canary"));
        assert_eq!(endpoint.uri, "/mcp?x=1");
        assert_eq!(endpoint.headers[HOST], "127.0.0.1:1");
    }
}
