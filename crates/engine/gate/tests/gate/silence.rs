//! Calls that say nothing for a long time.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;
use toolgate_model::PrefixMode;

use crate::fleet::{Played, caller, gate, pass};

/// A server whose tool `work` answers after so many seconds.
fn working_for(seconds: u64) -> Played {
    Played::new(json!({ "tools": {} }), move |method, _| match method {
        "tools/list" => json!({ "tools": [{ "inputSchema": {}, "name": "work" }] }),
        _ => json!({ "content": [], "after": seconds }),
    })
}

#[tokio::test(start_paused = true)]
async fn a_call_may_be_silent_for_most_of_an_hour_and_no_longer() {
    let patient = working_for(59 * 60);
    let endless = working_for(61 * 60);
    let servers = [("patient", &patient), ("endless", &endless)];
    let (gate, _fleet) = gate(&servers, PrefixMode::default()).await;
    let me = caller();
    let answer = pass(&gate, &me, "tools/call", json!({ "name": "patient__work" })).await;
    assert!(answer.is_ok(), "{answer:?}");
    let began = Instant::now();
    let answer = pass(&gate, &me, "tools/call", json!({ "name": "endless__work" })).await;
    assert!(answer.is_err(), "{answer:?}");
    assert_eq!(began.elapsed(), Duration::from_secs(60 * 60));
}
