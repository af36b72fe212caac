//! Entries that only switch another file's server on or off. opencode has them.

use toolgate_config::StartStatus;

use crate::world::{USER, World, entry};

const ON: &str = r#"{"mcp": {"a": {"type": "local", "enabled": true}}}"#;
const OFF: &str = r#"{"mcp": {"a": {"type": "local", "enabled": false}}}"#;
const USERS: &str = "~/.config/opencode/opencode.json";

fn said(world: &World) -> Vec<String> {
    world.plan().diagnostics.iter().map(ToString::to_string).collect()
}

#[test]
fn a_nearer_file_switches_a_server_off() {
    let world = World::new();
    world.file(USER, "[servers.a]\ncommand = 'x'\n").file("opencode.json", OFF);
    let plan = world.plan();
    let a = entry(&plan, "a");
    assert_eq!(a.start_status, StartStatus::Disabled);
    assert!(a.switched_by.as_ref().unwrap().to_string().contains("opencode.json:1"));
    assert_eq!(said(&world), [""; 0]);
}

#[test]
fn a_farther_file_switches_nothing_and_is_told() {
    let world = World::new();
    world.file("toolgate.toml", "[servers.a]\ncommand = 'x'\n").file(USERS, OFF);
    assert_eq!(entry(&world.plan(), "a").start_status, StartStatus::Ready);
    let said = said(&world);
    assert!(said[0].contains("nearer file") && said[0].contains("toolgate.toml"), "{said:?}");
}

#[test]
fn a_project_does_not_switch_on_what_the_user_switched_off() {
    let world = World::new();
    world.file(USER, "[servers.a]\ncommand = 'x'\nenabled = false\n").file("opencode.json", ON);
    assert_eq!(entry(&world.plan(), "a").start_status, StartStatus::Disabled);
    assert!(said(&world)[0].contains("cannot be enabled by a project"), "{:?}", said(&world));
    // The user's own file does.
    let world = World::new();
    let system = "[servers.a]\ncommand = 'x'\nenabled = false\n";
    world.file("/etc/toolgate/config.toml", system).file(USERS, ON);
    assert_eq!(entry(&world.plan(), "a").start_status, StartStatus::Ready);
}

#[test]
fn of_two_switches_the_nearer_counts() {
    let world = World::new();
    let system = "[servers.a]\ncommand = 'x'\n";
    world.file("/etc/toolgate/config.toml", system).file(USERS, ON).file("opencode.json", OFF);
    assert_eq!(entry(&world.plan(), "a").start_status, StartStatus::Disabled);
}

#[test]
fn a_switch_for_nothing_is_told() {
    let world = World::new();
    world.file("opencode.json", OFF);
    let said = said(&world);
    assert!(said[0].contains("\"a\" is not declared in any file"), "{said:?}");
}
