//! What callers want to be told of, and what the server said about it.
//!
//! All wishes of a session share one `subscriptions/listen`; the [`ear`](super::ear) keeps it open.
//! Here is what both sides of it meet at: the wishes, and what came of them.

use std::sync::{Mutex, PoisonError};

use tokio::sync::{mpsc, watch};
use toolgate_wire::{Frame, Id, code, meta, scan};

use super::filter::{Honoured, Offer, Wanted};
use crate::SessionError;
use crate::core::Core;
use crate::session::fail_on_error;

/// What the id of a listen begins with: text, so that it is never taken for a call's.
pub(super) const PREFIX: &str = "listen-";

/// What everybody knows of the listen.
pub(crate) struct Listener {
    signals: mpsc::UnboundedSender<Signal>,
    /// For the one task that listens.
    inbox: Mutex<Option<mpsc::UnboundedReceiver<Signal>>>,
    wanted: watch::Sender<Wanted>,
    heard: watch::Sender<Heard>,
}

/// Something about the listen of this number.
pub(super) enum Signal {
    Acknowledged(u64, Honoured),
    Over(u64, Loss),
    /// The connection is over.
    End(String),
}

/// Why a listen is over.
#[derive(Debug)]
pub(super) enum Loss {
    /// It will not be given, however often it is asked for.
    Refused(SessionError),
    /// It was given, and ended.
    Ended(String),
    /// The server cannot be reached.
    Unreachable(SessionError),
}

impl Loss {
    /// What happened, without the server's own words.
    pub(super) fn outline(&self) -> String {
        match self {
            Self::Refused(error) | Self::Unreachable(error) => error.outline(),
            Self::Ended(_) => "it was ended".to_owned(),
        }
    }
}

/// How far the wishes are fulfilled.
#[derive(Debug, Clone, Default)]
pub(super) struct Heard {
    /// The wishes that were decided on.
    pub(super) generation: u64,
    pub(super) honoured: Honoured,
    pub(super) failure: Option<String>,
}

impl Default for Listener {
    fn default() -> Self {
        let (signals, inbox) = mpsc::unbounded_channel();
        let wanted = Wanted { generation: 1, ..Wanted::default() };
        let (wanted, heard) = (watch::Sender::new(wanted), watch::Sender::default());
        Self { signals, inbox: Mutex::new(Some(inbox)), wanted, heard }
    }
}

impl Listener {
    /// Takes an acknowledgement.
    pub(crate) fn acknowledged(&self, frame: &Frame) {
        let params = frame.params().unwrap_or_default();
        let id = scan::pointer(params, &["_meta", meta::SUBSCRIPTION_ID]);
        let Some(number) = id.and_then(|span| number(Id::from_raw(span.of(params))?)) else {
            return;
        };
        let filter = scan::member(params, "notifications").map(|span| span.of(params));
        let honoured = Honoured::of(filter.unwrap_or_default());
        self.signal(Signal::Acknowledged(number, honoured));
    }

    /// Takes the answer to a listen, which ends it.
    pub(crate) fn answered(&self, frame: Frame) {
        if let Some(number) = frame.id().and_then(number) {
            let loss = match fail_on_error(frame) {
                Ok(_) => Loss::Ended("the server ended it".into()),
                Err(error) => Loss::Refused(error),
            };
            self.signal(Signal::Over(number, loss));
        }
    }

    /// Takes the server's word that it has ended a listen. `false` if it is about something else.
    pub(crate) fn cancelled(&self, frame: &Frame) -> bool {
        let Some(number) = frame.request_ref().and_then(number) else { return false };
        let loss = Loss::Ended("the server cancelled it".into());
        self.signal(Signal::Over(number, loss));
        true
    }

    /// The connection is over.
    pub(crate) fn end(&self, reason: &str) {
        self.signal(Signal::End(reason.to_owned()));
    }

    /// Changes the wishes; gives the number under which they will be decided on.
    pub(crate) fn want(&self, change: impl FnOnce(&mut Wanted) -> bool) -> u64 {
        self.wanted.send_if_modified(|wanted| {
            let changed = change(wanted);
            wanted.generation += u64::from(changed);
            changed
        });
        self.wanted.borrow().generation
    }

    /// The side of the one task that listens; once.
    pub(super) fn ear(&self) -> Option<(mpsc::UnboundedReceiver<Signal>, watch::Receiver<Wanted>)> {
        let inbox = self.inbox.lock().unwrap_or_else(PoisonError::into_inner).take();
        inbox.zip(Some(self.wanted.subscribe()))
    }

    pub(super) fn signal(&self, signal: Signal) {
        let _ = self.signals.send(signal);
    }

    /// Tells those who wait what came of their wishes.
    pub(super) fn decide(&self, heard: Heard) {
        self.heard.send_replace(heard);
    }

    /// Waits until the wishes of this number are decided on.
    async fn decided(&self, generation: u64) -> Heard {
        let mut heard = self.heard.subscribe();
        let decided = heard.wait_for(|heard| heard.generation >= generation).await;
        decided.map(|heard| heard.clone()).unwrap_or_default()
    }

    /// Waits for the first listen to be given or refused.
    pub(crate) async fn settled(&self) {
        self.decided(1).await;
    }
}

/// The number of a listen, if the id is one's.
fn number(id: Id<'_>) -> Option<u64> {
    id.as_text()?.strip_prefix(PREFIX)?.parse().ok()
}

/// Asks to be told of a resource's changes; waits until the server agrees.
pub(crate) async fn subscribe(core: &Core, offer: &Offer, uri: &str) -> Result<(), SessionError> {
    let refused =
        |message: String| SessionError::Refused { code: code::METHOD_NOT_FOUND.into(), message };
    if !offer.resources {
        return Err(refused("the server offers no subscriptions".into()));
    }
    let listener = &core.listener;
    let generation = listener.want(|wanted| wanted.uris.insert(uri.to_owned()));
    let limit = core.timeouts.own_request();
    let decided = tokio::time::timeout(limit, listener.decided(generation)).await;
    let heard = match decided {
        Ok(heard) if heard.honoured.uris.contains(uri) => return Ok(()),
        heard => heard,
    };
    // It is not told of, so that taking it out of the wishes changes nothing.
    listener.wanted.send_if_modified(|wanted| {
        wanted.uris.remove(uri);
        false
    });
    let heard = heard.map_err(|_| SessionError::TimedOut(limit))?;
    let why = heard.failure.unwrap_or_else(|| "the server does not report on it".into());
    Err(refused(format!("subscribe to `{uri}`: {why}")))
}
