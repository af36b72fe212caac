//! Faces that are asked directly: whoever registers is shown every call the operator is asked about
//! and may answer at once.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use toolgate_store::{Choice, PendingCall};

/// A face that wants to be asked: a dialog, a console.
pub trait Approver: Send + Sync {
    /// Who answers, as it is put on record: `chat`, `console`.
    fn name(&self) -> &str;

    /// Asks a person about a call; `None` leaves the answer to others. Dropping the future takes the
    /// question back.
    fn decide<'a>(&'a self, call: &'a PendingCall) -> BoxFuture<'a, Option<Choice>>;
}

/// Every face that wants to be asked, by its number.
type Faces = Mutex<Vec<(u64, Arc<dyn Approver>)>>;

/// The faces that want to be asked.
#[derive(Default)]
pub(super) struct Approvers {
    last: AtomicU64,
    all: Arc<Faces>,
}

/// As long as it lives, the face is asked.
pub struct Registered {
    number: u64,
    all: Weak<Faces>,
}

impl Drop for Registered {
    fn drop(&mut self) {
        if let Some(all) = self.all.upgrade() {
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            all.retain(|(number, _)| *number != self.number);
        }
    }
}

impl Approvers {
    pub(super) fn register(&self, approver: Arc<dyn Approver>) -> Registered {
        let number = self.last.fetch_add(1, Ordering::Relaxed);
        self.all.lock().unwrap_or_else(PoisonError::into_inner).push((number, approver));
        Registered { number, all: Arc::downgrade(&self.all) }
    }

    /// The first answer any of them gives, and whose it is. Waits for ever if none does.
    pub(super) async fn decide(&self, call: &PendingCall) -> (Choice, String) {
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
