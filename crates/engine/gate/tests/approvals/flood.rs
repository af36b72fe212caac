//! Somebody who asks for too much is refused, and nobody else is touched.

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use toolgate_gate::approvals::CallApprovalOutcome;
use toolgate_store::ApprovalBinding;

use crate::support::*;

#[tokio::test]
async fn two_hundred_questions_at_once_are_not_put_to_anybody() {
    let broker = broker().await;
    let (call, mut waiting) = Call::to_operator("{}").observed();
    let mut calls: FuturesUnordered<_> = (0..200)
        .map(|index| {
            let arguments = format!("{{\"n\":{index}}}").into();
            Call { arguments, ..call.clone() }.start(&broker)
        })
        .collect();
    let rows = listed(&broker, 60).await;
    assert_eq!(rows.len(), 60);
    for _ in 0..140 {
        let CallApprovalOutcome::Refused(why) = calls.next().await.unwrap().unwrap() else {
            panic!()
        };
        assert!(why.contains("60 approvals") && why.contains("minute"), "{why}");
    }
    for _ in 0..60 {
        waiting.recv().await.unwrap();
    }
    assert!(calls.iter().all(|call| !call.is_finished()));
    calls.iter().for_each(|call| call.abort());

    let other = Call::to_operator("{}").waiting(SHORT);
    let other = Call { bound: ApprovalBinding { caller: "holder:1".into(), ..bound() }, ..other };
    assert!(matches!(other.obtain(&broker).await, CallApprovalOutcome::Waiting { .. }));
}

#[tokio::test]
async fn the_same_call_again_and_again_is_one_question_and_bounded() {
    let broker = broker().await;
    let (call, mut waiting) = Call::to_operator("{}").observed();
    let mut calls: FuturesUnordered<_> = (0..100).map(|_| call.start(&broker)).collect();
    listed(&broker, 1).await;
    for _ in 0..68 {
        let CallApprovalOutcome::Refused(why) = calls.next().await.unwrap().unwrap() else {
            panic!()
        };
        assert!(why.contains("identical"), "{why}");
    }
    for _ in 0..32 {
        waiting.recv().await.unwrap();
    }
    assert!(calls.iter().all(|call| !call.is_finished()));
    calls.iter().for_each(|call| call.abort());
    listed(&broker, 0).await;
}
