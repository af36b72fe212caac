//! `subscriptions/listen`: a request that is answered with changes for as long as it is open.
//!
//! First the servers are asked for the resources it names, then the client is told what it will
//! hear of, then it hears of it. It ends when the client closes it, or with a last result when the
//! gateway does.

use std::task::{Context, Poll, ready};

use futures_util::future::BoxFuture;
use toolgate_wire::{Frame, OwnedId, build, code, method};

use super::filter::Filter;
use super::listeners::{Entered, Listener};
use super::subscriptions::Held;
use super::{Exchange, Modern, Visit};
use crate::session::{Reply, Step};

/// An open listen.
pub(crate) struct Listening {
    entered: Entered,
    honoured: Filter,
    opening: Option<BoxFuture<'static, Held>>,
    held: Option<Held>,
}

impl Modern {
    /// Begins to answer a listen request.
    pub(super) fn listen(&self, request: &Frame, id: OwnedId, visit: Visit) -> Exchange {
        let filter = match Filter::of(request.params().unwrap_or_default()) {
            Ok(filter) => filter,
            Err(reason) => {
                return Exchange::Answered(Reply::failure(&id, code::INVALID_PARAMS, reason));
            }
        };
        let caller = &visit.visitor.caller;
        let mut filter = filter.within(&self.upstreams.capabilities(caller), &caller.capabilities);
        filter.tasks.retain(|task| self.upstreams.watch_task(caller, task));
        let listener = Listener::new(id.clone(), (&visit).into(), filter.clone());
        let Some(entered) = self.listeners.enter(listener) else {
            let error = "too many listens are open";
            return Exchange::Answered(Reply::failure(&id, code::INVALID_REQUEST, error));
        };
        let mut held = Held::new(self.upstreams.clone(), visit.visitor);
        let uris = filter.uris.clone();
        let opening = Box::pin(async move {
            for uri in uris {
                held.begin(uri).await;
            }
            held
        });
        let opening: BoxFuture<'static, Held> = opening;
        Exchange::Listening(Box::new(Listening {
            entered,
            honoured: filter,
            opening: Some(opening),
            held: None,
        }))
    }
}

impl Listening {
    pub(crate) fn poll_step(&mut self, context: &mut Context<'_>) -> Poll<Step> {
        if let Some(opening) = &mut self.opening {
            let held = ready!(opening.as_mut().poll(context));
            self.opening = None;
            self.honoured.uris = held.uris().to_vec();
            self.held = Some(held);
            self.entered.promise(self.honoured.clone());
            return Poll::Ready(Step::Said(self.acknowledged()));
        }
        Poll::Ready(match ready!(self.entered.poll_next(context)) {
            Some(message) => Step::Said(message),
            None => Step::Outcome(self.last_word()),
        })
    }

    fn acknowledged(&self) -> bytes::Bytes {
        let honoured = self.honoured.acknowledged();
        let params = format!(r#"{{"notifications":{honoured},"_meta":{}}}"#, self.entered.meta());
        build::notification(method::SUBSCRIPTIONS_ACKNOWLEDGED, Some(params.as_bytes()))
    }

    fn last_word(&self) -> Reply {
        let result = format!(r#"{{"resultType":"complete","_meta":{}}}"#, self.entered.meta());
        Reply::result(self.entered.id(), result.as_bytes())
    }
}
