//! Resource subscriptions: one at the server for all callers that want it.
//!
//! The session handles the differences between revisions. A new connection gets all subscriptions
//! again, and every resource that may have changed in between is reported as updated.

use std::sync::Arc;

use toolgate_session::CallerId;
use toolgate_wire::{Frame, MessageLimits, build, method, string};

use crate::connect::ServerConnection;
use crate::{FleetError, Pool};

impl Pool {
    /// Subscribes a caller to a resource. Sends a request to the server only for the first caller.
    pub async fn subscribe(&self, uri: &str, caller: CallerId) -> Result<(), FleetError> {
        if let Some(next) = self.successor() {
            return Box::pin(next.subscribe(uri, caller)).await;
        }
        let live = self.ensure_connected().await?;
        let _turn = self.subscribing.lock().await;
        if !self.with_subscriptions(|wanted| wanted.subscribe(uri, caller)) {
            return Ok(());
        }
        let mut begun = SubscribeGuard { pool: self, uri, caller, live: &live, settled: false };
        let outcome = live.session.subscribe(uri).await;
        begun.settled = true;
        drop(begun);
        if outcome.is_err() {
            self.with_subscriptions(|wanted| wanted.unsubscribe(uri, caller));
        }
        // A successor that took over in the meantime may lack this subscription.
        if let Some(next) = self.successor() {
            return Box::pin(next.subscribe(uri, caller)).await;
        }
        match outcome {
            Ok(()) => Ok(()),
            Err(error) => Err(self.session_failure(&live, error).await),
        }
    }

    /// Ends a caller's subscription. After the last one, unsubscribes at the server if it is
    /// connected.
    pub async fn unsubscribe(&self, uri: &str, caller: CallerId) -> Result<(), FleetError> {
        if let Some(next) = self.successor() {
            return Box::pin(next.unsubscribe(uri, caller)).await;
        }
        let _turn = self.subscribing.lock().await;
        let last = self.with_subscriptions(|wanted| wanted.unsubscribe(uri, caller));
        let Some(live) = self.live_connection().filter(|_| last) else { return Ok(()) };
        match live.session.unsubscribe(uri).await {
            Ok(()) => Ok(()),
            Err(error) => Err(self.session_failure(&live, error).await),
        }
    }

    /// Removes a caller, and unsubscribes from resources that no other caller wants.
    pub(crate) fn release_caller(&self, caller: CallerId) {
        let orphans = self.with_subscriptions(|wanted| wanted.release_caller(caller));
        let Some(live) = self.live_connection() else { return };
        for uri in orphans {
            unsubscribe(&live, uri);
        }
    }

    /// Sends the subscriptions of all callers on a new connection.
    pub(crate) fn subscribe_again(&self, live: &Arc<ServerConnection>) {
        let uris = self.with_subscriptions(|wanted| wanted.subscriptions());
        if uris.is_empty() {
            return;
        }
        let (pool, live) = (self.me.clone(), live.clone());
        tokio::spawn(async move {
            for uri in uris {
                if let Err(error) = live.session.subscribe(&uri).await {
                    let error = live.mask_error(error);
                    tracing::warn!(
                        target: "toolgate::fleet", uri, %error,
                        "cannot renew a subscription"
                    );
                    continue;
                }
                let (Some(pool), Some(frame)) = (pool.upgrade(), updated(&uri)) else { return };
                pool.announce_notification(frame);
            }
        });
    }
}

/// A subscription request in progress. If the caller stops waiting before the answer, dropping the
/// guard unsubscribes at the server.
struct SubscribeGuard<'a> {
    pool: &'a Pool,
    uri: &'a str,
    caller: CallerId,
    live: &'a Arc<ServerConnection>,
    settled: bool,
}

impl Drop for SubscribeGuard<'_> {
    fn drop(&mut self) {
        if !self.settled
            && self.pool.with_subscriptions(|wanted| wanted.unsubscribe(self.uri, self.caller))
        {
            unsubscribe(self.live, self.uri.to_owned());
        }
    }
}

/// Unsubscribes at the server in the background. Errors are only logged.
fn unsubscribe(live: &Arc<ServerConnection>, uri: String) {
    let live = live.clone();
    tokio::spawn(async move {
        if let Err(error) = live.session.unsubscribe(&uri).await {
            let error = live.mask_error(error);
            tracing::debug!(target: "toolgate::fleet", uri, %error, "cannot unsubscribe");
        }
    });
}

fn updated(uri: &str) -> Option<Frame> {
    let params = format!("{{\"uri\":{}}}", string::encode(uri));
    let notification = build::notification(method::RESOURCES_UPDATED, Some(params.as_bytes()));
    Frame::parse(notification, &MessageLimits::default()).ok()
}
