//! One endpoint: its address, the headers every request carries, its connections.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{HOST, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Request, Uri};
use http_body_util::Full;
use url::Url;

use super::dial::{self, Target};
use super::pool::Pool;
use super::reply::Reply;
use crate::TransportError;

/// A place requests are sent to.
#[derive(Debug)]
pub struct Endpoint {
    url: Url,
    target: Target,
    uri: Uri,
    /// Headers of every request. Values are marked sensitive: they do not show in Debug.
    headers: HeaderMap,
    pool: Arc<Pool>,
}

/// One request to the endpoint.
#[derive(Debug)]
pub struct Outgoing {
    /// POST, GET or DELETE.
    pub method: Method,
    /// All its headers, made by [`Endpoint::headers`].
    pub headers: HeaderMap,
    /// The body; empty for none.
    pub body: Bytes,
}

impl Endpoint {
    /// Checks an address and the headers that go with it.
    pub fn new<'a>(
        url: &str,
        headers: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, TransportError> {
        let wrong = |reason: String| TransportError::Address { url: redacted(url), reason };
        let parsed = Url::parse(url).map_err(|error| wrong(error.to_string()))?;
        let tls = match parsed.scheme() {
            "http" => false,
            "https" => true,
            other => return Err(wrong(format!("`{other}` is neither http nor https"))),
        };
        let host = parsed.host_str().ok_or_else(|| wrong("it names no host".into()))?.to_owned();
        let port = parsed.port_or_known_default().unwrap_or(if tls { 443 } else { 80 });
        let uri =
            request_target(&parsed).ok_or_else(|| wrong("its path cannot be requested".into()))?;
        let authority = &parsed[url::Position::BeforeHost..url::Position::AfterPort];
        let mut all = HeaderMap::new();
        insert(&mut all, HOST.as_str(), authority).map_err(&wrong)?;
        for (name, value) in headers {
            insert(&mut all, name, value).map_err(&wrong)?;
        }
        let target = Target { host, port, tls };
        Ok(Self { url: parsed, target, uri, headers: all, pool: Arc::default() })
    }

    /// Another path of the same origin, reached with the same headers on the same connections. A
    /// place elsewhere is refused: it must not see the headers.
    pub fn at(&self, reference: &str) -> Result<Self, TransportError> {
        let wrong = |reason: String| TransportError::Address { url: redacted(reference), reason };
        let url = self.url.join(reference).map_err(|error| wrong(error.to_string()))?;
        if url.origin() != self.url.origin() {
            let origin = self.url.origin().ascii_serialization();
            let reason = format!("it is not of the origin {origin}, where it was named");
            return Err(TransportError::Address { url: redacted(url.as_str()), reason });
        }
        let uri = request_target(&url).ok_or_else(|| wrong("it cannot be requested".into()))?;
        let (target, headers, pool) =
            (self.target.clone(), self.headers.clone(), self.pool.clone());
        Ok(Self { url, target, uri, headers, pool })
    }

    /// The headers of every request, and these. They can be kept and cloned: that is cheaper than
    /// putting them together for each request.
    pub fn headers(&self, more: HeaderMap) -> HeaderMap {
        let mut headers = more;
        headers.extend(self.headers.iter().map(|(name, value)| (name.clone(), value.clone())));
        headers
    }

    /// Sends one request and waits for the head of its answer.
    pub async fn send(&self, outgoing: Outgoing) -> Result<Reply, TransportError> {
        let mut request = self.request(outgoing);
        while let Some(mut sender) = self.pool.take().await {
            match sender.try_send_request(request).await {
                Ok(response) => return Ok(Reply::new(response, sender, self.pool.clone())),
                Err(mut error) => match error.take_message() {
                    Some(unsent) => request = unsent,
                    None => return Err(error.into_error().into()),
                },
            }
        }
        let mut sender = dial::connect(&self.target).await?;
        let response = sender.send_request(request).await?;
        Ok(Reply::new(response, sender, self.pool.clone()))
    }

    fn request(&self, outgoing: Outgoing) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(outgoing.body));
        *request.method_mut() = outgoing.method;
        *request.uri_mut() = self.uri.clone();
        *request.headers_mut() = outgoing.headers;
        request
    }
}

fn request_target(url: &Url) -> Option<Uri> {
    url[url::Position::BeforePath..url::Position::AfterQuery].parse().ok()
}

fn insert(headers: &mut HeaderMap, name: &str, value: &str) -> Result<(), String> {
    let name: HeaderName = name.parse().map_err(|_| format!("`{name}` is no header name"))?;
    let mut value: HeaderValue =
        value.parse().map_err(|_| format!("the value of header `{name}` cannot be sent"))?;
    value.set_sensitive(true);
    headers.insert(name, value);
    Ok(())
}

/// An address without what may be a credential in it.
fn redacted(url: &str) -> String {
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
            let error = Endpoint::new(url, []).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
        let error = Endpoint::new("http://127.0.0.1/", [("a b", "c")]).unwrap_err().to_string();
        assert!(error.contains("`a b` is no header name"), "{error}");
    }

    #[test]
    fn another_path_is_of_the_same_origin_or_refused() {
        let endpoint = Endpoint::new("http://127.0.0.1:1/a/sse?x=1", [("x-key", "k")]).unwrap();
        for (reference, uri) in [
            ("/messages?session=2", "/messages?session=2"),
            ("messages", "/a/messages"),
            ("?s=3", "/a/sse?s=3"),
            ("http://127.0.0.1:1/b", "/b"),
        ] {
            let other = endpoint.at(reference).unwrap();
            assert_eq!(other.uri, uri);
            assert_eq!(other.headers, endpoint.headers);
        }
        for reference in
            ["http://127.0.0.1:2/b", "https://127.0.0.1:1/b", "//127.0.0.2:1/b", "file:///b"]
        {
            let error = endpoint.at(reference).unwrap_err().to_string();
            assert!(error.contains("not of the origin http://127.0.0.1:1"), "{error}");
        }
    }

    #[test]
    fn no_header_value_shows_in_debug() {
        let endpoint = Endpoint::new("http://127.0.0.1:1/mcp?x=1", [("x-key", "canary")]).unwrap();
        assert!(!format!("{endpoint:?}").contains("canary"));
        assert_eq!(endpoint.uri, "/mcp?x=1");
        assert_eq!(endpoint.headers[HOST], "127.0.0.1:1");
    }
}
