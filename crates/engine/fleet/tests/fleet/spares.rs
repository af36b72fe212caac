//! Spare connections: for whom they are made, and what becomes of them.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use toolgate_fleet::{Fleet, Pool};
use toolgate_model::ServerState;

use crate::asking::{Asked, Asking, Caller, process};
use crate::{forgetful, member, spec};

const ASK: &str = r#"{"name":"ask"}"#;
const QUICK: &str = r#"{"name":"quick"}"#;

/// A fleet of this server, and its pool.
async fn fleet_of(server: &Arc<Asking>) -> (Fleet, Arc<Pool>) {
    let fleet = forgetful();
    let pool = fleet.add_idle_server(server.member()).await;
    (fleet, pool)
}

/// A call of this scope whose question is open.
async fn parked(pool: &Arc<Pool>, scope: u64) -> (oneshot::Sender<()>, Asked) {
    let (caller, mut asked) = Caller::new(scope);
    drop(caller.call(pool, ASK));
    (asked.recv().await.unwrap(), asked)
}

#[tokio::test]
async fn a_question_is_answered_though_somebody_elses_is_open_for_ever() {
    let fleet = forgetful();
    let pool = fleet.add_idle_server(member(spec(process()))).await;
    let _for_ever = parked(&pool, 1).await;
    let (caller, mut asked) = Caller::new(2);
    let calling = caller.call(&pool, ASK);
    let answered = async {
        asked.recv().await.unwrap().send(()).unwrap();
        calling.await.unwrap().unwrap()
    };
    let answer = tokio::time::timeout(Duration::from_secs(60), answered).await.unwrap();
    assert!(answer["process"].is_string(), "{answer}");
    fleet.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_spare_is_shared_by_whom_it_suits_and_closed_when_nobody_uses_it() {
    let (server, mut ended) = Asking::new(9);
    let (_fleet, pool) = fleet_of(&server).await;
    let (first, _asked) = parked(&pool, 1).await;
    let one = Caller::new(1).0;
    let two = Caller::new(2).0;
    assert_eq!(one.call(&pool, QUICK).await.unwrap().unwrap()["connection"], 1);
    for scope in [2, 3] {
        let caller = Caller::new(scope).0;
        assert_eq!(caller.call(&pool, QUICK).await.unwrap().unwrap()["connection"], 2);
    }
    first.send(()).unwrap();
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!(two.call(&pool, QUICK).await.unwrap().unwrap()["connection"], 1);
    assert!(ended.try_recv().is_err());
    let began = tokio::time::Instant::now();
    assert_eq!(ended.recv().await, Some(2));
    assert_eq!(began.elapsed().as_secs(), 30);
    assert_eq!((server.connections(), pool.state()), (2, ServerState::Connected));
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_spare_is_that_of_its_calls_alone() {
    let (server, _ended) = Asking::new(9);
    let (_fleet, pool) = fleet_of(&server).await;
    let (caller, mut asked) = Caller::new(1);
    let on_first = caller.call(&pool, ASK);
    let first = asked.recv().await.unwrap();
    let (caller, mut asked) = Caller::new(2);
    let on_spare = caller.call(&pool, ASK);
    let _open = asked.recv().await.unwrap();
    server.crash_newest();
    let error = on_spare.await.unwrap().unwrap_err();
    assert!(error.to_string().contains("closed its output"), "{error}");
    assert_eq!(pool.state(), ServerState::Connected);
    assert_eq!(caller.call(&pool, QUICK).await.unwrap().unwrap()["connection"], 3);
    first.send(()).unwrap();
    assert_eq!(on_first.await.unwrap().unwrap()["connection"], 1);
}

#[tokio::test(start_paused = true)]
async fn beyond_the_last_spare_a_call_waits_for_a_place() {
    let (server, _ended) = Asking::new(9);
    let (_fleet, pool) = fleet_of(&server).await;
    let mut open = Vec::new();
    for scope in 1..=5 {
        open.push(parked(&pool, scope).await);
    }
    let waiting = Caller::new(6).0.call(&pool, QUICK);
    tokio::time::sleep(Duration::from_secs(9)).await;
    assert!(!waiting.is_finished());
    open.remove(2).0.send(()).unwrap();
    assert_eq!(waiting.await.unwrap().unwrap()["connection"], 3);
    assert_eq!(server.connections(), 5);

    // It does not wait for as long as people may take to answer.
    open.push(parked(&pool, 8).await);
    let began = tokio::time::Instant::now();
    let refused = Caller::new(7).0.call(&pool, QUICK).await.unwrap();
    assert!(refused.unwrap_err().to_string().contains("are waiting for answers of other callers"));
    assert!(began.elapsed() <= Duration::from_secs(10));
}

#[tokio::test(start_paused = true)]
async fn a_task_stays_where_it_was_begun() {
    let (server, mut ended) = Asking::new(9);
    let (_fleet, pool) = fleet_of(&server).await;
    let (first, _asked) = parked(&pool, 1).await;
    let caller = Caller::new(2).0;
    let task = caller.call(&pool, r#"{"name":"quick","task":{}}"#).await.unwrap().unwrap();
    assert_eq!(task["task"]["taskId"], "t2");
    first.send(()).unwrap();
    tokio::time::sleep(Duration::from_secs(90)).await;
    for (task, connection) in [("t2", 2), ("t1", 1)] {
        let params = format!(r#"{{"taskId":"{task}"}}"#);
        let answer = caller.request(&pool, "tasks/get", &params).await.unwrap().unwrap();
        assert_eq!(answer["connection"], connection);
    }
    assert!(ended.try_recv().is_err());
    assert_eq!(ended.recv().await, Some(2));
}

#[tokio::test(start_paused = true)]
async fn who_can_be_asked_nothing_needs_no_spare_and_declines_at_once() {
    let (server, _ended) = Asking::new(9);
    let (_fleet, pool) = fleet_of(&server).await;
    let (first, _asked) = parked(&pool, 1).await;
    let began = tokio::time::Instant::now();
    let answer = Caller::mute(2).call(&pool, ASK).await.unwrap().unwrap();
    assert_eq!((&answer["connection"], &answer["was"]["action"]), (&1.into(), &"decline".into()));
    assert_eq!((server.connections(), began.elapsed()), (1, Duration::ZERO));
    first.send(()).unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_server_that_bears_no_second_connection_is_called_on_the_first() {
    let (server, _ended) = Asking::new(1);
    let (_fleet, pool) = fleet_of(&server).await;
    let _open = parked(&pool, 1).await;
    for _ in 0..2 {
        let answer = Caller::new(2).0.call(&pool, QUICK).await.unwrap().unwrap();
        assert_eq!(answer["connection"], 1);
    }
    assert_eq!((server.connections(), pool.state()), (2, ServerState::Connected));
}

#[tokio::test(start_paused = true)]
async fn closing_the_fleet_closes_the_spares() {
    let (server, mut ended) = Asking::new(9);
    let (fleet, pool) = fleet_of(&server).await;
    let _open = [parked(&pool, 1).await, parked(&pool, 2).await];
    fleet.close().await;
    let mut both = [ended.recv().await.unwrap(), ended.recv().await.unwrap()];
    both.sort_unstable();
    assert_eq!(both, [1, 2]);
}
