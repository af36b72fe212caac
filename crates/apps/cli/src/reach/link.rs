//! An MCP session with a gateway: the living owner's, or our own.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, duplex};
use tokio::sync::watch;
use toolgate_host::session::{Opening, Outbound, Owner, Session, SessionError};
use toolgate_host::{CapabilityKind, Interactor, ServerName, Timeouts};
use toolgate_transport::spool;
use toolgate_wire::{Era, Frame, Kind, Limits, build, method, scan, view::RpcError};

use super::Living;
use crate::ask::CAPABILITIES;
use crate::ending::{self, Ending, Stop};
use crate::exit::Failure;
use crate::operator::Requester;
use crate::station::Station;

/// How long a call may take is the gateway's decision; we wait for it.
const FOREVER: Duration = Duration::from_secs(365 * 24 * 3600);
/// How long the last words may take.
const GOODBYE: Duration = Duration::from_secs(2);
/// How much may be on its way inside this process.
const PIPE: usize = 256 * 1024;

/// One session.
pub struct Link {
    session: Session,
    port: Arc<dyn Interactor>,
    over: Ending,
    news: watch::Receiver<News>,
}

/// What was heard outside any request, counted: however much it is, it fits, and whoever looks
/// later sees that there was something.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct News {
    /// How often a resource changed that somebody here subscribed to.
    pub updates: u64,
    /// How often the list of resources changed.
    pub lists: u64,
    /// Whether the session is over.
    pub over: bool,
}

impl Link {
    /// A session with another process.
    pub async fn to(
        living: &Living,
        profile: &str,
        port: Arc<dyn Interactor>,
    ) -> Result<Self, Failure> {
        let refused = living.refuses_operator().await;
        if let Some(failure) = &refused {
            tracing::info!(target: "toolgate::gateway", %failure, "this is not the operator's session");
        }
        let (reader, writer) = living.converse(None, Some(profile), refused.is_none()).await?;
        Self::open(reader, writer, port).await
    }

    /// A session inside this process. Each direction is a pipe of its own, so that closing one is
    /// seen at its other end.
    pub async fn within(
        station: &Arc<Station>,
        profile: &str,
        port: Arc<dyn Interactor>,
    ) -> Result<Self, Failure> {
        let (to_gateway, from_client) = duplex(PIPE);
        let (to_client, from_gateway) = duplex(PIPE);
        // Without the passphrase, where one is needed, this is a client like any other.
        let operated = station.desk().identify(&Requester::here(None)).await.is_ok();
        let gateway = station.gateway(None, Some(profile)).operated(operated);
        tokio::spawn(async move {
            let never = std::future::pending();
            if let Err(error) = gateway.serve_lines(from_client, to_client, never).await {
                tracing::debug!(target: "toolgate::gateway", %error, "session of this process");
            }
        });
        Self::open(from_gateway, to_gateway, port).await
    }

    async fn open<R, W>(reader: R, writer: W, port: Arc<dyn Interactor>) -> Result<Self, Failure>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let (stop, over) = ending::pair();
        let (heard, news) = watch::channel(News::default());
        let name =
            ServerName::new("toolgate").map_err(|error| Failure::failed(error.to_string()))?;
        let opening = Opening {
            server: name,
            timeouts: Timeouts::calls(FOREVER),
            capabilities: CAPABILITIES.into(),
            ambient: port.clone(),
            owner: Arc::new(Watch { stop, heard }),
            era: Some(Era::Legacy),
        };
        let session = Session::on_lines(reader, writer, opening).await.map_err(failure)?;
        Ok(Self { session, port, over, news })
    }

    /// Sends a request that concerns a server and waits for its result. Dropping the future cancels
    /// it.
    pub async fn request(
        &self,
        server: &str,
        method: &str,
        params: &str,
    ) -> Result<Frame, Failure> {
        let request = build::request("0", method, Some(params.as_bytes()));
        let frame = Frame::parse(request, &Limits::default())
            .map_err(|error| Failure::usage(format!("send this: {error}")))?;
        let outbound = Outbound { frame, rename: None, port: self.port.clone() };
        let answer = self.session.call(&outbound).await.map_err(failure)?;
        let answer =
            spool::whole(answer).await.map_err(|error| Failure::failed(error.to_string()))?;
        match (answer.kind(), answer.error().and_then(RpcError::of)) {
            (Kind::Failure, Some(error)) => Err(told(server, &error)),
            _ => Ok(answer),
        }
    }

    /// What is heard from now on outside any request.
    pub fn news(&self) -> watch::Receiver<News> {
        self.news.clone()
    }

    /// Says goodbye and waits until everything that was said is heard.
    pub async fn close(&self) {
        self.session.close().await;
        // An owner that no longer answers does not keep us.
        let _ = tokio::time::timeout(GOODBYE, self.over.clone().reached()).await;
    }
}

/// An error answer, with the hint the gate may have put into it.
fn told(server: &str, error: &RpcError<'_>) -> Failure {
    let message = error.message.as_deref().unwrap_or("it gives no reason");
    if is_decided(error) {
        return Failure::refused(format!("use `{server}`: {message}"));
    }
    let (message, hint) = match message.split_once("; hint: ") {
        Some((message, hint)) => (message, hint.to_owned()),
        None => (message, format!("`toolgate discover {server}` lists what it offers")),
    };
    let code = error.code.unwrap_or_default();
    let what = match message.strip_prefix("failed to ") {
        Some(what) => what.to_owned(),
        None => format!("get an answer from `{server}`: {message} ({code})"),
    };
    Failure::failed(what).hint(hint)
}

/// Whether the gate decided against the request: it says so in the data, whatever code the revision
/// of the connection leaves it.
fn is_decided(error: &RpcError<'_>) -> bool {
    let Some(data) = error.data else { return false };
    ["effect", "because"].iter().all(|member| scan::member(data, member).is_some())
}

fn failure(error: SessionError) -> Failure {
    Failure::failed(error.to_string())
}

/// Tells when the session is over, by being dropped with it, and what is heard meanwhile.
struct Watch {
    stop: Stop,
    heard: watch::Sender<News>,
}

impl Owner for Watch {
    fn list_changed(&self, kind: CapabilityKind) {
        if kind == CapabilityKind::Resource {
            self.heard.send_modify(|news| news.lists += 1);
        }
    }

    fn notified(&self, frame: Frame) {
        if frame.is(method::RESOURCES_UPDATED) {
            self.heard.send_modify(|news| news.updates += 1);
        }
        tracing::debug!(target: "toolgate::session", method = ?frame.method(), "outside any call");
    }

    fn ended(&self, _reason: &str) {
        self.heard.send_modify(|news| news.over = true);
        self.stop.now();
    }
}
