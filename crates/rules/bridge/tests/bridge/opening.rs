//! The capabilities that the gateway declares.

use insta::assert_snapshot;
use serde_json::{Value, json};
use toolgate_bridge::gateway_capabilities;
use toolgate_wire::Revision;

use crate::{LEGACY, MODERN, OLDEST};

fn declared(servers: &[(Revision, Value)], to: Revision) -> Value {
    let servers: Vec<_> = servers.iter().map(|(from, all)| (*from, all.to_string())).collect();
    let servers: Vec<_> = servers.iter().map(|(from, all)| (*from, all.as_bytes())).collect();
    serde_json::from_slice(&gateway_capabilities(&servers, to)).unwrap()
}

#[test]
fn extensions_are_gathered_with_the_settings_of_the_first() {
    let servers = [
        json!({ "extensions": { "a.b/one": { "n": 1 }, "a.b/odd": true }, "experimental": {} }),
        json!({ "extensions": { "a.b/one": { "n": 2 }, "a.b/two": {} } }),
        json!({ "experimental": { "x": {} } }),
    ];
    let servers = servers.map(|all| (MODERN, all));
    let modern = declared(&servers, MODERN);
    assert_snapshot!("modern_capabilities", serde_json::to_string_pretty(&modern).unwrap());
    assert_eq!(declared(&servers, LEGACY), modern);
}

#[test]
fn tasks_are_declared_in_the_form_of_the_revision() {
    let core = json!({ "tasks": { "requests": { "tools": { "call": {} } } } });
    let extension = json!({ "extensions": { "io.modelcontextprotocol/tasks": { "s": 1 } } });
    let servers = [((LEGACY, core), json!({})), ((MODERN, extension), json!({ "s": 1 }))];
    for (server, settings) in servers {
        let modern = declared(std::slice::from_ref(&server), MODERN);
        assert_eq!(modern["extensions"]["io.modelcontextprotocol/tasks"], settings);
        assert_eq!(modern.get("tasks"), None);
        let legacy = declared(std::slice::from_ref(&server), LEGACY);
        assert!(legacy["tasks"]["requests"]["tools"]["call"].is_object(), "{legacy}");
        assert_eq!(legacy.get("extensions"), None);
        let oldest = declared(&[server], OLDEST);
        assert_eq!((oldest.get("tasks"), oldest.get("extensions")), (None, None));
    }
}

#[test]
fn tasks_in_the_form_of_another_revision_are_no_promise() {
    let core = json!({ "tasks": { "requests": { "tools": { "call": {} } } } });
    let extension = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    for server in [(MODERN, core.clone()), (OLDEST, core), (LEGACY, extension)] {
        for to in Revision::ALL {
            let declared = declared(std::slice::from_ref(&server), to);
            let gathered = (declared.get("tasks"), declared.get("extensions"));
            assert_eq!(gathered, (None, None), "{server:?} to {to}");
        }
    }
}
