//! Who hears of what happens outside any call.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::sync::broadcast::Receiver;
use tokio::time::{Instant, timeout};
use toolgate_gate::{Caller, GateEvent, GatewaySettings};
use toolgate_model::{PoolScope, PrefixMode, Profile, ServerSpec};
use toolgate_wire::Revision;

use crate::fleet::{Played, caller, empty, enlist, gate, member, pass, profiles, seeing, spec};

const LEGACY: Revision = Revision::LATEST_LEGACY;

fn talkative() -> Played {
    let capabilities = json!({ "tools": {}, "logging": {}, "resources": { "subscribe": true } });
    Played::new(capabilities, |method, _| match method {
        "tools/list" => json!({ "tools": [{ "name": "t", "inputSchema": {} }] }),
        "resources/list" => json!({ "resources": [{ "uri": "x://w", "name": "w" }] }),
        "resources/templates/list" => json!({ "resourceTemplates": [] }),
        _ => json!({ "content": [] }),
    })
}

/// The next thing somebody said that is no change of a list.
async fn said(events: &mut Receiver<GateEvent>) -> GateEvent {
    let said = async {
        loop {
            match events.recv().await.unwrap() {
                GateEvent::ListChanged { .. } => {}
                event => return event,
            }
        }
    };
    timeout(Duration::from_secs(5), said).await.unwrap()
}

fn hears(event: &GateEvent, caller: &Caller) -> bool {
    event.visible_to(caller.id, &caller.profile).is_some()
}

#[tokio::test]
async fn what_a_server_says_stays_away_from_profiles_that_do_not_see_it() {
    let server = talkative();
    let import = |tag: &str| Profile { tags: Some(vec![tag.into()]), ..Profile::default() };
    let profiles = profiles([("git", import("mcp.git")), ("files", import("mcp.files"))]);
    let (gate, fleet) = empty(GatewaySettings { profiles, ..GatewaySettings::default() });
    let tagged = ServerSpec { tags: Some(vec!["mcp.git".into()]), ..spec("git") };
    fleet.add_server(member(tagged, &server)).await;
    fleet.wait_settled(|_| true).await;
    let callers = ["git", "files", "research", "default"].map(|it| seeing(it, LEGACY));
    for caller in &callers {
        gate.capabilities(caller);
    }
    let mut events = gate.events();
    for (method, params) in [
        ("notifications/message", json!({ "level": "error", "data": "secret" })),
        ("notifications/resources/updated", json!({ "uri": "x://w" })),
        ("notifications/unheard_of", json!({})),
    ] {
        server.notify(method, params);
        let event = said(&mut events).await;
        assert_eq!(callers.each_ref().map(|it| hears(&event, it)), [true, false, false, true]);
    }
}

#[tokio::test]
async fn what_is_said_on_a_callers_own_connection_is_his_alone() {
    let server = talkative();
    let (gate, fleet) = empty(PrefixMode::default());
    enlist(&fleet, "s", &server, PoolScope::PerCaller).await;
    fleet.wait_settled(|_| true).await;
    let (one, two): (Arc<Caller>, Arc<Caller>) = (caller(), caller());
    for who in [&one, &two] {
        pass(&gate, who, "tools/call", json!({ "name": "s__t" })).await.unwrap();
    }
    for (method, params) in [
        ("notifications/message", json!({ "level": "error", "data": "secret" })),
        ("notifications/resources/updated", json!({ "uri": "x://w" })),
    ] {
        // One connection is everybody's, for a look at what there is; then came these two.
        for (connection, heard) in [(1, [true, false]), (2, [false, true]), (0, [true, true])] {
            let mut events = gate.events();
            server.notify_on(connection, method, params.clone());
            let event = said(&mut events).await;
            assert_eq!([&one, &two].map(|it| hears(&event, it)), heard, "{event:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_said_does_not_wait_for_changes() {
    let server = talkative();
    let (gate, fleet) = gate(&[("s", &server)], PrefixMode::default()).await;
    gate.capabilities(&caller());
    let mut events = gate.events();
    (0..100).for_each(|_| fleet.request_rebuild());
    let began = Instant::now();
    server.notify("notifications/message", json!({ "level": "error", "data": "now" }));
    said(&mut events).await;
    assert_eq!(began.elapsed(), Duration::ZERO);
}
