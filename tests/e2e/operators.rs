//! Who approves, as clients over HTTP meet it: the process at the other end of a loopback connection
//! is a client, and neither it nor what it starts is the operator. The test itself is the client.

use std::process::Stdio;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use toolgate_e2e::gateway::{stdio_entry, testkit};
use toolgate_e2e::{GatewaySetup, TestClient, within};

const PATIENCE: Duration = Duration::from_secs(30);

fn asking() -> GatewaySetup {
    let setup = GatewaySetup::new("").unwrap();
    let entry = stdio_entry("f", &testkit("fixture", &["--stdio"]).unwrap(), &[]);
    let rules = "[policy]\nask = [\"mcp:f/*\"]\n[approvals]\nvia = \"operator\"\n";
    std::fs::write(setup.folder().join("toolgate.toml"), format!("{rules}{entry}")).unwrap();
    setup
}

fn pending(setup: &GatewaySetup) -> Vec<Value> {
    let listed = setup.run(&["approvals", "list", "--json"]).unwrap();
    serde_json::from_slice(&listed.stdout).unwrap()
}

#[test]
fn a_client_over_http_cannot_approve_its_own_call_even_when_its_connection_is_gone() {
    let setup = asking();
    let gateway = setup.serve().unwrap();
    let client = gateway.client_with(&["f__test_simple_text"]).unwrap();
    thread::scope(|scope| {
        let calling = scope.spawn(|| client.call("f__test_simple_text", &json!({})).unwrap());
        assert!(within(PATIENCE, || pending(&setup).len() == 1));
        let id = pending(&setup)[0]["id"].as_str().unwrap().to_owned();
        let approve = ["approvals", "approve", &id];
        let own = setup.command(&approve).stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8_lossy(&own.stderr).into_owned();
        assert_eq!(own.status.code(), Some(3), "{said}");
        assert!(said.contains("inside a client"), "{said}");
        assert_eq!(pending(&setup).len(), 1, "it waits as before");
        assert!(setup.run(&approve).unwrap().status.success());
        assert_ne!(calling.join().unwrap()["result"]["isError"], true);
    });
    drop(client);
    let revoke = ["approvals", "revoke", "--server", "f"];
    let own = setup.command(&revoke).stdin(Stdio::null()).output().unwrap();
    assert_eq!(own.status.code(), Some(3), "it was a client: {own:?}");
}

#[test]
fn whoever_never_was_a_client_may_approve_from_below_the_gateways_own_parent() {
    let setup = asking();
    let gateway = setup.serve().unwrap();
    // The test started the gateway, and no client of it.
    let revoke = ["approvals", "revoke", "--server", "f"];
    let own = setup.command(&revoke).stdin(Stdio::null()).output().unwrap();
    assert_eq!(own.status.code(), Some(1), "there is nothing to revoke: {own:?}");
    let _client: TestClient = gateway.client().unwrap();
    let own = setup.command(&revoke).stdin(Stdio::null()).output().unwrap();
    assert_eq!(own.status.code(), Some(3), "now it is one: {own:?}");
}
