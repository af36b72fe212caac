//! `subscriptions/listen`: a request that sends changes to its client for as long as it is open.
//!
//! The gateway subscribes to the requested resources, acknowledges what it will report, and then
//! reports changes. The request ends when the client closes it, or with a final response when the
//! gateway ends it.

use std::task::{Context, Poll, ready};

use futures_util::future::BoxFuture;
use toolgate_wire::{Frame, OwnedRequestId, build, code, method};

use super::listen_subscribers::{ListenSubscriber, ListenSubscriberGuard};
use super::notification_filter::NotificationFilter;
use super::subscription_counts::SubscriptionGuard;
use super::{ModernHandler, ModernRequestContext};
use crate::exchange::{Exchange, ExchangeOutput, RpcResponse};

/// An open listen request.
pub(crate) struct ListenExchange {
    registration: ListenSubscriberGuard,
    accepted: NotificationFilter,
    subscribing: Option<BoxFuture<'static, SubscriptionGuard>>,
    subscriptions: Option<SubscriptionGuard>,
}

impl ModernHandler {
    /// Starts to answer a listen request.
    pub(super) fn listen(
        &self,
        request: &Frame,
        id: OwnedRequestId,
        context: ModernRequestContext,
    ) -> Exchange {
        let filter = match NotificationFilter::parse(request.params().unwrap_or_default()) {
            Ok(filter) => filter,
            Err(reason) => return Exchange::failed(&id, code::INVALID_PARAMS, reason),
        };
        let caller = &context.client.caller;
        let mut filter = filter.restrict_to(&self.gate.capabilities(caller), &caller.capabilities);
        filter.tasks.retain(|task| self.gate.watch_task(caller, task));
        let subscriber = ListenSubscriber::new(id.clone(), (&context).into(), filter.clone());
        let Some(registration) = self.subscribers.insert(subscriber) else {
            let error = "too many listen requests are open";
            return Exchange::failed(&id, code::INVALID_REQUEST, error);
        };
        let mut subscriptions = SubscriptionGuard::new(context.client);
        let uris = filter.uris.clone();
        let subscribing: BoxFuture<'static, _> = Box::pin(async move {
            for uri in uris {
                subscriptions.subscribe(uri).await;
            }
            subscriptions
        });
        Exchange::Listen(Box::new(ListenExchange {
            registration,
            accepted: filter,
            subscribing: Some(subscribing),
            subscriptions: None,
        }))
    }
}

impl ListenExchange {
    pub(crate) fn poll_step(&mut self, context: &mut Context<'_>) -> Poll<ExchangeOutput> {
        if let Some(subscribing) = &mut self.subscribing {
            let subscriptions = ready!(subscribing.as_mut().poll(context));
            self.subscribing = None;
            self.accepted.uris = subscriptions.uris.clone();
            self.subscriptions = Some(subscriptions);
            self.registration.subscriber.activate(self.accepted.clone());
            return Poll::Ready(ExchangeOutput::Message(self.acknowledgement()));
        }
        Poll::Ready(match ready!(self.registration.subscriber.poll_next(context)) {
            Some(message) => ExchangeOutput::Message(message),
            None => ExchangeOutput::Response(self.final_response()),
        })
    }

    fn acknowledgement(&self) -> bytes::Bytes {
        let accepted = self.accepted.to_json();
        let params = format!(
            r#"{{"notifications":{accepted},"_meta":{}}}"#,
            self.registration.subscriber.meta()
        );
        build::notification(method::SUBSCRIPTIONS_ACKNOWLEDGED, Some(params.as_bytes()))
    }

    fn final_response(&self) -> RpcResponse {
        let result = format!(
            r#"{{"resultType":"complete","_meta":{}}}"#,
            self.registration.subscriber.meta()
        );
        RpcResponse::result(&self.registration.subscriber.id, result.as_bytes())
    }
}
