//! Servers that fail at their start: tried again by themselves, but not for ever.

use std::time::Duration;

use toolgate_fleet::FleetEvent;
use toolgate_model::ServerState;
use toolgate_session::CallerId;

use crate::built_in::Noting;
use crate::{forgetful, name};

#[tokio::test(start_paused = true)]
async fn a_bad_start_heals_without_a_call() {
    let (server, _asks) = Noting::new();
    server.refuse("initialize");
    let fleet = forgetful();
    let mut events = fleet.events();
    fleet.add_server(server.member()).await;
    let pool = fleet.pool(&name(), &fleet.shared_tenant()).unwrap();
    while !matches!(pool.state(), ServerState::Failed(_)) {
        events.recv().await.unwrap();
    }
    server.refuse("");
    while let Ok(event) = events.recv().await {
        // Nobody is made to wait for an attempt he did not ask for.
        assert_ne!(pool.state(), ServerState::Connecting, "{event:?}");
        if matches!(event, FleetEvent::StateChanged(_)) && pool.state() == ServerState::Connected {
            return;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_goes_on_failing_is_left_alone_until_somebody_asks() {
    let (server, mut asks) = Noting::new();
    server.refuse("initialize");
    let fleet = forgetful();
    fleet.add_server(server.member()).await;
    tokio::time::sleep(Duration::from_secs(3600)).await;
    let mut attempts = 0;
    while asks.try_recv().is_ok() {
        attempts += 1;
    }
    assert_eq!(attempts, 5);
    let pool = fleet.pool(&name(), &fleet.shared_tenant()).unwrap();
    assert!(pool.subscribe("a:", CallerId(1)).await.is_err());
    assert_eq!(asks.recv().await.unwrap().0, "initialize");
    tokio::time::sleep(Duration::from_secs(3600)).await;
    assert!(asks.try_recv().is_err());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_dismissed_is_not_tried_again() {
    let (server, mut asks) = Noting::new();
    server.refuse("initialize");
    let fleet = forgetful();
    fleet.add_server(server.member()).await;
    assert_eq!(asks.recv().await.unwrap().0, "initialize");
    fleet.wait_settled(|_| true).await;
    fleet.remove_server(&name()).await;
    tokio::time::sleep(Duration::from_secs(3600)).await;
    assert!(asks.try_recv().is_err());
}
