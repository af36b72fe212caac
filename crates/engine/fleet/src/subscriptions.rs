//! Subscriptions of callers: one at the server for as many callers as want it.
//!
//! Whatever the revision, the session knows how it is said. A connection that comes after another
//! is told again what callers want; what may have changed between the two is reported as changed.

use std::sync::Arc;

use toolgate_session::SessionError;
use toolgate_wire::{Frame, Limits, build, method, string};

use crate::connect::Live;
use crate::{CallerKey, FleetError, Pool};

impl Pool {
    /// Subscribes a caller to a resource. The server is asked for the first one only.
    pub async fn subscribe(&self, uri: &str, caller: CallerKey) -> Result<(), FleetError> {
        if let Some(next) = self.successor() {
            return Box::pin(next.subscribe(uri, caller)).await;
        }
        let live = self.live().await?;
        let _turn = self.subscribing.lock().await;
        if !self.wanted(|wanted| wanted.subscribe(uri, caller)) {
            return Ok(());
        }
        let mut begun = Begun { pool: self, uri, caller, live: &live, settled: false };
        let told = live.session.subscribe(uri).await;
        begun.settled = true;
        drop(begun);
        if told.is_err() {
            self.wanted(|wanted| wanted.unsubscribe(uri, caller));
        }
        // Whoever took its place meanwhile may not have heard of it, or was told for nothing.
        if let Some(next) = self.successor() {
            return Box::pin(next.subscribe(uri, caller)).await;
        }
        match told {
            Ok(()) => Ok(()),
            Err(error) => Err(self.not_told(&live, error).await),
        }
    }

    /// Ends a caller's subscription. The server is told after the last one, if it is up.
    pub async fn unsubscribe(&self, uri: &str, caller: CallerKey) -> Result<(), FleetError> {
        if let Some(next) = self.successor() {
            return Box::pin(next.unsubscribe(uri, caller)).await;
        }
        let _turn = self.subscribing.lock().await;
        let last = self.wanted(|wanted| wanted.unsubscribe(uri, caller));
        let Some(live) = self.usable().filter(|_| last) else { return Ok(()) };
        match live.session.unsubscribe(uri).await {
            Ok(()) => Ok(()),
            Err(error) => Err(self.not_told(&live, error).await),
        }
    }

    async fn not_told(&self, live: &Arc<Live>, error: SessionError) -> FleetError {
        match error.is_fatal() {
            true => self.lost(live, error).await,
            false => self.failed(live.masked(error), String::new()),
        }
    }

    /// Forgets a caller.
    pub(crate) fn release(&self, caller: CallerKey) {
        let orphans = self.wanted(|wanted| wanted.release(caller));
        let Some(live) = self.usable() else { return };
        for uri in orphans {
            unsubscribe(&live, uri);
        }
    }

    /// A new connection is told what callers want to hear of.
    pub(crate) fn subscribe_again(&self, live: &Arc<Live>) {
        let uris = self.wanted(|wanted| wanted.subscriptions());
        if uris.is_empty() {
            return;
        }
        let (pool, live) = (self.me(), live.clone());
        tokio::spawn(async move {
            for uri in uris {
                if let Err(error) = live.session.subscribe(&uri).await {
                    let error = live.masked(error);
                    tracing::warn!(target: "toolgate::fleet", uri, %error, "not subscribed again");
                    continue;
                }
                let (Some(pool), Some(frame)) = (pool.upgrade(), updated(&uri)) else { return };
                pool.notified(frame);
            }
        });
    }
}

/// A subscription the server is being asked for. If whoever asks leaves before its answer, the
/// server is told to forget it.
struct Begun<'a> {
    pool: &'a Pool,
    uri: &'a str,
    caller: CallerKey,
    live: &'a Arc<Live>,
    settled: bool,
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        if !self.settled && self.pool.wanted(|wanted| wanted.unsubscribe(self.uri, self.caller)) {
            unsubscribe(self.live, self.uri.to_owned());
        }
    }
}

/// Tells the server that nobody wants to hear of it any more; its answer changes nothing.
fn unsubscribe(live: &Arc<Live>, uri: String) {
    let live = live.clone();
    tokio::spawn(async move {
        if let Err(error) = live.session.unsubscribe(&uri).await {
            let error = live.masked(error);
            tracing::debug!(target: "toolgate::fleet", uri, %error, "not unsubscribed");
        }
    });
}

fn updated(uri: &str) -> Option<Frame> {
    let params = format!("{{\"uri\":{}}}", string::encode(uri));
    let notification = build::notification(method::RESOURCES_UPDATED, Some(params.as_bytes()));
    Frame::parse(notification, &Limits::default()).ok()
}
