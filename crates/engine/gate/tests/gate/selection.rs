//! Tools that a server's declaration hides: as unknown as those it does not have.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_fleet::{BuiltInServer, Fleet, FleetServer};
use toolgate_gate::{Gate, GateEvent};
use toolgate_model::{
    CapabilityKind, DeclaredTool, Origin, PrefixMode, ServerName, ServerSpec, ToolSelection,
    TransportSpec,
};
use toolgate_wire::Revision;

use crate::fleet::{Played, all_is_told, apply_settings, caller, caller_of, empty, pass};

const TOOLS: [&str; 3] = ["read_a", "read_b", "write"];

fn server() -> Arc<dyn BuiltInServer> {
    let capabilities = json!({ "tools": {}, "prompts": {} });
    Arc::new(Played::new(capabilities, |method, _| match method {
        "tools/list" => {
            json!({ "tools": TOOLS.map(|name| json!({ "name": name, "inputSchema": {} })) })
        }
        "prompts/list" => json!({ "prompts": [{ "name": "write" }] }),
        _ => json!({ "content": [] }),
    }))
}

fn member(server: &Arc<dyn BuiltInServer>, selection: ToolSelection) -> FleetServer {
    let spec = ServerSpec::new(ServerName::new("s").unwrap(), TransportSpec::BuiltIn);
    let spec = ServerSpec { selection, ..spec };
    FleetServer {
        built_in: Some(server.clone()),
        ..FleetServer::from_spec(spec, Origin::built_in())
    }
}

async fn with(selection: ToolSelection) -> (Arc<Gate>, Arc<Fleet>, Arc<dyn BuiltInServer>) {
    let (gate, fleet) = empty(PrefixMode::default());
    let server = server();
    fleet.apply(vec![member(&server, selection)]).await;
    fleet.wait_settled(|_| true).await;
    (gate, fleet, server)
}

fn excluding(tool: &str) -> ToolSelection {
    ToolSelection { exclude: vec![tool.into()], ..ToolSelection::default() }
}

async fn listed(gate: &Gate, revision: Revision) -> Vec<String> {
    let list = gate.list(CapabilityKind::Tool, &caller_of(revision)).await;
    let list: Value = serde_json::from_slice(&list).unwrap();
    let names = list["tools"].as_array().unwrap().iter();
    names.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_hidden_tool_is_listed_in_no_revision_and_called_in_none() {
    let (gate, _fleet, _server) = with(excluding("write")).await;
    for revision in Revision::ALL {
        assert_eq!(listed(&gate, revision).await, ["s__read_a", "s__read_b"], "{revision}");
        let me = caller_of(revision);
        pass(&gate, &me, "tools/call", json!({ "name": "s__read_a" })).await.unwrap();
        let hidden = pass(&gate, &me, "tools/call", json!({ "name": "s__write" })).await;
        let unknown = pass(&gate, &me, "tools/call", json!({ "name": "s__nosuch" })).await;
        let (hidden, unknown) = (hidden.unwrap_err(), unknown.unwrap_err());
        assert_eq!(hidden.rpc_code, unknown.rpc_code);
        assert_eq!(hidden.message.replace("write", "nosuch"), unknown.message);
        // Only tools are chosen among.
        pass(&gate, &me, "prompts/get", json!({ "name": "s__write" })).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_choice_takes_effect_at_once_and_is_told() {
    let (gate, fleet, server) = with(ToolSelection::default()).await;
    let me = caller();
    gate.list(CapabilityKind::Tool, &me).await;
    assert_eq!(listed(&gate, Revision::LATEST_LEGACY).await.len(), 3);
    all_is_told().await;
    let mut events = gate.events();
    let only =
        [("write".to_owned(), DeclaredTool::default()), ("rite".into(), DeclaredTool::default())];
    let chosen =
        ToolSelection { listed_only: true, tools: only.into(), ..ToolSelection::default() };
    let applied = fleet.apply(vec![member(&server, chosen)]).await;
    assert_eq!(applied.changed.len(), 1);
    assert_eq!(listed(&gate, Revision::LATEST_LEGACY).await, ["s__write"]);
    let refused = pass(&gate, &caller(), "tools/call", json!({ "name": "s__read_a" })).await;
    assert!(refused.is_err());
    let event = events.recv().await.unwrap();
    assert!(
        matches!(event, GateEvent::ListChanged { kind: CapabilityKind::Tool, .. }),
        "{event:?}"
    );
    assert_eq!(fleet.status()[0].visible_definitions(CapabilityKind::Tool).count(), 1);
    assert_eq!(fleet.status()[0].catalog.as_ref().unwrap().tools.len(), 3, "as the server sent it");
}

#[tokio::test(start_paused = true)]
async fn another_style_takes_effect_at_once_and_is_told() {
    let (gate, fleet, _server) = with(ToolSelection::default()).await;
    let me = caller();
    gate.list(CapabilityKind::Tool, &me).await;
    all_is_told().await;
    let mut events = gate.events();
    apply_settings(&gate, &fleet, PrefixMode::Never).await;
    assert_eq!(listed(&gate, Revision::LATEST_LEGACY).await, TOOLS);
    let event = events.recv().await.unwrap();
    assert!(
        matches!(event, GateEvent::ListChanged { kind: CapabilityKind::Tool, .. }),
        "{event:?}"
    );
}
