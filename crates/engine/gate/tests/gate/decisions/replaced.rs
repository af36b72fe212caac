//! A server that is replaced after a call to it was decided, and before it was sent: whoever took
//! its place is another server, about which is decided anew.

use std::time::Duration;

use tokio::io::DuplexStream;
use tokio::sync::Notify;
use toolgate_fleet::{BuiltInServer, FleetServer};
use toolgate_wire::Era;

use super::*;

/// A server whose connections end when they are told to.
#[derive(Clone)]
struct Frail {
    server: Played,
    end: Arc<Notify>,
}

impl BuiltInServer for Frail {
    fn era(&self) -> Era {
        self.server.era()
    }

    fn serve(&self, mut pipe: DuplexStream) {
        let (theirs, mut ours) = tokio::io::duplex(1 << 16);
        self.server.serve(theirs);
        let end = self.end.clone();
        tokio::spawn(async move {
            tokio::select! {
                copied = tokio::io::copy_bidirectional(&mut pipe, &mut ours) => drop(copied),
                () = end.notified() => {}
            }
        });
    }
}

fn declared(server: &(impl BuiltInServer + Clone + 'static)) -> FleetServer {
    FleetServer { origin: from_file(), ..member(spec("s"), server) }
}

/// Waits until nobody on this thread has anything left to do: then a clock that stands still moves
/// on.
async fn at_rest() {
    tokio::time::pause();
    tokio::time::sleep(Duration::from_millis(100)).await;
    tokio::time::resume();
}

struct Replaced {
    world: World,
    new: Played,
    answer: Value,
}

/// Calls `t` of a server with this definition of it, which is replaced by one with that definition
/// while the call waits for its turn.
async fn replaced(governance: GovernanceSettings, old: Value, new: Value) -> Replaced {
    let dir = tempfile::tempdir().unwrap();
    let (gate, fleet) = empty(PrefixMode::Always);
    gate.set_governance(&governance);
    let decisions: Arc<StateStore> = Arc::new(StateStore::in_memory().await.unwrap());
    let journal = Journal::new(dir.path().join("journal"));
    gate.open_stores(decisions.clone(), Some(Arc::new(journal))).await.unwrap();
    let (server, new) = (selling(json!([old])).0, selling(json!([new])).0);
    let frail = Frail { server: server.clone(), end: Arc::default() };
    fleet.add_server(declared(&frail)).await;
    fleet.wait_settled(|_| true).await;
    let world = World { gate, fleet, server, decisions, dir };
    super::pins::approve_all(&world).await;

    let name = spec("s").name;
    let pool = world.fleet.pool(&name, &world.fleet.shared_tenant()).unwrap();
    let all = u32::try_from(pool.call_slots().available_permits()).unwrap();
    let places = pool.call_slots().acquire_many(all).await.unwrap();
    let me = with_client("c");
    let meanwhile = async {
        at_rest().await;
        world.fleet.add_server(declared(&new)).await;
        world.fleet.wait_settled(|_| true).await;
        frail.end.notify_waiters();
        at_rest().await;
        drop(places);
    };
    let (answer, ()) = tokio::join!(world.call(&me, "s__t", json!({ "a": 1 })), meanwhile);
    assert_eq!(world.calls(), 0, "the old one is gone");
    Replaced { world, new, answer }
}

#[tokio::test]
async fn a_successor_with_another_definition_is_not_called_by_an_old_decision() {
    for posture in Posture::ALL {
        let said = GovernanceSettings { posture, ..mode(PolicyMode::Full) };
        let mut other = tool("t");
        other["description"] = "does something else".into();
        let Replaced { world, new, answer } = replaced(said, tool("t"), other).await;
        let because = decision(&answer)["because"].as_str().unwrap();
        assert!(because.contains("changed since it was approved"), "{posture:?}: {because}");
        assert_eq!(new.count("tools/call"), 0, "{posture:?}");
        let told = world.journal().await;
        let told: Vec<_> = told.iter().filter(|told| !told.starts_with("noted")).collect();
        assert_eq!(told, ["allow tools/call", "done Error", "deny tools/call"], "{posture:?}");
    }
}

#[tokio::test]
async fn a_successor_with_the_same_definition_is_called_once_by_a_decision_of_its_own() {
    for posture in Posture::ALL {
        let said = GovernanceSettings { posture, ..mode(PolicyMode::Full) };
        let Replaced { world, new, answer } = replaced(said, tool("t"), tool("t")).await;
        assert_eq!(answer["structuredContent"]["arguments"], json!({ "a": 1 }), "{posture:?}");
        assert_eq!(new.count("tools/call"), 1, "{posture:?}");
        let told = world.journal().await;
        let told: Vec<_> = told.iter().filter(|told| !told.starts_with("noted")).collect();
        let expected = ["allow tools/call", "done Error", "allow tools/call", "done Ok"];
        assert_eq!(told, expected, "{posture:?}");
        let calls: Vec<_> = world.entries().iter().map(|it| it.call).filter(|it| *it > 0).collect();
        assert_ne!(calls[0], calls[2], "two decisions have two numbers");
    }
}
