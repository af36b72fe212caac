//! How a client gets its profile: by path, by its name, by the gateway's default.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_model::CapabilityKind;

use super::client::{call, initialize, request};
use super::lines::Piped;
use super::script::Script;
use super::{Stage, modern};
use crate::{Gateway, Options};
use toolgate_host::GateEvent;

fn named(mut message: Value, client: &str) -> Value {
    message["params"]["clientInfo"]["name"] = client.into();
    message
}

#[tokio::test]
async fn a_client_has_the_profile_of_the_path_it_came_to() {
    let stage = Stage::plain().await;
    for path in ["/mcp", "/mcp/reader", "/mcp/writer"] {
        let session = stage.http.at(path).session().await;
        assert_eq!(session.post(call(1, "echo")).await.status(), 200);
        let message = modern::call(1, "echo");
        assert_eq!(stage.http.at(path).say(&message).await.status(), 200);
    }
    let expected = ["default", "default", "reader", "reader", "writer", "writer"];
    assert_eq!(stage.script.seen_by(), expected);
}

#[tokio::test]
async fn a_path_of_no_profile_is_not_found_and_names_those_there_are() {
    let stage = Stage::plain().await;
    for path in ["/mcp/nobody", "/sse/nobody"] {
        for verb in ["POST", "GET", "DELETE"] {
            let reply =
                stage.http.send(verb, path, initialize("2025-11-25", json!({})).to_string());
            let reply = reply.await;
            assert_eq!(reply.status(), 404, "{verb} {path}");
            let said = reply.json().await["error"]["message"].to_string();
            assert!(said.contains("nobody") && said.contains("writer"), "{said}");
        }
    }
    for path in ["/mcp/", "/mcp//", "/mcp/reader/", "/mcp/reader/x", "/mcpreader", "/messages/x"] {
        let reply = stage.http.send("POST", path, "{}".into()).await;
        assert_eq!(reply.status(), 404, "{path}");
        let said = reply.json().await["error"]["message"].to_string();
        assert!(said.contains("no such path"), "{path}: {said}");
    }
}

#[tokio::test]
async fn a_session_is_known_at_its_own_path_alone() {
    let stage = Stage::plain().await;
    let reader = stage.http.at("/mcp/reader").session().await;
    for elsewhere in ["/mcp", "/mcp/writer"] {
        let other = reader.at(elsewhere);
        assert_eq!(other.post(request(1, "ping")).await.status(), 404, "{elsewhere}");
        assert_eq!(other.get().await.status(), 404, "{elsewhere}");
        assert_eq!(other.delete().await.status(), 404, "{elsewhere}");
    }
    let plain = stage.http.session().await;
    assert_eq!(plain.at("/mcp/reader").post(request(1, "ping")).await.status(), 404);
    assert_eq!(reader.post(request(1, "ping")).await.status(), 200);
    assert_eq!(reader.delete().await.status(), 204);
}

#[tokio::test]
async fn a_client_without_a_path_has_the_profile_configured_for_it() {
    let stage = Stage::plain().await;
    for path in ["/mcp", "/mcp/writer"] {
        let http = stage.http.at(path);
        let opened = http.post(named(initialize("2025-11-25", json!({})), "reader")).await;
        let session = http.with("mcp-session-id", &opened.header("mcp-session-id").unwrap());
        assert_eq!(session.post(call(1, "echo")).await.status(), 200);
        let mut message = modern::call(1, "echo");
        let own = json!({ "name": "reader", "version": "1" });
        message["params"]["_meta"]["io.modelcontextprotocol/clientInfo"] = own;
        assert_eq!(http.say(&message).await.status(), 200);
    }
    assert_eq!(stage.script.seen_by(), ["reader", "reader", "writer", "writer"]);
}

#[tokio::test]
async fn what_is_served_to_those_who_choose_nothing_can_be_said() {
    let stage = Stage::showing("writer").await;
    let opened = stage.http.post(named(initialize("2025-11-25", json!({})), "reader")).await;
    let session = stage.http.with("mcp-session-id", &opened.header("mcp-session-id").unwrap());
    session.post(call(1, "echo")).await;
    stage.http.at("/mcp/reader").session().await.post(call(1, "echo")).await;
    assert_eq!(stage.script.seen_by(), ["writer", "reader"]);
}

#[tokio::test]
async fn a_list_is_told_changed_to_those_whose_list_it_is() {
    let stage = Stage::plain().await;
    let mut streams = Vec::new();
    for path in ["/mcp/reader", "/mcp/writer"] {
        let session = stage.http.at(path).session().await;
        streams.push(session.get().await.events());
    }
    let kind = CapabilityKind::Tool;
    let changed = |profile: &str| GateEvent::ListChanged {
        kind,
        profile: Some(profile.into()),
        caller: None,
    };
    stage.script.emit(changed("writer"));
    stage.script.emit(changed("reader"));
    stage.script.list_changed(CapabilityKind::Prompt);
    let mut heard = Vec::new();
    for stream in &mut streams {
        for _ in 0..3 {
            let message = stream.message().await.unwrap();
            let method = message["method"].as_str().unwrap().to_owned();
            let is_last = method.starts_with("notifications/prompts");
            heard.push(method);
            if is_last {
                break;
            }
        }
    }
    heard.retain(|method| method.ends_with("list_changed"));
    let (tools, prompts) =
        ("notifications/tools/list_changed", "notifications/prompts/list_changed");
    assert_eq!(heard, [tools, prompts, tools, prompts]);
}

#[tokio::test]
async fn lines_have_the_profile_they_were_opened_with() {
    for (profile, expected) in [(None, "default"), (Some("reader"), "reader")] {
        let script = Script::new();
        let gateway =
            Gateway::new(script.clone(), Options::default()).with_default_profile(profile);
        let messages = [initialize("2025-11-25", json!({})), call(1, "echo")];
        converse(gateway, script.clone(), &messages).await;
        assert_eq!(script.seen_by(), [expected]);
    }
}

#[tokio::test]
async fn lines_for_no_profile_are_refused_with_those_there_are() {
    let script = Script::new();
    let gateway =
        Gateway::new(script.clone(), Options::default()).with_default_profile(Some("nobody"));
    let messages = [initialize("2025-11-25", json!({})), modern::call(1, "echo")];
    for answer in converse(gateway, script, &messages).await {
        let said = answer["error"]["message"].to_string();
        assert!(said.contains("nobody") && said.contains("reader"), "{answer}");
    }
}

/// Sends messages on lines and reads an answer for each.
async fn converse(gateway: Gateway, script: Arc<Script>, messages: &[Value]) -> Vec<Value> {
    let mut client = Piped::on(gateway, script);
    let mut answers = Vec::new();
    for message in messages {
        client.send(message.clone()).await;
        answers.push(client.next().await);
    }
    answers
}
