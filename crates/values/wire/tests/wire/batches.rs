//! Batches: each message is checked on its own and none is copied.

use bytes::Bytes;
use proptest::prelude::*;
use toolgate_wire::{MessageKind, MessageLimits, MessageOrBatch, WireError, WireErrorKind, build};

use crate::strategies;

fn parse(json: impl Into<Bytes>) -> Result<MessageOrBatch, WireError> {
    MessageOrBatch::parse(json.into(), &MessageLimits::default())
}

#[test]
fn a_single_message_is_no_batch() {
    let one = parse(" {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}").unwrap();
    assert!(matches!(one, MessageOrBatch::One(frame) if frame.kind() == MessageKind::Request));
}

#[test]
fn an_empty_batch_is_refused() {
    for json in ["[]", " [ ] "] {
        assert_eq!(parse(json).unwrap_err().kind(), WireErrorKind::EmptyBatch);
        assert_eq!(parse(json).unwrap_err().code(), -32600);
    }
}

#[test]
fn a_batch_that_is_not_json_is_refused_whole() {
    for json in ["[", "[1", r#"[{"jsonrpc":"2.0","id":1,"method":"x"},]"#, "[{}] x", "[{]"] {
        assert_eq!(parse(json).unwrap_err().code(), -32700, "{json}");
    }
}

#[test]
fn one_bad_message_does_not_spoil_the_others() {
    let json = r#"[ {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}} , 7,
        {"jsonrpc":"2.0","id":2,"method":"x","params":{"a":1,"a":2}},
        [], {"jsonrpc":"2.0","method":"n"}, {"id":9} ]"#;
    let MessageOrBatch::Batch(frames) = parse(json).unwrap() else { panic!("a batch") };
    let told: Vec<_> = frames
        .iter()
        .map(|frame| match frame {
            Ok(frame) => format!("{:?}", frame.kind()),
            Err(error) => format!("{:?} {:?}", error.id(), error.code()),
        })
        .collect();
    let expected = [
        "Request",
        "None -32600",
        "Some(2) -32600",
        "None -32600",
        "Notification",
        "Some(9) -32600",
    ];
    assert_eq!(told, expected);
    assert_eq!(frames[0].as_ref().unwrap().name().unwrap(), "a");
}

#[test]
fn a_batch_has_a_largest_size() {
    let json = format!("[{}]", vec!["0"; 1001].join(","));
    assert_eq!(parse(json).unwrap_err().kind(), WireErrorKind::TooManyMessages);
}

proptest! {
    #[test]
    fn the_parts_of_a_batch_are_the_messages_it_was_made_of(
        params in proptest::collection::vec(strategies::members(), 1..8),
    ) {
        let messages: Vec<Bytes> = params
            .iter()
            .enumerate()
            .map(|(n, params)| build::request(&n.to_string(), "m", Some(params.as_bytes())))
            .collect();
        let whole = build::batch(&messages);
        let range = whole.as_ptr_range();
        let MessageOrBatch::Batch(frames) = parse(whole).unwrap() else { panic!("a batch") };
        prop_assert_eq!(frames.len(), messages.len());
        for (n, (frame, message)) in frames.iter().zip(&messages).enumerate() {
            let frame = frame.as_ref().unwrap();
            prop_assert_eq!(frame.bytes(), message);
            prop_assert!(range.contains(&frame.bytes().as_ptr()), "not a copy");
            prop_assert_eq!(frame.id().unwrap().as_u64(), Some(n as u64));
            prop_assert_eq!(frame.params().unwrap(), params[n].as_bytes());
        }
    }
}
