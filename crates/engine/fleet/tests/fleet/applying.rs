//! Servers that are all declared anew while some of them run: real processes.

use std::sync::Arc;

use toolgate_fleet::{DRAIN_LIMIT, FleetApplyReport, FleetEvent, FleetServer};
use toolgate_model::{
    ConfigScope, ErrorCode, Origin, ServerName, ServerSpec, ServerState, StartBlock, ToolSelection,
};

use crate::asking::Asking;
use crate::replacing::{call, draining, eventually, hold, holding, lives, pid};
use crate::{forgetful, member, name};

fn named(it: &str, spec: ServerSpec) -> FleetServer {
    member(ServerSpec { name: ServerName::new(it).unwrap(), ..spec })
}

fn at_line(line: u32, member: FleetServer) -> FleetServer {
    let origin = Origin { scope: ConfigScope::User, file: None, line, column: 1 };
    FleetServer { origin, ..member }
}

fn names(names: &[&str]) -> Vec<ServerName> {
    names.iter().map(|name| ServerName::new(name).unwrap()).collect()
}

#[tokio::test]
async fn what_is_declared_anew_touches_only_what_differs() {
    let (_folder, hold) = hold();
    let fleet = Arc::new(draining(DRAIN_LIMIT));
    let member = |it: &str, label: &str| named(it, holding(&hold, label));
    let first = vec![member("a", "1"), member("b", "1"), member("c", "1"), member("it", "1")];
    let applied = fleet.apply(first).await;
    assert_eq!(
        applied,
        FleetApplyReport { added: names(&["a", "b", "c", "it"]), ..FleetApplyReport::default() }
    );
    fleet.wait_settled(|_| true).await;
    let process = pid(call(&fleet, "quick")).await;

    let blocked = FleetServer {
        initial_state: ServerState::Blocked(StartBlock::new(ErrorCode::ServerBlocked, "?")),
        ..member("b", "1")
    };
    let moved = at_line(7, member("it", "1"));
    let second = vec![member("a", "2"), blocked, member("d", "1"), moved.clone()];
    let applied = fleet.apply(second).await;
    let expected = FleetApplyReport {
        added: names(&["d"]),
        changed: names(&["a", "b"]),
        removed: names(&["c"]),
        kept: names(&["it"]),
    };
    assert_eq!(applied, expected);
    assert_eq!(pid(call(&fleet, "quick")).await, process);
    let status = fleet.status();
    let lines: Vec<_> = status.iter().map(|it| (it.spec.name.as_str(), it.origin.line)).collect();
    assert_eq!(lines, [("a", 0), ("b", 0), ("d", 0), ("it", 7)]);
    assert!(matches!(status[1].state, ServerState::Blocked(_)));

    // What the process need not know is taken over as it runs.
    let mut events = fleet.events();
    let generation = fleet.generation();
    let mut worded = moved;
    worded.spec.description = Some("words".into());
    worded.spec.trust = true;
    worded.spec.selection =
        ToolSelection { exclude: vec!["hold".into()], ..ToolSelection::default() };
    let applied = fleet.apply(vec![worded]).await;
    assert_eq!(applied.changed, names(&["it"]));
    assert_eq!(applied.removed.len(), 3);
    assert_eq!(pid(call(&fleet, "quick")).await, process);
    assert!(fleet.generation() > generation);
    assert_eq!(fleet.status()[0].spec.description.as_deref(), Some("words"));
    let mut told = false;
    while let Ok(event) = events.try_recv() {
        told |= matches!(event, FleetEvent::CatalogChanged { server, .. } if server == name());
    }
    assert!(told);
    fleet.close().await;
}

#[tokio::test]
async fn a_variable_without_a_value_ends_nobody_who_is_up_and_is_no_verdict_for_ever() {
    let (_folder, hold) = hold();
    let fleet = Arc::new(draining(DRAIN_LIMIT));
    let ready = member(holding(&hold, "1"));
    let blocked =
        || ServerState::Blocked(StartBlock::new(ErrorCode::ConfigUnset, "a value is missing"));
    let unset = FleetServer { initial_state: blocked(), has_unset_variable: true, ..ready.clone() };
    fleet.apply(vec![ready.clone()]).await;
    let process = pid(call(&fleet, "quick")).await;
    for now in [&unset, &unset, &ready] {
        assert_eq!(fleet.apply(vec![now.clone()]).await.kept, names(&["it"]));
        assert_eq!(pid(call(&fleet, "quick")).await, process);
        assert_eq!(fleet.status()[0].state, ServerState::Connected);
    }
    // What the user forbids does end it.
    let forbidden = FleetServer { initial_state: blocked(), ..ready.clone() };
    assert_eq!(fleet.apply(vec![forbidden]).await.changed, names(&["it"]));
    eventually("it ends", || !lives(process)).await;

    // One that could not start begins once there is a value, also where that was noticed late.
    assert_eq!(fleet.apply(vec![unset.clone()]).await.kept, names(&["it"]));
    assert_eq!(fleet.status()[0].state, blocked());
    assert_eq!(fleet.apply(vec![ready.clone()]).await.changed, names(&["it"]));
    let process = pid(call(&fleet, "quick")).await;
    let late = FleetServer {
        resolve: Arc::new(|_| Err(StartBlock::new(ErrorCode::ConfigUnset, "a value is missing"))),
        ..ready
    };
    let late = FleetServer { spec: holding(&hold, "2"), ..late };
    fleet.apply(vec![late.clone()]).await;
    eventually("it is blocked", || fleet.status()[0].state == blocked()).await;
    let found = member(late.spec);
    assert_eq!(fleet.apply(vec![found.clone()]).await.changed, names(&["it"]));
    assert_ne!(pid(call(&fleet, "quick")).await, process);
    assert_eq!(fleet.apply(vec![found]).await.kept, names(&["it"]));
    fleet.close().await;
}

#[tokio::test]
async fn the_same_words_in_another_project_are_another_process() {
    let (_folder, hold) = hold();
    let fleet = Arc::new(draining(DRAIN_LIMIT));
    let within =
        |folder: &str| FleetServer { project: Some(folder.into()), ..member(holding(&hold, "1")) };
    fleet.apply(vec![within("/a")]).await;
    let old = pid(call(&fleet, "quick")).await;
    assert_eq!(fleet.apply(vec![within("/a")]).await.kept, names(&["it"]));
    assert_eq!(fleet.apply(vec![within("/b")]).await.changed, names(&["it"]));
    assert_ne!(pid(call(&fleet, "quick")).await, old);
    fleet.close().await;
}

#[tokio::test]
async fn a_built_in_server_is_kept_as_long_as_it_is_the_same() {
    let fleet = forgetful();
    let (one, _ends) = Asking::new(1);
    let member = one.member();
    fleet.apply(vec![member.clone()]).await;
    fleet.wait_settled(|_| true).await;
    assert_eq!(fleet.apply(vec![member]).await.kept, names(&["it"]));
    let (two, _ends) = Asking::new(1);
    assert_eq!(fleet.apply(vec![two.member()]).await.changed, names(&["it"]));
    fleet.wait_settled(|_| true).await;
    assert_eq!((one.connections(), two.connections()), (1, 1));
}

#[tokio::test]
async fn what_was_read_before_servers_are_declared_anew_reaches_none_of_the_new_ones() {
    let (_folder, hold) = hold();
    let fleet = Arc::new(draining(DRAIN_LIMIT));
    fleet.apply(vec![named("it", holding(&hold, "1"))]).await;
    let (everybody, before) = (fleet.shared_tenant(), fleet.snapshot(|| fleet.epoch()));
    assert!(fleet.lease_at_epoch(before, &name(), &everybody).unwrap().is_some());

    // What is stored together with servers is there before anybody can read either of them.
    let reader = fleet.clone();
    let mut reading = None;
    let also = || {
        let reader = std::thread::spawn(move || reader.snapshot(|| reader.names().len()));
        reading = Some(reader);
        true
    };
    let two = vec![named("it", holding(&hold, "2")), named("more", holding(&hold, "1"))];
    fleet.apply_with(two, also).await;
    assert_eq!(reading.unwrap().join().unwrap(), 2, "all of it, or nothing");

    assert!(fleet.lease_at_epoch(before, &name(), &everybody).unwrap().is_none());
    let now = fleet.snapshot(|| fleet.epoch());
    assert!(fleet.lease_at_epoch(now, &name(), &everybody).unwrap().is_some());
    fleet.close().await;
}
