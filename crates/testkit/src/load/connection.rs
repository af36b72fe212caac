//! The keep-alive connection of one worker, and the session on it.
//!
//! It does not reconnect: a lost connection is a failed call, and the worker decides what to do.

use std::io;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HOST};
use http::{HeaderValue, Method, Request, StatusCode, Uri};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use serde_json::Value;
use tokio::net::TcpStream;

use super::answers;
use crate::echo::TestEra;

/// No single call of a benchmark takes this long; one that does is counted as lost.
const PATIENCE: Duration = Duration::from_secs(30);

const LEGACY: &str = "2025-11-25";
const MODERN: &str = "2026-07-28";

/// What every modern request carries: as much as a client of a released SDK says about itself.
const ENVELOPE: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"toolgate-load","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"roots":{},"sampling":{},"elicitation":{"form":{},"url":{}}}}"#;

/// A connection to the endpoint.
pub(super) struct LoadConnection {
    sender: SendRequest<Full<Bytes>>,
    host: HeaderValue,
    path: String,
    era: TestEra,
    session: Option<HeaderValue>,
    last_id: u64,
}

/// The values that the headers of a modern request repeat from its body.
#[derive(Clone, Copy, Default)]
struct MethodHeaders<'a> {
    method: &'a str,
    name: Option<&'a str>,
}

/// A response with its complete body.
pub(super) struct ReceivedResponse {
    body: Bytes,
    is_stream: bool,
    id: u64,
}

impl ReceivedResponse {
    /// The result, if this is a correct answer to the request it belongs to.
    pub(super) fn result<'a, R: Deserialize<'a>>(&'a self) -> Result<R, String> {
        answers::result(&self.body, self.is_stream, self.id)
    }
}

impl LoadConnection {
    /// Connects, without opening a session.
    pub(super) async fn connect(url: &Uri, era: TestEra) -> io::Result<Self> {
        let authority = url.authority().ok_or(io::ErrorKind::InvalidInput)?;
        let port = authority.port_u16().unwrap_or(80);
        let stream = TcpStream::connect((authority.host(), port)).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) =
            handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
        tokio::spawn(connection);
        Ok(LoadConnection {
            sender,
            host: HeaderValue::from_str(authority.as_str()).map_err(io::Error::other)?,
            path: url.path_and_query().map_or("/", |path| path.as_str()).to_owned(),
            era,
            session: None,
            last_id: 0,
        })
    }

    /// Opens a session, or finds out what the server speaks where there are none.
    pub(super) async fn open(&mut self) -> Result<(), String> {
        match self.era {
            TestEra::Legacy => self.initialize().await,
            TestEra::Modern => self.discover().await,
        }
    }

    async fn discover(&mut self) -> Result<(), String> {
        let told: Value = self.request("server/discover", None, "{}").await?.result()?;
        let versions = told["supportedVersions"].as_array();
        match versions.is_some_and(|versions| versions.iter().any(|version| version == MODERN)) {
            true => Ok(()),
            false => Err(format!("the server speaks {}", told["supportedVersions"])),
        }
    }

    /// `initialize`, then `notifications/initialized`.
    async fn initialize(&mut self) -> Result<(), String> {
        self.session = None;
        self.last_id += 1;
        let id = self.last_id;
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"initialize","params":{{"protocolVersion":"{LEGACY}","capabilities":{{}},"clientInfo":{{"name":"toolgate-load","version":"1"}}}}}}"#
        );
        let response = self.send(Method::POST, MethodHeaders::default(), body).await?;
        let agreed: Value = answers::result(&response.body, response.is_stream, id)?;
        if agreed["protocolVersion"] != LEGACY {
            return Err(format!("agreed on {}", agreed["protocolVersion"]));
        }
        self.session = response.session;
        let told = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        match self.send(Method::POST, MethodHeaders::default(), told.to_owned()).await?.status {
            StatusCode::ACCEPTED => Ok(()),
            status => Err(format!("the initialized notification got {status}")),
        }
    }

    /// Ends the session, if there is one.
    pub(super) async fn close(&mut self) -> Result<(), String> {
        if self.era == TestEra::Modern {
            return Ok(());
        }
        let status =
            self.send(Method::DELETE, MethodHeaders::default(), String::new()).await?.status;
        self.session = None;
        if status.is_success() { Ok(()) } else { Err(format!("DELETE got {status}")) }
    }

    /// Sends one request with these `params`, an object, and returns its checked frame; `name` is
    /// the name in them, if the method has one.
    pub(super) async fn request(
        &mut self,
        method: &str,
        name: Option<&str>,
        params: &str,
    ) -> Result<ReceivedResponse, String> {
        self.last_id += 1;
        let id = self.last_id;
        let open = params.strip_suffix('}').unwrap_or(params);
        let end = match self.era {
            TestEra::Legacy => "}".to_owned(),
            TestEra::Modern if open == "{" => format!("{ENVELOPE}}}"),
            TestEra::Modern => format!(",{ENVELOPE}}}"),
        };
        let body =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{open}{end}}}"#);
        let mirrored = MethodHeaders { method, name };
        let sent = self.send(Method::POST, mirrored, body).await?;
        let LoadHttpResponse { status, body, is_stream, .. } = sent;
        if status != StatusCode::OK {
            return Err(format!("{status}: {}", String::from_utf8_lossy(&body)));
        }
        Ok(ReceivedResponse { body, is_stream, id })
    }

    async fn send(
        &mut self,
        method: Method,
        mirrored: MethodHeaders<'_>,
        body: String,
    ) -> Result<LoadHttpResponse, String> {
        let mut request = Request::builder()
            .method(method)
            .uri(&self.path)
            .header(HOST, &self.host)
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, text/event-stream");
        request = match self.era {
            TestEra::Legacy => request.header("mcp-protocol-version", LEGACY),
            TestEra::Modern => {
                request.header("mcp-protocol-version", MODERN).header("mcp-method", mirrored.method)
            }
        };
        if let (TestEra::Modern, Some(name)) = (self.era, mirrored.name) {
            request = request.header("mcp-name", name);
        }
        if let Some(session) = &self.session {
            request = request.header("mcp-session-id", session);
        }
        let request = request.body(Full::from(body)).map_err(|error| error.to_string())?;
        tokio::time::timeout(PATIENCE, receive(&mut self.sender, request))
            .await
            .map_err(|_| format!("no answer within {PATIENCE:?}"))?
            .map_err(|error| format!("connection: {error}"))
    }
}

/// A received HTTP response with its complete body.
struct LoadHttpResponse {
    status: StatusCode,
    session: Option<HeaderValue>,
    is_stream: bool,
    body: Bytes,
}

async fn receive(
    sender: &mut SendRequest<Full<Bytes>>,
    request: Request<Full<Bytes>>,
) -> hyper::Result<LoadHttpResponse> {
    sender.ready().await?;
    let (parts, body) = sender.send_request(request).await?.into_parts();
    let media_type = parts.headers.get(CONTENT_TYPE).map_or(&b""[..], HeaderValue::as_bytes);
    Ok(LoadHttpResponse {
        status: parts.status,
        is_stream: media_type.starts_with(b"text/event-stream"),
        session: parts.headers.get("mcp-session-id").cloned(),
        body: body.collect().await?.to_bytes(),
    })
}
