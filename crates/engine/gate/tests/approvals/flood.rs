//! Somebody who asks for too much is refused, and nobody else is touched.

use std::time::Duration;

use toolgate_gate::approvals::Obtained;
use toolgate_store::Bound;

use crate::support::*;

#[tokio::test]
async fn two_hundred_questions_at_once_are_not_put_to_anybody() {
    let broker = broker().await;
    let calls: Vec<_> = (0..200)
        .map(|index| Call::to_operator(&format!("{{\"n\":{index}}}")).start(&broker))
        .collect();
    let rows = listed(&broker, 60).await;
    assert_eq!(rows.len(), 60);
    // The sixtieth may be on the list before the rest have heard.
    let finished = || calls.iter().filter(|call| call.is_finished()).count();
    let begun = std::time::Instant::now();
    while finished() < 140 && begun.elapsed() < Duration::from_secs(20) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let mut refused = 0;
    for call in calls {
        if call.is_finished() {
            let Obtained::Refused(why) = call.await.unwrap() else { panic!() };
            assert!(why.contains("60 approvals") && why.contains("minute"), "{why}");
            refused += 1;
        } else {
            call.abort();
        }
    }
    assert_eq!(refused, 140);

    let other = Call::to_operator("{}").waiting(SHORT);
    let other = Call { bound: Bound { caller: "holder:1".into(), ..bound() }, ..other };
    assert!(matches!(other.obtain(&broker).await, Obtained::Waiting { .. }));
}

#[tokio::test]
async fn the_same_call_again_and_again_is_one_question_and_bounded() {
    let broker = broker().await;
    let call = Call::to_operator("{}");
    let calls: Vec<_> = (0..100).map(|_| call.start(&broker)).collect();
    listed(&broker, 1).await;
    let (mut refused, mut waiting) = (0, 0);
    tokio::time::sleep(SHORT * 5).await;
    for call in calls {
        match call.is_finished() {
            true => {
                let Obtained::Refused(why) = call.await.unwrap() else { panic!() };
                assert!(why.contains("identical"), "{why}");
                refused += 1;
            }
            false => {
                call.abort();
                waiting += 1;
            }
        }
    }
    assert_eq!((refused, waiting), (68, 32));
    listed(&broker, 0).await;
}
