//! The start of a fleet, and changes while it runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use tokio::io::DuplexStream;
use tokio::time::Instant;
use toolgate_fleet::{BuiltInServer, DRAIN_LIMIT, FleetBuilder};
use toolgate_gate::{Gate, GateEvent, GatewaySettings};
use toolgate_launch::{LaunchHelperProgram, Launcher};
use toolgate_model::{CapabilityKind, PoolScope, PrefixMode, ServerState};
use toolgate_store::StateStore;

use crate::fleet::{Played, all_is_told, caller, empty, enlist, gate, pass, without_waiting};

fn with_tools(count: Arc<AtomicUsize>) -> Played {
    Played::new(json!({ "tools": { "listChanged": true } }), move |method, _| match method {
        "tools/list" => {
            let tools = (0..count.load(Ordering::Relaxed))
                .map(|n| json!({ "inputSchema": {}, "name": n.to_string() }));
            json!({ "tools": tools.collect::<Vec<_>>() })
        }
        _ => json!({ "content": [] }),
    })
}

/// Takes everything and answers nothing.
#[derive(Clone)]
pub struct Mute;

impl BuiltInServer for Mute {
    fn serve(&self, mut pipe: DuplexStream) {
        tokio::spawn(async move { tokio::io::copy(&mut pipe, &mut tokio::io::sink()).await });
    }
}

#[tokio::test(start_paused = true)]
async fn a_mute_server_delays_the_first_list_a_little_and_no_later_one() {
    let (gate, fleet) = empty(PrefixMode::default());
    let fast = with_tools(Arc::new(AtomicUsize::new(1)));
    enlist(&fleet, "fast", &fast, PoolScope::Shared).await;
    enlist(&fleet, "mute", &Mute, PoolScope::Shared).await;
    let (me, began) = (caller(), Instant::now());
    let list = gate.list(CapabilityKind::Tool, &me).await;
    assert_eq!(list, r#"{"tools":[{"inputSchema":{},"name":"fast__0"}]}"#);
    assert_eq!(began.elapsed(), Duration::from_millis(500));
    gate.list(CapabilityKind::Tool, &me).await;
    assert_eq!(began.elapsed(), Duration::from_millis(500));
    pass(&gate, &me, "tools/call", json!({ "name": "fast__0" })).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_changed_list_is_read_again_and_told_once_per_storm() {
    let count = Arc::new(AtomicUsize::new(1));
    let server = with_tools(count.clone());
    let (gate, _fleet) = gate(&[("s", &server)], PrefixMode::default()).await;
    let me = caller();
    gate.list(CapabilityKind::Tool, &me).await;
    all_is_told().await;
    let mut events = gate.events();
    let listed = server.count("tools/list");
    count.store(3, Ordering::Relaxed);
    for _ in 0..50 {
        server.notify("notifications/tools/list_changed", json!({}));
    }
    let event = events.recv().await.unwrap();
    assert!(
        matches!(event, GateEvent::ListChanged { kind: CapabilityKind::Tool, .. }),
        "{event:?}"
    );
    assert_eq!(server.count("tools/list"), listed + 1);
    pass(&gate, &me, "tools/call", json!({ "name": "s__2" })).await.unwrap();

    // A storm that changes nothing is told to nobody.
    for _ in 0..50 {
        server.notify("notifications/tools/list_changed", json!({}));
    }
    all_is_told().await;
    assert_eq!(server.count("tools/list"), listed + 2);
    assert!(events.try_recv().is_err());
}

#[tokio::test]
async fn servers_come_and_go_while_the_gate_stands() {
    let (gate, fleet) = empty(PrefixMode::default());
    let me = caller();
    assert!(pass(&gate, &me, "tools/call", json!({ "name": "s__0" })).await.is_err());
    enlist(&fleet, "s", &with_tools(Arc::new(AtomicUsize::new(1))), PoolScope::Shared).await;
    fleet.wait_settled(|_| true).await;
    pass(&gate, &me, "tools/call", json!({ "name": "s__0" })).await.unwrap();
    assert_eq!(fleet.status()[0].state, ServerState::Connected);
    let name = fleet.status()[0].spec.name.clone();
    assert!(fleet.remove_server(&name).await);
    assert!(pass(&gate, &me, "tools/call", json!({ "name": "s__0" })).await.is_err());
}

#[tokio::test]
async fn a_server_that_never_came_up_is_waited_for_twice_and_never_again() {
    let store: Arc<StateStore> = Arc::new(StateStore::in_memory().await.unwrap());
    for in_vain in [false, false, true, true] {
        let (launcher, store) = (Launcher::new(LaunchHelperProgram::none()), Some(store.clone()));
        let fleet = FleetBuilder { launcher, store, roots: Vec::new(), drain: DRAIN_LIMIT }.build();
        let fleet = Arc::new(fleet);
        let gate = Gate::new(fleet.clone(), GatewaySettings::default());
        enlist(&fleet, "mute", &Mute, PoolScope::Shared).await;
        assert_eq!(fleet.status()[0].repeatedly_failed, in_vain);
        if in_vain {
            without_waiting(gate.list(CapabilityKind::Tool, &caller()));
        }
    }
}
