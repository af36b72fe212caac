//! An MCP session with a gateway, in another process or embedded in this one.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use tokio::io::{AsyncRead, AsyncWrite, duplex};
use tokio::sync::watch;
use toolgate_host::session::{OutboundRequest, Session, SessionEventHandler, SessionOptions};
use toolgate_host::{CapabilityKind, Interactor, ServerName, ServerTimeouts};
use toolgate_transport::spool;
use toolgate_wire::{Era, Frame, MessageKind, MessageLimits, build, method, view::RpcError};

use super::RunningGateway;
use crate::embedded_gateway::EmbeddedGateway;
use crate::exit::{CliError, ErrorCode, Exit, OrFail as _, Result};
use crate::interactor::CAPABILITIES;
use crate::operator::ControlRequester;

/// Longer than any call: the gateway decides how long a call may take.
const CALL_TIMEOUT: Duration = Duration::from_secs(365 * 24 * 3600);
/// How long closing a session may take.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);
/// The capacity of each in-process pipe, in bytes.
const PIPE_CAPACITY: usize = 256 * 1024;

/// An MCP session with a gateway.
pub struct GatewayClientSession {
    session: Session,
    interactor: Arc<dyn Interactor>,
    /// The counts of notifications outside any request.
    pub notifications: watch::Receiver<NotificationCounts>,
}

/// Counts of the notifications that arrived outside any request. Counters need constant space, and
/// a late reader still sees that something arrived.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NotificationCounts {
    /// The number of updates of subscribed resources.
    pub resource_updates: u64,
    /// The number of changes of the resource list.
    pub list_changes: u64,
    /// Whether the session has ended.
    pub ended: bool,
}

impl GatewayClientSession {
    /// Opens a session with a gateway in another process.
    pub async fn connect(
        running: &RunningGateway,
        profile: &str,
        interactor: Arc<dyn Interactor>,
    ) -> Result<Self> {
        let refused = running.operator_refusal().await;
        if let Some(failure) = &refused {
            tracing::info!(target: "toolgate::gateway", %failure, "not an operator session");
        }
        let (reader, writer) = running.open_mcp(None, Some(profile), refused.is_none()).await?;
        Self::open(reader, writer, interactor).await
    }

    /// Opens a session inside this process. Each direction has its own pipe, so that closing one
    /// end is noticed at the other.
    pub async fn open_embedded(
        embedded: &Arc<EmbeddedGateway>,
        profile: &str,
        interactor: Arc<dyn Interactor>,
    ) -> Result<Self> {
        let (to_gateway, from_client) = duplex(PIPE_CAPACITY);
        let (to_client, from_gateway) = duplex(PIPE_CAPACITY);
        // If a passphrase is set, this session has none and counts as a client.
        let is_operator =
            embedded.control.identify(&ControlRequester::this_process(None)).await.is_ok();
        let gateway = embedded.gateway(None, Some(profile)).for_operator(is_operator);
        tokio::spawn(async move {
            let never = std::future::pending();
            if let Err(error) = gateway.serve_lines(from_client, to_client, never).await {
                tracing::debug!(target: "toolgate::gateway", %error, "in-process session ended");
            }
        });
        Self::open(from_gateway, to_gateway, interactor).await
    }

    async fn open<R, W>(reader: R, writer: W, interactor: Arc<dyn Interactor>) -> Result<Self>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let (counts, notifications) = watch::channel(NotificationCounts::default());
        let options = SessionOptions {
            server: ServerName::new("toolgate")?,
            timeouts: ServerTimeouts::calls(CALL_TIMEOUT),
            capabilities: CAPABILITIES.into(),
            default_interactor: interactor.clone(),
            event_handler: Arc::new(SessionObserver(counts)),
            era: Some(Era::Legacy),
        };
        let session = Session::on_lines(reader, writer, options).await?;
        Ok(Self { session, interactor, notifications })
    }

    /// Sends a request and returns its result. `server` is the server it concerns, for error
    /// messages. Dropping the future cancels the request.
    pub async fn request(&self, server: &str, method: &str, params: &str) -> Result<Frame> {
        let request = build::request("0", method, Some(params.as_bytes()));
        let frame = Frame::parse(request, &MessageLimits::default())
            .or_fail(ErrorCode::CallParams, "invalid request")?;
        let outbound = OutboundRequest { frame, rename: None, interactor: self.interactor.clone() };
        let answer = self.session.call(&outbound).await?;
        let answer = spool::load_frame(answer).await?;
        match (answer.kind(), answer.error().and_then(RpcError::of)) {
            (MessageKind::Failure, Some(error)) => Err(error_from_rpc(server, &error)),
            _ => Ok(answer),
        }
    }

    /// Closes the session and waits, for a limited time, until everything sent is received.
    pub async fn close(&self) {
        self.session.close().await;
        // A gateway that no longer answers must not keep this process alive.
        let mut notifications = self.notifications.clone();
        let ended = notifications.wait_for(|counts| counts.ended);
        let _ = tokio::time::timeout(CLOSE_TIMEOUT, ended).await;
    }
}

/// What the gate adds to the `data` of its errors.
#[derive(Default, Deserialize)]
struct GateErrorData {
    code: Option<String>,
    message: Option<String>,
    hint: Option<String>,
}

/// Converts a JSON-RPC error. An error without a code in its data is the server's own.
fn error_from_rpc(server: &str, error: &RpcError<'_>) -> CliError {
    let data = error.data.and_then(|data| serde_json::from_slice(data).ok());
    let GateErrorData { code, message, hint } = data.unwrap_or_default();
    let code = code.and_then(|code| code.parse().ok()).unwrap_or(ErrorCode::CallServerError);
    let message = message.as_deref().or(error.message.as_deref()).unwrap_or("no reason given");
    if code.exit() == Exit::Refused {
        return CliError { hint, ..CliError::new(code, format!("`{server}`: {message}")) };
    }
    let number = error.code.unwrap_or_default();
    let message = format!("request to `{server}` failed: {message} ({number})");
    let default = || format!("run `toolgate discover {server}` to list what it offers");
    CliError::new(code, message).hint(hint.unwrap_or_else(default))
}

/// Counts notifications and signals the end of the session, also by being dropped with it.
struct SessionObserver(watch::Sender<NotificationCounts>);

impl SessionEventHandler for SessionObserver {
    fn on_list_changed(&self, kind: CapabilityKind) {
        if kind == CapabilityKind::Resource {
            self.0.send_modify(|counts| counts.list_changes += 1);
        }
    }

    fn on_notification(&self, frame: Frame) {
        if frame.is(method::RESOURCES_UPDATED) {
            self.0.send_modify(|counts| counts.resource_updates += 1);
        }
        tracing::debug!(
            target: "toolgate::session",
            method = ?frame.method(),
            "notification outside any call"
        );
    }

    fn on_ended(&self, _reason: &str) {
        self.0.send_modify(|counts| counts.ended = true);
    }
}
