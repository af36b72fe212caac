//! Single use under random schedules: identical calls that come, wait, leave and come again, while
//! several people decide, in two processes over one database.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::Config;
use toolgate_gate::approvals::{ApprovalBroker, CallApprovalOutcome};
use toolgate_store::{ApprovalChoice, StateStore};

use crate::support::*;

/// What happens in a schedule, each after so many milliseconds.
#[derive(Debug, Clone)]
enum Act {
    /// The call is made in one of the processes, and waits so long.
    Call { process: usize, wait: u64 },
    /// The same, and its caller leaves.
    Leave { process: usize, after: u64 },
    /// Somebody decides about whatever waits.
    Settle { process: usize, choice: ApprovalChoice },
}

fn acts() -> impl Strategy<Value = Vec<(u64, Act)>> {
    let choice = prop_oneof![
        6 => Just(ApprovalChoice::Once),
        1 => Just(ApprovalChoice::Deny),
    ];
    let act = prop_oneof![
        4 => (0..2usize, 5..60u64).prop_map(|(process, wait)| Act::Call { process, wait }),
        1 => (0..2usize, 0..30u64).prop_map(|(process, after)| Act::Leave { process, after }),
        4 => (0..2usize, choice).prop_map(|(process, choice)| Act::Settle { process, choice }),
    ];
    proptest::collection::vec((0..50u64, act), 4..24)
}

/// How many calls passed, and how many were approved.
async fn run(acts: Vec<(u64, Act)>) -> (usize, usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    let mut brokers = Vec::new();
    for _ in 0..2 {
        let state = StateStore::open(path.clone()).await.unwrap();
        brokers.push(ApprovalBroker::load(Arc::new(state), None).await.unwrap());
    }
    let running: Vec<_> = acts
        .into_iter()
        .map(|(at, act)| {
            let brokers = brokers.clone();
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(at)).await;
                play(&brokers, act).await
            })
        })
        .collect();
    let (mut passed, mut approved) = (0, 0);
    for each in running {
        let (more_passed, more_approved) = each.await.unwrap();
        passed += more_passed;
        approved += more_approved;
    }
    (passed, approved)
}

async fn play(brokers: &[Arc<ApprovalBroker>], act: Act) -> (usize, usize) {
    match act {
        Act::Call { process, wait } => {
            let call = Call::to_operator("{}").waiting(Duration::from_millis(wait));
            let obtained = call.obtain(&brokers[process]).await;
            let expected = !matches!(
                obtained,
                CallApprovalOutcome::Cancelled | CallApprovalOutcome::Refused(_)
            );
            assert!(expected, "{obtained:?}");
            (usize::from(is_approved(&obtained)), 0)
        }
        Act::Leave { process, after } => {
            let call = Call::to_operator("{}");
            let waiting = call.obtain(&brokers[process]);
            let left = tokio::time::timeout(Duration::from_millis(after), waiting).await;
            (usize::from(left.is_ok_and(|obtained| is_approved(&obtained))), 0)
        }
        Act::Settle { process, choice } => {
            let broker = &brokers[process];
            let mut approved = 0;
            for call in broker.list().await.unwrap() {
                let settled = broker.settle(&call.id, choice, "operator").await.unwrap();
                approved += usize::from(settled.is_some() && choice == ApprovalChoice::Once);
            }
            (0, approved)
        }
    }
}

#[test]
fn however_it_is_interleaved_no_approval_is_used_twice() {
    let cases = if std::env::var_os("TOOLGATE_SOAK").is_some() { 1000 } else { 100 };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let config = Config { failure_persistence: None, ..Config::with_cases(cases) };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let mut used = 0;
    let outcome = runner.run(&acts(), |acts| {
        let (passed, approved) = runtime.block_on(run(acts));
        prop_assert!(passed <= approved, "{passed} calls passed on {approved} approvals");
        Ok(())
    });
    outcome.unwrap();
    // The same without any approval: nothing passes.
    for _ in 0..5 {
        let calls = (0..6).map(|at| (at * 5, Act::Call { process: 0, wait: 30 })).collect();
        used += runtime.block_on(run(calls)).0;
    }
    assert_eq!(used, 0);
}
