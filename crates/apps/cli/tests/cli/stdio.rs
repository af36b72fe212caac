//! `serve --stdio`: a gateway for one client, or a relay to the living one.

use std::path::PathBuf;

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

/// A home whose server `slow` notes that it was started and begins once it is let in.
struct Slow {
    place: Place,
}

impl Slow {
    fn new() -> Self {
        let place = Place::new();
        std::fs::create_dir_all(place.home()).unwrap();
        let slow = Self { place };
        let [started, door] = [slow.started(), slow.door()].map(|it| it.display().to_string());
        let start = format!(
            "touch '{started}'; until [ -e '{door}' ]; do sleep 0.01; done; \
             exec '{TOOLGATE}' sample-server"
        );
        let entry = format!("[servers.slow]\ncommand = \"sh\"\nargs = [\"-c\", {start:?}]\n");
        let config = slow.place.home().join("config.toml");
        std::fs::write(config, sample("quick") + &entry).unwrap();
        slow
    }

    fn started(&self) -> PathBuf {
        self.place.work().join("started")
    }

    fn door(&self) -> PathBuf {
        self.place.work().join("door")
    }

    fn let_in(&self) {
        std::fs::write(self.door(), "").unwrap();
    }

    /// Whoever is started from now on waits.
    fn shut(&self) {
        std::fs::remove_file(self.door()).unwrap();
    }

    fn client(&self) -> Running {
        Running::start(&mut self.place.verb(&["serve", "--stdio"]))
    }
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
    let slow = Slow::new();
    let mut client = slow.client();
    let list = first_list(&mut client);
    assert!(!list.contains("slow__"), "it was waited for: {list}");
    slow.let_in();
    while !client.line().contains("notifications/tools/list_changed") {}
    eventually("the list with the slow server", || {
        client.send(&json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/list" }));
        client.answer(3).to_string().contains("slow__")
    });
}

#[test]
fn what_a_slow_server_offers_is_stored_though_its_client_has_left() {
    let slow = Slow::new();
    let mut hasty = slow.client();
    first_list(&mut hasty);
    hasty.close_stdin();
    slow.let_in();
    let (code, err) = hasty.end();
    assert_eq!(code, 0, "{err}");
    slow.shut();
    let mut client = slow.client();
    let list = first_list(&mut client);
    assert!(list.contains("slow__"), "the second run does not know it: {list}");
}

#[test]
fn an_installation_learns_what_servers_offer() {
    let slow = Slow::new();
    let words = ["install", "cursor", "--approve", "client", "--yes"];
    let install = Running::start(&mut slow.place.verb(&words));
    eventually("the start of the slow server", || slow.started().exists());
    slow.let_in();
    let (code, err) = install.end();
    assert_eq!(code, 0, "{err}");
    slow.shut();
    let mut client = slow.client();
    let list = first_list(&mut client);
    assert!(list.contains("slow__"), "the first run does not know it: {list}");
}

#[test]
fn the_first_session_after_an_installation_has_the_instructions_of_servers() {
    let place = witnessed();
    let given = "env = { INSTRUCTIONS = \"Count before you call.\",";
    let entry = witness("w", &place.work()).replace("env = {", given);
    std::fs::write(place.home().join("config.toml"), entry).unwrap();
    let said = run(&mut place.verb(&["install", "cursor", "--approve", "client", "--yes"]));
    assert_eq!(said.code, 0, "{said:?}");
    let mut client = Running::start(&mut place.verb(&["serve", "--stdio"]));
    client.send(&opening()[0]);
    let opened = client.answer(1);
    let instructions = opened["result"]["instructions"].as_str().unwrap_or_default();
    assert!(instructions.contains("Count before you call."), "{opened}");
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
    assert!(err.contains("the gateway that serves this home has stopped"), "{err}");
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
