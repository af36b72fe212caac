//! How a decision about one call is obtained: kept, asked for, waited for.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use toolgate_model::{Digest, Via};
use toolgate_session::Interactor;
use toolgate_store::{Bound, Choice, Kept, PendingCall, Room, StoreError, Verdict};
use toolgate_wire::Era;

use super::Broker;
use super::form::{self, Reply};
use super::rate::ASKS;
use super::waiting::Seat;

/// How many calls may wait for a decision.
const ROOM: Room = Room { per_caller: 100, in_all: 1000 };

const EXPIRED: &str =
    "the answer came when the question had expired; repeat the call to be asked anew";

/// A call somebody is to be asked about.
pub struct Ask<'a> {
    /// What an approval of it is bound to.
    pub bound: Bound,
    /// Its arguments, whole and raw, as they would be sent.
    pub arguments: Bytes,
    /// The members of `params` beside them that would reach the server, as an object, raw; empty if
    /// there are none.
    pub other_params: Bytes,
    /// The digest of both, by [`params_digest`](super::params_digest).
    pub arguments_digest: Digest,
    /// Why somebody is asked.
    pub because: String,
    /// Who is asked.
    pub via: Via,
    /// Whoever stands behind the call.
    pub port: &'a Arc<dyn Interactor>,
    /// How the caller's client is asked: a modern one leaves and comes back with the answer, so it
    /// need not hurry.
    pub era: Era,
    /// How long the call waits.
    pub wait: Duration,
    /// How long it can be approved.
    pub expiry: Duration,
}

/// What came of asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Obtained {
    /// The call may be made, once, now.
    Approved {
        /// Who said so, and where.
        by: String,
        /// The id of the question, or of the one-time grant that was used up.
        id: String,
        /// What was chosen.
        choice: Choice,
    },
    /// It may not.
    Denied {
        /// Who said so, and where.
        by: String,
        /// The id of the question.
        id: String,
    },
    /// Nobody has answered in time. The question stays open: once it is approved, the same call
    /// passes.
    Waiting {
        /// The id of the question.
        id: String,
    },
    /// The person who was asked put the question away: the call is over.
    Cancelled,
    /// Nobody can be asked now, and why.
    Refused(String),
}

impl Broker {
    /// Obtains a decision about a call. Dropping the future takes the question back, unless it was
    /// answered already.
    pub async fn obtain(&self, ask: Ask<'_>) -> Obtained {
        match self.obtained(&ask).await {
            Ok(obtained) => obtained,
            Err(error) => {
                tracing::warn!(target: "toolgate::gate", "failed to {error}");
                Obtained::Refused(format!("approvals cannot be asked for: failed to {error}"))
            }
        }
    }

    async fn obtained(&self, ask: &Ask<'_>) -> Result<Obtained, StoreError> {
        let begun = Instant::now();
        loop {
            if let Some(id) = self.spend_stored(&ask.bound, &ask.arguments_digest).await? {
                let by = "an approval given before".to_owned();
                return Ok(Obtained::Approved { by, id, choice: Choice::Once });
            }
            let mut waiting = match self.enrol(ask).await? {
                Ok(waiting) => waiting,
                Err(refused) => return Ok(Obtained::Refused(refused)),
            };
            let id = waiting.call.id.clone();
            let verdict = match self.answer(ask, &mut waiting, begun).await? {
                Outcome::Decided(verdict) => verdict,
                Outcome::Cancelled => return Ok(Obtained::Cancelled),
                Outcome::Expired => return Ok(Obtained::Refused(EXPIRED.to_owned())),
                Outcome::Unanswered => {
                    self.table.stay(&id);
                    return Ok(Obtained::Waiting { id });
                }
            };
            let Verdict { choice, by } = verdict;
            match choice {
                Choice::Deny => return Ok(Obtained::Denied { by, id }),
                Choice::Tool | Choice::Server => return Ok(Obtained::Approved { by, id, choice }),
                Choice::Once => {}
            }
            // Of identical calls that waited together one was approved: whoever uses it up first.
            let spent = self.spend_stored(&ask.bound, &ask.arguments_digest).await?;
            if spent.is_some() {
                return Ok(Obtained::Approved { by, id, choice });
            }
        }
    }

    /// Keeps the call where everybody who may decide finds it, and waits for it.
    async fn enrol(&self, ask: &Ask<'_>) -> Result<Result<Waiting, String>, StoreError> {
        let caller = &ask.bound.caller;
        let mut call = pending(ask)?;
        let _alone = self.enrolling.lock().await;
        if !self.rate.admit(caller) {
            return Ok(Err(format!("more than {ASKS} approvals were asked for within a minute")));
        }
        let stays = match self.store.keep_pending(&call, ROOM).await? {
            Kept::New => false,
            Kept::Joined(earlier) => {
                self.rate.give_back(caller);
                call = *earlier;
                true
            }
            Kept::CallerFull => {
                let most = ROOM.per_caller;
                return Ok(Err(format!("{most} calls of this caller wait for approval already")));
            }
            Kept::Full => {
                return Ok(Err(format!("{} calls wait for approval already", ROOM.in_all)));
            }
        };
        let (Some(seat), Some(broker)) = (self.table.enter(&call.id, stays), self.me.upgrade())
        else {
            return Ok(Err("too many identical calls wait for the same approval".to_owned()));
        };
        let waiting = Waiting { broker, call, seat };
        // It may have been decided between the two lines above, by somebody who looked at the list.
        if let Some(verdict) = self.store.verdict(&waiting.call.id).await? {
            self.table.decide(&waiting.call.id, verdict);
        }
        self.changed();
        Ok(Ok(waiting))
    }

    /// Asks and waits, whichever answer comes first.
    async fn answer(
        &self,
        ask: &Ask<'_>,
        waiting: &mut Waiting,
        begun: Instant,
    ) -> Result<Outcome, StoreError> {
        let Waiting { call, seat: Seat { verdict, turn }, .. } = waiting;
        let key = format!("approval-{}", fresh_key()?);
        let question = (ask.via == Via::Elicitation && form::can_show(&**ask.port))
            .then(|| form::question(call, key))
            .flatten();
        let mut form = std::pin::pin!(shown(ask.port, question.clone()));
        let mut faces = std::pin::pin!(self.approvers.decide(call));
        let (mut has_form, mut turn_taken) = (question.is_some(), None);
        loop {
            let patience = match (&turn_taken, ask.era) {
                (Some(_), Era::Modern) => ask.expiry,
                _ => ask.wait.min(ask.expiry),
            };
            tokio::select! {
                biased;
                decided = decision(verdict) => {
                    return Ok(decided.map_or(Outcome::Unanswered, Outcome::Decided));
                }
                taken = turn.clone().acquire_owned(), if has_form && turn_taken.is_none() => {
                    turn_taken = taken.ok();
                    has_form = turn_taken.is_some();
                }
                reply = &mut form, if has_form && turn_taken.is_some() => match reply {
                    Reply::Chose(choice) => {
                        let by = format!("the client {}, by a form", ask.bound.client);
                        return self.chosen(&call.id, choice, &by).await;
                    }
                    Reply::Cancelled => return Ok(Outcome::Cancelled),
                    Reply::Unable => (has_form, turn_taken) = (false, None),
                },
                (choice, by) = &mut faces, if !has_form => {
                    return self.chosen(&call.id, choice, &by).await;
                }
                () = sleep_until(begun + patience) => return Ok(Outcome::Unanswered),
            }
        }
    }

    /// Somebody answered us. If another was quicker, what he said counts.
    async fn chosen(&self, id: &str, choice: Choice, by: &str) -> Result<Outcome, StoreError> {
        let by = toolgate_model::visible(by);
        if self.settle(id, choice, &by).await?.is_some() {
            return Ok(Outcome::Decided(Verdict { choice, by }));
        }
        let earlier = self.store.verdict(id).await?;
        Ok(earlier.map_or(Outcome::Expired, Outcome::Decided))
    }
}

enum Outcome {
    Decided(Verdict),
    Cancelled,
    Expired,
    Unanswered,
}

/// Waits for a decision. None comes only if nobody could bring one any more, and as long as we wait
/// somebody can.
async fn decision(verdict: &mut watch::Receiver<Option<Verdict>>) -> Option<Verdict> {
    verdict.wait_for(Option::is_some).await.ok().and_then(|decided| decided.clone())
}

async fn shown(port: &Arc<dyn Interactor>, question: Option<toolgate_session::Question>) -> Reply {
    match question {
        Some(question) => form::ask(port, question).await,
        None => Reply::Unable,
    }
}

fn pending(ask: &Ask<'_>) -> Result<PendingCall, StoreError> {
    let asked_at = SystemTime::now();
    Ok(PendingCall {
        id: fresh_key()?,
        bound: ask.bound.clone(),
        arguments: ask.arguments.clone(),
        other_params: ask.other_params.clone(),
        arguments_digest: ask.arguments_digest,
        because: ask.because.clone(),
        asked_at,
        expires_at: asked_at + ask.expiry,
    })
}

fn fresh_key() -> Result<String, StoreError> {
    toolgate_store::fresh_id()
}

/// A call that waits. Dropped before it was decided, it is taken back: its caller is gone.
struct Waiting {
    broker: Arc<Broker>,
    call: PendingCall,
    seat: Seat,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if !self.broker.table.leave(&self.call.id) {
            return;
        }
        let (broker, id) = (self.broker.clone(), self.call.id.clone());
        // Without a runtime the process is ending; the row expires by itself.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { broker.withdraw(&id).await });
        }
    }
}

impl Broker {
    async fn withdraw(&self, id: &str) {
        let _alone = self.enrolling.lock().await;
        if self.table.has(id) {
            return; // the same call came again meanwhile
        }
        match self.store.withdraw(id).await {
            Ok(true) => self.changed(),
            Ok(false) => {}
            Err(error) => tracing::warn!(target: "toolgate::gate", "failed to {error}"),
        }
    }
}
