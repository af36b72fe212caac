//! Live catalogs: what is last known, in which order, and servers that offer nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use toolgate_fleet::{DRAIN_LIMIT, Fleet, FleetBuilder, FleetServer};
use toolgate_gate::{Gate, GatewaySettings};
use toolgate_launch::{LaunchHelperProgram, Launcher};
use toolgate_model::{CapabilityKind, FailurePhase, PrefixMode, ServerState};
use toolgate_store::StateStore;

use crate::fleet::{
    Played, all_is_told, caller, empty, member, pass, spec, tools, with_tools, without_waiting,
};
use crate::start::Mute;

fn remembering(store: &Arc<StateStore>) -> (Arc<Gate>, Arc<Fleet>) {
    let (launcher, store) = (Launcher::new(LaunchHelperProgram::none()), Some(store.clone()));
    let fleet = FleetBuilder { launcher, store, roots: Vec::new(), drain: DRAIN_LIMIT }.build();
    let fleet = Arc::new(fleet);
    (Gate::new(fleet.clone(), GatewaySettings::default()), fleet)
}

#[tokio::test]
async fn after_the_first_run_nobody_waits_for_a_server_that_does_not_answer() {
    let store: Arc<StateStore> = Arc::new(StateStore::in_memory().await.unwrap());
    let names: Vec<_> = (0..20).map(|n| format!("s{n}")).collect();
    let (first, fleet) = remembering(&store);
    for name in &names {
        fleet.add_server(member(spec(name), &with_tools(&["work"]))).await;
    }
    fleet.add_server(member(spec("slow"), &with_tools(&["late"]))).await;
    fleet.wait_settled(|_| true).await;
    let before = first.list(CapabilityKind::Tool, &caller()).await;
    fleet.close().await;

    let (second, fleet) = remembering(&store);
    for name in &names {
        fleet.add_server(member(spec(name), &with_tools(&["work"]))).await;
    }
    fleet.add_server(member(spec("slow"), &Mute)).await;
    let slow = || fleet.status().into_iter().find(|it| it.spec.name.as_str() == "slow").unwrap();
    while slow().state == ServerState::NotStarted {
        tokio::task::yield_now().await;
    }
    let me = caller();
    second.capabilities(&me);
    let list = without_waiting(second.list(CapabilityKind::Tool, &me));
    assert_eq!(list, before);
    assert_eq!(slow().state, ServerState::Connecting);
    pass(&second, &me, "tools/call", json!({ "name": "s7__work" })).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn lists_are_in_the_order_of_the_declarations() {
    let (gate, fleet) = empty(PrefixMode::default());
    let placed =
        |name: &str, place| FleetServer { place, ..member(spec(name), &with_tools(&["b", "a"])) };
    let declared = |z, a| vec![placed("a", a), placed("m", 2), placed("z", z)];
    fleet.apply(declared(1, 3)).await;
    fleet.wait_settled(|_| true).await;
    let me = caller();
    assert_eq!(tools(&gate, &me).await, ["z__b", "z__a", "m__b", "m__a", "a__b", "a__a"]);
    all_is_told().await;
    let mut events = gate.events();
    fleet.apply(declared(3, 1)).await;
    assert_eq!(tools(&gate, &me).await, ["a__b", "a__a", "m__b", "m__a", "z__b", "z__a"]);
    assert!(events.recv().await.unwrap().is_change_for(me.id, "default"));
}

/// A server that has something to offer only when told so.
fn empty_at_first(capabilities: serde_json::Value) -> (Played, Arc<AtomicBool>) {
    let full = Arc::new(AtomicBool::new(false));
    let is_full = full.clone();
    let server = Played::new(capabilities, move |method, _| match method {
        "tools/list" if is_full.load(Ordering::Relaxed) => {
            json!({ "tools": [{ "name": "t", "inputSchema": {} }] })
        }
        "tools/list" => json!({ "tools": [{ "name": "t", "inputSchema": 5 }] }),
        _ => json!({ "content": [] }),
    });
    (server, full)
}

async fn until(fleet: &Fleet, wanted: impl Fn(&ServerState) -> bool) -> ServerState {
    let mut events = fleet.events();
    loop {
        let state = fleet.status()[0].state.clone();
        if wanted(&state) {
            return state;
        }
        events.recv().await.unwrap();
    }
}

#[tokio::test]
async fn a_server_with_nothing_usable_is_closed_and_says_so_and_comes_back() {
    for by_reload in [true, false] {
        let (server, full) = empty_at_first(json!({ "tools": {} }));
        let (gate, fleet) = empty(PrefixMode::default());
        let declared = member(spec("s"), &server);
        fleet.apply(vec![declared.clone()]).await;
        let state = until(&fleet, |state| matches!(state, ServerState::Failed(_))).await;
        let ServerState::Failed(failure) = state else { unreachable!() };
        assert_eq!(failure.phase, FailurePhase::List);
        assert!(failure.cause.contains("none of its 1 tool(s) can be used"), "{failure}");
        assert!(failure.hint.unwrap().contains("doctor"));
        let report = fleet.test_connection(&spec("s").name).await.unwrap();
        assert!(report.phases.last().unwrap().failure.is_some(), "{report:?}");
        full.store(true, Ordering::Relaxed);
        match by_reload {
            true => assert_eq!(fleet.apply(vec![declared]).await.kept.len(), 1),
            false => drop(fleet.test_connection(&spec("s").name).await.unwrap()),
        }
        until(&fleet, |state| *state == ServerState::Connected).await;
        assert_eq!(tools(&gate, &caller()).await, ["s__t"]);
        fleet.close().await;
    }
}

#[tokio::test]
async fn a_server_that_announces_changes_may_fill_its_lists_later() {
    let (server, full) = empty_at_first(json!({ "tools": { "listChanged": true } }));
    let (gate, fleet) = empty(PrefixMode::default());
    fleet.add_server(member(spec("s"), &server)).await;
    until(&fleet, |state| *state == ServerState::Connected).await;
    let me = caller();
    assert!(tools(&gate, &me).await.is_empty());
    let mut events = gate.events();
    full.store(true, Ordering::Relaxed);
    server.notify("notifications/tools/list_changed", json!({}));
    while !events.recv().await.unwrap().is_change_for(me.id, "default") {}
    assert_eq!(tools(&gate, &me).await, ["s__t"]);
}
