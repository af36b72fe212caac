//! Who is served over HTTP: the user who runs the gateway, and the holders of its keys.

use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use serde_json::json;
use toolgate_e2e::TestClient;
use toolgate_e2e::gateway::GatewaySetup;
use toolgate_e2e::http::EndpointUrl;
use toolgate_e2e::mcp::{REVISION, initialize, post};

/// A user that runs nothing here: `nobody`.
const ANOTHER_USER: u32 = 65534;

/// Posts a message as another user of this machine and prints the status and the body.
const POST: &str = r#"
import http.client, sys
address, authorization, message = sys.argv[1:4]
headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
if authorization:
    headers["Authorization"] = authorization
connection = http.client.HTTPConnection(address, timeout=30)
connection.request("POST", "/mcp", message, headers)
answer = connection.getresponse()
print(answer.status, answer.read().decode())
"#;

/// What another user is answered who opens a session, with this `Authorization` or none.
fn as_another_user(endpoint: &EndpointUrl, authorization: &str) -> (u16, String) {
    assert!(
        rustix::process::getuid().is_root(),
        "this test starts a process of another user, so it must run as root"
    );
    let hello = initialize(REVISION, &json!({}));
    let mut command = Command::new("python3");
    command.args(["-c", POST, &endpoint.authority, authorization, &hello]);
    command.uid(ANOTHER_USER).gid(ANOTHER_USER).current_dir("/").stdin(Stdio::null());
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let (status, body) = said.split_once(' ').unwrap_or_else(|| panic!("{output:?}"));
    (status.parse().unwrap(), body.to_owned())
}

fn status(endpoint: &EndpointUrl, headers: &[(&str, &str)]) -> u16 {
    post(endpoint, headers, &initialize(REVISION, &json!({}))).unwrap().status
}

#[test]
fn another_user_of_this_machine_is_served_by_key_only() {
    let setup = GatewaySetup::new("").unwrap();
    let gateway = setup.serve().unwrap();
    let endpoint = EndpointUrl::parse(&gateway.url).unwrap();
    assert_eq!(status(&endpoint, &[]), 200, "the user who runs it");
    for nobody in ["", "Bearer me", "Basic bWU6bWU="] {
        let (status, body) = as_another_user(&endpoint, nobody);
        assert_eq!(status, 401, "{nobody:?}: {body}");
        assert!(body.contains("requires a key"), "{body}");
    }
    drop(gateway);
    let key = setup.key("ci").unwrap();
    let gateway = setup.serve().unwrap();
    let endpoint = EndpointUrl::parse(&gateway.url).unwrap();
    let (status, body) = as_another_user(&endpoint, &key);
    assert_eq!(status, 200, "{body}");
    let (status, body) = as_another_user(&endpoint, &format!("{key}x"));
    assert_eq!(status, 401, "{body}");
}

#[test]
fn governed_serves_nobody_over_http_without_a_key() {
    let setup = GatewaySetup::new("[launch]\nposture = \"governed\"\n").unwrap();
    let gateway = setup.serve().unwrap();
    let endpoint = EndpointUrl::parse(&gateway.url).unwrap();
    assert_eq!(status(&endpoint, &[]), 401);
    assert_eq!(status(&endpoint, &[("Authorization", "Bearer me")]), 401);
    drop(gateway);
    // A key is the operator's to give, and `governed` demands proof of who the operator is.
    let refused = setup.run(&["keys", "add", "ci"]).unwrap();
    assert_eq!(refused.status.code(), Some(3), "{refused:?}");
    let words = ["approvals", "passphrase"];
    let set = setup.run_with_passphrase(&words, "\nopen sesame").unwrap();
    assert!(set.status.success(), "{set:?}");
    let made = setup.run_with_passphrase(&["keys", "add", "ci"], "open sesame").unwrap();
    let key = format!("Bearer {}", String::from_utf8_lossy(&made.stdout).trim());
    let gateway = setup.serve().unwrap();
    let endpoint = EndpointUrl::parse(&gateway.url).unwrap();
    assert_eq!(status(&endpoint, &[]), 401, "also where there are keys");
    assert_eq!(status(&endpoint, &[("Authorization", &key)]), 200);
}

#[test]
fn a_revoked_key_ends_the_session_that_was_opened_with_it() {
    let setup = GatewaySetup::new("").unwrap();
    let key = setup.key("ci").unwrap();
    let gateway = setup.serve().unwrap();
    // This process is no client: a client revokes no keys.
    let listed = setup.run(&["keys", "list", "--json"]).unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert!(listed.contains("\"ci\"") && !listed.contains("tgk_"), "{listed}");
    let endpoint = EndpointUrl::parse(&gateway.url).unwrap();
    let (status, body) = as_another_user(&endpoint, &key);
    assert_eq!(status, 200, "{body}");
    let revoked = setup.run(&["keys", "revoke", "ci"]).unwrap();
    assert!(revoked.status.success(), "{revoked:?}");
    let (status, body) = as_another_user(&endpoint, &key);
    assert_eq!(status, 401, "{body}");
    assert!(TestClient::connect_as(Some(key), &gateway.url, &json!({})).is_err());
    let again = setup.run(&["keys", "revoke", "ci"]).unwrap();
    assert_eq!(again.status.code(), Some(1), "{again:?}");
}
