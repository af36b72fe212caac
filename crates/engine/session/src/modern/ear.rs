//! The one stream on which a modern server reports changes: `subscriptions/listen`.
//!
//! When the wishes change, a new listen is opened and the old one ended once the new one is
//! acknowledged, so that nothing falls between. After a loss there is a gap: the owner is then told
//! that everything may have changed.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use toolgate_wire::{Frame, Limits, build, code, method, string};

use super::filter::{Honoured, Offer, Wanted};
use super::listen::{Heard, Loss, Signal};
use super::{rounds, stream::Open};
use crate::SessionError;
use crate::core::Core;

/// How long the server may take to acknowledge.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long to wait before a lost listen is opened again; doubled each time.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// How often in a row it is opened again.
const MAX_REOPEN: u32 = 5;
/// A listen that lasted so long was not lost in a row with the one before.
const STEADY: Duration = Duration::from_secs(30);

/// Begins to listen.
pub(crate) fn start(core: Arc<Core>, offer: Offer) -> Option<JoinHandle<()>> {
    let (inbox, wanted) = core.listener.ear()?;
    let (before, failures, last) = (Honoured::default(), 0, 0);
    let mut ear = Ear { core, offer, inbox, wanted, before, gap: false, failures, last };
    Some(tokio::spawn(async move {
        let failure = Some(ear.listen().await);
        let over = Heard { generation: u64::MAX, honoured: Honoured::default(), failure };
        ear.core.listener.decide(over);
    }))
}

/// The task that listens.
struct Ear {
    core: Arc<Core>,
    offer: Offer,
    inbox: mpsc::UnboundedReceiver<Signal>,
    wanted: watch::Receiver<Wanted>,
    /// What was agreed on when it last was.
    before: Honoured,
    /// Whether something may have been missed since.
    gap: bool,
    /// Losses in a row.
    failures: u32,
    /// The number of the newest listen.
    last: u64,
}

/// How the wait on one listen ended.
enum Turn {
    /// The wishes changed; this one goes on until the next one is acknowledged.
    Changed(Open),
    Over(Loss),
    /// The connection is over.
    End(String),
}

impl Ear {
    /// Listens until the connection is over; says why it is.
    async fn listen(&mut self) -> String {
        let mut old = None;
        loop {
            let wanted = self.wanted.borrow_and_update().clone();
            let Some(filter) = self.offer.filter(&wanted) else {
                old = None;
                self.decide(&wanted, Honoured::default(), None);
                match self.idle().await {
                    Some(reason) => return reason,
                    None => continue,
                }
            };
            match self.hear(&wanted, &filter, old.take()).await {
                Turn::Changed(open) => old = Some(open),
                Turn::Over(loss) => {
                    if let Some(reason) = self.lost(&wanted, loss).await {
                        return reason;
                    }
                }
                Turn::End(reason) => return reason,
            }
        }
    }

    fn decide(&self, wanted: &Wanted, honoured: Honoured, failure: Option<String>) {
        let generation = wanted.generation;
        self.core.listener.decide(Heard { generation, honoured, failure });
    }

    /// Opens a listen and waits on it; `old` goes on meanwhile.
    async fn hear(&mut self, wanted: &Wanted, filter: &str, mut old: Option<Open>) -> Turn {
        self.last += 1;
        let mut open = Open::new(&self.core, self.last, filter, !wanted.tasks.is_empty());
        let opened = Instant::now();
        let mut acknowledged = false;
        loop {
            let signal = tokio::select! {
                biased;
                signal = self.inbox.recv() => signal,
                _ = self.wanted.changed() => {
                    let heard = if acknowledged { open } else { old.unwrap_or(open) };
                    return Turn::Changed(heard);
                }
                () = tokio::time::sleep_until(opened + PATIENCE), if !acknowledged => {
                    return Turn::Over(Loss::Ended("it was not acknowledged".into()));
                }
            };
            match signal {
                Some(Signal::Acknowledged(number, honoured)) if number == open.number => {
                    old = None;
                    acknowledged = true;
                    self.agreed(wanted, honoured);
                }
                Some(Signal::Over(number, loss)) if number == open.number => {
                    open.over = true;
                    if acknowledged && opened.elapsed() >= STEADY {
                        self.failures = 0;
                    }
                    return Turn::Over(loss);
                }
                Some(Signal::Over(number, _)) => {
                    if let Some(old) = old.as_mut().filter(|old| old.number == number) {
                        old.over = true;
                        self.gap = true;
                    }
                }
                Some(Signal::Acknowledged(..)) => {}
                Some(Signal::End(reason)) => return Turn::End(reason),
                None => return Turn::End(String::new()),
            }
        }
    }

    /// The server agreed to report; what it may have reported in a gap is made up for.
    fn agreed(&mut self, wanted: &Wanted, honoured: Honoured) {
        if std::mem::take(&mut self.gap) {
            for kind in &honoured.lists {
                self.core.owner.list_changed(*kind);
            }
            for uri in honoured.uris.intersection(&self.before.uris) {
                self.updated(uri);
            }
        }
        self.before = honoured.clone();
        self.decide(wanted, honoured, None);
    }

    /// Tells the owner that a resource may have changed.
    fn updated(&self, uri: &str) {
        let params = format!("{{\"uri\":{}}}", string::encode(uri));
        let notice = build::notification(method::RESOURCES_UPDATED, Some(params.as_bytes()));
        if let Ok(frame) = Frame::parse(notice, &Limits::WIDEST) {
            self.core.owner.notified(frame);
        }
    }

    /// After a loss: waits a while, or until the wishes change if trying again is of no use. Gives
    /// the reason if the connection is over.
    async fn lost(&mut self, wanted: &Wanted, loss: Loss) -> Option<String> {
        let server = &self.core.server;
        let outline = loss.outline();
        tracing::debug!(target: "toolgate::session", %server, outline, "a listen is over");
        self.gap = true;
        self.failures += 1;
        let again = self.failures <= MAX_REOPEN;
        let reason = match loss {
            Loss::Refused(SessionError::Refused { code, message })
                if code == i64::from(code::UNSUPPORTED_PROTOCOL_VERSION) =>
            {
                return Some(rounds::outdated(&self.core, &message).to_string());
            }
            Loss::Ended(_) | Loss::Unreachable(_) if again => {
                let wait = FIRST_WAIT.saturating_mul(1 << (self.failures - 1));
                return tokio::time::timeout(wait, self.idle()).await.unwrap_or(None);
            }
            Loss::Unreachable(error) => {
                self.core.end(&error.to_string());
                return Some(error.to_string());
            }
            Loss::Refused(error) => error.to_string(),
            Loss::Ended(reason) => reason,
        };
        tracing::warn!(
            target: "toolgate::session", %server, reason = outline,
            "changes of this server are not reported"
        );
        self.failures = 0;
        self.decide(wanted, Honoured::default(), Some(reason));
        self.idle().await
    }

    /// Waits until the wishes change. Gives the reason if the connection is over before.
    async fn idle(&mut self) -> Option<String> {
        loop {
            tokio::select! {
                _ = self.wanted.changed() => return None,
                signal = self.inbox.recv() => match signal {
                    Some(Signal::End(reason)) => return Some(reason),
                    Some(_) => {}
                    None => return Some(String::new()),
                }
            }
        }
    }
}
