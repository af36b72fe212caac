//! Whose a question is, for every mix of calls in flight.

use super::*;
use crate::{Answer, Question};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use toolgate_wire::MessageLimits;

struct Silent(u64);

/// The scope of one who can be asked nothing.
const MUTE: u64 = 0;

impl Interactor for Silent {
    fn scope(&self) -> CallerId {
        CallerId(self.0)
    }
    fn capabilities(&self) -> Bytes {
        Bytes::from_static(if self.0 == MUTE { b"{}" } else { br#"{"elicitation":{}}"# })
    }
    fn tell(&self, _: Frame) {}
    fn ask(&self, _: Question) -> BoxFuture<'_, Answer> {
        Box::pin(std::future::ready(Answer::Unsupported))
    }
}

fn question() -> Frame {
    let text = br#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{}}"#;
    Frame::parse(Bytes::from_static(text), &MessageLimits::default()).unwrap()
}

#[tokio::test]
async fn a_question_waits_until_only_its_own_call_is_left() {
    let flights = PendingRequests::default();
    let _asking = flights.register(1, Arc::new(Silent(1)), None, None).unwrap();
    let _other = flights.register(2, Arc::new(Silent(2)), None, None).unwrap();
    assert!(matches!(flights.attribute(&question()), QuestionOwner::Held));
    assert!(flights.holding.load(Ordering::Acquire));
    assert!(matches!(flights.take_settled(), HeldQuestionOutcome::StillHeld));

    flights.forget(2, true);
    let HeldQuestionOutcome::Attributable(questions) = flights.take_settled() else { panic!() };
    assert_eq!(questions.len(), 1);
    let QuestionOwner::Call(id, port) = flights.attribute(&question()) else { panic!() };
    assert_eq!((id, port.scope()), (1, CallerId(1)));
    flights.wait_until_clear().await;
}

#[tokio::test]
async fn a_question_that_may_be_of_a_call_given_up_is_nobodys() {
    let flights = PendingRequests::default();
    let _one = flights.register(1, Arc::new(Silent(1)), None, None).unwrap();
    let _two = flights.register(2, Arc::new(Silent(2)), None, None).unwrap();
    assert!(matches!(flights.attribute(&question()), QuestionOwner::Held));
    flights.forget(1, false);
    let HeldQuestionOutcome::Unattributable(questions) = flights.take_settled() else { panic!() };
    assert_eq!(questions.len(), 1);
    flights.wait_until_clear().await;
}

#[tokio::test]
async fn a_question_is_declined_rather_than_held_for_one_who_can_be_asked_nothing() {
    let flights = PendingRequests::default();
    let _parked = flights.register(1, Arc::new(Silent(1)), None, None).unwrap();
    let _mute = flights.register(2, Arc::new(Silent(MUTE)), None, None).unwrap();
    assert!(matches!(flights.attribute(&question()), QuestionOwner::Held));
    flights.forget(2, true);
    let HeldQuestionOutcome::Attributable(_) = flights.take_settled() else { panic!() };
    flights.adjust_open_questions(1, 1);
    let _mute = flights.register(3, Arc::new(Silent(MUTE)), None, None).unwrap();
    assert!(matches!(flights.attribute(&question()), QuestionOwner::Nobody));
}

#[tokio::test]
async fn a_question_of_a_task_is_for_who_waits_for_it_and_holds_up_nobody() {
    let text = br#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"_meta":
        {"io.modelcontextprotocol/related-task":{"taskId":"t"}}}}"#;
    let marked = Frame::parse(Bytes::from_static(text), &MessageLimits::default()).unwrap();
    let flights = PendingRequests::default();
    let _waiting = flights.register(1, Arc::new(Silent(1)), None, None).unwrap();
    flights.set_awaited_task(1, "t");
    let _calling = flights.register(2, Arc::new(Silent(2)), None, None).unwrap();
    let QuestionOwner::Call(id, _) = flights.attribute(&marked) else { panic!() };
    assert_eq!(id, 1);
    flights.adjust_open_questions(1, 1);
    assert!(flights.can_attribute(CallerId(2)));
    let QuestionOwner::Call(id, _) = flights.attribute(&question()) else { panic!() };
    assert_eq!(id, 2);
    flights.wait_until_clear().await;
}

#[tokio::test]
async fn as_many_questions_as_scopes_cannot_be_told_apart() {
    let flights = PendingRequests::default();
    let _one = flights.register(1, Arc::new(Silent(1)), None, None).unwrap();
    let _two = flights.register(2, Arc::new(Silent(2)), None, None).unwrap();
    assert!(matches!(flights.attribute(&question()), QuestionOwner::Held));
    let QuestionOwner::Ambiguous(questions) = flights.attribute(&question()) else { panic!() };
    assert_eq!(questions.len(), 2);
    flights.wait_until_clear().await;
}

#[tokio::test]
async fn who_has_a_question_open_shares_the_connection_with_his_own_scope_only() {
    let flights = PendingRequests::default();
    let _open = flights.register(1, Arc::new(Silent(1)), None, None).unwrap();
    assert!(!flights.is_asking() && flights.can_attribute(CallerId(2)));
    flights.adjust_open_questions(1, 1);
    assert!(flights.can_attribute(CallerId(1)) && !flights.can_attribute(CallerId(2)));
    let waiting = flights.wait_until_suited(CallerId(2));
    let closing = async { flights.adjust_open_questions(1, -1) };
    tokio::join!(biased; waiting, closing);
    flights.adjust_open_questions(1, 1);
    flights.forget(1, true);
    assert!(!flights.is_asking());
}

#[tokio::test]
async fn among_calls_of_one_scope_the_one_with_no_question_open_is_asked() {
    let flights = PendingRequests::default();
    let _asking = flights.register(1, Arc::new(Silent(1)), None, None).unwrap();
    let _parked = flights.register(2, Arc::new(Silent(1)), None, None).unwrap();
    flights.adjust_open_questions(2, 1);
    let QuestionOwner::Call(id, _) = flights.attribute(&question()) else { panic!() };
    assert_eq!(id, 1);
    flights.adjust_open_questions(1, 1);
    let QuestionOwner::Call(id, _) = flights.attribute(&question()) else { panic!() };
    assert_eq!(id, 2);
}

#[tokio::test]
async fn the_end_of_the_connection_is_the_end_of_every_call() {
    let flights = PendingRequests::default();
    let landed = flights.register(1, Arc::new(Silent(1)), None, None).unwrap();
    flights.end("it died");
    assert!(matches!(landed.await.unwrap(), Err(SessionError::Ended(_))));
    assert!(flights.register(2, Arc::new(Silent(1)), None, None).is_err());
}

fn calling(tool: &str) -> Frame {
    let text =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}"}}}}"#);
    Frame::parse(text.into(), &MessageLimits::default()).unwrap()
}

#[test]
fn two_calls_that_may_both_ask_better_not_meet_until_one_is_known_to_be_quiet() {
    let flights = PendingRequests::default();
    let kind = |tool| flights.kind(&calling(tool));
    let depart = |id, scope, tool| flights.register(id, Arc::new(Silent(scope)), None, kind(tool));
    let mingles = |scope, tool| flights.may_mix_questions(CallerId(scope), kind(tool).unwrap());
    assert!(!mingles(2, "ask"), "nobody is there");

    let _one = depart(1, 1, "ask").unwrap();
    assert!(mingles(2, "ask") && mingles(2, "look") && !mingles(1, "ask"));
    flights.adjust_open_questions(1, 1);
    flights.adjust_open_questions(1, -1);
    let answer = || Ok(calling("any"));
    flights.complete(1, answer());
    assert!(!mingles(2, "ask"));

    let _two = depart(2, 1, "look").unwrap();
    flights.complete(2, answer());
    let _three = depart(3, 1, "look").unwrap();
    assert!(!mingles(2, "ask"), "what looks asks nothing");
    let _four = depart(4, 1, "ask").unwrap();
    assert!(mingles(2, "ask") && !mingles(2, "look"));

    flights.adjust_open_questions(3, 1);
    assert!(mingles(2, "look"), "it asks after all");
}

#[test]
fn whoever_can_be_asked_nothing_is_no_reason_to_keep_apart_and_no_proof_of_quiet() {
    let flights = PendingRequests::default();
    let kind = flights.kind(&calling("ask"));
    let _mute = flights.register(1, Arc::new(Silent(MUTE)), None, kind).unwrap();
    assert!(!flights.may_mix_questions(CallerId(2), kind.unwrap()));
    flights.complete(1, Ok(calling("any")));
    let _one = flights.register(2, Arc::new(Silent(1)), None, kind).unwrap();
    assert!(flights.may_mix_questions(CallerId(2), kind.unwrap()));
}
