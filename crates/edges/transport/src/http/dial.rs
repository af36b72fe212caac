//! Opens connections: plain to `http`, encrypted to `https`.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::TransportError;

/// The time limit for opening a connection.
const CONNECT: Duration = Duration::from_secs(10);

/// The handle that sends requests on one connection.
pub(super) type HttpSender = http1::SendRequest<Full<Bytes>>;

/// The host and port to connect to, and whether to use TLS.
#[derive(Debug, Clone)]
pub(super) struct ConnectTarget {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) tls: bool,
}

impl ConnectTarget {
    fn connect_error(&self, source: io::Error) -> TransportError {
        TransportError::Connect { authority: format!("{}:{}", self.host, self.port), source }
    }
}

/// A connection that is being opened. It is boxed because opening is rare, and because the future
/// of every caller would otherwise contain it.
type ConnectFuture<'a> =
    Pin<Box<dyn Future<Output = Result<HttpSender, TransportError>> + Send + 'a>>;

/// Opens one connection and spawns a task that drives it.
pub(super) fn connect(target: &ConnectTarget) -> ConnectFuture<'_> {
    Box::pin(async {
        let began = Instant::now();
        let opened = match tokio::time::timeout(CONNECT, open(target)).await {
            Ok(result) => result,
            Err(_) => Err(target.connect_error(io::ErrorKind::TimedOut.into())),
        };
        let (took, tls) = (began.elapsed(), target.tls);
        // The host may contain a secret, and the mask is not known here.
        match &opened {
            Ok(_) => {
                tracing::debug!(target: "toolgate::transport", ?took, tls, "connection opened")
            }
            Err(TransportError::Connect { source, .. }) => {
                let error = source.kind();
                tracing::debug!(
                    target: "toolgate::transport", ?took, tls, %error, "cannot connect"
                );
            }
            Err(_) => tracing::debug!(target: "toolgate::transport", ?took, tls, "cannot connect"),
        }
        opened
    })
}

async fn open(target: &ConnectTarget) -> Result<HttpSender, TransportError> {
    let tcp = TcpStream::connect((target.host.trim_matches(['[', ']']), target.port))
        .await
        .map_err(|error| target.connect_error(error))?;
    tcp.set_nodelay(true).map_err(|error| target.connect_error(error))?;
    if !target.tls {
        return handshake(tcp).await;
    }
    let name = ServerName::try_from(target.host.trim_matches(['[', ']']).to_owned())
        .map_err(|error| target.connect_error(io::Error::other(error)))?;
    let tls = TlsConnector::from(TLS.clone())
        .connect(name, tcp)
        .await
        .map_err(|error| target.connect_error(error))?;
    handshake(tls).await
}

async fn handshake<S>(stream: S) -> Result<HttpSender, TransportError>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(target: "toolgate::transport", %error, "connection ended");
        }
    });
    Ok(sender)
}

/// The TLS configuration, with the system's certificate store, or Mozilla's if the system has none.
static TLS: LazyLock<Arc<ClientConfig>> = LazyLock::new(|| {
    let mut roots = RootCertStore::empty();
    let native = rustls_native_certs::load_native_certs();
    roots.add_parsable_certificates(native.certs);
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider);
    #[expect(
        clippy::expect_used,
        reason = "ring offers the default versions; nothing else can fail"
    )]
    let builder = builder.with_safe_default_protocol_versions().expect("default TLS versions");
    Arc::new(builder.with_root_certificates(roots).with_no_client_auth())
});
