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

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(10);

/// What can send a request on one connection.
pub(super) type Sender = http1::SendRequest<Full<Bytes>>;

/// Where to connect.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) tls: bool,
}

impl Target {
    fn authority(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    fn failed(&self, source: io::Error) -> TransportError {
        TransportError::Connect { authority: self.authority(), source }
    }
}

/// A connection on its way. Its type is hidden: it is rare, and every caller up to the apps would
/// otherwise carry the whole of it in its own.
type Dialing<'a> = Pin<Box<dyn Future<Output = Result<Sender, TransportError>> + Send + 'a>>;

/// Opens one connection and hands its work to a task.
pub(super) fn connect(target: &Target) -> Dialing<'_> {
    Box::pin(async {
        let began = Instant::now();
        let opened = match tokio::time::timeout(CONNECT, open(target)).await {
            Ok(result) => result,
            Err(_) => Err(target.failed(io::ErrorKind::TimedOut.into())),
        };
        let (took, tls) = (began.elapsed(), target.tls);
        // The host may hold what must not be logged, and nobody here knows the mask.
        match &opened {
            Ok(_) => {
                tracing::debug!(target: "toolgate::transport", ?took, tls, "connection opened")
            }
            Err(TransportError::Connect { source, .. }) => {
                let error = source.kind();
                tracing::debug!(target: "toolgate::transport", ?took, tls, %error, "no connection");
            }
            Err(_) => tracing::debug!(target: "toolgate::transport", ?took, tls, "no connection"),
        }
        opened
    })
}

async fn open(target: &Target) -> Result<Sender, TransportError> {
    let tcp = TcpStream::connect((target.host.trim_matches(['[', ']']), target.port))
        .await
        .map_err(|error| target.failed(error))?;
    tcp.set_nodelay(true).map_err(|error| target.failed(error))?;
    if !target.tls {
        return handshake(tcp).await;
    }
    let name = ServerName::try_from(target.host.trim_matches(['[', ']']).to_owned())
        .map_err(|error| target.failed(io::Error::other(error)))?;
    let tls = TlsConnector::from(TLS.clone())
        .connect(name, tcp)
        .await
        .map_err(|error| target.failed(error))?;
    handshake(tls).await
}

async fn handshake<S>(stream: S) -> Result<Sender, TransportError>
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

/// The machine's own certificate store, or Mozilla's where it has none.
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
