//! The pin status of a definition for every posture, pin and lock file.

use super::*;
use crate::lock::LockedServer;
use toolgate_model::{ServerSpec, TransportSpec};

fn server() -> ServerName {
    ServerName::new("git").unwrap()
}

fn subject<'a>(
    server: &'a ServerName,
    identity: &'a Digest,
    digest: &'a Digest,
    capability: Option<(CapabilityKind, &'a str)>,
) -> PinSubject<'a> {
    PinSubject { server, identity, capability, digest }
}

const TOOL: Option<(CapabilityKind, &str)> = Some((CapabilityKind::Tool, "push"));

#[test]
fn what_was_never_seen_is_new_to_one_person_and_unapproved_where_somebody_governs() {
    let (server, identity, digest) = (server(), Digest::of(b"id"), Digest::of(b"def"));
    let subject = subject(&server, &identity, &digest, TOOL);
    let pins = Pins::default();
    assert_eq!(evaluate_pin(&pins, None, Posture::Personal, &subject), PinStatus::New);
    assert_eq!(evaluate_pin(&pins, None, Posture::Governed, &subject), PinStatus::Unapproved);
    assert!(PinStatus::New.is_usable() && !PinStatus::Unapproved.is_usable());
}

#[test]
fn what_is_pinned_holds_for_one_identity_and_one_digest() {
    let (server, identity, digest) = (server(), Digest::of(b"id"), Digest::of(b"def"));
    let mut pins = Pins::default();
    pins.insert(&server, identity, TOOL, digest, 10);
    for posture in Posture::ALL {
        let now = |identity, digest, capability| {
            evaluate_pin(&pins, None, posture, &subject(&server, identity, digest, capability))
        };
        assert_eq!(now(&identity, &digest, TOOL), PinStatus::Pinned);
        let other = Digest::of(b"other");
        assert_eq!(now(&identity, &other, TOOL), PinStatus::Changed { was: digest });
        let elsewhere = now(&other, &digest, TOOL);
        assert!(matches!(elsewhere, PinStatus::New | PinStatus::Unapproved), "{elsewhere:?}");
        assert_ne!(
            now(&identity, &digest, Some((CapabilityKind::Prompt, "push"))),
            PinStatus::Pinned
        );
    }
}

#[test]
fn resources_stand_and_fall_with_their_server() {
    let (server, identity, digest) = (server(), Digest::of(b"id"), Digest::of(b"def"));
    let resource = subject(&server, &identity, &digest, Some((CapabilityKind::Resource, "a:b")));
    let mut pins = Pins::default();
    assert_eq!(evaluate_pin(&pins, None, Posture::Personal, &resource), PinStatus::Pinned);
    assert_eq!(evaluate_pin(&pins, None, Posture::Governed, &resource), PinStatus::Unapproved);
    pins.insert(&server, identity, None, crate::instructions_digest(""), 0);
    assert_eq!(evaluate_pin(&pins, None, Posture::Governed, &resource), PinStatus::Pinned);
}

#[test]
fn a_lock_only_tightens() {
    let (server, identity, digest) = (server(), Digest::of(b"id"), Digest::of(b"def"));
    let here = subject(&server, &identity, &digest, TOOL);
    let mut pins = Pins::default();
    pins.insert(&server, identity, TOOL, digest, 10);
    let mut lock = LockFile::default();
    let judged =
        |pins: &Pins, lock: &LockFile| evaluate_pin(pins, Some(lock), Posture::Governed, &here);
    assert_eq!(judged(&pins, &lock), PinStatus::NotLocked);

    let mut locked = LockedServer::of(&ServerSpec::new(server.clone(), TransportSpec::BuiltIn));
    lock.servers.insert("git".into(), locked.clone());
    assert_eq!(judged(&pins, &lock), PinStatus::NotLocked);
    locked.add(CapabilityKind::Tool, "push", Digest::of(b"another"));
    lock.servers.insert("git".into(), locked.clone());
    assert_eq!(judged(&pins, &lock), PinStatus::NotAsLocked);
    locked.tools.insert("push".into(), digest);
    lock.servers.insert("git".into(), locked);
    assert_eq!(judged(&pins, &lock), PinStatus::Pinned);
    assert_eq!(judged(&Pins::default(), &lock), PinStatus::Unapproved);
}

#[test]
fn a_refusal_names_what_is_meant_and_no_command() {
    let (server, identity, digest) = (server(), Digest::of(b"id"), Digest::of(b"def"));
    let odd = Some((CapabilityKind::Tool, "it's odd"));
    let changed = PinStatus::Changed { was: digest };
    let said = changed.refusal(&subject(&server, &identity, &digest, odd)).unwrap();
    assert!(said.contains(r#"the tool "it's odd" of `git`"#), "{said}");
    assert!(!said.contains("toolgate"), "{said}");
    assert!(said.contains("changed since it was approved"));
    assert_eq!(PinStatus::Pinned.refusal(&subject(&server, &identity, &digest, odd)), None);
}

#[test]
fn a_server_that_goes_on_renaming_is_pinned_to_a_limit_and_leaves_room_for_others() {
    let digest = crate::definition_digest(CapabilityKind::Tool, b"{}");
    let mut pins = Pins::default();
    let mut pinned = |server: &str, bytes: u64| {
        let (server, identity) = (ServerName::new(server).unwrap(), digest);
        let mut count = 0;
        for number in 0..5000 {
            let name = format!("tool-{number}");
            let capability = Some((CapabilityKind::Tool, name.as_str()));
            let (identity_of, digest_of) = (&identity, &digest);
            let subject = PinSubject {
                server: &server,
                identity: identity_of,
                capability,
                digest: digest_of,
            };
            match evaluate_pin(&pins, None, Posture::Personal, &subject) {
                PinStatus::New => pins.insert(&server, identity, capability, digest, bytes),
                PinStatus::TooMany => break,
                other => panic!("{other:?}"),
            }
            count += 1;
        }
        count
    };
    assert_eq!(pinned("restless", 100), 4096);
    assert_eq!(pinned("large", 512 << 10), 32);
    for number in 0..20 {
        pinned(&format!("more-{number}"), 100);
    }
    assert_eq!(pinned("late", 100), 256, "something is left for each");
}
