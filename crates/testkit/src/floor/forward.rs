//! Forwards requests unchanged and streams the responses back.
//!
//! It adds no `Forwarded` or `Via` headers, because the benchmark does not read them.

use std::convert::Infallible;
use std::io;

use http::header::{CONNECTION, HOST, HeaderName, TE, TRAILER, TRANSFER_ENCODING, UPGRADE};
use http::uri::{Authority, Scheme};
use http::{HeaderMap, Request, Response, StatusCode, Uri};
use http_body_util::{Either, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpListener;

/// The body of the server's response, or an empty body.
type ForwardedBody = Either<Incoming, Empty<Bytes>>;

/// Headers that belong to one connection and never pass a proxy (RFC 9110 §7.6.1).
const HOP_BY_HOP: [HeaderName; 7] = [
    CONNECTION,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
];

/// The HTTP client and the address that requests are forwarded to.
#[derive(Clone)]
struct HttpForwarder {
    client: Client<HttpConnector, Incoming>,
    target: Authority,
}

/// Forwards every connection of `listener` to the server at `target`; it ends only with an error.
pub async fn serve(listener: TcpListener, target: &Uri) -> io::Result<()> {
    let target = target.authority().cloned().ok_or_else(|| {
        io::Error::new(io::ErrorKind::InvalidInput, "the target needs a host and a port")
    })?;
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    let client = Client::builder(TokioExecutor::new()).build(connector);
    let forwarder = HttpForwarder { client, target };
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let forwarder = forwarder.clone();
        let service = service_fn(move |request| forwarder.clone().forward(request));
        tokio::spawn(async move {
            // Whoever closed first has already seen why.
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

impl HttpForwarder {
    async fn forward(
        self,
        mut request: Request<Incoming>,
    ) -> Result<Response<ForwardedBody>, Infallible> {
        let Ok(uri) = self.target_uri(request.uri()) else {
            return Ok(failed(StatusCode::BAD_REQUEST));
        };
        *request.uri_mut() = uri;
        strip_hop_by_hop(request.headers_mut());
        // The client writes the Host of the server it talks to.
        request.headers_mut().remove(HOST);
        Ok(match self.client.request(request).await {
            Ok(mut response) => {
                strip_hop_by_hop(response.headers_mut());
                response.map(Either::Left)
            }
            Err(_) => failed(StatusCode::BAD_GATEWAY),
        })
    }

    fn target_uri(&self, asked: &Uri) -> Result<Uri, http::Error> {
        let path = asked.path_and_query().map_or("/", |path| path.as_str());
        Uri::builder()
            .scheme(Scheme::HTTP)
            .authority(self.target.clone())
            .path_and_query(path)
            .build()
    }
}

/// Removes what belongs to one connection.
pub(crate) fn strip_hop_by_hop(headers: &mut HeaderMap) {
    if let Some(named) = headers.get(CONNECTION).cloned() {
        for name in named.to_str().unwrap_or_default().split(',') {
            headers.remove(name.trim());
        }
    }
    for name in &HOP_BY_HOP {
        headers.remove(name);
    }
}

fn failed(status: StatusCode) -> Response<ForwardedBody> {
    let mut response = Response::new(Either::Right(Empty::new()));
    *response.status_mut() = status;
    response
}
