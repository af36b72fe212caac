//! Obtains a decision about one call: stores the question, asks, and waits.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use toolgate_model::{ApprovalChannel, Digest};
use toolgate_session::{Interactor, QuestionKind};
use toolgate_store::{
    ApprovalBinding, ApprovalChoice, ApprovalDecision, KeepPendingOutcome, PendingCall,
    PendingLimits, StoreError, generate_id,
};
use toolgate_wire::Era;

use super::ApprovalBroker;
use super::form::{self, FormOutcome};
use super::rate_limit::ASKS;
use super::waiters::ApprovalWaiter;

/// The most calls that may wait for a decision.
const ROOM: PendingLimits = PendingLimits { per_caller: 100, in_all: 1000 };

const EXPIRED: &str =
    "the answer came after the question had expired; repeat the call to be asked again";

/// A call that needs approval.
pub struct CallApprovalRequest<'a> {
    /// What the approval is bound to.
    pub bound: ApprovalBinding,
    /// The raw arguments as they would be sent.
    pub arguments: Bytes,
    /// The other members of `params` that would reach the server, as a raw object; empty if there
    /// are none.
    pub other_params: Bytes,
    /// The digest of both, from [`params_digest`](super::params_digest).
    pub arguments_digest: Digest,
    /// Why approval is needed.
    pub because: String,
    /// Who is asked.
    pub via: ApprovalChannel,
    /// The interactor of the caller.
    pub port: &'a Arc<dyn Interactor>,
    /// The era of the caller's client. A modern client leaves and returns with the answer, so it
    /// may take as long as the question is valid.
    pub era: Era,
    /// How long the call waits.
    pub wait: Duration,
    /// How long the question can be answered.
    pub expiry: Duration,
}

/// The outcome of asking for approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallApprovalOutcome {
    /// The call may be made now, once, unless the choice is to deny it.
    Decided {
        /// Who decided, and where.
        by: String,
        /// The id of the question, or of the one-time grant that was used up.
        id: String,
        /// The choice that was made.
        choice: ApprovalChoice,
    },
    /// The question was not answered in time. It stays open: once approved, the same call passes
    /// when repeated.
    Waiting {
        /// The id of the question.
        id: String,
    },
    /// The user dismissed the question, which ends the call.
    Cancelled,
    /// Approval cannot be requested now; the text says why.
    Refused(String),
}

impl ApprovalBroker {
    /// Obtains a decision about a call. Dropping the future withdraws the question unless it was
    /// answered.
    pub async fn obtain(&self, ask: CallApprovalRequest<'_>) -> CallApprovalOutcome {
        match self.try_obtain(&ask).await {
            Ok(obtained) => obtained,
            Err(error) => {
                tracing::warn!(target: "toolgate::gate", "cannot ask for approval: {error}");
                CallApprovalOutcome::Refused(format!("cannot ask for approval: {error}"))
            }
        }
    }

    async fn try_obtain(
        &self,
        ask: &CallApprovalRequest<'_>,
    ) -> Result<CallApprovalOutcome, StoreError> {
        let begun = Instant::now();
        loop {
            if let Some(id) = self.spend(&ask.bound, &ask.arguments_digest).await? {
                let by = "an approval given before".to_owned();
                return Ok(CallApprovalOutcome::Decided { by, id, choice: ApprovalChoice::Once });
            }
            let mut waiting = match self.enqueue(ask).await? {
                Ok(waiting) => waiting,
                Err(refused) => return Ok(CallApprovalOutcome::Refused(refused)),
            };
            let ApprovalDecision { choice, by } =
                match self.answer(ask, &mut waiting, begun).await? {
                    Ok(verdict) => verdict,
                    Err(outcome) => return Ok(outcome),
                };
            // Of identical calls that waited together, only the first to use up the grant passes.
            if choice != ApprovalChoice::Once
                || self.spend(&ask.bound, &ask.arguments_digest).await?.is_some()
            {
                let id = waiting.call.id.clone();
                return Ok(CallApprovalOutcome::Decided { by, id, choice });
            }
        }
    }

    /// Stores the call where every approver finds it, and starts to wait for its decision.
    async fn enqueue(
        &self,
        ask: &CallApprovalRequest<'_>,
    ) -> Result<Result<PendingCallGuard, String>, StoreError> {
        let caller = &ask.bound.caller;
        let mut call = pending(ask)?;
        let _alone = self.enqueue_lock.lock().await;
        if !self.rate_limit.admit(caller) {
            return Ok(Err(format!("more than {ASKS} approvals were asked for within a minute")));
        }
        let stays = match self.store.keep_pending(&call, ROOM).await? {
            KeepPendingOutcome::New => false,
            KeepPendingOutcome::Joined(earlier) => {
                self.rate_limit.give_back(caller);
                call = *earlier;
                true
            }
            KeepPendingOutcome::CallerFull => {
                let most = ROOM.per_caller;
                return Ok(Err(format!("{most} calls of this caller already wait for approval")));
            }
            KeepPendingOutcome::Full => {
                return Ok(Err(format!("{} calls already wait for approval", ROOM.in_all)));
            }
        };
        let (Some(waiter), Some(broker)) = (self.waiters.enter(&call.id, stays), self.me.upgrade())
        else {
            return Ok(Err("too many identical calls wait for the same approval".to_owned()));
        };
        let waiting = PendingCallGuard { broker, call, waiter };
        // An approver that read the list may have decided it since it was stored.
        if let Some(verdict) = self.store.approval_decision(&waiting.call.id).await? {
            self.waiters.decide(&waiting.call.id, verdict);
        }
        self.notify_changed();
        Ok(Ok(waiting))
    }

    /// Asks every channel and returns the first answer; the inner error says why there is none.
    async fn answer(
        &self,
        ask: &CallApprovalRequest<'_>,
        waiting: &mut PendingCallGuard,
        begun: Instant,
    ) -> Result<Result<ApprovalDecision, CallApprovalOutcome>, StoreError> {
        let PendingCallGuard { call, waiter: ApprovalWaiter { verdict, turn }, .. } = waiting;
        let unanswered = || {
            self.waiters.keep_open(&call.id);
            Ok(Err(CallApprovalOutcome::Waiting { id: call.id.clone() }))
        };
        let key = format!("approval-{}", generate_id()?);
        let question = (ask.via == ApprovalChannel::Elicitation
            && QuestionKind::Form.is_declared_in(&ask.port.capabilities()))
        .then(|| form::question(call, key))
        .flatten();
        let (mut has_form, mut turn_taken) = (question.is_some(), None);
        let mut form = std::pin::pin!(form::ask(ask.port, question));
        loop {
            let patience = match (&turn_taken, ask.era) {
                (Some(_), Era::Modern) => ask.expiry,
                _ => ask.wait.min(ask.expiry),
            };
            tokio::select! {
                biased;
                decided = decision(verdict) => return decided.map_or_else(unanswered, |it| Ok(Ok(it))),
                taken = turn.clone().acquire_owned(), if has_form && turn_taken.is_none() => {
                    turn_taken = taken.ok();
                    has_form = turn_taken.is_some();
                }
                reply = &mut form, if has_form && turn_taken.is_some() => match reply {
                    FormOutcome::Chose(choice) => {
                        let by = format!("the client {}, by a form", ask.bound.client);
                        return self.settle_choice(&call.id, choice, &by).await;
                    }
                    FormOutcome::Cancelled => return Ok(Err(CallApprovalOutcome::Cancelled)),
                    FormOutcome::Unsupported => (has_form, turn_taken) = (false, None),
                },
                () = sleep_until(begun + patience) => return unanswered(),
            }
        }
    }

    /// Stores an answer. If another approver answered first, that answer counts.
    async fn settle_choice(
        &self,
        id: &str,
        choice: ApprovalChoice,
        by: &str,
    ) -> Result<Result<ApprovalDecision, CallApprovalOutcome>, StoreError> {
        let by = toolgate_model::escape_invisible(by);
        if self.settle(id, choice, &by).await?.is_some() {
            return Ok(Ok(ApprovalDecision { choice, by }));
        }
        let earlier = self.store.approval_decision(id).await?;
        Ok(earlier.ok_or_else(|| CallApprovalOutcome::Refused(EXPIRED.to_owned())))
    }
}

/// Waits for a decision. `None` means that none can arrive any more, which cannot happen while the
/// call waits.
async fn decision(
    verdict: &mut watch::Receiver<Option<ApprovalDecision>>,
) -> Option<ApprovalDecision> {
    verdict.wait_for(Option::is_some).await.ok().and_then(|decided| decided.clone())
}

fn pending(ask: &CallApprovalRequest<'_>) -> Result<PendingCall, StoreError> {
    let asked_at = SystemTime::now();
    Ok(PendingCall {
        id: generate_id()?,
        binding: ask.bound.clone(),
        arguments: ask.arguments.clone(),
        other_params: ask.other_params.clone(),
        arguments_digest: ask.arguments_digest,
        because: ask.because.clone(),
        asked_at,
        expires_at: asked_at + ask.expiry,
    })
}

/// A waiting call. Dropping it before the decision withdraws the question, because the caller is
/// gone.
struct PendingCallGuard {
    broker: Arc<ApprovalBroker>,
    call: PendingCall,
    waiter: ApprovalWaiter,
}

impl Drop for PendingCallGuard {
    fn drop(&mut self) {
        if !self.broker.waiters.leave(&self.call.id) {
            return;
        }
        let (broker, id) = (self.broker.clone(), self.call.id.clone());
        // Without a runtime the process is ending; the row expires by itself.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { broker.withdraw(&id).await });
        }
    }
}

impl ApprovalBroker {
    async fn withdraw(&self, id: &str) {
        let _alone = self.enqueue_lock.lock().await;
        if self.waiters.has(id) {
            return; // an identical call has arrived since
        }
        match self.store.withdraw_pending(id).await {
            Ok(true) => self.notify_changed(),
            Ok(false) => {}
            Err(error) => {
                tracing::warn!(target: "toolgate::gate", "cannot withdraw an approval: {error}")
            }
        }
    }
}
