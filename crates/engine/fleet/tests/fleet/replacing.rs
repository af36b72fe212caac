//! Servers that are replaced and dismissed while they are used: real processes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use toolgate_fleet::{DRAIN_LIMIT, Fleet, FleetBuilder, FleetError, FleetEvent};
use toolgate_launch::{LaunchHelperProgram, Launcher};
use toolgate_model::{Secret, ServerSpec, ServerState, ServerTimeouts, StdioSpec, TransportSpec};
use toolgate_session::CallerId;

use crate::asking::{Caller, UnderWay, process};
use crate::{member, name, spec};

/// A process that answers calls with its number, and whose list holds one tool. It says by a file
/// that it holds a call of `hold`, and answers it when another file exists.
const SCRIPT: &str = r#"while read -r line; do
    id=$(printf %s "$line" | sed 's/.*"id":"*\([0-9]*\).*/\1/')
    case "$line" in
      *'"initialize"'*)
        echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"resources":{"subscribe":true}},"serverInfo":{"name":"it","version":"1"}}}' ;;
      *tools/list*)
        echo '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[{"name":"hold","inputSchema":{}}]}}' ;;
      *server/discover*)
        echo '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32601,"message":"?"}}' ;;
      *notifications/*) ;;
      *'"hold"'*)
        : > "$HOLD.held"
        while [ ! -e "$HOLD" ]; do sleep 0.02; done
        echo '{"jsonrpc":"2.0","id":'$id',"result":{"process":'$$'}}' ;;
      *)
        echo '{"jsonrpc":"2.0","id":'$id',"result":{"process":'$$'}}' ;;
    esac
  done"#;

pub fn holding(hold: &Path, label: &str) -> ServerSpec {
    let args = vec!["-c".into(), SCRIPT.into(), label.into()];
    let env = [("HOLD".to_owned(), Secret::new(hold.display().to_string()))].into();
    spec(TransportSpec::Stdio(StdioSpec { command: "sh".into(), args, env, ..Default::default() }))
}

pub fn draining(drain: Duration) -> Fleet {
    let launcher = Launcher::new(LaunchHelperProgram::none());
    FleetBuilder { launcher, store: None, roots: Vec::new(), drain }.build()
}

/// A call made as the gate makes it: whoever finds his server replaced decides anew, and calls the
/// one that is there now.
pub fn call(fleet: &Arc<Fleet>, tool: &str) -> UnderWay {
    let (fleet, params) = (fleet.clone(), format!(r#"{{"name":"{tool}"}}"#));
    let mut visit = fleet.lease(&name(), &fleet.shared_tenant()).unwrap();
    tokio::spawn(async move {
        loop {
            match Caller::mute(1).call(&visit, &params).await.unwrap() {
                Err(FleetError::Replaced(_)) => {
                    visit = fleet.lease(&name(), &fleet.shared_tenant())?;
                }
                answer => return answer,
            }
        }
    })
}

pub async fn pid(call: UnderWay) -> u64 {
    process_of(&call.await.unwrap().unwrap())
}

fn process_of(answer: &Value) -> u64 {
    answer["process"].as_u64().unwrap()
}

pub fn lives(pid: u64) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

pub async fn eventually(what: &str, holds: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < end, "{what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

pub fn hold() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("go on");
    (folder, file)
}

/// Waits until a process holds a call.
async fn held_by_a_process(hold: &Path) {
    let said = hold.with_extension("held");
    eventually("a process holds the call", || said.exists()).await;
}

#[tokio::test]
async fn a_call_under_way_finishes_on_the_old_process_and_new_ones_go_to_the_new() {
    let (_folder, hold) = hold();
    let fleet = Arc::new(draining(DRAIN_LIMIT));
    fleet.add_server(member(holding(&hold, "old"))).await;
    let old = pid(call(&fleet, "quick")).await;
    let held = call(&fleet, "hold");
    held_by_a_process(&hold).await;

    fleet.add_server(member(holding(&hold, "new"))).await;
    assert!(lives(old) && !held.is_finished(), "nobody waits for the old one");
    let new = pid(call(&fleet, "quick")).await;
    assert_ne!(new, old);
    assert!(lives(old) && !held.is_finished());
    assert_eq!(fleet.status().len(), 1);

    std::fs::write(&hold, "").unwrap();
    assert_eq!(pid(held).await, old);
    eventually("the old process ends", || !lives(old)).await;
    assert_eq!(pid(call(&fleet, "quick")).await, new);
    fleet.close().await;
    assert!(!lives(new));
}

#[tokio::test]
async fn a_dismissed_server_ends_after_its_calls() {
    let (_folder, hold) = hold();
    let fleet = Arc::new(draining(DRAIN_LIMIT));
    fleet.add_server(member(holding(&hold, "old"))).await;
    let old = pid(call(&fleet, "quick")).await;
    let held = call(&fleet, "hold");
    held_by_a_process(&hold).await;
    assert!(fleet.remove_server(&name()).await);
    let nobody = fleet.lease(&name(), &fleet.shared_tenant());
    assert!(matches!(nobody.map(drop), Err(FleetError::Unknown(_))));
    assert!(lives(old));
    std::fs::write(&hold, "").unwrap();
    assert_eq!(pid(held).await, old);
    eventually("the process ends", || !lives(old)).await;
}

#[tokio::test]
async fn the_drain_limit_ends_calls_that_take_too_long() {
    // All calls must be over within the second limit, those that are not held as well.
    let (brief, short) = (Duration::from_millis(300), Duration::from_secs(3));
    let short = ServerTimeouts { max: Some(short), ..ServerTimeouts::default() };
    for (drain, timeouts) in [(brief, ServerTimeouts::default()), (DRAIN_LIMIT, short)] {
        let (_folder, hold) = hold();
        let fleet = Arc::new(draining(drain));
        let long = ServerTimeouts { max: timeouts.max, ..ServerTimeouts::default() };
        fleet.add_server(member(ServerSpec { timeouts: long, ..holding(&hold, "old") })).await;
        let old = pid(call(&fleet, "quick")).await;
        let held = call(&fleet, "hold");
        held_by_a_process(&hold).await;
        fleet.add_server(member(holding(&hold, "new"))).await;
        assert!(held.await.unwrap().is_err());
        eventually("the old process ends", || !lives(old)).await;
        fleet.close().await;
    }
}

#[tokio::test]
async fn a_fleet_that_closes_waits_for_nobody() {
    let (_folder, hold) = hold();
    let fleet = Arc::new(draining(Duration::from_secs(3600)));
    fleet.add_server(member(holding(&hold, "old"))).await;
    let old = pid(call(&fleet, "quick")).await;
    let held = call(&fleet, "hold");
    held_by_a_process(&hold).await;
    fleet.add_server(member(holding(&hold, "new"))).await;
    let closed = tokio::time::timeout(DRAIN_LIMIT, fleet.close()).await;
    assert!(!lives(old) && closed.is_ok());
    assert!(held.await.unwrap().is_err());
}

#[tokio::test]
async fn a_question_that_waits_is_a_call_under_way() {
    let fleet = Arc::new(draining(DRAIN_LIMIT));
    fleet.add_server(member(spec(process()))).await;
    let (asked, mut questions) = Caller::new(1);
    let visit = fleet.lease(&name(), &fleet.shared_tenant()).unwrap();
    let call = asked.call(&visit, r#"{"name":"a"}"#);
    let question = questions.recv().await.unwrap();
    drop(visit);
    let (_folder, hold) = hold();
    fleet.add_server(member(holding(&hold, "new"))).await;
    fleet.wait_settled(|_| true).await;
    question.send(()).unwrap();
    let answer = call.await.unwrap().unwrap();
    let old: u64 = answer["process"].as_str().unwrap().parse().unwrap();
    eventually("the old process ends", || !lives(old)).await;
    fleet.close().await;
}

/// A process that never answers.
fn mute() -> StdioSpec {
    let script = vec!["-c".to_owned(), "cat > /dev/null".into()];
    StdioSpec { command: "sh".into(), args: script, ..StdioSpec::default() }
}

/// Waits until the server is being brought up.
async fn connecting(fleet: &Fleet) {
    let mut events = fleet.events();
    while fleet.status()[0].state != ServerState::Connecting {
        events.recv().await.unwrap();
    }
}

/// Lets the tasks that were just started go on until they wait. A test has one thread, whose tasks
/// take turns.
async fn others_take_their_turn() {
    for _ in 0..5 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn who_waits_for_a_server_that_is_replaced_before_it_is_up_gets_the_new_one() {
    let (_folder, hold) = hold();
    let fleet = Arc::new(draining(DRAIN_LIMIT));
    fleet.add_server(member(spec(TransportSpec::Stdio(mute())))).await;
    connecting(&fleet).await;
    let waiting = call(&fleet, "quick");
    others_take_their_turn().await;
    fleet.add_server(member(holding(&hold, "new"))).await;
    let answered = tokio::time::timeout(Duration::from_secs(10), pid(waiting)).await.unwrap();
    assert_eq!(answered, pid(call(&fleet, "quick")).await);
    fleet.close().await;
}

#[tokio::test]
async fn a_call_is_never_sent_to_a_successor_by_itself() {
    let (_folder, hold) = hold();
    let fleet = Arc::new(draining(DRAIN_LIMIT));
    fleet.add_server(member(spec(TransportSpec::Stdio(mute())))).await;
    connecting(&fleet).await;
    let visit = fleet.lease(&name(), &fleet.shared_tenant()).unwrap();
    let waiting = Caller::mute(1).call(&visit, r#"{"name":"quick"}"#);
    others_take_their_turn().await;
    fleet.add_server(member(holding(&hold, "new"))).await;
    let answered = tokio::time::timeout(Duration::from_secs(10), waiting).await.unwrap().unwrap();
    assert!(matches!(answered, Err(FleetError::Replaced(_))), "{answered:?}");
    // Nor does one that comes when the successor is gone as well.
    fleet.add_server(member(holding(&hold, "newer"))).await;
    let late = Caller::mute(1).call(&visit, r#"{"name":"quick"}"#).await.unwrap();
    assert!(matches!(late, Err(FleetError::Replaced(_))), "{late:?}");
    drop(visit);
    fleet.close().await;
}

#[tokio::test]
async fn subscriptions_move_to_the_new_process() {
    let (_folder, hold) = hold();
    let fleet = Arc::new(draining(DRAIN_LIMIT));
    fleet.add_server(member(holding(&hold, "old"))).await;
    let pool = fleet.pool(&name(), &fleet.shared_tenant()).unwrap();
    pool.subscribe("a:b", CallerId(1)).await.unwrap();
    let mut events = fleet.events();
    fleet.add_server(member(holding(&hold, "new"))).await;
    let told = async {
        loop {
            if let FleetEvent::Notified { frame, .. } = events.recv().await.unwrap() {
                return frame.name().unwrap().into_owned();
            }
        }
    };
    let told = tokio::time::timeout(Duration::from_secs(10), told).await.unwrap();
    assert_eq!(told, "a:b", "what may have changed between the two is told");
    fleet.close().await;
}

#[tokio::test]
async fn a_subscription_that_comes_while_the_server_is_replaced_is_not_lost() {
    let (_folder, hold) = hold();
    let fleet = Arc::new(draining(DRAIN_LIMIT));
    fleet.add_server(member(holding(&hold, "old"))).await;
    fleet.wait_settled(|_| true).await;
    let subscribe = |uri: &'static str| {
        let visit = fleet.lease(&name(), &fleet.shared_tenant()).unwrap();
        tokio::spawn(async move { visit.subscribe(uri, CallerId(1)).await })
    };
    // The first waits for the server's answer, and the second for the first.
    let (first, second) = (subscribe("hold"), subscribe("b"));
    held_by_a_process(&hold).await;
    let mut events = fleet.events();
    fleet.add_server(member(holding(&hold, "new"))).await;
    fleet.wait_settled(|_| true).await;
    std::fs::write(&hold, "").unwrap();
    first.await.unwrap().unwrap();
    second.await.unwrap().unwrap();
    // A later process is told of both.
    fleet.wait_settled(|_| true).await;
    fleet.add_server(member(holding(&hold, "newest"))).await;
    let mut missing = vec!["hold", "b"];
    let told = async {
        while !missing.is_empty() {
            if let FleetEvent::Notified { frame, .. } = events.recv().await.unwrap() {
                let uri = frame.name().unwrap().into_owned();
                missing.retain(|it| *it != uri);
            }
        }
    };
    let told = tokio::time::timeout(Duration::from_secs(10), told).await;
    assert!(told.is_ok(), "nobody asked for {missing:?}");
    fleet.close().await;
}

#[tokio::test]
async fn what_goes_on_between_calls_is_waited_for() {
    let (_folder, hold) = hold();
    let fleet = Arc::new(draining(DRAIN_LIMIT));
    fleet.add_server(member(holding(&hold, "old"))).await;
    let old = pid(call(&fleet, "quick")).await;
    let pool = fleet.pool(&name(), &fleet.shared_tenant()).unwrap();
    let (ends, stays) = (pool.lease_for_task(), pool.lease_for_task());
    drop(pool);
    fleet.add_server(member(holding(&hold, "new"))).await;
    let new = pid(call(&fleet, "quick")).await;
    drop(ends);
    assert!(lives(old), "one of two is still under way");
    let began = stays.pool().unwrap();
    let asked = Caller::mute(1).call(&began, r#"{"name":"quick"}"#).await.unwrap();
    assert_eq!(process_of(&asked.unwrap()), old);
    drop(began);
    drop(stays);
    eventually("the old process ends", || !lives(old)).await;
    assert_eq!(pid(call(&fleet, "quick")).await, new);
    fleet.close().await;
}

#[tokio::test]
async fn what_goes_on_between_calls_is_cut_off_by_the_drain_limit_and_keeps_nothing() {
    let (_folder, hold) = hold();
    let fleet = Arc::new(draining(Duration::from_millis(100)));
    fleet.add_server(member(holding(&hold, "old"))).await;
    let old = pid(call(&fleet, "quick")).await;
    let stays = fleet.pool(&name(), &fleet.shared_tenant()).unwrap().lease_for_task();
    fleet.add_server(member(holding(&hold, "new"))).await;
    let new = pid(call(&fleet, "quick")).await;
    eventually("the drain limit holds for it too", || !lives(old)).await;
    eventually("nothing is kept for it", || stays.pool().is_none()).await;
    drop(stays);
    assert_eq!(pid(call(&fleet, "quick")).await, new);
    fleet.close().await;
}

#[tokio::test]
async fn a_replaced_server_shows_what_the_old_one_offered_until_it_is_up_or_has_failed() {
    let (_folder, hold) = hold();
    let fleet = Arc::new(draining(DRAIN_LIMIT));
    fleet.add_server(member(holding(&hold, "old"))).await;
    fleet.wait_settled(|_| true).await;
    let shown = |fleet: &Fleet| -> usize {
        fleet.catalogs(None).iter().map(|it| it.checked.catalog.tools.len()).sum()
    };
    assert_eq!(shown(&fleet), 1);
    fleet.add_server(member(holding(&hold, "new"))).await;
    assert_eq!(shown(&fleet), 1);
    fleet.wait_settled(|_| true).await;
    let missing = StdioSpec { command: "there-is-no-such-program".into(), ..StdioSpec::default() };
    fleet.add_server(member(spec(TransportSpec::Stdio(missing)))).await;
    assert_eq!(shown(&fleet), 1);
    fleet.wait_settled(|_| true).await;
    eventually("nothing is offered any more", || shown(&fleet) == 0).await;
    fleet.close().await;
}

#[tokio::test]
async fn a_hundred_replacements_leave_nothing_behind() {
    let (_folder, hold) = hold();
    std::fs::write(&hold, "").unwrap();
    let fleet = Arc::new(draining(DRAIN_LIMIT));
    fleet.add_server(member(holding(&hold, "first"))).await;
    let mut seen = vec![pid(call(&fleet, "quick")).await];
    let open = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let before = open();
    for round in 0..100 {
        let under_way = call(&fleet, "hold");
        fleet.add_server(member(holding(&hold, &round.to_string()))).await;
        // Every third is replaced before it is up.
        if round % 3 != 0 {
            seen.push(pid(call(&fleet, "quick")).await);
        }
        seen.push(pid(under_way).await);
    }
    let last = pid(call(&fleet, "quick")).await;
    eventually("only the last process lives", || {
        seen.iter().all(|pid| *pid == last || !lives(*pid))
    })
    .await;
    eventually("no descriptor stays open", || open() <= before + 2).await;
    let children = || {
        let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
        let children =
            tasks.filter_map(|it| std::fs::read_to_string(it.path().join("children")).ok());
        children.map(|text| text.split_whitespace().count()).sum::<usize>()
    };
    eventually("no other process is left", || children() <= 1).await;
    fleet.close().await;
}
