//! `serve --stdio`: a gateway for one client, or a relay to the living one.

use serde_json::json;

use crate::support::{Place, Running, calling, opening, processes_with, run, witness};

fn witnessed() -> Place {
    let place = Place::with("");
    std::fs::create_dir_all(place.home()).unwrap();
    std::fs::write(place.home().join("config.toml"), witness("w", &place.work())).unwrap();
    place
}

fn client(place: &Place) -> Running {
    let mut client = Running::start(&mut place.verb(&["serve", "--stdio"]));
    for message in opening() {
        client.send(&message);
    }
    client.answer(1);
    // The list waits for servers that are still starting.
    client.send(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }));
    assert!(client.answer(2).to_string().contains("w__count"));
    client
}

fn count(client: &mut Running, id: u32) -> String {
    client.send(&calling(id, "w__count"));
    client.answer(id)["result"]["content"][0]["text"].as_str().unwrap().to_owned()
}

#[test]
fn alone_it_is_the_gateway_and_others_attach_to_it() {
    let place = witnessed();
    let mark = format!("WITNESS={}", place.work().display());
    let mut client = client(&place);
    assert_eq!(count(&mut client, 3), "1");
    assert_eq!(run(&mut place.verb(&["call", "w", "count"])).out, "2\n");
    assert_eq!(processes_with(&mark), 1);
    client.close_stdin();
    let (code, err) = client.end();
    assert_eq!(code, 0, "{err}");
    assert_eq!(processes_with(&mark), 0);
}

#[test]
fn beside_a_living_gateway_it_relays() {
    let place = witnessed();
    let mark = format!("WITNESS={}", place.work().display());
    let (_gateway, _) = Running::serve(&mut place.verb(&[]));
    assert_eq!(run(&mut place.verb(&["call", "w", "count"])).out, "1\n");
    let mut client = client(&place);
    assert_eq!(count(&mut client, 3), "2");
    assert_eq!(processes_with(&mark), 1);
    client.close_stdin();
    let (code, err) = client.end();
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!(processes_with(&mark), 1, "the servers are the gateway's");
}

#[test]
fn a_relay_notices_that_its_gateway_is_gone() {
    let place = witnessed();
    let (gateway, _) = Running::serve(&mut place.verb(&[]));
    let client = client(&place);
    drop(gateway);
    let (code, err) = client.end();
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("failed to reach the gateway"), "{err}");
}

#[test]
fn a_strict_client_is_strict_through_the_relay_too() {
    let place = witnessed();
    let (_gateway, _) = Running::serve(&mut place.verb(&[]));
    let mut client =
        Running::start(&mut place.verb(&["serve", "--stdio", "--protocol", "2025-06-18"]));
    client.send(&opening()[0]);
    assert!(client.answer(1).get("error").is_some());
}
