//! Whatever arrives: what is accepted means to serde_json what the frame says it means.
#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use toolgate_wire::{Frame, MessageLimits, MessageOrBatch, scan};

fuzz_target!(|input: &[u8]| {
    let limits = MessageLimits::default();
    if let Ok(value) = serde_json::from_slice::<Value>(input) {
        // The two may differ on depth alone: serde_json's own limit is close to our widest.
        assert!(scan::is_valid(input), "refused {value}");
    }
    match MessageOrBatch::parse(Bytes::copy_from_slice(input), &limits) {
        Ok(MessageOrBatch::One(frame)) => same(&frame),
        Ok(MessageOrBatch::Batch(frames)) => frames.iter().flatten().for_each(same),
        Err(_) => {}
    }
    let _ = Frame::peek_id(input);
    scan::members(input).for_each(drop);
    scan::elements(input).for_each(drop);
});

/// The frame's members are those an independent parser finds in the same bytes.
fn same(frame: &Frame) {
    let Ok(value) = serde_json::from_slice::<Value>(frame.bytes()) else {
        // Legal JSON it cannot hold: a number beyond the range of doubles.
        return;
    };
    assert_eq!(frame.method().as_deref(), value["method"].as_str());
    for (raw, key) in
        [(frame.params(), "params"), (frame.result(), "result"), (frame.error(), "error")]
    {
        let own = raw.map(|raw| serde_json::from_slice(raw).expect("a value"));
        assert_eq!(own.as_ref(), value.get(key), "{key}");
    }
    if let Some(id) = frame.id() {
        assert_eq!(serde_json::from_str::<Value>(id.raw()).ok().as_ref(), value.get("id"));
    }
    if let ("tools/call", Some(name)) = (frame.method().as_deref().unwrap_or(""), frame.name()) {
        assert_eq!(value["params"]["name"].as_str(), Some(&*name));
    }
}
