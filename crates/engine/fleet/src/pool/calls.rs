//! Sends calls on a pool: chooses the connection and handles a lost one.

use std::sync::Arc;
use std::time::Instant;

use futures_util::future::BoxFuture;
use toolgate_model::escape_invisible;
use toolgate_session::{OutboundRequest, SessionError};
use toolgate_wire::{Frame, MessageKind, method};

use crate::connect::ServerConnection;
use crate::{FleetError, Pool};

impl Pool {
    /// Sends a request. If the server no longer recognizes the session, it did not run the request;
    /// the request is then sent once more on a new session if it is `repeatable`. A request is
    /// never sent to a successor, because the decision about the call does not cover that server.
    pub async fn call(
        &self,
        outbound: &OutboundRequest,
        repeatable: impl FnOnce() -> bool,
    ) -> Result<Frame, FleetError> {
        let _under_way = self.active_calls.begin();
        let log = CallLogGuard::begin(self, outbound);
        let answer = self.send(outbound, repeatable).await;
        if let Some(log) = log {
            log.finish(&answer);
        }
        answer
    }

    async fn send(
        &self,
        outbound: &OutboundRequest,
        repeatable: impl FnOnce() -> bool,
    ) -> Result<Frame, FleetError> {
        let mut live = self.connect_for_call().await?;
        if self.may_need_spare(&live, outbound) {
            let on_spare: BoxFuture<'_, _> = Box::pin(self.call_on_spare(&live, outbound));
            if let Some(answer) = on_spare.await {
                return answer;
            }
            live = self.connect_for_call().await?;
        }
        match live.session.call(outbound).await {
            Ok(frame) => Ok(live.mask_response(frame)),
            Err(error) if error.is_fatal() => {
                Box::pin(self.call_again(&live, error, outbound, repeatable)).await
            }
            Err(error) => Err(self.masked_error(&live, error)),
        }
    }

    /// Connects. Returns [`FleetError::Replaced`] if the server was replaced before the call was
    /// sent. The caller must then decide about its successor.
    async fn connect_for_call(&self) -> Result<Arc<ServerConnection>, FleetError> {
        self.ensure_connected().await.map_err(|error| match self.is_replaced() {
            true => FleetError::Replaced(self.server().clone()),
            false => error,
        })
    }

    async fn call_again(
        &self,
        lost: &Arc<ServerConnection>,
        error: SessionError,
        outbound: &OutboundRequest,
        repeatable: impl FnOnce() -> bool,
    ) -> Result<Frame, FleetError> {
        let expired = matches!(error, SessionError::Expired);
        let error = self.connection_lost(lost, error).await;
        if !(expired && repeatable()) {
            return Err(error);
        }
        let live = self.ensure_connected().await?;
        let answer = live.session.call(outbound).await;
        match answer {
            Ok(frame) => Ok(live.mask_response(frame)),
            Err(error) => Err(self.session_error(live.mask_error(error), live.stderr())),
        }
    }
}

/// Logs a call when it ends.
struct CallLogGuard<'a> {
    pool: &'a Pool,
    label: String,
    began: Instant,
    ended: bool,
}

impl<'a> CallLogGuard<'a> {
    /// Starts the log entry of a call. Returns `None` if the log level is disabled, so that the
    /// call does not read the clock.
    fn begin(pool: &'a Pool, outbound: &OutboundRequest) -> Option<Self> {
        if !tracing::enabled!(target: "toolgate::session", tracing::Level::DEBUG) {
            return None;
        }
        let frame = &outbound.frame;
        // A URI may contain secrets.
        let is_named = frame.is(method::TOOLS_CALL) || frame.is(method::PROMPTS_GET);
        let name = frame.name().filter(|_| is_named).unwrap_or_default();
        let label =
            escape_invisible(format!("{} {name}", frame.method().unwrap_or_default()).trim());
        Some(Self { pool, label, began: Instant::now(), ended: false })
    }

    fn write(&self, outcome: &str) {
        let (server, took) = (self.pool.server(), self.began.elapsed());
        tracing::debug!(
            target: "toolgate::session", %server, ?took,
            "call: {}: {outcome}", self.label
        );
    }

    fn finish(mut self, answer: &Result<Frame, FleetError>) {
        self.ended = true;
        match answer {
            Ok(frame) if frame.kind() == MessageKind::Failure => {
                self.write("answered with an error")
            }
            Ok(frame) => self.write(&format!("answered, {} bytes", frame.bytes().len())),
            Err(error) => self.write(&error.to_string()),
        }
    }
}

impl Drop for CallLogGuard<'_> {
    /// Logs a call whose caller stopped waiting.
    fn drop(&mut self) {
        if !self.ended {
            self.write("cancelled");
        }
    }
}
