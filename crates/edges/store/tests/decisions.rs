//! Tests stored decisions: pending calls, grants, pins and charges survive a restart, and
//! concurrent processes decide and consume each of them exactly once.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failed test may panic

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use toolgate_model::{CapabilityId, CapabilityKind, Digest, ServerName};
use toolgate_store::{
    AccessKeyError, AccessKeyring, ApprovalBinding, ApprovalChoice, ApprovalDecision,
    GrantSelector, KeepPendingOutcome, PendingCall, PendingLimits, Pin, SamplingCharge, StateStore,
    StoreError, generate_id,
};

const ROOM: PendingLimits = PendingLimits { per_caller: 100, in_all: 1000 };
const MINUTE: Duration = Duration::from_secs(60);

fn name(text: &str) -> ServerName {
    ServerName::new(text).unwrap()
}

fn digest(text: &str) -> Digest {
    Digest::of(text.as_bytes())
}

fn tool(server: &str, tool: &str) -> CapabilityId {
    CapabilityId { server: name(server), kind: CapabilityKind::Tool, name: tool.into() }
}

fn bound() -> ApprovalBinding {
    ApprovalBinding {
        caller: "local".into(),
        client: "editor".into(),
        tool: tool("git", "push"),
        identity: digest("npx git"),
        definition: digest("definition"),
    }
}

/// Whole milliseconds, as everything is kept.
fn now() -> SystemTime {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(since.as_millis()).unwrap())
}

fn call(id: &str) -> PendingCall {
    let arguments = format!("{{\"id\":\"{id}\", \"n\": 1.50, \"x\":\"\u{202e}\"}}");
    PendingCall {
        id: id.into(),
        binding: bound(),
        arguments_digest: digest(&arguments),
        arguments: Bytes::from(arguments),
        other_params: Bytes::from_static(br#"{"extra":1}"#),
        because: "rule `mcp:git/*` in config.toml:3".into(),
        asked_at: now(),
        expires_at: now() + 10 * MINUTE,
    }
}

async fn open(folder: &Path) -> StateStore {
    StateStore::open(folder.join("state.db")).await.unwrap()
}

async fn keep(state: &StateStore, call: &PendingCall) {
    assert_eq!(state.keep_pending(call, ROOM).await.unwrap(), KeepPendingOutcome::New);
}

#[tokio::test]
async fn a_call_comes_back_as_it_was_kept_after_reopening() {
    let folder = tempfile::tempdir().unwrap();
    let state = open(folder.path()).await;
    let (one, two) = (call("one"), call("two"));
    keep(&state, &one).await;
    keep(&state, &two).await;
    state.close().await;
    let state = open(folder.path()).await;
    assert_eq!(state.pending_calls().await.unwrap(), [one, two]);
    assert_eq!(state.approval_decision("one").await.unwrap(), None);
    assert!(state.withdraw_pending("one").await.unwrap());
    assert!(!state.withdraw_pending("one").await.unwrap());
    assert_eq!(state.pending_calls().await.unwrap().len(), 1);
}

#[tokio::test]
async fn the_same_call_is_asked_about_once_and_from_then_on_as_long() {
    let state = StateStore::in_memory().await.unwrap();
    let first = call("one");
    keep(&state, &first).await;
    let later = now() + 20 * MINUTE;
    let again = PendingCall { id: "two".into(), expires_at: later, ..first.clone() };
    let joined = state.keep_pending(&again, ROOM).await.unwrap();
    assert_eq!(
        joined,
        KeepPendingOutcome::Joined(Box::new(PendingCall { expires_at: later, ..first.clone() }))
    );
    let others = [
        PendingCall { arguments_digest: digest("other"), ..first.clone() },
        PendingCall { binding: ApprovalBinding { caller: "x".into(), ..bound() }, ..first.clone() },
        PendingCall { binding: ApprovalBinding { client: "x".into(), ..bound() }, ..first.clone() },
        PendingCall {
            binding: ApprovalBinding { tool: tool("git", "x"), ..bound() },
            ..first.clone()
        },
        PendingCall {
            binding: ApprovalBinding { tool: tool("x", "push"), ..bound() },
            ..first.clone()
        },
        PendingCall {
            binding: ApprovalBinding { identity: digest("x"), ..bound() },
            ..first.clone()
        },
        PendingCall {
            binding: ApprovalBinding { definition: digest("x"), ..bound() },
            ..first.clone()
        },
    ];
    for (at, other) in others.into_iter().enumerate() {
        keep(&state, &PendingCall { id: format!("other {at}"), ..other }).await;
    }
    // A decided call no longer waits, so the same call is stored as a new one.
    state.decide_pending("one", ApprovalChoice::Deny, "me").await.unwrap().unwrap();
    keep(&state, &again).await;
}

#[tokio::test]
async fn there_is_room_for_so_many_of_a_caller_and_so_many_in_all() {
    let state = StateStore::in_memory().await.unwrap();
    let room = PendingLimits { per_caller: 2, in_all: 3 };
    let of = |id: &str, caller: &str| {
        let bound = ApprovalBinding { caller: caller.into(), ..bound() };
        PendingCall { binding: bound, ..call(id) }
    };
    for (id, caller, kept) in [
        ("1", "a", KeepPendingOutcome::New),
        ("2", "a", KeepPendingOutcome::New),
        ("3", "a", KeepPendingOutcome::CallerFull),
        ("4", "b", KeepPendingOutcome::New),
        ("5", "b", KeepPendingOutcome::Full),
    ] {
        assert_eq!(state.keep_pending(&of(id, caller), room).await.unwrap(), kept, "{id}");
    }
    state.decide_pending("1", ApprovalChoice::Once, "me").await.unwrap().unwrap();
    assert_eq!(state.keep_pending(&of("6", "a"), room).await.unwrap(), KeepPendingOutcome::New);
}

#[tokio::test]
async fn every_choice_leaves_the_grant_it_means() {
    let state = StateStore::in_memory().await.unwrap();
    for choice in ApprovalChoice::ALL {
        let call = call(choice.as_str());
        keep(&state, &call).await;
        let settled = state.decide_pending(&call.id, choice, "operator").await.unwrap().unwrap();
        assert_eq!((&settled.call, settled.choice), (&call, choice));
        let verdict = ApprovalDecision { choice, by: "operator".into() };
        assert_eq!(state.approval_decision(&call.id).await.unwrap(), Some(verdict));
        let Some(grant) = settled.grant else {
            assert_eq!(choice, ApprovalChoice::Deny);
            continue;
        };
        assert_eq!((grant.choice, &grant.binding, &*grant.by), (choice, &call.binding, "operator"));
        let once = choice == ApprovalChoice::Once;
        assert_eq!(grant.arguments_digest, once.then_some(call.arguments_digest));
        assert_eq!(grant.expires_at, once.then_some(call.expires_at));
        assert!(state.grants().await.unwrap().contains(&grant));
    }
    assert_eq!(state.pending_calls().await.unwrap(), []);
    assert_eq!(state.grants().await.unwrap().len(), 3);
}

#[tokio::test]
async fn a_call_is_settled_once_and_not_after_it_was_withdrawn_or_has_expired() {
    let state = StateStore::in_memory().await.unwrap();
    for id in ["decided", "withdrawn"] {
        keep(&state, &call(id)).await;
    }
    keep(&state, &PendingCall { expires_at: now() - MINUTE, ..call("expired") }).await;
    // Asked for in an hour: the clock was turned back since.
    let future = now() + 60 * MINUTE;
    let future =
        PendingCall { asked_at: future, expires_at: future + 10 * MINUTE, ..call("future") };
    keep(&state, &future).await;
    assert!(state.decide_pending("decided", ApprovalChoice::Deny, "one").await.unwrap().is_some());
    assert!(state.withdraw_pending("withdrawn").await.unwrap());
    for id in ["decided", "withdrawn", "expired", "future", "never"] {
        for choice in ApprovalChoice::ALL {
            assert_eq!(state.decide_pending(id, choice, "other").await.unwrap(), None, "{id}");
        }
    }
    assert!(!state.withdraw_pending("decided").await.unwrap(), "what was decided stays decided");
    assert_eq!(state.approval_decision("decided").await.unwrap().unwrap().by, "one");
    assert_eq!(state.grants().await.unwrap(), []);
    assert_eq!(state.pending_calls().await.unwrap(), []);
}

#[tokio::test]
async fn a_one_time_grant_is_for_exactly_its_call_and_used_up() {
    let state = StateStore::in_memory().await.unwrap();
    let call = call("one");
    keep(&state, &call).await;
    let grant = state
        .decide_pending("one", ApprovalChoice::Once, "me")
        .await
        .unwrap()
        .unwrap()
        .grant
        .unwrap();
    let arguments = call.arguments_digest;
    let others = [
        ApprovalBinding { caller: "holder:1".into(), ..bound() },
        ApprovalBinding { client: "other".into(), ..bound() },
        ApprovalBinding { tool: tool("git", "pull"), ..bound() },
        ApprovalBinding { tool: tool("hg", "push"), ..bound() },
        ApprovalBinding { identity: digest("npx other"), ..bound() },
        ApprovalBinding { definition: digest("changed"), ..bound() },
    ];
    for other in others {
        assert_eq!(state.consume_once_grant(&other, &arguments).await.unwrap(), None, "{other:?}");
    }
    assert_eq!(state.consume_once_grant(&bound(), &digest("altered")).await.unwrap(), None);
    assert_eq!(state.consume_once_grant(&bound(), &arguments).await.unwrap(), Some(grant.id));
    assert_eq!(state.consume_once_grant(&bound(), &arguments).await.unwrap(), None);
    assert_eq!(state.grants().await.unwrap(), []);
}

#[tokio::test]
async fn a_one_time_grant_expires_and_one_for_good_is_not_spent() {
    let state = StateStore::in_memory().await.unwrap();
    // On a busy machine it may expire before it is decided. Then the next round gives it more time.
    let mut life = Duration::from_millis(300);
    let brief = loop {
        let brief = PendingCall { expires_at: now() + life, ..call(&generate_id().unwrap()) };
        keep(&state, &brief).await;
        if state.decide_pending(&brief.id, ApprovalChoice::Once, "me").await.unwrap().is_some() {
            break brief;
        }
        assert!(now() >= brief.expires_at, "it was refused in time");
        life *= 2;
    };
    let always = call("always");
    keep(&state, &always).await;
    assert!(state.decide_pending("always", ApprovalChoice::Tool, "me").await.unwrap().is_some());
    tokio::time::sleep(life + Duration::from_millis(50)).await;
    assert_eq!(state.consume_once_grant(&bound(), &brief.arguments_digest).await.unwrap(), None);
    assert_eq!(state.consume_once_grant(&bound(), &always.arguments_digest).await.unwrap(), None);
    let left = state.grants().await.unwrap();
    assert_eq!(left.iter().map(|grant| grant.choice).collect::<Vec<_>>(), [ApprovalChoice::Tool]);
}

#[tokio::test]
async fn the_same_permission_given_again_is_one() {
    let state = StateStore::in_memory().await.unwrap();
    for choice in
        [ApprovalChoice::Tool, ApprovalChoice::Tool, ApprovalChoice::Server, ApprovalChoice::Server]
    {
        let call = call(&generate_id().unwrap());
        keep(&state, &call).await;
        state.decide_pending(&call.id, choice, "me").await.unwrap().unwrap();
    }
    assert_eq!(state.grants().await.unwrap().len(), 2);
}

#[tokio::test]
async fn grants_are_taken_back_by_id_by_server_and_by_tool() {
    let state = StateStore::in_memory().await.unwrap();
    let mut ids = Vec::new();
    for (server, at, choice) in [
        ("git", "push", ApprovalChoice::Tool),
        ("git", "push", ApprovalChoice::Server),
        ("git", "push", ApprovalChoice::Once),
        ("git", "pull", ApprovalChoice::Tool),
        ("hg", "push", ApprovalChoice::Tool),
    ] {
        let call = call(&generate_id().unwrap());
        let call =
            PendingCall { binding: ApprovalBinding { tool: tool(server, at), ..bound() }, ..call };
        keep(&state, &call).await;
        let settled = state.decide_pending(&call.id, choice, "me").await.unwrap().unwrap();
        ids.push(settled.grant.unwrap().id);
    }
    let revoke = async |which: GrantSelector| state.revoke_grants(&which).await.unwrap();
    assert_eq!(revoke(GrantSelector::Tool(tool("git", "push"))).await, 2, "not the server's");
    assert_eq!(revoke(GrantSelector::Id(ids[4].clone())).await, 1);
    assert_eq!(revoke(GrantSelector::Id(ids[4].clone())).await, 0);
    assert_eq!(revoke(GrantSelector::Server(name("git"))).await, 2);
    assert_eq!(state.grants().await.unwrap(), []);
}

fn pin(of: Option<(CapabilityKind, &str)>, text: &str) -> Pin {
    Pin {
        server: name("git"),
        identity: digest("npx git"),
        capability: of.map(|(kind, name)| (kind, name.to_owned())),
        digest: digest(text),
        definition: Bytes::from(text.to_owned()),
        by: "first listing".into(),
        pinned_at: now(),
    }
}

#[tokio::test]
async fn pins_come_back_are_replaced_and_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let state = open(folder.path()).await;
    let pins = [
        pin(None, "be careful"),
        pin(Some((CapabilityKind::Prompt, "push")), "{\"name\":\"push\"}"),
        pin(Some((CapabilityKind::Tool, "pull")), "{\"name\":\"pull\"}"),
        pin(Some((CapabilityKind::Tool, "push")), "{\"name\":\"push\"}"),
    ];
    state.pin(&pins).await.unwrap();
    state.close().await;
    let state = open(folder.path()).await;
    assert_eq!(state.pins().await.unwrap(), pins);

    let changed = Pin { by: "me".into(), ..pin(Some((CapabilityKind::Tool, "push")), "changed") };
    let elsewhere = Pin { identity: digest("npx other"), ..changed.clone() };
    state.pin(&[changed.clone(), elsewhere.clone()]).await.unwrap();
    let found = state.pins().await.unwrap();
    assert_eq!(found.len(), 5);
    assert!(found.contains(&changed) && found.contains(&elsewhere) && !found.contains(&pins[3]));

    assert_eq!(state.unpin(&name("git"), Some(&tool("git", "push"))).await.unwrap(), 2);
    assert_eq!(state.unpin(&name("hg"), None).await.unwrap(), 0);
    assert_eq!(state.unpin(&name("git"), None).await.unwrap(), 3);
    assert_eq!(state.pins().await.unwrap(), []);
}

#[tokio::test]
async fn what_is_pinned_after_a_grant_for_the_server_is_later_whatever_the_clock_says() {
    let state = StateStore::in_memory().await.unwrap();
    let before = pin(Some((CapabilityKind::Tool, "push")), "push");
    // Pinned when the clock was ahead.
    let ahead = Pin { pinned_at: now() + MINUTE, ..pin(Some((CapabilityKind::Tool, "b")), "b") };
    state.pin(&[before.clone(), ahead.clone()]).await.unwrap();
    keep(&state, &call("one")).await;
    let settled = state.decide_pending("one", ApprovalChoice::Server, "me").await.unwrap().unwrap();
    let given_at = settled.grant.unwrap().given_at;
    assert!(given_at >= ahead.pinned_at, "it means everything that is pinned");

    // Pinned later, with the clock turned back.
    let early = now() - 60 * MINUTE;
    let new = Pin { pinned_at: early, ..pin(Some((CapabilityKind::Tool, "new")), "new") };
    let changed = Pin { pinned_at: early, ..pin(Some((CapabilityKind::Tool, "b")), "changed") };
    let same = Pin { pinned_at: now() + 60 * MINUTE, by: "me".into(), ..before.clone() };
    state.pin(&[new, changed, same]).await.unwrap();
    for pin in state.pins().await.unwrap() {
        let (_, name) = pin.capability.unwrap();
        assert_eq!(pin.pinned_at <= given_at, name == "push", "{name}");
    }
}

#[tokio::test]
async fn a_server_spends_no_more_than_its_day_allows() {
    let folder = tempfile::tempdir().unwrap();
    let state = open(folder.path()).await;
    let charge = |day: &str, tokens| SamplingCharge {
        server: name("git"),
        day: day.into(),
        tokens,
        requests_limit: 3,
        tokens_limit: 100,
    };
    assert!(!state.charge_sampling(&charge("2026-11-16", 101)).await.unwrap());
    assert!(state.charge_sampling(&charge("2026-11-16", 60)).await.unwrap());
    assert!(!state.charge_sampling(&charge("2026-11-16", 41)).await.unwrap());
    state.close().await;
    let state = open(folder.path()).await;
    assert!(state.charge_sampling(&charge("2026-11-16", 40)).await.unwrap());
    assert!(!state.charge_sampling(&charge("2026-11-16", 1)).await.unwrap());
    assert!(state.charge_sampling(&charge("2026-11-16", 0)).await.unwrap());
    assert!(!state.charge_sampling(&charge("2026-11-16", 0)).await.unwrap(), "three requests");
    assert!(state.charge_sampling(&charge("2026-11-17", 100)).await.unwrap());
    let other = SamplingCharge { server: name("hg"), ..charge("2026-11-17", 100) };
    assert!(state.charge_sampling(&other).await.unwrap());
    let none = SamplingCharge { requests_limit: 0, server: name("off"), ..charge("2026-11-17", 0) };
    assert!(!state.charge_sampling(&none).await.unwrap());
}

/// As many handles as processes would have, each with a connection of its own.
async fn handles(folder: &Path, count: usize) -> Vec<Arc<StateStore>> {
    let mut handles = Vec::new();
    for _ in 0..count {
        handles.push(Arc::new(open(folder).await));
    }
    handles
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_who_settle_and_spend_at_once_exactly_one_does() {
    let folder = tempfile::tempdir().unwrap();
    let handles = handles(folder.path(), 4).await;
    for round in 0..40 {
        let call = call(&round.to_string());
        keep(&handles[0], &call).await;
        let choices = [
            ApprovalChoice::Once,
            ApprovalChoice::Deny,
            ApprovalChoice::Once,
            ApprovalChoice::Tool,
        ];
        let tries = handles.iter().zip(choices).map(|(state, choice)| {
            let (state, id) = (state.clone(), call.id.clone());
            tokio::spawn(async move {
                state.decide_pending(&id, choice, choice.as_str()).await.unwrap()
            })
        });
        let mut settled = Vec::new();
        for attempt in tries.collect::<Vec<_>>() {
            settled.extend(attempt.await.unwrap());
        }
        assert_eq!(settled.len(), 1, "settled once");
        let verdict = handles[3].approval_decision(&call.id).await.unwrap().unwrap();
        assert_eq!(verdict.choice, settled[0].choice);

        let spends = handles.iter().cycle().take(8).map(|state| {
            let (state, call) = (state.clone(), call.clone());
            let spend = async move {
                state.consume_once_grant(&call.binding, &call.arguments_digest).await.unwrap()
            };
            tokio::spawn(spend)
        });
        let mut spent = Vec::new();
        for attempt in spends.collect::<Vec<_>>() {
            spent.extend(attempt.await.unwrap());
        }
        let expected = usize::from(settled[0].choice == ApprovalChoice::Once);
        assert_eq!(spent.len(), expected, "spent once, and only where it was granted once");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_who_keep_the_same_call_or_charge_at_once_stay_within_the_limits() {
    let folder = tempfile::tempdir().unwrap();
    let handles = handles(folder.path(), 4).await;
    let call = call("same");
    let keeps = handles.iter().cycle().take(12).enumerate().map(|(at, state)| {
        let call = PendingCall { id: format!("id {at}"), ..call.clone() };
        let state = state.clone();
        tokio::spawn(async move { state.keep_pending(&call, ROOM).await.unwrap() })
    });
    let mut new = 0;
    for kept in keeps.collect::<Vec<_>>() {
        new += usize::from(kept.await.unwrap() == KeepPendingOutcome::New);
    }
    assert_eq!((new, handles[0].pending_calls().await.unwrap().len()), (1, 1));

    let charges = handles.iter().cycle().take(40).map(|state| {
        let (server, day) = (name("git"), "2026-11-16".to_owned());
        let charge =
            SamplingCharge { server, day, tokens: 10, requests_limit: 100, tokens_limit: 95 };
        let state = state.clone();
        tokio::spawn(async move { state.charge_sampling(&charge).await.unwrap() })
    });
    let mut charged = 0;
    for charge in charges.collect::<Vec<_>>() {
        charged += usize::from(charge.await.unwrap());
    }
    assert_eq!(charged, 9);
}

#[tokio::test]
async fn what_was_acknowledged_is_there_after_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let state = open(folder.path()).await;
    for id in ["waiting", "approved", "used", "tool"] {
        keep(&state, &call(id)).await;
    }
    state.decide_pending("approved", ApprovalChoice::Once, "me").await.unwrap().unwrap();
    state.decide_pending("used", ApprovalChoice::Once, "me").await.unwrap().unwrap();
    state.consume_once_grant(&bound(), &call("used").arguments_digest).await.unwrap().unwrap();
    state.decide_pending("tool", ApprovalChoice::Tool, "me").await.unwrap().unwrap();
    state.pin(&[pin(None, "be careful")]).await.unwrap();
    // The files as a killed process leaves them.
    let copy = tempfile::tempdir().unwrap();
    for file in std::fs::read_dir(folder.path()).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), copy.path().join(file.file_name())).unwrap();
    }
    let after = open(copy.path()).await;
    assert_eq!(after.pending_calls().await.unwrap().len(), 1);
    assert_eq!(after.grants().await.unwrap().len(), 2);
    assert_eq!(after.pins().await.unwrap().len(), 1);
    assert!(
        after
            .consume_once_grant(&bound(), &call("approved").arguments_digest)
            .await
            .unwrap()
            .is_some()
    );
    assert!(
        after.consume_once_grant(&bound(), &call("used").arguments_digest).await.unwrap().is_none()
    );
    assert_eq!(
        after.decide_pending("approved", ApprovalChoice::Once, "me").await.unwrap(),
        None,
        "no replay"
    );
}

#[tokio::test]
async fn what_others_change_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let (ours, theirs) = (open(folder.path()).await, open(folder.path()).await);
    let before = ours.change_counter().await.unwrap();
    assert_eq!(ours.change_counter().await.unwrap(), before);
    keep(&theirs, &call("one")).await;
    assert_ne!(ours.change_counter().await.unwrap(), before);
}

#[tokio::test]
async fn arguments_that_are_no_text_are_refused() {
    let state = StateStore::in_memory().await.unwrap();
    let call = PendingCall { arguments: Bytes::from_static(b"\xff"), ..call("one") };
    let error = state.keep_pending(&call, ROOM).await.unwrap_err();
    assert!(matches!(error, StoreError::Malformed { .. }), "{error:?}");
}

#[test]
fn ids_are_short_and_never_the_same() {
    let ids: std::collections::HashSet<_> = (0..1000).map(|_| generate_id().unwrap()).collect();
    assert_eq!(ids.len(), 1000);
    assert!(ids.iter().all(|id| id.len() == 10 && id.bytes().all(|c| c.is_ascii_alphanumeric())));
}

#[tokio::test]
async fn a_key_is_kept_as_a_digest_and_holds_until_it_is_revoked_or_expires() {
    let state = Arc::new(StateStore::in_memory().await.unwrap());
    let keyring = AccessKeyring::load(state.clone()).await.unwrap();
    let (key, secret) = keyring.add("ci", None).await.unwrap().unwrap();
    assert!(secret.starts_with("tgk_") && secret.len() == 56, "{secret}");
    assert_eq!(*keyring.find(&secret).unwrap(), key);
    assert!(!format!("{:?}", state.keys().await.unwrap()).contains(&secret[4..]));
    assert_eq!(keyring.add("ci", None).await.unwrap(), None, "one key of a name at a time");
    let (old, expired) = keyring.add("old", Some(now() - MINUTE)).await.unwrap().unwrap();
    assert_eq!(keyring.find(&expired), Err(AccessKeyError::Expired));
    assert!(!keyring.is_valid(&old));
    assert_eq!(keyring.find("tgk_other"), Err(AccessKeyError::Unknown));
    assert!(keyring.is_valid(&key));
    assert!(keyring.revoke("ci").await.unwrap());
    assert_eq!(keyring.find(&secret), Err(AccessKeyError::Unknown));
    let (next, _) = keyring.add("ci", None).await.unwrap().unwrap();
    assert!(
        keyring.is_valid(&next) && !keyring.is_valid(&key),
        "a new key does not revive the old one"
    );
    assert!(!keyring.revoke("nobody").await.unwrap());
}
