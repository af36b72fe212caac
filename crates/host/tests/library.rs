//! The library as an embedder uses it: from code alone, and from a file.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // tests

use std::time::Duration;

use toolgate_host::{
    DiscoveryStatus, Home, Host, HostError, HttpSpec, LaunchHelperProgram, ServerName, ServerSpec,
    ServerState, ServerTimeouts, StdioSpec, Tool, TransportSpec, json,
};

fn double() -> Tool {
    Tool::new("double", "Doubles a number", json!({ "type": "object" }), |call| async move {
        let n = call.arguments["n"].as_i64().ok_or("`n` must be a number")?;
        Ok::<_, &str>(json!({ "doubled": 2 * n }).into())
    })
}

fn spec(name: &str, transport: TransportSpec) -> ServerSpec {
    let timeouts =
        ServerTimeouts { start: Some(Duration::from_secs(5)), ..ServerTimeouts::default() };
    ServerSpec { timeouts, ..ServerSpec::new(ServerName::new(name).unwrap(), transport) }
}

#[tokio::test]
async fn an_embedders_tool_passes_the_gate_under_its_bare_name() {
    let host = Host::builder().tool(double()).start().await.unwrap();
    host.wait_settled().await;
    let tools = host.tools().await;
    assert_eq!(tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["double"]);
    let result = host.call("double", &json!({ "n": 21 })).await.unwrap();
    assert_eq!(result["structuredContent"]["doubled"], 42);
    let failed = host.call("double", &json!({})).await.unwrap();
    assert_eq!(failed["isError"], true);
    let unknown = host.call("triple", &json!({})).await.unwrap_err();
    assert!(matches!(unknown, HostError::Refused(refusal) if refusal.rpc_code == -32602));
    host.close().await;
}

#[tokio::test]
async fn the_sample_stands_in_until_there_is_a_server() {
    let host = Host::builder().sample_if_empty().start().await.unwrap();
    host.wait_settled().await;
    assert_eq!(host.discovery(), DiscoveryStatus::Completed);
    let said = host.call("sample__echo", &json!({ "text": "hi" })).await.unwrap();
    assert_eq!(said["content"][0]["text"], "hi");
    let help = host.read("toolgate://sample/help").await.unwrap();
    assert!(help["contents"][0]["text"].as_str().unwrap().contains("[servers."));
    let prompt = host.prompt("sample__getting_started", &json!({})).await.unwrap();
    assert_eq!(prompt["messages"][0]["role"], "user");
    host.close().await;
}

#[tokio::test]
async fn broken_servers_say_why_and_hide_nobody() {
    let missing = StdioSpec { command: "no-such-program-anywhere".into(), ..StdioSpec::default() };
    let dying = StdioSpec {
        command: "sh".into(),
        args: vec!["-c".into(), "echo the last words >&2; exit 3".into()],
        ..StdioSpec::default()
    };
    let nowhere = HttpSpec { url: "http://127.0.0.1:9/mcp".into(), ..HttpSpec::default() };
    let host = Host::builder()
        .helper(LaunchHelperProgram::none())
        .tool(double())
        .server(spec("missing", TransportSpec::Stdio(missing)))
        .server(spec("dying", TransportSpec::Stdio(dying)))
        .server(spec("nowhere", TransportSpec::Http(nowhere)))
        .start()
        .await
        .unwrap();
    host.wait_settled().await;
    host.call("double", &json!({ "n": 1 })).await.unwrap();
    for (name, phase, hint) in [
        ("missing", "launch", "no such program"),
        ("dying", "initialize", "run it by hand"),
        ("nowhere", "connect", "check that the server is running"),
    ] {
        let status = host.wait_server_settled(name).await.unwrap();
        let ServerState::Failed(failure) = status.state else { panic!("{:?}", status.state) };
        assert_eq!(failure.phase.to_string(), phase, "{failure}");
        let said = format!("{} {}", failure.cause, failure.hint.unwrap_or_default());
        assert!(said.contains(hint), "{said}");
        if name == "dying" {
            assert_eq!(failure.stderr.trim(), "the last words");
            assert!(said.contains("exit status: 3"), "{said}");
        }
        let report = host.diagnose(name).await.unwrap();
        assert!(report.phases.last().unwrap().failure.is_some());
    }
    host.close().await;
}

#[tokio::test]
async fn servers_are_added_and_removed_while_it_runs() {
    let host = Host::builder().tool(double()).start().await.unwrap();
    let mut events = host.events();
    let nowhere = HttpSpec { url: "http://127.0.0.1:9/mcp".into(), ..HttpSpec::default() };
    host.add(spec("later", TransportSpec::Http(nowhere))).await;
    events.recv().await.unwrap();
    assert_eq!(host.wait_server_settled("later").await.unwrap().state.as_str(), "failed");
    assert!(host.remove("later").await);
    assert!(!host.remove("later").await);
    assert!(matches!(host.wait_server_settled("later").await, Err(HostError::NoServer(_))));
}

#[tokio::test]
async fn a_file_that_is_named_is_read_and_its_diagnostics_harm_nobody() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("toolgate.toml");
    std::fs::write(&file, "[servers.off]\ncommand = \"x\"\nenabled = false\n[servers.bad]\n")
        .unwrap();
    let host = Host::builder().home(Home::at(dir.path().join("home"))).config(&file);
    let host = host.tool(double()).start().await.unwrap();
    host.wait_settled().await;
    let servers = host.servers();
    let standing: Vec<_> =
        servers.iter().map(|it| (it.spec.name.as_str(), it.state.as_str())).collect();
    assert_eq!(standing, [("embedder", "connected"), ("off", "disabled")]);
}

#[tokio::test]
async fn an_idle_host_starts_a_server_only_to_examine_it() {
    let dir = tempfile::tempdir().unwrap();
    let starts = dir.path().join("starts");
    let script = format!("echo x >> {:?}; exit 3", starts.display().to_string());
    let counting = |name: &str| {
        let args = vec!["-c".into(), script.clone()];
        let stdio = StdioSpec { command: "sh".into(), args, ..StdioSpec::default() };
        spec(name, TransportSpec::Stdio(stdio))
    };
    let builder = || Host::builder().helper(LaunchHelperProgram::none()).server(counting("a"));
    let host = builder().server(counting("b")).only_server("a").idle().start().await.unwrap();
    let servers = host.servers();
    let standing: Vec<_> =
        servers.iter().map(|it| (it.spec.name.as_str(), it.state.as_str())).collect();
    assert_eq!(standing, [("a", "not_started")]);
    assert!(!starts.exists());
    assert!(host.diagnose("a").await.unwrap().phases.last().unwrap().failure.is_some());
    // Once to ask which era it speaks, which it does not survive, and once as a legacy server.
    assert_eq!(std::fs::read_to_string(&starts).unwrap(), "x\nx\n");
    host.close().await;
    let missing = builder().only_server("c").start().await.err().unwrap();
    assert!(matches!(missing, HostError::NoServer(name) if name == "c"));
}

#[tokio::test]
async fn a_uri_leads_to_the_server_it_is_asked_for() {
    let host = Host::builder().tool(double()).sample_if_empty().start().await.unwrap();
    host.wait_settled().await;
    // A URI that one server lists today, another may list tomorrow.
    let listed = host.uri_for("sample", "toolgate://sample/help").unwrap();
    assert_eq!(listed, "toolgate+sample:toolgate://sample/help");
    assert_eq!(host.uri_for("sample", &listed), Some(listed.clone()));
    assert!(host.read(&listed).await.is_ok());
    for server in ["sample", "embedder"] {
        let tagged = format!("toolgate+{server}:x:y");
        assert_eq!(host.uri_for(server, "x:y"), Some(tagged));
    }
    assert_eq!(host.uri_for("nobody", "x:y"), None);
    host.close().await;
}
