//! Approvers: front ends that are shown every call the operator has to decide, and may answer it
//! directly.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use toolgate_store::{ApprovalChoice, PendingCall};

/// A front end that asks a person, such as a dialog or a console.
pub trait Approver: Send + Sync {
    /// The name that the journal records for an answer: `chat`, `console`.
    fn name(&self) -> &str;

    /// Asks a person about a call. `None` leaves the answer to others. Dropping the future
    /// withdraws the question.
    fn decide<'a>(&'a self, call: &'a PendingCall) -> BoxFuture<'a, Option<ApprovalChoice>>;
}

/// The registered approvers, each with its number.
type ApproverList = Mutex<Vec<(u64, Arc<dyn Approver>)>>;

/// The registered approvers.
#[derive(Default)]
pub(super) struct Approvers {
    last: AtomicU64,
    all: Arc<ApproverList>,
}

/// A registration. The approver is asked until this is dropped.
pub struct ApproverGuard {
    number: u64,
    all: Weak<ApproverList>,
}

impl Drop for ApproverGuard {
    fn drop(&mut self) {
        if let Some(all) = self.all.upgrade() {
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            all.retain(|(number, _)| *number != self.number);
        }
    }
}

impl Approvers {
    pub(super) fn register(&self, approver: Arc<dyn Approver>) -> ApproverGuard {
        let number = self.last.fetch_add(1, Ordering::Relaxed);
        self.all.lock().unwrap_or_else(PoisonError::into_inner).push((number, approver));
        ApproverGuard { number, all: Arc::downgrade(&self.all) }
    }

    /// Returns the first answer and the name of the approver that gave it. Waits forever if none
    /// answers.
    pub(super) async fn decide(&self, call: &PendingCall) -> (ApprovalChoice, String) {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut asked: FuturesUnordered<_> = all
            .iter()
            .map(|(_, approver)| async move { (approver.decide(call).await, approver.name()) })
            .collect();
        while let Some((choice, name)) = asked.next().await {
            if let Some(choice) = choice {
                return (choice, name.to_owned());
            }
        }
        std::future::pending().await
    }
}
