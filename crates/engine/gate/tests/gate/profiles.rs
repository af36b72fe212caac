//! Profiles: what each kind of caller sees, and what a change costs and tells whom.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::sync::broadcast::error::TryRecvError;
use toolgate_gate::{Client, Gate, GateEvent, GatewaySettings};
use toolgate_model::{CapabilityKind, NamingStyle, Profile, ServerSpec};
use toolgate_wire::Revision;

use crate::fleet::{
    Played, all_is_told, apply_settings, caller, empty, member, pass, profiles, seeing, spec, tool,
    tools, with_tools,
};

const LEGACY: Revision = Revision::LATEST_LEGACY;

fn importing(tags: &[&str]) -> Profile {
    let tags = tags.iter().map(ToString::to_string).collect();
    Profile { tags: Some(tags), ..Profile::default() }
}

fn tagged(name: &str, tag: &str) -> ServerSpec {
    ServerSpec { tags: Some(vec![tag.into()]), ..spec(name) }
}

/// `git` sees one server under names of its own, `files` the other, `both` both.
fn manner() -> GatewaySettings {
    let profiles = profiles([
        ("git", Profile { naming: Some(NamingStyle::Claude), ..importing(&["mcp.git"]) }),
        ("files", importing(&["mcp.files"])),
        ("both", importing(&["mcp"])),
    ]);
    GatewaySettings { profiles, ..GatewaySettings::default() }
}

async fn two(git: &Played, files: &Played) -> (Arc<Gate>, Arc<toolgate_fleet::Fleet>) {
    let (gate, fleet) = empty(manner());
    fleet.add_server(member(tagged("git", "mcp.git"), git)).await;
    fleet.add_server(member(tagged("disk", "mcp.files"), files)).await;
    fleet.wait_settled(|_| true).await;
    all_is_told().await;
    (gate, fleet)
}

#[tokio::test(start_paused = true)]
async fn a_profile_sees_what_it_imports_and_knows_of_nothing_else() {
    let (gate, _fleet) = two(&with_tools(&["log"]), &with_tools(&["read"])).await;
    for (profile, seen) in [
        ("default", &["disk__read", "git__log"][..]),
        ("both", &["disk__read", "git__log"]),
        ("git", &["mcp__git__log"]),
        ("files", &["disk__read"]),
        ("research", &[]),
    ] {
        assert_eq!(tools(&gate, &seeing(profile, LEGACY)).await, seen, "{profile}");
    }
    let me = seeing("git", LEGACY);
    pass(&gate, &me, "tools/call", json!({ "name": "mcp__git__log" })).await.unwrap();
    for hidden in ["disk__read", "mcp__disk__read", "git__log"] {
        let refused = pass(&gate, &me, "tools/call", json!({ "name": hidden })).await.unwrap_err();
        assert_eq!(refused.message, format!("Unknown tool: {hidden}"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_hidden_server_is_reached_by_no_uri() {
    let server = |text: &'static str| {
        let capabilities = json!({ "resources": {}, "extensions": { "a/hidden": {} } });
        Played::new(capabilities, move |method, params| match method {
            "resources/list" => json!({ "resources": [{ "uri": "x://same", "name": "r" }] }),
            "resources/templates/list" => json!({ "resourceTemplates": [] }),
            _ => json!({ "contents": [{ "uri": params["uri"], "text": text }] }),
        })
    };
    let (gate, _fleet) = two(&server("git"), &server("files")).await;
    let list = gate.list(CapabilityKind::Resource, &caller()).await;
    let list: Value = serde_json::from_slice(&list).unwrap();
    let uris: Vec<_> = list["resources"].as_array().unwrap().iter().map(|it| &it["uri"]).collect();
    assert_eq!(uris.len(), 2);
    let me = seeing("files", LEGACY);
    let read = async |uri: &str| pass(&gate, &me, "resources/read", json!({ "uri": uri })).await;
    for uri in uris {
        // The tagged form still leads to the server he sees, and no other.
        match read(uri.as_str().unwrap()).await {
            Ok(read) => assert_eq!(read["contents"][0]["text"], "files"),
            Err(refused) => assert_eq!(refused.rpc_code, -32002, "{refused}"),
        }
    }
    assert_eq!(read("x://same").await.unwrap()["contents"][0]["text"], "files");
    let nobody = seeing("research", LEGACY);
    let refused = pass(&gate, &nobody, "resources/read", json!({ "uri": "x://other" })).await;
    assert_eq!(refused.unwrap_err().rpc_code, -32002);
    let refused = pass(&gate, &nobody, "hidden/do", json!({})).await;
    assert_eq!(refused.unwrap_err().rpc_code, -32601);
    assert!(gate.instructions(&nobody).is_none());
}

#[tokio::test(start_paused = true)]
async fn a_profile_is_asked_for_or_given_to_a_client_or_the_default() {
    let mut manner = manner();
    manner.profiles.clients.insert("coder".into(), "git".into());
    manner.profiles.clients.insert("lost".into(), "gone".into());
    let (gate, _fleet) = empty(manner);
    let client = |name: &str| Client { name: name.into(), version: String::new() };
    let chosen = |asked, name: &str| gate.choose_profile(asked, &client(name));
    assert_eq!(&*chosen(None, "x").unwrap(), "default");
    assert_eq!(&*chosen(None, "coder").unwrap(), "git");
    assert_eq!(&*chosen(Some("files"), "coder").unwrap(), "files");
    let refused = chosen(Some("nosuch"), "coder").unwrap_err();
    assert!(refused.message.contains("\"nosuch\"") && refused.text().contains("files, git"));
    let refused = chosen(None, "lost").unwrap_err();
    assert!(refused.message.contains("\"gone\"") && refused.message.contains("\"lost\""));
}

#[tokio::test(start_paused = true)]
async fn who_has_a_profile_that_is_gone_sees_nothing_and_is_told() {
    let (gate, fleet) = two(&with_tools(&["log"]), &with_tools(&["read"])).await;
    let me = seeing("git", LEGACY);
    assert_eq!(tools(&gate, &me).await.len(), 1);
    let mut events = gate.events();
    apply_settings(&gate, &fleet, GatewaySettings::default()).await;
    assert_eq!(tools(&gate, &me).await.len(), 0);
    for name in ["mcp__git__log", "git__log"] {
        let refused = pass(&gate, &me, "tools/call", json!({ "name": name })).await.unwrap_err();
        assert!(refused.message.starts_with("there is no profile \"git\" any more"), "{refused}");
    }
    let event = events.recv().await.unwrap();
    assert!(event.is_change_for(me.id, "git"), "{event:?}");
    assert!(gate.exposure("git").is_err());
}

/// A server whose tools a test changes.
fn changing(names: &[&str]) -> (Played, Arc<Mutex<Vec<Value>>>) {
    let all: Vec<_> = names.iter().map(|name| tool(name, "")).collect();
    let all = Arc::new(Mutex::new(all));
    let tools = all.clone();
    let capabilities = json!({ "tools": { "listChanged": true } });
    let server = Played::new(capabilities, move |method, _| match method {
        "tools/list" => json!({ "tools": *tools.lock().unwrap() }),
        _ => json!({ "content": [] }),
    });
    (server, all)
}

#[tokio::test(start_paused = true)]
async fn a_changed_tool_is_rendered_anew_alone_and_told_only_where_it_is_seen() {
    let (git, definitions) = changing(&["log", "diff", "blame"]);
    let (gate, _fleet) = two(&git, &with_tools(&["read", "write"])).await;
    let callers = ["default", "git", "files", "both"].map(|profile| seeing(profile, LEGACY));
    let mut before = Vec::new();
    for caller in &callers {
        before.push(gate.list(CapabilityKind::Tool, caller).await);
    }
    assert_eq!(gate.renders(), 5 + 3 + 2 + 5);
    let mut events = gate.events();
    definitions.lock().unwrap()[1] = tool("diff", "changed");
    git.notify("notifications/tools/list_changed", json!({}));
    let mut told = Vec::new();
    for _ in 0..3 {
        match events.recv().await.unwrap() {
            GateEvent::ListChanged { kind: CapabilityKind::Tool, profile, caller: None } => {
                told.push(profile.unwrap().to_string());
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(told, ["both", "default", "git"]);
    assert_eq!(events.try_recv().unwrap_err(), TryRecvError::Empty);
    let rendered = gate.renders();
    for (caller, before) in callers.iter().zip(&before) {
        let now = gate.list(CapabilityKind::Tool, caller).await;
        assert_eq!(now.as_ptr() == before.as_ptr(), &*caller.profile == "files");
        assert_eq!(now.windows(7).any(|it| it == b"changed"), &*caller.profile != "files");
    }
    assert_eq!(gate.renders(), rendered + 3);
}

#[tokio::test(start_paused = true)]
async fn a_profile_nobody_uses_costs_nothing() {
    let (git, definitions) = changing(&["log"]);
    let (gate, _fleet) = two(&git, &with_tools(&["read"])).await;
    assert_eq!(tools(&gate, &seeing("git", LEGACY)).await.len(), 1); // he has left again
    let me = seeing("files", LEGACY);
    tools(&gate, &me).await;
    let (mut events, rendered) = (gate.events(), gate.renders());
    definitions.lock().unwrap().push(tool("diff", ""));
    git.notify("notifications/tools/list_changed", json!({}));
    all_is_told().await;
    assert_eq!(git.count("tools/list"), 2);
    assert_eq!(events.try_recv().unwrap_err(), TryRecvError::Empty, "nobody's list has changed");
    tools(&gate, &me).await;
    assert_eq!(gate.renders(), rendered);
    assert_eq!(tools(&gate, &seeing("git", LEGACY)).await.len(), 2);
}
