//! Whatever request is accepted: relayed with another id, name and token, it differs in nothing
//! else, and taking the changes back yields the bytes that came, but for the space before the
//! member that followed what is taken out: a member goes with the space behind its comma.
#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use toolgate_wire::{Frame, MessageKind, MessageLimits};

fuzz_target!(|input: &[u8]| {
    let limits = MessageLimits::default();
    let Ok(frame) = Frame::parse(Bytes::copy_from_slice(input), &limits) else { return };
    let (MessageKind::Request, Some(id)) = (frame.kind(), frame.id()) else { return };
    let mut edit = frame.edit().replace_found(frame.id_span(), "4711");
    if frame.name_span().is_some() {
        edit = edit.replace_found(frame.name_span(), "\"other\"");
    }
    edit = edit.insert_member(frame.span(), "added by the fuzzer", "[{}]");
    let changed = match edit.finish().and_then(|bytes| Frame::parse(bytes, &limits)) {
        Ok(changed) => changed,
        // The key may have been there already.
        Err(_) if String::from_utf8_lossy(input).contains("added") => return,
        Err(error) => panic!("{error}"),
    };
    assert_eq!(changed.id().and_then(|id| id.as_u64()), Some(4711));
    assert_eq!(changed.method(), frame.method());

    let mut back = changed.edit().replace_found(changed.id_span(), id.raw());
    if let Some(name) = frame.name_span() {
        assert_eq!(changed.name().as_deref(), Some("other"));
        back = back.replace_found(changed.name_span(), name.slice(frame.bytes()));
    }
    back = back.delete_member(changed.span(), "added by the fuzzer");
    let back = back.finish().expect("edits that fit");
    let (head, rest) = frame.bytes().split_at(frame.span().start() + 1);
    assert_eq!(back, [head, rest.trim_ascii_start()].concat());
});
