//! What is on record, and when; and what happens while nothing can be.

use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};
use tokio::sync::Notify;
use toolgate_fleet::BuiltInServer;
use toolgate_wire::Era;

use super::*;

#[tokio::test]
async fn a_call_is_two_records_and_a_read_as_well() {
    let (world, _) = World::new(json!([tool("t")]), GovernanceSettings::default()).await;
    let me = with_client("c");
    world.call(&me, "s__t", json!({ "a": 1 })).await;
    world.pass(&me, "resources/read", json!({ "uri": "x://r" })).await.unwrap();
    world.pass(&me, "prompts/get", json!({ "name": "s__p" })).await.unwrap();
    let told = world.journal().await;
    let expected = [
        "noted pinned",
        "allow tools/call",
        "done Ok",
        "allow resources/read",
        "done Ok",
        "allow prompts/get",
        "done Ok",
    ];
    assert_eq!(told, expected);
    let calls: Vec<_> = world.entries().into_iter().filter(|entry| entry.call != 0).collect();
    assert_eq!(calls[0].call, calls[1].call);
    assert_ne!(calls[0].call, calls[2].call);
    assert_eq!((&*calls[0].caller, &*calls[0].client), ("local", "c"));
}

/// A server that never answers a call, and says that one came.
#[derive(Clone)]
struct Silent {
    server: Played,
    called: Arc<Notify>,
}

impl BuiltInServer for Silent {
    fn era(&self) -> Era {
        self.server.era()
    }

    fn serve(&self, pipe: DuplexStream) {
        let (theirs, ours) = tokio::io::duplex(1 << 16);
        self.server.serve(theirs);
        let called = self.called.clone();
        let (from_gate, mut to_gate) = tokio::io::split(pipe);
        let (mut from_server, mut to_server) = tokio::io::split(ours);
        tokio::spawn(async move { tokio::io::copy(&mut from_server, &mut to_gate).await });
        tokio::spawn(async move {
            let mut lines = BufReader::new(from_gate).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                match line.contains("tools/call") {
                    true => called.notify_one(),
                    false => to_server.write_all(format!("{line}\n").as_bytes()).await.unwrap(),
                }
            }
        });
    }
}

#[tokio::test]
async fn a_call_its_caller_gave_up_has_an_outcome() {
    let (server, _) = selling(json!([tool("t")]));
    let dir = tempfile::tempdir().unwrap();
    let (gate, fleet) = empty(PrefixMode::Always);
    let decisions = Arc::new(StateStore::in_memory().await.unwrap());
    let journal = Journal::new(dir.path().join("journal"));
    gate.open_stores(decisions.clone(), Some(Arc::new(journal))).await.unwrap();
    let silent = Silent { server: server.clone(), called: Arc::default() };
    fleet.add_server(member(spec("s"), &silent)).await;
    fleet.wait_settled(|_| true).await;
    let world = World { gate, fleet, server, decisions, dir };
    let me = with_client("c");
    tokio::select! {
        answer = world.call(&me, "s__t", json!({})) => panic!("nobody answers: {answer}"),
        () = silent.called.notified() => {}
    }
    assert_eq!(world.journal().await, ["allow tools/call", "done Cancelled"]);
}

/// A journal that can never be written: its folder lies below a file.
fn broken(dir: &tempfile::TempDir) -> Arc<Journal> {
    let file = dir.path().join("file");
    std::fs::write(&file, "").unwrap();
    Arc::new(Journal::new(file.join("journal")))
}

fn reading() -> ServerSpec {
    let mut spec = spec("s");
    let read = toolgate_model::DeclaredTool {
        tags: Some(vec!["mcp.read-only".into()]),
        ..Default::default()
    };
    spec.selection.tools.insert("look".into(), read);
    spec
}

#[tokio::test]
async fn while_nothing_can_be_written_only_what_reads_goes_on() {
    for posture in Posture::ALL {
        let dir = tempfile::tempdir().unwrap();
        let journal = broken(&dir);
        let said = GovernanceSettings { posture, ..mode(PolicyMode::Full) };
        let tools = json!([tool("write"), tool("look")]);
        let writing = World::writing(dir, Some(journal.clone()), reading(), tools, said);
        let (world, _) = writing.await;
        super::pins::approve_all(&world).await;
        let me = with_client("c");
        // The first record shows that the journal cannot be written.
        world.call(&me, "s__look", json!({})).await;
        while journal.is_writable() {
            tokio::time::sleep(Duration::from_millis(5)).await; // a journal tells nobody
        }
        let before = world.calls();
        let refused = world.call(&me, "s__write", json!({})).await;
        let because = decision(&refused)["because"].as_str().unwrap();
        assert!(because.contains("journal"), "{posture:?}: {because}");
        assert_eq!(world.calls(), before, "{posture:?}");
        world.call(&me, "s__look", json!({})).await;
        world.pass(&me, "resources/read", json!({ "uri": "x://r" })).await.unwrap();
        assert_eq!(world.calls(), before + 1, "{posture:?}");
    }
}

#[tokio::test]
async fn the_first_write_waits_for_the_disk_already() {
    for posture in Posture::ALL {
        let dir = tempfile::tempdir().unwrap();
        let journal = broken(&dir);
        let said = GovernanceSettings { posture, ..mode(PolicyMode::Full) };
        let tools = json!([tool("t")]);
        let (world, _) = World::writing(dir, Some(journal), spec("s"), tools, said).await;
        super::pins::approve_all(&world).await;
        decision(&world.call(&with_client("c"), "s__t", json!({})).await);
        assert_eq!(world.calls(), 0, "{posture:?}");
    }
}

#[tokio::test]
async fn an_annotation_counts_only_of_a_trusted_server() {
    let hinted = json!([{ "name": "t", "inputSchema": { "type": "object" },
        "annotations": { "readOnlyHint": true } }]);
    for trust in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let journal = broken(&dir);
        let spec = ServerSpec { trust, ..spec("s") };
        let said = governed(mode(PolicyMode::Full));
        let (world, _) = World::writing(dir, Some(journal), spec, hinted.clone(), said).await;
        super::pins::approve_all(&world).await;
        let answer = world.call(&with_client("c"), "s__t", json!({})).await;
        assert_eq!(answer["isError"] != true, trust, "{answer}");
        assert_eq!(world.calls(), usize::from(trust));
    }
}
