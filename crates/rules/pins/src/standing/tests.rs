//! How a definition stands, for every posture, pin and lock.

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
) -> Subject<'a> {
    Subject { server, identity, capability, digest }
}

const TOOL: Option<(CapabilityKind, &str)> = Some((CapabilityKind::Tool, "push"));

#[test]
fn what_was_never_seen_is_new_to_one_person_and_unapproved_where_somebody_governs() {
    let (server, identity, digest) = (server(), Digest::of(b"id"), Digest::of(b"def"));
    let subject = subject(&server, &identity, &digest, TOOL);
    let pins = Pins::default();
    assert_eq!(standing(&pins, None, Posture::Personal, &subject), Standing::New);
    assert_eq!(standing(&pins, None, Posture::Governed, &subject), Standing::Unapproved);
    assert!(Standing::New.is_usable() && !Standing::Unapproved.is_usable());
}

#[test]
fn what_is_pinned_holds_for_one_identity_and_one_digest() {
    let (server, identity, digest) = (server(), Digest::of(b"id"), Digest::of(b"def"));
    let mut pins = Pins::default();
    pins.insert(&server, identity, TOOL, digest);
    for posture in Posture::ALL {
        let now = |identity, digest, capability| {
            standing(&pins, None, posture, &subject(&server, identity, digest, capability))
        };
        assert_eq!(now(&identity, &digest, TOOL), Standing::Pinned);
        let other = Digest::of(b"other");
        assert_eq!(now(&identity, &other, TOOL), Standing::Changed { was: digest });
        let elsewhere = now(&other, &digest, TOOL);
        assert!(matches!(elsewhere, Standing::New | Standing::Unapproved), "{elsewhere:?}");
        assert_ne!(
            now(&identity, &digest, Some((CapabilityKind::Prompt, "push"))),
            Standing::Pinned
        );
    }
    pins.remove(&server, identity, TOOL);
    assert_eq!(
        standing(&pins, None, Posture::Personal, &subject(&server, &identity, &digest, TOOL)),
        Standing::New
    );
}

#[test]
fn resources_stand_and_fall_with_their_server() {
    let (server, identity, digest) = (server(), Digest::of(b"id"), Digest::of(b"def"));
    let resource = subject(&server, &identity, &digest, Some((CapabilityKind::Resource, "a:b")));
    let mut pins = Pins::default();
    assert_eq!(standing(&pins, None, Posture::Personal, &resource), Standing::Pinned);
    assert_eq!(standing(&pins, None, Posture::Governed, &resource), Standing::Unapproved);
    pins.insert(&server, identity, None, crate::instructions_digest(""));
    assert_eq!(standing(&pins, None, Posture::Governed, &resource), Standing::Pinned);
}

#[test]
fn a_lock_only_tightens() {
    let (server, identity, digest) = (server(), Digest::of(b"id"), Digest::of(b"def"));
    let here = subject(&server, &identity, &digest, TOOL);
    let mut pins = Pins::default();
    pins.insert(&server, identity, TOOL, digest);
    let mut lock = Lock::default();
    let judged = |pins: &Pins, lock: &Lock| standing(pins, Some(lock), Posture::Governed, &here);
    assert_eq!(judged(&pins, &lock), Standing::NotLocked);

    let mut locked = LockedServer::of(&ServerSpec::new(server.clone(), TransportSpec::BuiltIn));
    lock.servers.insert("git".into(), locked.clone());
    assert_eq!(judged(&pins, &lock), Standing::NotLocked);
    locked.add(CapabilityKind::Tool, "push", Digest::of(b"another"));
    lock.servers.insert("git".into(), locked.clone());
    assert_eq!(judged(&pins, &lock), Standing::NotAsLocked);
    locked.tools.insert("push".into(), digest);
    lock.servers.insert("git".into(), locked);
    assert_eq!(judged(&pins, &lock), Standing::Pinned);
    assert_eq!(judged(&Pins::default(), &lock), Standing::Unapproved);
}

#[test]
fn a_refusal_says_what_to_type() {
    let (server, identity, digest) = (server(), Digest::of(b"id"), Digest::of(b"def"));
    let odd = Some((CapabilityKind::Tool, "it's odd"));
    let changed = Standing::Changed { was: digest };
    let said = changed.refusal(&subject(&server, &identity, &digest, odd)).unwrap();
    assert!(said.contains(r"`toolgate pins approve git 'it'\''s odd'`"), "{said}");
    assert!(said.contains("changed since it was approved"));
    assert_eq!(Standing::Pinned.refusal(&subject(&server, &identity, &digest, odd)), None);
}
