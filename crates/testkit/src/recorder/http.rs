//! The recorder as an HTTP proxy, for sessions, event streams and the modern era alike.
//!
//! It reads a request completely before it forwards it, and streams the response. If the client
//! disconnects, the request to the server is dropped.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderName, LOCATION, WWW_AUTHENTICATE};
use http::uri::{Authority, Scheme};
use http::{HeaderMap, Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt, Either, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpListener;

use super::body::{RecordedBody, ResponseRecorder};
use super::log::{
    HttpHead, MessageDirection, RecordedTransportKind, RecordingEntry, RecordingWriter,
};
use crate::floor::strip_hop_by_hop;

/// Headers worth a place in the log, beside those that begin with `mcp-`.
const KEPT: [HeaderName; 5] =
    [ACCEPT, CONTENT_TYPE, LOCATION, WWW_AUTHENTICATE, HeaderName::from_static("last-event-id")];

/// The body of a relayed response, or of a response of the proxy itself.
type RelayedBody = Either<RecordedBody, Full<Bytes>>;

/// The proxy for one client connection.
struct RecordingProxy {
    client: Client<HttpConnector, Full<Bytes>>,
    target: Authority,
    log: Arc<RecordingWriter>,
    connection: String,
    exchanges: AtomicU64,
}

/// Forwards and records every connection of `listener`; it ends only with an error.
pub(super) async fn serve(
    listener: TcpListener,
    target: &Uri,
    log: Arc<RecordingWriter>,
) -> io::Result<()> {
    let target = target.authority().cloned().ok_or_else(|| {
        io::Error::new(io::ErrorKind::InvalidInput, "the target needs a host and a port")
    })?;
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    let client = Client::builder(TokioExecutor::new()).build(connector);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let relay = Arc::new(RecordingProxy {
            client: client.clone(),
            target: target.clone(),
            connection: log.connection(),
            log: Arc::clone(&log),
            exchanges: AtomicU64::new(1),
        });
        let service = service_fn(move |request| {
            let relay = Arc::clone(&relay);
            async move { Ok::<_, Infallible>(relay.pass(request).await) }
        });
        tokio::spawn(async move {
            // Whoever closed first has already seen why.
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

impl RecordingProxy {
    async fn pass(&self, request: Request<Incoming>) -> Response<RelayedBody> {
        let exchange = self.exchanges.fetch_add(1, Ordering::Relaxed);
        let (mut parts, body) = request.into_parts();
        let Ok(body) = body.collect().await.map(|body| body.to_bytes()) else {
            return failed(StatusCode::BAD_REQUEST, "the request broke off");
        };
        let head = HttpHead {
            method: Some(parts.method.to_string()),
            path: parts.uri.path_and_query().map(ToString::to_string),
            headers: recorded_headers(&parts.headers),
            status: None,
        };
        self.log
            .append(&self.entry(MessageDirection::ToServer, exchange, head).with_content(&body));
        let Ok(uri) = self.target_uri(&parts.uri) else {
            return failed(StatusCode::BAD_REQUEST, "the target is no path");
        };
        parts.uri = uri;
        strip_hop_by_hop(&mut parts.headers);
        // The client writes the Host of the server it talks to.
        parts.headers.remove(HOST);
        match self.client.request(Request::from_parts(parts, Full::new(body))).await {
            Ok(response) => self.hand_back(response, exchange),
            Err(error) => failed(StatusCode::BAD_GATEWAY, &error.to_string()),
        }
    }

    fn hand_back(&self, response: Response<Incoming>, exchange: u64) -> Response<RelayedBody> {
        let (mut parts, body) = response.into_parts();
        strip_hop_by_hop(&mut parts.headers);
        let headers = recorded_headers(&parts.headers);
        let is_stream = headers
            .get(CONTENT_TYPE.as_str())
            .is_some_and(|media_type| media_type.starts_with("text/event-stream"));
        let head = HttpHead { status: Some(parts.status.as_u16()), headers, ..HttpHead::default() };
        let entry = self.entry(MessageDirection::ToClient, exchange, head);
        let begin = if is_stream { ResponseRecorder::stream } else { ResponseRecorder::whole };
        let scribe = begin(Arc::clone(&self.log), entry);
        Response::from_parts(parts, Either::Left(RecordedBody::new(body, scribe)))
    }

    fn entry(&self, direction: MessageDirection, exchange: u64, head: HttpHead) -> RecordingEntry {
        RecordingEntry {
            direction,
            carrier: RecordedTransportKind::Http,
            connection: self.connection.clone(),
            exchange: Some(exchange),
            http: Some(head),
            event: None,
            message: None,
            text: None,
        }
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

fn recorded_headers(headers: &HeaderMap) -> std::collections::BTreeMap<String, String> {
    let matter = |name: &HeaderName| name.as_str().starts_with("mcp-") || KEPT.contains(name);
    headers
        .iter()
        .filter(|(name, _)| matter(name))
        .map(|(name, value)| {
            (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        })
        .collect()
}

/// Our own failure: it is in no log, because no peer said it.
fn failed(status: StatusCode, why: &str) -> Response<RelayedBody> {
    let said = Full::new(Bytes::from(format!("recorder: {why}")));
    let mut response = Response::new(Either::Right(said));
    *response.status_mut() = status;
    response
}
