//! Left to whoever runs the gateway: waited for, approved later, taken back, decided elsewhere.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use toolgate_gate::approvals::{ApprovalBroker, CallApprovalOutcome};
use toolgate_model::Digest;
use toolgate_store::{ApprovalBinding, ApprovalChoice, StateStore};

use crate::support::*;

#[tokio::test]
async fn a_call_is_on_disk_before_it_waits_and_goes_on_when_it_is_approved() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    let state = StateStore::open(path.clone()).await.unwrap();
    let broker = ApprovalBroker::load(Arc::new(state), None).await.unwrap();
    let waiting = Call::to_operator(r#"{"a": 1.50}"#).start(&broker);
    let [call] = &listed(&broker, 1).await[..] else { panic!() };
    assert_eq!((&call.binding, &call.arguments[..]), (&bound(), &br#"{"a": 1.50}"#[..]));
    let beside = StateStore::open(path).await.unwrap();
    assert_eq!(beside.pending_calls().await.unwrap(), broker.list().await.unwrap());

    let settled = broker.settle(&call.id, ApprovalChoice::Once, "operator").await.unwrap().unwrap();
    assert_eq!(settled.call, *call);
    let obtained = waiting.await.unwrap();
    let (by, id) = ("operator".to_owned(), call.id.clone());
    assert_eq!(obtained, CallApprovalOutcome::Decided { by, id, choice: ApprovalChoice::Once });
    assert_eq!(broker.grants().await.unwrap(), [], "used up");
    assert_eq!(broker.settle(&call.id, ApprovalChoice::Once, "operator").await.unwrap(), None);
}

#[tokio::test]
async fn approved_later_exactly_that_call_passes_once() {
    let broker = broker().await;
    let call = Call::to_operator(r#"{"a":1,"b":2}"#).waiting(SHORT);
    let CallApprovalOutcome::Waiting { id } = call.obtain(&broker).await else { panic!() };
    let again = call.obtain(&broker).await;
    assert_eq!(
        again,
        CallApprovalOutcome::Waiting { id: id.clone() },
        "the same question stays open"
    );
    broker.settle(&id, ApprovalChoice::Once, "operator").await.unwrap().unwrap();

    let others = [
        Call { bound: ApprovalBinding { caller: "holder:1".into(), ..bound() }, ..call.clone() },
        Call { bound: ApprovalBinding { client: "other".into(), ..bound() }, ..call.clone() },
        Call { bound: ApprovalBinding { identity: Digest::of(b"x"), ..bound() }, ..call.clone() },
        Call { bound: ApprovalBinding { definition: Digest::of(b"x"), ..bound() }, ..call.clone() },
        Call { arguments: r#"{"a":1,"b":3}"#.into(), ..call.clone() },
        Call { arguments: r#"{"a":1}"#.into(), ..call.clone() },
    ];
    for other in others {
        let obtained = other.obtain(&broker).await;
        assert!(
            matches!(&obtained, CallApprovalOutcome::Waiting { id: new } if *new != id),
            "{obtained:?}"
        );
        assert_eq!(broker.spend(&other.bound, &other.digest()).await.unwrap(), None);
    }
    // Written anew by the client, the object is the same.
    let repeated = Call { arguments: "{ \"b\": 2, \"a\": 1 }".into(), ..call.clone() };
    assert!(is_approved(&repeated.obtain(&broker).await));
    let once_more = call.obtain(&broker).await;
    assert!(
        matches!(&once_more, CallApprovalOutcome::Waiting { id: new } if *new != id),
        "{once_more:?}"
    );
}

#[tokio::test]
async fn spending_is_known_of_without_asking_and_happens_once() {
    let broker = broker().await;
    let call = Call::to_operator("{}").waiting(SHORT);
    assert_eq!(broker.spend(&call.bound, &call.digest()).await.unwrap(), None);
    let CallApprovalOutcome::Waiting { id } = call.obtain(&broker).await else { panic!() };
    broker.settle(&id, ApprovalChoice::Once, "operator").await.unwrap().unwrap();
    assert!(broker.spend(&call.bound, &call.digest()).await.unwrap().is_some());
    assert_eq!(broker.spend(&call.bound, &call.digest()).await.unwrap(), None);
}

#[tokio::test]
async fn a_caller_who_leaves_takes_his_call_back_unless_it_was_approved() {
    let broker = broker().await;
    let call = Call::to_operator("{}");
    let waiting = call.start(&broker);
    let [row] = &listed(&broker, 1).await[..] else { panic!() };
    waiting.abort();
    listed(&broker, 0).await;
    assert_eq!(broker.settle(&row.id, ApprovalChoice::Once, "operator").await.unwrap(), None);

    // Approved, and gone before he could use it: the approval stays for the same call.
    let call = call.waiting(SHORT);
    let CallApprovalOutcome::Waiting { id } = call.obtain(&broker).await else { panic!() };
    broker.settle(&id, ApprovalChoice::Once, "operator").await.unwrap().unwrap();
    assert!(is_approved(&call.obtain(&broker).await));
}

#[tokio::test]
async fn somebody_who_was_told_an_id_can_rely_on_it() {
    let broker = broker().await;
    let call = Call::to_operator("{}");
    let CallApprovalOutcome::Waiting { id } = call.clone().waiting(SHORT).obtain(&broker).await
    else {
        panic!()
    };
    // The same call again, and its caller leaves: the row is not only his.
    let (call, mut waiting) = call.observed();
    let again = call.start(&broker);
    waiting.recv().await.unwrap();
    again.abort();
    assert!(again.await.unwrap_err().is_cancelled());
    // The next request is handled after a row that is taken back.
    let next = Call::to_operator(r#"{"next":1}"#).waiting(SHORT).obtain(&broker).await;
    assert!(matches!(next, CallApprovalOutcome::Waiting { .. }));
    assert!(broker.settle(&id, ApprovalChoice::Once, "operator").await.unwrap().is_some());
}

#[tokio::test]
async fn identical_calls_are_one_question_and_one_approval_lets_one_pass() {
    let broker = broker().await;
    let (call, mut waiting) = Call::to_operator("{}").observed();
    let calls: Vec<_> = (0..4).map(|_| call.start(&broker)).collect();
    let mut passed = 0;
    for left in (1..=4).rev() {
        for _ in 0..left {
            waiting.recv().await.unwrap(); // all of them wait again
        }
        let [row] = &listed(&broker, 1).await[..] else { panic!() };
        let choice = if left > 1 { ApprovalChoice::Once } else { ApprovalChoice::Deny };
        broker.settle(&row.id, choice, "operator").await.unwrap().unwrap();
    }
    for call in calls {
        passed += usize::from(is_approved(&call.await.unwrap()));
    }
    assert_eq!(passed, 3);
    assert_eq!(broker.grants().await.unwrap(), []);
}

#[tokio::test]
async fn of_a_form_and_an_operator_who_answer_at_once_one_counts() {
    let broker = broker().await;
    for round in 0..20 {
        let result = json!({"action": "accept", "content": {"choice": "once"}});
        let client = Client::new([Reaction::Result(Duration::from_millis(round), result)]);
        let call = Call::by_form(&json!({ "round": round }).to_string(), client);
        let waiting = call.start(&broker);
        // The form may be answered before the operator finds the row, or while he decides.
        let row = loop {
            match broker.list().await.unwrap().pop() {
                None if !waiting.is_finished() => tokio::task::yield_now().await,
                found => break found,
            }
        };
        let denied = match row {
            Some(row) => broker.settle(&row.id, ApprovalChoice::Deny, "operator").await.unwrap(),
            None => None,
        };
        let obtained = waiting.await.unwrap();
        assert_eq!(
            denied.is_some(),
            matches!(obtained, CallApprovalOutcome::Decided { choice: ApprovalChoice::Deny, .. }),
            "{obtained:?}"
        );
        assert_eq!(denied.is_none(), is_approved(&obtained));
        listed(&broker, 0).await;
    }
    assert_eq!(broker.grants().await.unwrap(), []);
}

#[tokio::test]
async fn what_another_process_decides_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    let ours = StateStore::open(path.clone()).await.unwrap();
    let broker = ApprovalBroker::load(Arc::new(ours), None).await.unwrap();
    let theirs = StateStore::open(path).await.unwrap();
    for choice in [ApprovalChoice::Deny, ApprovalChoice::Once, ApprovalChoice::Tool] {
        let waiting = Call::to_operator("{}").start(&broker);
        let [row] = &listed(&broker, 1).await[..] else { panic!() };
        theirs.decide_pending(&row.id, choice, "elsewhere").await.unwrap().unwrap();
        let obtained = tokio::time::timeout(LONG, waiting).await.unwrap().unwrap();
        assert_eq!(is_approved(&obtained), choice != ApprovalChoice::Deny, "{obtained:?}");
    }
    assert!(broker.find_grant(&bound(), None).is_some(), "a grant given elsewhere counts here");
}

#[tokio::test]
async fn whoever_watches_is_told_that_there_is_news() {
    let broker = broker().await;
    let mut watch = broker.watch();
    let waiting = Call::to_operator("{}").start(&broker);
    watch.changed().await.unwrap();
    let [row] = &listed(&broker, 1).await[..] else { panic!() };
    watch.mark_unchanged();
    broker.settle(&row.id, ApprovalChoice::Deny, "operator").await.unwrap().unwrap();
    assert!(watch.has_changed().unwrap());
    waiting.await.unwrap();
}
