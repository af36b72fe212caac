//! Calls on one pool: the connection each goes to, and what becomes of one that is not there.

use std::sync::Arc;
use std::time::Instant;

use toolgate_model::visible;
use toolgate_session::{Outbound, SessionError};
use toolgate_wire::{Frame, Kind, method};

use crate::connect::Live;
use crate::{FleetError, Pool};

impl Pool {
    /// Sends a request. One that the server provably did not run, because it had forgotten our
    /// session, is sent once more on a new session if it is `repeatable`. None is sent to a
    /// successor: that is another server, about which nothing was decided.
    pub async fn call(
        &self,
        outbound: &Outbound,
        repeatable: impl FnOnce() -> bool,
    ) -> Result<Frame, FleetError> {
        let _under_way = self.gauge.begin();
        let log = CallLog::begin(self, outbound);
        let mut live = match self.live().await {
            Ok(live) => live,
            Err(error) => return ended(log, Err(self.replaced().unwrap_or(error))),
        };
        if self.may_go_aside(&live, outbound) {
            if let Some(answer) = Box::pin(self.call_aside(&live, outbound)).await {
                return ended(log, answer);
            }
            live = match self.live().await {
                Ok(live) => live,
                Err(error) => return ended(log, Err(self.replaced().unwrap_or(error))),
            };
        }
        let error = match live.session.call(outbound).await {
            Ok(frame) => return ended(log, Ok(live.masked_answer(frame))),
            Err(error) => error,
        };
        let answer = match error.is_fatal() {
            true => Box::pin(self.call_again(&live, error, outbound, repeatable)).await,
            false => Err(self.failed(live.masked(error), String::new())),
        };
        ended(log, answer)
    }

    /// A call that found no connection any more was not sent: it is whoever took the server's place
    /// that is to be called, if anybody.
    fn replaced(&self) -> Option<FleetError> {
        self.is_replaced().then(|| FleetError::Replaced(self.server().clone()))
    }

    async fn call_again(
        &self,
        lost: &Arc<Live>,
        error: SessionError,
        outbound: &Outbound,
        repeatable: impl FnOnce() -> bool,
    ) -> Result<Frame, FleetError> {
        let expired = matches!(error, SessionError::Expired);
        let error = self.lost(lost, error).await;
        if !(expired && repeatable()) {
            return Err(error);
        }
        let live = self.live().await?;
        let answer = live.session.call(outbound).await;
        match answer {
            Ok(frame) => Ok(live.masked_answer(frame)),
            Err(error) => Err(self.failed(live.masked(error), live.stderr())),
        }
    }
}

/// A call that is logged when it ends.
struct CallLog<'a> {
    pool: &'a Pool,
    what: String,
    began: Instant,
    ended: bool,
}

impl<'a> CallLog<'a> {
    /// `None` where nobody looks at such lines: a call then costs no look at a clock.
    fn begin(pool: &'a Pool, outbound: &Outbound) -> Option<Self> {
        if !tracing::enabled!(target: "toolgate::session", tracing::Level::DEBUG) {
            return None;
        }
        let frame = &outbound.frame;
        // A URI may hold what must not be logged.
        let is_named = frame.is(method::TOOLS_CALL) || frame.is(method::PROMPTS_GET);
        let name = frame.name().filter(|_| is_named).unwrap_or_default();
        let what = visible(format!("{} {name}", frame.method().unwrap_or_default()).trim());
        Some(Self { pool, what, began: Instant::now(), ended: false })
    }

    fn write(&self, outcome: &str) {
        let (server, took) = (self.pool.server(), self.began.elapsed());
        tracing::debug!(target: "toolgate::session", %server, ?took, "call: {}: {outcome}", self.what);
    }
}

/// The answer to a call, once its end is logged.
fn ended(log: Option<CallLog<'_>>, answer: Result<Frame, FleetError>) -> Result<Frame, FleetError> {
    if let Some(mut log) = log {
        log.ended = true;
        match &answer {
            Ok(frame) if frame.kind() == Kind::Failure => log.write("answered with an error"),
            Ok(frame) => log.write(&format!("answered, {} bytes", frame.bytes().len())),
            Err(error) => log.write(&format!("failed to {error}")),
        }
    }
    answer
}

impl Drop for CallLog<'_> {
    /// The caller does not wait any more.
    fn drop(&mut self) {
        if !self.ended {
            self.write("given up");
        }
    }
}
