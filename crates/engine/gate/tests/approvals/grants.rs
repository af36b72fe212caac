//! What was granted for good, and for what it holds.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use toolgate_gate::approvals::ApprovalBroker;
use toolgate_model::{CapabilityId, CapabilityKind, Digest, ServerName};
use toolgate_store::{ApprovalBinding, ApprovalChoice, GrantSelector, StateStore};

use crate::support::*;

async fn granted(choice: ApprovalChoice) -> Arc<ApprovalBroker> {
    let broker = broker().await;
    let waiting = Call::to_operator("{}").start(&broker);
    let [row] = &listed(&broker, 1).await[..] else { panic!() };
    broker.settle(&row.id, choice, "operator").await.unwrap().unwrap();
    assert!(is_approved(&waiting.await.unwrap()));
    broker
}

fn tool(server: &str, name: &str) -> CapabilityId {
    let server = ServerName::new(server).unwrap();
    CapabilityId { server, kind: CapabilityKind::Tool, name: name.into() }
}

#[tokio::test]
async fn a_grant_for_a_tool_holds_for_that_tool_as_it_was() {
    let broker = granted(ApprovalChoice::Tool).await;
    let grant = broker.find_grant(&bound(), None).unwrap();
    let id = &broker.grants().await.unwrap()[0].id;
    assert!(grant.contains("operator") && grant.contains(id), "{grant}");
    for other in [
        ApprovalBinding { caller: "holder:1".into(), ..bound() },
        ApprovalBinding { client: "other".into(), ..bound() },
        ApprovalBinding { tool: tool("git", "pull"), ..bound() },
        ApprovalBinding { tool: tool("hg", "push"), ..bound() },
        ApprovalBinding { identity: Digest::of(b"x"), ..bound() },
        ApprovalBinding { definition: Digest::of(b"x"), ..bound() },
    ] {
        assert_eq!(broker.find_grant(&other, Some(SystemTime::UNIX_EPOCH)), None, "{other:?}");
    }
}

#[tokio::test]
async fn a_grant_for_a_server_holds_for_what_was_pinned_before() {
    let broker = granted(ApprovalChoice::Server).await;
    let now = SystemTime::now();
    let (before, after) =
        (Some(now - Duration::from_secs(60)), Some(now + Duration::from_secs(60)));
    let sister =
        ApprovalBinding { tool: tool("git", "pull"), definition: Digest::of(b"other"), ..bound() };
    for bound in [&bound(), &sister] {
        assert!(broker.find_grant(bound, before).is_some());
        assert_eq!(broker.find_grant(bound, after), None, "pinned later");
        assert_eq!(broker.find_grant(bound, None), None, "not pinned");
    }
    for other in [
        ApprovalBinding { caller: "holder:1".into(), ..bound() },
        ApprovalBinding { client: "other".into(), ..bound() },
        ApprovalBinding { tool: tool("hg", "push"), ..bound() },
        ApprovalBinding { identity: Digest::of(b"x"), ..bound() },
    ] {
        assert_eq!(broker.find_grant(&other, before), None, "{other:?}");
    }
}

#[tokio::test]
async fn once_is_no_grant_for_good() {
    let broker = granted(ApprovalChoice::Once).await;
    assert_eq!(broker.find_grant(&bound(), Some(SystemTime::UNIX_EPOCH)), None);
}

#[tokio::test]
async fn what_is_taken_back_holds_no_longer() {
    for which in [
        GrantSelector::Server(ServerName::new("git").unwrap()),
        GrantSelector::Tool(tool("git", "push")),
    ] {
        let broker = granted(ApprovalChoice::Tool).await;
        assert_eq!(broker.revoke(&which, "a test").await.unwrap(), 1);
        assert_eq!(broker.find_grant(&bound(), None), None);
        assert_eq!(broker.revoke(&which, "a test").await.unwrap(), 0);
    }
    let broker = granted(ApprovalChoice::Tool).await;
    let id = broker.grants().await.unwrap()[0].id.clone();
    assert_eq!(broker.revoke(&GrantSelector::Id(id), "a test").await.unwrap(), 1);
    assert_eq!(broker.find_grant(&bound(), None), None);
}

#[tokio::test]
async fn grants_survive_a_restart_and_what_others_take_back_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    let open = async || Arc::new(StateStore::open(path.clone()).await.unwrap());
    let broker = ApprovalBroker::load(open().await, None).await.unwrap();
    let waiting = Call::to_operator("{}").start(&broker);
    let [row] = &listed(&broker, 1).await[..] else { panic!() };
    broker.settle(&row.id, ApprovalChoice::Tool, "operator").await.unwrap().unwrap();
    waiting.await.unwrap();
    drop(broker);

    let broker = ApprovalBroker::load(open().await, None).await.unwrap();
    assert!(broker.find_grant(&bound(), None).is_some());
    let server = ServerName::new("git").unwrap();
    let mut news = broker.watch();
    open().await.revoke_grants(&GrantSelector::Server(server)).await.unwrap();
    let noticed = async {
        while broker.find_grant(&bound(), None).is_some() {
            news.changed().await.unwrap();
        }
    };
    tokio::time::timeout(LONG, noticed).await.expect("it still holds");
}
