//! Calls on one pool: the connection each goes to, and what becomes of one that is not there.

use std::sync::Arc;

use toolgate_session::{Outbound, SessionError};
use toolgate_wire::Frame;

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
        let mut live = match self.live().await {
            Ok(live) => live,
            Err(error) => return Err(self.replaced().unwrap_or(error)),
        };
        if self.may_go_aside(&live, outbound) {
            if let Some(answer) = Box::pin(self.call_aside(&live, outbound)).await {
                return answer;
            }
            live = self.live().await.map_err(|error| self.replaced().unwrap_or(error))?;
        }
        let error = match live.session.call(outbound).await {
            Ok(frame) => return Ok(live.masked_answer(frame)),
            Err(error) => error,
        };
        match error.is_fatal() {
            true => Box::pin(self.call_again(&live, error, outbound, repeatable)).await,
            false => Err(self.failed(live.masked(error), String::new())),
        }
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
