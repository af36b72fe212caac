//! Subscriptions: one at the server for many callers, renewed on every connection.

use serde_json::Value;
use tokio::sync::mpsc::UnboundedReceiver;
use toolgate_fleet::{FleetError, FleetEvent};
use toolgate_session::{CallerId, SessionError};
use toolgate_wire::Revision;

use crate::built_in::Noting;
use crate::{fleet, name};

const ONE: CallerId = CallerId(1);
const TWO: CallerId = CallerId(2);

/// The next request about a subscription.
async fn next(asks: &mut UnboundedReceiver<(String, Value)>) -> String {
    loop {
        let (method, params) = asks.recv().await.unwrap();
        if method.contains("subscribe") {
            return format!("{method} {}", params["uri"].as_str().unwrap());
        }
    }
}

#[tokio::test]
async fn the_server_hears_of_the_first_and_the_last_caller() {
    let (server, mut asks) = Noting::new();
    let (fleet, _store) = fleet(server.member()).await;
    let pool = fleet.pool(&name(), &fleet.shared_tenant()).unwrap();
    let protocol = || pool.catalog().map(|catalog| catalog.protocol);
    assert_eq!(protocol(), None);
    for caller in [ONE, TWO] {
        pool.subscribe("a:", caller).await.unwrap();
    }
    assert_eq!(protocol(), Some(Revision::V2025_11_25));
    pool.subscribe("b:", ONE).await.unwrap();
    pool.unsubscribe("a:", ONE).await.unwrap();
    pool.unsubscribe("a:", TWO).await.unwrap();
    fleet.release_caller(ONE);
    let told = [next(&mut asks).await, next(&mut asks).await, next(&mut asks).await];
    assert_eq!(
        told,
        ["resources/subscribe a:", "resources/subscribe b:", "resources/unsubscribe a:"]
    );
    assert_eq!(next(&mut asks).await, "resources/unsubscribe b:");
}

#[tokio::test]
async fn a_refused_subscription_is_nobodys() {
    let (server, mut asks) = Noting::new();
    let (fleet, _store) = fleet(server.member()).await;
    let pool = fleet.pool(&name(), &fleet.shared_tenant()).unwrap();
    server.refuse("resources/subscribe");
    for _ in 0..2 {
        let error = pool.subscribe("a:", ONE).await.unwrap_err();
        let refused = matches!(
            error,
            FleetError::Session { source: SessionError::Refused { code: -32601, .. }, .. }
        );
        assert!(refused, "{error:?}");
        assert_eq!(next(&mut asks).await, "resources/subscribe a:");
    }
}

#[tokio::test]
async fn a_new_connection_is_told_again_and_what_may_have_changed_is_reported() {
    let (server, mut asks) = Noting::new();
    let (fleet, _store) = fleet(server.member()).await;
    let pool = fleet.pool(&name(), &fleet.shared_tenant()).unwrap();
    pool.subscribe("a:", ONE).await.unwrap();
    assert_eq!(next(&mut asks).await, "resources/subscribe a:");
    let mut events = fleet.events();
    server.crash();
    loop {
        if let FleetEvent::StateChanged(_) = events.recv().await.unwrap() {
            break;
        }
    }
    pool.subscribe("b:", ONE).await.unwrap();
    let mut told = [next(&mut asks).await, next(&mut asks).await];
    told.sort();
    assert_eq!(told, ["resources/subscribe a:", "resources/subscribe b:"]);
    let frame = loop {
        if let FleetEvent::Notified { frame, .. } = events.recv().await.unwrap() {
            break frame;
        }
    };
    assert_eq!(frame.params().unwrap(), br#"{"uri":"a:"}"#);
}
