//! What each modern request means.

use std::sync::Arc;

use toolgate_model::CapabilityKind;
use toolgate_wire::{Frame, OwnedId, code, method};

use super::asking::Answers;
use super::call::{Call, Round};
use super::retry::{self, Retry};
use super::running::{Flight, Running, Work};
use super::visitors::TurnedAway;
use super::{Envelope, Exchange, Fault, Modern, Visitor, canonical, discover};
use crate::peer::Peer;
use crate::principal::Comer;
use crate::session::{Carriage, Reply, has_cursor, listed};

/// A request, and whoever sends it.
pub(crate) struct Visit {
    pub(crate) visitor: Arc<Visitor>,
    pub(crate) envelope: Envelope,
    pub(crate) carriage: Carriage,
    /// The other end of the connection it came on.
    pub(crate) peer: Arc<Peer>,
}

impl Modern {
    /// Whoever sends such a request.
    pub(crate) fn visitor(
        &self,
        comer: Comer,
        envelope: &Envelope,
        request: &Frame,
    ) -> Result<Arc<Visitor>, Fault> {
        let id = || request.id().map(|id| id.to_owned());
        self.visitors.find(comer, envelope).map_err(|turned| match turned {
            TurnedAway::Full => Fault::unfit(id(), "too many different clients are busy here"),
            TurnedAway::Refused(refusal) => Fault::refused(id(), refusal),
        })
    }

    /// Begins to answer a request.
    pub(crate) fn request(&self, request: Frame, visit: Visit) -> Exchange {
        let (Some(id), Some(name)) = (request.id().map(|id| id.to_owned()), request.method())
        else {
            let fault = Fault::unfit(None, "a request has an id and a method");
            return Exchange::Answered(fault.into_reply());
        };
        if let Some(kind) = listed(&name) {
            return self.list(request, id, kind, visit);
        }
        match name.as_ref() {
            method::TOOLS_CALL | method::PROMPTS_GET | method::RESOURCES_READ => {
                self.interactive(request, id, visit)
            }
            method::SERVER_DISCOVER => {
                let result = discover::result(self.upstreams.as_ref(), &visit.visitor.caller);
                Exchange::Answered(Reply::result(&id, &result))
            }
            method::SUBSCRIPTIONS_LISTEN => self.listen(&request, id, visit),
            // What this revision has no more, whatever the servers behind us still know.
            method::INITIALIZE
            | method::PING
            | method::LOGGING_SET_LEVEL
            | method::RESOURCES_SUBSCRIBE
            | method::RESOURCES_UNSUBSCRIBE
            | method::TASKS_LIST
            | method::TASKS_RESULT => {
                let error = format!("Method not found: {name}");
                Exchange::Answered(Reply::failure(&id, code::METHOD_NOT_FOUND, &error))
            }
            _ => self.pass(request, id, visit, None),
        }
    }

    /// A request that may be answered with questions, or bring the answers to some.
    fn interactive(&self, request: Frame, id: OwnedId, visit: Visit) -> Exchange {
        let refused =
            |reason: &str| Exchange::Answered(Reply::failure(&id, code::INVALID_PARAMS, reason));
        let retry = match Retry::of(&request) {
            Ok(None) => return self.pass(request, id, visit, Some(Answers::new())),
            Ok(Some(retry)) => retry,
            Err(reason) => return refused(reason),
        };
        let (asked, visitor) = (canonical::digest(&request), &visit.visitor);
        let waiting = match &retry.state {
            Some(state) => self.parking.claim(state, visitor, &asked).map(Some),
            None => Ok(self.parking.alike(visitor.caller.id, &asked)),
        };
        let answers = retry.answers;
        match waiting {
            Err(lost) => refused(&lost.to_string()),
            Ok(Some(running)) => {
                let round = Round::new(&request, &visit);
                let back = (answers, Flight::begin(&self.flights));
                self.exchange(running.resume(id, round, back))
            }
            // Nothing waits: a new call, whose client knows beforehand what it will be asked.
            Ok(None) => match retry::bare(&request) {
                Ok(bare) => self.pass(bare, id, visit, Some(answers)),
                Err(_) => refused("params cannot be read"),
            },
        }
    }

    /// Hands a request to the gate. `given` are answers to what may be asked; none if nothing may.
    fn pass(&self, request: Frame, id: OwnedId, visit: Visit, given: Option<Answers>) -> Exchange {
        let caller = visit.visitor.caller.clone();
        let round = Round::new(&request, &visit);
        let visitor = visit.visitor;
        let may_ask = given.is_some();
        let call = Arc::new(Call::new(visitor, may_ask, round, given.unwrap_or_default()));
        let pass = self.upstreams.clone().pass(request.clone(), caller, call.clone());
        self.run(request, id, call, Work::Pass(pass))
    }

    fn list(&self, request: Frame, id: OwnedId, kind: CapabilityKind, visit: Visit) -> Exchange {
        if has_cursor(&request) {
            return Exchange::Answered(Reply::failure(&id, code::INVALID_PARAMS, "unknown cursor"));
        }
        let list = self.upstreams.clone().list(kind, visit.visitor.caller.clone());
        let round = Round::new(&request, &visit);
        let call = Arc::new(Call::new(visit.visitor, false, round, Answers::new()));
        self.run(request, id, call, Work::List(list))
    }

    fn run(&self, request: Frame, id: OwnedId, call: Arc<Call>, work: Work) -> Exchange {
        let flight = Flight::begin(&self.flights);
        self.exchange(Running::new(request, id, call, work, flight))
    }

    fn exchange(&self, running: Running) -> Exchange {
        Exchange::Running(Box::new(running), self.parking.clone())
    }
}
