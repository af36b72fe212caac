//! Lists that are read again because somebody wants to be sure: servers that change in silence.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::Instant;
use toolgate_fleet::{CheckedCatalog, Fleet, FleetError, FleetServer};
use toolgate_model::{CapabilityKind, ServerSpec, ServerState, ServerTimeouts, TransportSpec};

use crate::silent::Silent;
use crate::{forgetful, member, name, spec};

const NOW: Duration = Duration::ZERO;
const LONG: Duration = Duration::from_secs(3600);

async fn fleet(server: &Silent) -> Fleet {
    let fleet = forgetful();
    fleet.add_idle_server(built_in(server)).await;
    fleet
}

fn built_in(server: &Silent) -> FleetServer {
    let timeouts =
        ServerTimeouts { call: Some(Duration::from_millis(700)), ..ServerTimeouts::default() };
    let spec = ServerSpec { timeouts, ..spec(TransportSpec::BuiltIn) };
    FleetServer { built_in: Some(Arc::new(server.clone())), ..member(spec) }
}

async fn renewed(fleet: &Fleet, age: Duration) -> Result<Arc<CheckedCatalog>, FleetError> {
    let pool = fleet.pool(&name(), &fleet.shared_tenant()).unwrap();
    pool.refresh_if_stale(CapabilityKind::Tool, age).await
}

/// The same, by a list that is read after now: the clock stands still by itself, so that what was
/// read before would be as young.
async fn renewed_now(fleet: &Fleet) -> Result<Arc<CheckedCatalog>, FleetError> {
    tokio::time::advance(Duration::from_millis(1)).await;
    renewed(fleet, NOW).await
}

fn description(known: &CheckedCatalog) -> String {
    String::from_utf8_lossy(&known.catalog.tools[0].raw).into_owned()
}

#[tokio::test(start_paused = true)]
async fn a_list_that_is_young_enough_is_not_read_again() {
    let server = Silent::new();
    let fleet = fleet(&server).await;
    let known = renewed(&fleet, LONG).await.unwrap();
    assert!(description(&known).contains("version 1"));
    assert_eq!(server.lists(), 1, "coming up is a reading");
    server.change();
    let known = renewed(&fleet, LONG).await.unwrap();
    assert!(description(&known).contains("version 1"), "nobody wanted to know");
    assert_eq!(server.lists(), 1);
    fleet.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_change_that_a_server_announces_during_its_first_listing_is_read() {
    let server = Silent::new();
    server.announce_when_asked();
    server.take(Duration::from_millis(500));
    let fleet = forgetful();
    fleet.add_server(built_in(&server)).await;
    // The clock moves on only while nobody has anything to do.
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(server.lists(), 2, "the announced change was forgotten");
    fleet.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_change_that_nobody_told_of_is_found_and_made_known() {
    let server = Silent::new();
    let fleet = fleet(&server).await;
    let before = renewed(&fleet, LONG).await.unwrap();
    let generation = fleet.generation();
    let same = renewed_now(&fleet).await.unwrap();
    assert_eq!(server.lists(), 2);
    assert!(Arc::ptr_eq(&before, &same), "what is the same stays the same");
    assert_eq!(fleet.generation(), generation);

    server.change();
    let now = renewed_now(&fleet).await.unwrap();
    assert!(description(&now).contains("version 2"));
    assert!(fleet.generation() > generation);
    let offered = fleet.catalogs(None);
    assert!(description(&offered[0].checked).contains("version 2"));
    let digest = |known: &CheckedCatalog| {
        *known.definition(CapabilityKind::Tool, "tool").expect("it is offered").digest()
    };
    assert_ne!(digest(&before), digest(&now));
    assert_eq!(digest(&before), digest(&same));
    fleet.close().await;
}

#[tokio::test(start_paused = true)]
async fn many_who_want_to_know_wait_for_few_readings() {
    let server = Silent::new();
    let fleet = Arc::new(fleet(&server).await);
    renewed(&fleet, LONG).await.unwrap();
    server.change();
    server.take(Duration::from_millis(100));
    tokio::time::advance(Duration::from_millis(1)).await;
    let all = join_all((0..200).map(|_| renewed(&fleet, NOW))).await;
    for known in all {
        assert!(description(&known.unwrap()).contains("version 2"));
    }
    // One of them may have come while the first reading had begun.
    assert!(server.lists() <= 3, "{} readings", server.lists());
    fleet.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_list_that_does_not_come_is_told_in_time_and_asked_for_again() {
    let server = Silent::new();
    let fleet = fleet(&server).await;
    renewed(&fleet, LONG).await.unwrap();
    server.change();
    server.take(Duration::from_secs(30));
    let began = Instant::now();
    let error = renewed_now(&fleet).await.unwrap_err();
    assert!(error.to_string().contains("within"), "{error}");
    assert!(began.elapsed() < Duration::from_secs(10));
    server.take(Duration::ZERO);
    let known = renewed_now(&fleet).await.unwrap();
    assert!(description(&known).contains("version 2"));

    server.refuse(true);
    let error = renewed_now(&fleet).await.unwrap_err();
    assert!(error.to_string().contains("no list today"), "{error}");
    server.refuse(false);
    renewed_now(&fleet).await.unwrap();
    fleet.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_died_is_brought_up_and_listed_anew() {
    let server = Silent::new();
    let fleet = fleet(&server).await;
    renewed(&fleet, LONG).await.unwrap();
    server.change();
    let mut events = fleet.events();
    server.die();
    while fleet.status()[0].state == ServerState::Connected {
        events.recv().await.unwrap();
    }
    let known = renewed(&fleet, LONG).await.unwrap();
    assert!(description(&known).contains("version 2"));
    assert_eq!(server.connections(), 2);
    // One that dies of the question, too.
    server.change();
    server.die_when_asked();
    let known = renewed_now(&fleet).await.unwrap();
    assert!(description(&known).contains("version 3"));
    fleet.close().await;
}

#[tokio::test(start_paused = true)]
async fn what_a_server_told_of_is_read_before_it_is_relied_on() {
    let server = Silent::new();
    let fleet = fleet(&server).await;
    renewed(&fleet, LONG).await.unwrap();
    server.change();
    server.tell().await;
    // The clock moves when nobody has anything left to do: the notification has been read, and
    // the list has not been read again.
    tokio::time::sleep(Duration::from_millis(30)).await;
    assert_eq!(server.lists(), 1);
    let known = renewed(&fleet, LONG).await.unwrap();
    assert!(description(&known).contains("version 2"));
    fleet.close().await;
}
