//! A definition that is not what was approved is not listed and not called, whoever allowed it.

use std::time::{Duration, SystemTime};

use toolgate_model::CapabilityKind;
use toolgate_store::Pin;

use super::*;
use crate::fleet::tools;

/// Approves everything the server offers now, as a person would.
pub(super) async fn approve_all(world: &World) {
    let offered = world.fleet.catalogs(None);
    let known = &offered[0].checked;
    let pin = |capability: Option<(CapabilityKind, String)>, digest, definition| Pin {
        server: spec("s").name,
        identity: offered[0].fleet_server.spec.digest(),
        capability,
        digest,
        definition,
        by: "a test".into(),
        pinned_at: SystemTime::now(),
    };
    let mut pins = vec![pin(None, *known.instructions_digest(), RawBytes::new())];
    for kind in [CapabilityKind::Tool, CapabilityKind::Template, CapabilityKind::Prompt] {
        for (definition, fact) in known.of_kind(kind) {
            let what = Some((kind, definition.name.to_string()));
            pins.push(pin(what, *fact.digest(), fact.raw.clone()));
        }
    }
    world.decisions.pin(&pins).await.unwrap();
    world.gate.reload_pins().await.unwrap();
}

#[tokio::test]
async fn a_changed_definition_is_neither_listed_nor_called_until_it_is_approved() {
    for (field, value) in [
        ("description", json!("does another thing")),
        ("title", json!("Better")),
        ("inputSchema", json!({ "type": "object", "properties": { "x": {} } })),
        ("outputSchema", json!({ "type": "object" })),
        ("annotations", json!({ "readOnlyHint": true })),
        ("icons", json!([{ "src": "https://example.com/i.png" }])),
        ("_meta", json!({ "k": 1 })),
    ] {
        for told in [true, false] {
            let recheck = Some(Duration::ZERO).filter(|_| !told);
            let said = GovernanceSettings { recheck, ..GovernanceSettings::default() };
            let (world, wares) = World::new(json!([tool("t"), tool("u")]), said).await;
            let me = with_client("c");
            world.call(&me, "s__t", json!({})).await;
            wares.change(|wares| wares["tools"][0][field] = value.clone());
            if told {
                world.hear_of_change().await;
            }
            let refused = world.call(&me, "s__t", json!({})).await;
            let because = decision(&refused)["because"].as_str().unwrap();
            assert!(because.contains("changed since"), "{field} {told}: {because}");
            assert!(!because.contains("toolgate"), "{field} {told}: {because}");
            assert_eq!(world.calls(), 1, "{field} {told}");
            assert_eq!(tools(&world.gate, &me.caller).await, ["s__u"], "{field}");
            world.call(&me, "s__u", json!({})).await;
            assert_eq!(world.calls(), 2, "that one alone is set aside");
            approve_all(&world).await;
            world.call(&me, "s__t", json!({})).await;
            assert_eq!(world.calls(), 3);
        }
    }
}

#[tokio::test]
async fn the_order_of_tools_and_members_means_nothing() {
    let (world, wares) =
        World::new(json!([tool("t"), tool("u")]), GovernanceSettings::default()).await;
    let me = with_client("c");
    world.call(&me, "s__t", json!({})).await;
    let turned = r#"{"tools":[{"inputSchema":{"type":"object"},"name":"u","description":"does it"},
        {"description":"does \u0069t","inputSchema":{ "type":"object" },"name":"t"}]}"#;
    wares.change(|wares| *wares = serde_json::from_str(turned).unwrap());
    world.hear_of_change().await;
    world.call(&me, "s__t", json!({})).await;
    assert_eq!(world.calls(), 2);
    assert_eq!(tools(&world.gate, &me.caller).await.len(), 2);
}

#[tokio::test]
async fn a_change_takes_the_grants_with_it_for_good() {
    let said = GovernanceSettings { recheck: Some(Duration::ZERO), ..mode(PolicyMode::Ask) };
    let (world, wares) = World::new(json!([tool("t")]), said).await;
    let (me, person) = with_forms(chooses("always this tool"), || {});
    world.call(&me, "s__t", json!({})).await;
    assert_eq!(world.decisions.grants().await.unwrap().len(), 1);
    wares.change(|wares| wares["tools"][0]["description"] = "another".into());
    let mut news = world.gate.approvals().unwrap().watch();
    decision(&world.call(&me, "s__t", json!({})).await);
    wares.change(|wares| wares["tools"][0]["description"] = "does it".into());
    while !world.decisions.grants().await.unwrap().is_empty() {
        news.changed().await.unwrap();
    }
    world.call(&me, "s__t", json!({})).await;
    assert_eq!((world.calls(), person.asked.lock().unwrap().len()), (2, 2), "asked anew");
}

#[tokio::test]
async fn a_grant_for_a_server_does_not_mean_what_comes_later() {
    let said = GovernanceSettings { recheck: Some(Duration::ZERO), ..mode(PolicyMode::Ask) };
    let (world, wares) = World::new(json!([tool("t"), tool("u")]), said).await;
    let (me, person) = with_forms(chooses("always this server"), || {});
    world.call(&me, "s__t", json!({})).await;
    world.call(&me, "s__u", json!({})).await;
    assert_eq!((world.calls(), person.asked.lock().unwrap().len()), (2, 1));
    // The clock of the books counts milliseconds.
    tokio::time::sleep(Duration::from_millis(5)).await;
    wares.change(|wares| wares["tools"].as_array_mut().unwrap().push(tool("v")));
    world.call(&me, "s__t", json!({})).await;
    world.call(&me, "s__v", json!({})).await;
    assert_eq!((world.calls(), person.asked.lock().unwrap().len()), (4, 2));
}

#[tokio::test]
async fn in_the_governed_posture_nothing_is_shown_before_it_was_approved() {
    let said = governed(mode(PolicyMode::Full));
    let (world, wares) = World::new(json!([tool("t")]), said).await;
    let me = with_client("c");
    assert!(tools(&world.gate, &me.caller).await.is_empty());
    let because = world.call(&me, "s__t", json!({})).await;
    let because = decision(&because)["because"].as_str().unwrap().to_owned();
    assert!(because.contains("was not approved yet"), "{because}");
    for (method, params) in
        [("resources/read", json!({ "uri": "x://r" })), ("prompts/get", json!({ "name": "s__p" }))]
    {
        assert!(world.pass(&me, method, params).await.is_err(), "{method}");
        assert_eq!(world.server.count(method), 0, "{method}");
    }
    approve_all(&world).await;
    assert_eq!(tools(&world.gate, &me.caller).await, ["s__t"]);
    world.call(&me, "s__t", json!({})).await;
    world.pass(&me, "resources/read", json!({ "uri": "x://r" })).await.unwrap();
    assert_eq!(world.calls(), 1);
    wares.change(|wares| wares["tools"].as_array_mut().unwrap().push(tool("new")));
    let mut events = world.fleet.events();
    world.server.notify("notifications/tools/list_changed", json!({}));
    let offered = || world.fleet.catalogs(None)[0].checked.catalog.tools.len();
    while offered() < 2 {
        events.recv().await.unwrap();
    }
    assert_eq!(tools(&world.gate, &me.caller).await, ["s__t"], "the new one waits");
}
