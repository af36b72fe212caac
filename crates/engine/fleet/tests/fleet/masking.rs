//! Servers that repeat what they were given: nobody is shown it.

use std::sync::Arc;

use toolgate_fleet::FleetServer;
use toolgate_model::{
    HttpSpec, Mask, ResolvedServer, Secret, ServerState, StdioSpec, TransportSpec,
};
use toolgate_session::CallerId;

use crate::{fleet, member, name, spec};

/// Everything a person can be shown of a server that could not be brought up.
async fn shown(member: FleetServer) -> String {
    let (fleet, _store) = fleet(member).await;
    let report = fleet.test_connection(&name()).await.unwrap();
    let pool = fleet.pool(&name(), &fleet.shared_tenant()).unwrap();
    let refused = pool.subscribe("a:", CallerId(1)).await.unwrap_err();
    let state = pool.state();
    assert!(matches!(state, ServerState::Failed(_)), "{state:?}");
    format!("{report:?} {refused} {refused:?} {state:?} {:?}", state.reason())
}

#[cfg(unix)]
#[tokio::test]
async fn a_process_that_writes_its_secrets_to_stderr_and_dies_shows_none() {
    let script = "echo \"bad token $TOKEN, $2, $3\" >&2; exit 3";
    let args = ["-c", script, "sh", "--api-key", "canary-arg", "canary-expanded"];
    let stdio = StdioSpec {
        command: "sh".into(),
        args: args.map(str::to_owned).into(),
        env: [("TOKEN".to_owned(), Secret::new("canary-env".to_owned()))].into(),
        ..StdioSpec::default()
    };
    let spec = spec(TransportSpec::Stdio(stdio));
    let resolved = ResolvedServer {
        mask: Mask::new(["canary-env", "canary-arg", "canary-expanded"].map(str::to_owned)),
        spec: spec.clone(),
    };
    let expanding =
        FleetServer { resolve: Arc::new(move |_| Ok(resolved.clone())), ..member(spec.clone()) };
    let said = shown(expanding).await;
    assert!(said.contains("bad token ***, ***, ***"), "{said}");
    assert!(said.contains("run it by hand") && !said.contains("canary"), "{said}");

    // One that was declared in code has no variables, and is masked by what its parts look like.
    let said = shown(member(spec)).await;
    assert!(!said.contains("canary-env") && !said.contains("canary-arg"), "{said}");
}

#[tokio::test]
async fn an_address_that_cannot_be_used_is_shown_without_its_password() {
    let http = HttpSpec {
        url: "http://me:canary@[not-an-address/mcp?key=canary".into(),
        headers: [("Authorization".to_owned(), Secret::new("Bearer canary".to_owned()))].into(),
        ..HttpSpec::default()
    };
    let said = shown(member(spec(TransportSpec::Http(http)))).await;
    assert!(!said.contains("canary"), "{said}");
}
