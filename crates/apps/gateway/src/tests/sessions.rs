//! Sessions: that they cannot be fixed, guessed or crossed, and how they end.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::json;

use super::Stage;
use super::client::{call, initialize, request};
use crate::{ConnectionTimeouts, Options};

#[tokio::test]
async fn only_sessions_we_minted_are_known() {
    let stage = Stage::plain().await;
    let session = stage.http.session().await;
    assert_eq!(stage.http.post(request(1, "ping")).await.status(), 400);
    let reply = session.post(request(1, "ping")).await;
    assert_eq!(reply.status(), 200);
    for id in ["chosen", "00000000000000000000000000000000", "../../etc/passwd"] {
        let other = stage.http.with("mcp-session-id", id);
        assert_eq!(other.post(request(1, "ping")).await.status(), 404, "{id}");
        assert_eq!(other.post(initialize("2025-11-25", json!({}))).await.status(), 404, "{id}");
        assert_eq!(other.get().await.status(), 404, "{id}");
        assert_eq!(other.delete().await.status(), 404, "{id}");
    }
}

#[tokio::test]
async fn a_session_is_for_whoever_opened_it() {
    let stage = Stage::plain().await;
    let (own, other) = (stage.script.key("ada").await, stage.script.key("eve").await);
    let ada = stage.http.with("authorization", &own).session().await;
    assert_eq!(ada.post(request(1, "ping")).await.status(), 200);
    for thief in [ada.with("authorization", &other), ada.with("authorization", "")] {
        assert_eq!(thief.post(request(1, "ping")).await.status(), 404);
        assert_eq!(thief.get().await.status(), 404);
        assert_eq!(thief.delete().await.status(), 404);
    }
    assert_eq!(ada.delete().await.status(), 204);
}

#[tokio::test]
async fn only_a_key_of_ours_is_an_identity() {
    let stage = Stage::plain().await;
    let local = stage.http.session().await;
    for nobody in ["Bearer me", "Basic bWU6bWU=", "tgk_me"] {
        let same = local.with("authorization", nobody);
        assert_eq!(same.post(request(1, "ping")).await.status(), 200, "{nobody}");
    }
    let key = stage.script.key("ada").await;
    let changed = format!("{key}0");
    for refused in [&changed, "Bearer tgk_", "bearer tgk_me"] {
        let reply = local.with("authorization", refused).post(request(1, "ping")).await;
        assert_eq!(reply.status(), 401, "{refused}");
        assert_eq!(reply.header("www-authenticate").as_deref(), Some("Bearer"));
        let body = reply.json().await;
        assert_eq!(body["error"]["message"], "the key is unknown or was revoked", "{refused}");
    }
    let twice = local.with("authorization", &key).and("authorization", &key);
    assert_eq!(twice.post(request(1, "ping")).await.status(), 400);
    let ada = stage.http.with("authorization", &key).session().await;
    assert_eq!(ada.post(request(1, "ping")).await.status(), 200);
}

#[tokio::test]
async fn whoever_may_not_be_served_any_more_loses_what_is_open() {
    let stage = Stage::plain().await;
    let key = stage.script.key("ada").await;
    let (ada, local) =
        (stage.http.with("authorization", &key).session().await, stage.http.session().await);
    let (mut ada_stream, mut local_stream) = (ada.get().await.events(), local.get().await.events());
    let keys = stage.script.keys().unwrap();
    assert!(keys.revoke("ada").await.unwrap());
    assert_eq!(ada.post(request(1, "ping")).await.status(), 401);
    while ada_stream.next().await.is_some() {}
    assert_eq!(local.post(request(1, "ping")).await.status(), 200);
    stage.script.requires_key.store(true, Ordering::Relaxed);
    assert_eq!(local.post(request(1, "ping")).await.status(), 401);
    assert_eq!(stage.http.post(initialize("2025-11-25", json!({}))).await.status(), 401);
    while local_stream.next().await.is_some() {}
    let key = stage.script.key("ada").await;
    stage.http.with("authorization", &key).session().await;
}

#[tokio::test]
async fn what_belongs_to_one_session_never_reaches_another() {
    let stage = Stage::plain().await;
    let mut sessions = Vec::new();
    for _ in 0..8 {
        sessions.push(stage.http.session().await);
    }
    let calls = sessions.iter().enumerate().flat_map(|(owner, session)| {
        // All at once, and fewer connections than one client may have.
        (0..25).map(move |round| {
            let session = session.clone();
            tokio::spawn(async move {
                let mut message = call(round, if round % 2 == 0 { "echo" } else { "progress" });
                message["params"]["_meta"]["progressToken"] = format!("of-{owner}").into();
                let reply = session.post(message).await;
                if round % 2 == 0 { vec![reply.json().await] } else { reply.events().rest().await }
                    .into_iter()
                    .map(|message| (owner, message.to_string()))
                    .collect::<Vec<_>>()
            })
        })
    });
    let calls: Vec<_> = calls.collect();
    for call in calls {
        for (owner, message) in call.await.unwrap() {
            let foreign =
                (0..8).filter(|n| *n != owner).any(|n| message.contains(&format!("of-{n}")));
            assert!(!foreign, "{owner} got {message}");
        }
    }
}

#[tokio::test]
async fn a_client_that_opens_too_many_connections_at_once_gets_an_answer_on_each() {
    let stage = Stage::new(Options { connections: 128, ..Options::default() }).await;
    let session = stage.http.session().await;
    let posts: Vec<_> = (0..100)
        .map(|id| {
            let session = session.clone();
            tokio::spawn(async move { session.post(request(id, "ping")).await.status() })
        })
        .collect();
    let mut statuses = std::collections::BTreeMap::new();
    for post in posts {
        *statuses.entry(post.await.unwrap()).or_insert(0) += 1;
    }
    // A quarter of all connections is served; the others get 503.
    assert!(statuses.keys().all(|status| [200, 503].contains(status)), "{statuses:?}");
    assert!(statuses.iter().any(|(status, count)| *status == 200 && *count >= 32), "{statuses:?}");
}

#[tokio::test]
async fn the_end_of_a_session_ends_everything_of_it() {
    let stage = Stage::plain().await;
    let session = stage.http.session().await;
    let standing = session.get().await.events();
    let waiting = tokio::spawn({
        let session = session.clone();
        async move { session.post(call(1, "wait")).await.json().await }
    });
    stage.script.begun.notified().await;
    assert_eq!(session.delete().await.status(), 204);
    stage.script.dropped.notified().await;
    assert_eq!(waiting.await.unwrap()["error"]["code"], -32000);
    standing.rest().await;
    assert_eq!(stage.script.released.lock().unwrap().len(), 1);
    assert_eq!(session.post(request(2, "tools/list")).await.status(), 404);
    assert_eq!(session.delete().await.status(), 404);
}

#[tokio::test]
async fn the_session_idle_longest_gives_way_and_busy_ones_do_not() {
    let stage = Stage::new(Options { sessions: 2, ..Options::default() }).await;
    let busy = stage.http.session().await;
    let _standing = busy.get().await.events();
    let idle = stage.http.session().await;
    let newer = stage.http.session().await;
    assert_eq!(idle.post(request(1, "ping")).await.status(), 404);
    let _other = newer.get().await.events();
    let refused = stage.http.post(initialize("2025-11-25", json!({}))).await;
    assert_eq!((refused.status(), refused.header("retry-after").is_some()), (503, true));
    for session in [busy, newer] {
        assert_eq!(session.post(request(1, "ping")).await.status(), 200);
    }
}

#[tokio::test]
async fn an_idle_session_expires_and_one_that_is_read_does_not() {
    let short = Duration::from_millis(80);
    let cuts = ConnectionTimeouts { idle: short, ..ConnectionTimeouts::default() };
    let stage =
        Stage::new(Options { session_ttl: short, timeouts: cuts, ..Options::default() }).await;
    let idle = stage.http.session().await;
    let read = stage.http.session().await;
    let standing = read.get().await.events();
    stage.script.release.notified().await;
    assert_eq!(idle.post(request(1, "ping")).await.status(), 404);
    assert_eq!(read.post(request(1, "ping")).await.status(), 200);
    drop(standing);
    stage.script.release.notified().await;
    assert_eq!(read.post(request(1, "ping")).await.status(), 404);
}

#[tokio::test]
async fn a_thousand_openings_leave_no_more_sessions_than_allowed() {
    let stage = Stage::new(Options { sessions: 16, ..Options::default() }).await;
    for _ in 0..1000 {
        assert_eq!(stage.http.post(initialize("2025-11-25", json!({}))).await.status(), 200);
    }
    let health = stage.http.send("GET", "/healthz", String::new()).await.json().await;
    assert_eq!(health["sessions"], 16);
    assert_eq!(stage.script.released.lock().unwrap().len(), 1000 - 16);
}
