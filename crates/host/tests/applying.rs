//! Files that are read again while a host lives: they change what they declare, and nothing else.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failed test may panic

use std::path::Path;

use toolgate_host::{ConfigSources, Home, Host, Setup, Tool, json};

fn options(folder: &Path) -> ConfigSources {
    let home = Home::at(folder.join("home"));
    let config = Some(folder.join("toolgate.toml"));
    ConfigSources { home, config, project_dir: None, own_endpoints: Vec::new() }
}

fn names(list: &[toolgate_host::ServerName]) -> Vec<&str> {
    list.iter().map(|name| name.as_str()).collect()
}

/// A server that is never started.
fn entry(name: &str) -> String {
    format!("[servers.{name}]\ncommand = \"cat\"\nargs = [\"{name}\"]\nenabled = false\n")
}

#[tokio::test]
async fn what_code_added_stays_and_what_files_say_is_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("toolgate.toml");
    std::fs::write(&file, entry("one")).unwrap();
    let mut setup = Setup::load(options(folder.path())).await.unwrap();
    let tool = Tool::new("mine", "", json!({ "type": "object" }), |_| async {
        Ok::<_, &str>("it".to_owned().into())
    });
    let host =
        Host::builder().setup(setup.clone()).tool(tool).sample_if_empty().start().await.unwrap();
    host.wait_settled().await;
    let exposed = async |host: &Host| -> Vec<String> {
        host.tools().await.into_iter().map(|tool| tool.name).collect()
    };
    let before = exposed(&host).await;
    assert!(before.contains(&"mine".to_owned()), "{before:?}");
    assert!(before.iter().any(|name| name.starts_with("sample__")), "{before:?}");

    std::fs::write(&file, format!("prefix = \"never\"\n{}{}", entry("one"), entry("two"))).unwrap();
    setup.reload().await.unwrap();
    let applied = host.apply(setup.plan()).await;
    assert_eq!(names(&applied.added), ["two"]);
    assert_eq!(names(&applied.kept), ["embedder", "one", "sample"]);
    assert!(applied.changed.is_empty() && applied.removed.is_empty());
    let after = exposed(&host).await;
    assert!(after.contains(&"mine".to_owned()), "{after:?}");
    assert!(!after.iter().any(|name| name.starts_with("sample__")), "{after:?}");
    let moved = host.servers().into_iter().find(|it| it.spec.name.as_str() == "one");
    assert_eq!(moved.unwrap().origin.line, 2, "the entry has moved");

    // A slip keeps what was there, and a file that cannot be read at all too.
    std::fs::write(&file, "[servers").unwrap();
    setup.reload().await.unwrap();
    let told = &setup.plan().diagnostics;
    assert!(told.iter().any(|found| found.message.contains("stays in force")), "{told:?}");
    assert!(host.apply(setup.plan()).await.is_unchanged());
    std::fs::remove_file(&file).unwrap();
    assert!(setup.reload().await.is_err());
    assert!(host.apply(setup.plan()).await.is_unchanged());

    std::fs::write(&file, "").unwrap();
    setup.reload().await.unwrap();
    let applied = host.apply(setup.plan()).await;
    assert_eq!(names(&applied.removed), ["one", "two"]);
    host.close().await;
}

#[tokio::test]
async fn a_server_added_in_code_is_held_to_the_lock_too() {
    use toolgate_host::{ServerName, ServerSpec, ServerState, StdioSpec, TransportSpec};
    let host =
        Host::builder().frozen(toolgate_host::pins::LockFile::default()).start().await.unwrap();
    let stdio = StdioSpec { command: "cat".into(), ..StdioSpec::default() };
    let name = ServerName::new("unlocked").unwrap();
    host.add(ServerSpec::new(name, TransportSpec::Stdio(stdio))).await;
    let status = host.wait_server_settled("unlocked").await.unwrap();
    let ServerState::Blocked(block) = &status.state else { panic!("{:?}", status.state) };
    assert!(block.reason.contains("frozen"), "{block}");
    host.close().await;
}
