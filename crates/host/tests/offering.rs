//! When the local context is offered, under which name, and what it may do.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // tests

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use toolgate_host::local::{InProcessServer, ToolOutput};
use toolgate_host::{ConfigSources, Home, Host, ServerName, Setup, Tool, json};

/// A server that is declared and switched on, and never comes up.
const OTHER: &str = "[servers.other]\ncommand = 'no-such-program-anywhere'\n";
const OFF: &str = "[servers.off]\ncommand = 'no-such-program-anywhere'\nenabled = false\n";

fn server() -> InProcessServer {
    let tool = |name: &str| {
        let object = json!({ "type": "object" });
        Tool::new(name, "", object, |_| async { Ok::<_, &str>(ToolOutput::from("done")) })
    };
    InProcessServer::new("toolgate-context").tools([tool("find").read_only(), tool("write")])
}

async fn setup(folder: &Path, text: &str) -> Setup {
    let config = folder.join("toolgate.toml");
    std::fs::write(&config, text).unwrap();
    let home = Home::at(folder.join("home"));
    let options =
        ConfigSources { home, config: Some(config), project_dir: None, own_endpoints: Vec::new() };
    Setup::load(options).await.unwrap()
}

fn servers(host: &Host) -> Vec<String> {
    host.servers().iter().map(|status| status.spec.name.to_string()).collect()
}

async fn tools(host: &Host) -> Vec<String> {
    host.wait_settled().await;
    host.tools().await.into_iter().map(|tool| tool.name).collect()
}

fn names(list: &[ServerName]) -> Vec<&str> {
    list.iter().map(|name| name.as_str()).collect()
}

#[tokio::test]
async fn it_is_offered_where_nothing_else_is_or_it_holds_something() {
    for (text, holds, expected) in [
        ("", false, &["context"][..]),
        (OFF, false, &["context", "off"]),
        (OTHER, false, &["other"]),
        (OTHER, true, &["context", "other"]),
        ("[context]\noffer = 'auto'\n", true, &["context"]),
        ("[context]\noffer = 'never'\n", true, &["sample"]),
        (&format!("{OTHER}[context]\noffer = 'never'\n"), true, &["other"]),
        (&format!("{OTHER}[context]\noffer = 'always'\n"), false, &["context", "other"]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let builder = Host::builder().setup(setup(folder.path(), text).await).sample_if_empty();
        let host = builder.context(server(), move || holds).start().await.unwrap();
        assert_eq!(servers(&host), expected, "{text} {holds}");
        host.close().await;
    }
}

#[tokio::test]
async fn it_comes_and_goes_with_what_it_holds_and_what_files_say() {
    let folder = tempfile::tempdir().unwrap();
    let mut setup = setup(folder.path(), OTHER).await;
    let holds = Arc::new(AtomicBool::new(false));
    let held = holds.clone();
    let builder = Host::builder().setup(setup.clone()).sample_if_empty();
    let host = builder.context(server(), move || held.load(Ordering::Relaxed));
    let host = host.start().await.unwrap();
    assert!(tools(&host).await.is_empty());

    holds.store(true, Ordering::Relaxed);
    let applied = host.apply(setup.plan()).await;
    assert_eq!(names(&applied.added), ["context"]);
    assert_eq!(tools(&host).await, ["find", "write"]);
    assert!(host.apply(setup.plan()).await.is_unchanged());

    let file = folder.path().join("toolgate.toml");
    std::fs::write(&file, format!("{OTHER}[context]\noffer = 'never'\n")).unwrap();
    setup.reload().await.unwrap();
    let applied = host.apply(setup.plan()).await;
    assert_eq!(names(&applied.removed), ["context"]);
    host.close().await;
}

#[tokio::test]
async fn a_users_server_of_its_name_wins_and_it_takes_another() {
    let folder = tempfile::tempdir().unwrap();
    let theirs = "[servers.context]\ncommand = 'no-such-program-anywhere'\n\
                  [servers.local-context]\ncommand = 'nor-this'\n";
    let setup = setup(folder.path(), theirs).await;
    let host = Host::builder().setup(setup).context(server(), || true).start().await.unwrap();
    assert_eq!(servers(&host), ["context", "local-context", "local-context-2"]);
    assert_eq!(tools(&host).await, ["find", "write"]);
    let owner = host.wait_server_settled("context").await.unwrap();
    assert!(owner.origin.file.is_some(), "the user's own");
    host.close().await;
}

#[tokio::test]
async fn alone_it_has_no_server_beside_it_whatever_files_declare() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("{OTHER}[servers.context]\ncommand = 'x'\n[context]\noffer = 'never'\n");
    let text = format!("{text}[policy]\ndeny = ['mcp:context/write']\n");
    let host = Host::builder().setup(setup(folder.path(), &text).await);
    let host = host.context_only(server()).start().await.unwrap();
    assert_eq!(servers(&host), ["context"]);
    assert_eq!(tools(&host).await, ["find"], "what is always refused is not listed");
    let said = host.call("find", &json!({})).await.unwrap();
    assert_eq!(said["content"][0]["text"], "done");
    // What files say of decisions holds all the same.
    let refused = host.call("write", &json!({})).await.unwrap();
    assert_eq!(refused["isError"], true, "{refused}");
    assert!(refused.to_string().contains("mcp:context/write"), "{refused}");
    host.close().await;
}

#[tokio::test]
async fn what_only_reads_is_allowed_from_the_start_and_the_rest_is_asked_about() {
    let folder = tempfile::tempdir().unwrap();
    // Nobody is there to be asked.
    let text = "[policy]\nmode = 'limited'\n[approvals]\nvia = 'operator'\nwait = '100ms'\n";
    let host = Host::builder().setup(setup(folder.path(), text).await);
    let host = host.context(server(), || false).start().await.unwrap();
    host.wait_settled().await;
    let said = host.call("find", &json!({})).await.unwrap();
    assert_eq!(said["content"][0]["text"], "done");
    let asked = host.call("write", &json!({})).await;
    let passed = asked.as_ref().is_ok_and(|it| it["content"][0]["text"] == "done");
    assert!(!passed, "{asked:?}");
    host.close().await;
}
