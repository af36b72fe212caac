//! `serve --stdio`: a gateway for one client, or a relay to the living one.

use serde_json::json;

use crate::support::{
    Place, Running, TOOLGATE, calling, eventually, opening, processes_with, run, sample, witness,
};

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
    // The list waits for no server that is still starting.
    eventually("the list with w__count", || {
        client.send(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }));
        client.answer(2).to_string().contains("w__count")
    });
    client
}

/// A home whose server `slow` takes so many seconds to start, every time.
fn slow(seconds: u32) -> Place {
    let place = Place::new();
    std::fs::create_dir_all(place.home()).unwrap();
    let start = format!("sleep {seconds}; exec '{TOOLGATE}' sample-server");
    let entry = format!("[servers.slow]\ncommand = \"sh\"\nargs = [\"-c\", {start:?}]\n");
    std::fs::write(place.home().join("config.toml"), sample("quick") + &entry).unwrap();
    place
}

/// What the first list of a new client holds.
fn first_list(client: &mut Running) -> String {
    for message in opening() {
        client.send(&message);
    }
    client.answer(1);
    client.send(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }));
    client.answer(2).to_string()
}

#[test]
fn a_list_waits_for_no_slow_server_and_its_tools_are_told_later() {
    let place = slow(2);
    let mut client = Running::start(&mut place.verb(&["serve", "--stdio"]));
    let list = first_list(&mut client);
    assert!(!list.contains("slow__"), "it was waited for: {list}");
    while !client.line().contains("notifications/tools/list_changed") {}
    eventually("the list with the slow server", || {
        client.send(&json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/list" }));
        client.answer(3).to_string().contains("slow__")
    });
}

#[test]
fn what_a_slow_server_offers_is_stored_though_its_client_has_left() {
    let place = slow(4);
    let mut hasty = Running::start(&mut place.verb(&["serve", "--stdio"]));
    first_list(&mut hasty);
    hasty.close_stdin();
    let (code, err) = hasty.end();
    assert_eq!(code, 0, "{err}");
    let mut client = Running::start(&mut place.verb(&["serve", "--stdio"]));
    let list = first_list(&mut client);
    assert!(list.contains("slow__"), "the second run does not know it: {list}");
}

#[test]
fn an_installation_learns_what_servers_offer() {
    let place = slow(4);
    let said = run(&mut place.verb(&["install", "cursor", "--approve", "client", "--yes"]));
    assert_eq!(said.code, 0, "{said:?}");
    let mut client = Running::start(&mut place.verb(&["serve", "--stdio"]));
    let list = first_list(&mut client);
    assert!(list.contains("slow__"), "the first run does not know it: {list}");
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
