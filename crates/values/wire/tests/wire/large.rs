//! The skeleton parser accepts what an ordinary scan accepts, and the values it removes can be put
//! back.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use proptest::{collection::vec, prelude::*, sample::Index};
use toolgate_wire::large::{
    DetachedValueKind, DetachedValues, LargeResponseReader, MessageChunk, MessageChunks,
    MessageSkeleton, PlaceholderToken, SkeletonError, SkeletonParser,
};
use toolgate_wire::{Frame, MessageLimits, WireErrorKind, scan};

use crate::strategies;

/// The number of cases: a tenth in an ordinary run.
fn cases(soak: u32) -> ProptestConfig {
    let whole = std::env::var_os("TOOLGATE_SOAK").is_some();
    ProptestConfig::with_cases(if whole { soak } else { soak / 10 })
}

fn token() -> PlaceholderToken {
    PlaceholderToken::new(*b"nobody knows")
}

fn sift(
    message: &[u8],
    step: usize,
    limits: &MessageLimits,
) -> Result<MessageSkeleton, SkeletonError> {
    let mut sieve = SkeletonParser::new(limits, token());
    message.chunks(step.max(1)).try_for_each(|piece| sieve.push(piece))?;
    sieve.finish()
}

/// A message source in memory, where production code uses a spool file.
#[derive(Debug)]
struct Memory(Vec<u8>);

impl LargeResponseReader for Memory {
    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        let from = usize::try_from(at).unwrap();
        into.copy_from_slice(&self.0[from..from + into.len()]);
        Ok(())
    }
}

fn aside(message: &[u8], sifted: &MessageSkeleton) -> Arc<DetachedValues> {
    Arc::new(DetachedValues::new(
        token(),
        sifted.detached.clone(),
        Arc::new(Memory(message.to_vec())),
    ))
}

fn refilled(aside: &Arc<DetachedValues>, skeleton: &Bytes) -> Vec<u8> {
    let mut whole = Vec::new();
    for piece in MessageChunks::new(skeleton.clone(), Some(aside.clone())) {
        match piece {
            MessageChunk::Text(text) => whole.extend_from_slice(&text),
            MessageChunk::Detached(hole) => {
                let mut value = vec![0; hole.len as usize];
                aside.source().read_at(u64::from(hole.start), &mut value).unwrap();
                whole.extend_from_slice(&value);
            }
        }
    }
    whole
}

/// Checks that both parsers agree on one message.
fn agree(message: &[u8], step: usize, limits: &MessageLimits) -> Result<(), TestCaseError> {
    let ordinary = Frame::parse(Bytes::copy_from_slice(message), limits);
    let text = String::from_utf8_lossy(message);
    let sifted = match sift(message, step, limits) {
        Err(SkeletonError::Unfit) => return Ok(()),
        Err(SkeletonError::Invalid(fault)) => {
            prop_assert!(ordinary.is_err(), "{fault} only from the skeleton parser: {text}");
            return Ok(());
        }
        Ok(sifted) => sifted,
    };
    let skeleton = Frame::parse(sifted.skeleton.clone(), limits);
    match (&ordinary, &skeleton) {
        (Ok(ordinary), Ok(skeleton)) => {
            prop_assert_eq!(ordinary.kind(), skeleton.kind());
            prop_assert_eq!(
                ordinary.id().map(|id| id.to_owned()),
                skeleton.id().map(|id| id.to_owned())
            );
            prop_assert_eq!(ordinary.result_type(), skeleton.result_type());
        }
        (Err(ordinary), Err(skeleton)) => {
            prop_assert_eq!(ordinary.code(), skeleton.code(), "{}", text);
        }
        _ => prop_assert!(false, "{ordinary:?} but {skeleton:?}: {text}"),
    }
    let aside = aside(message, &sifted);
    prop_assert_eq!(refilled(&aside, &sifted.skeleton), message);
    prop_assert_eq!(aside.expanded_len(&sifted.skeleton), message.len() as u64);
    Ok(())
}

/// A value with some of its strings made long.
fn long_value() -> impl Strategy<Value = String> {
    let body = strategies::string().prop_map(|raw| raw[1..raw.len() - 1].to_owned());
    (strategies::value(), vec((any::<Index>(), body, 0..9000_usize), 0..4)).prop_map(
        |(mut json, inflations)| {
            for (index, body, times) in inflations {
                let quotes: Vec<_> = json.match_indices("\"").map(|(at, _)| at).collect();
                if quotes.is_empty() {
                    continue;
                }
                // After any quote it is inside a string or breaks the JSON; both cases are wanted.
                let at = quotes[index.index(quotes.len())] + 1;
                json.insert_str(at, &body.repeat(times));
            }
            json
        },
    )
}

fn answer() -> impl Strategy<Value = String> {
    let plain = (long_value(), long_value()).prop_map(|(content, structured)| {
        format!(
            r#"{{"jsonrpc":"2.0","id":7,"result":{{"content":[{content}],"structuredContent":{structured},"resultType":"complete"}}}}"#
        )
    });
    let odd = (long_value(), any::<bool>()).prop_map(|(value, first)| match first {
        true => format!(r#"{{"result":{value},"jsonrpc":"2.0","id":"x"}}"#),
        false => format!(r#"{{"jsonrpc":"2.0","method":"m","params":{{"a":{value}}}}}"#),
    });
    prop_oneof![3 => plain, 1 => odd]
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn long_answers_are_judged_alike_and_come_back_whole(message in answer(), step in 1..300_000_usize) {
        agree(message.as_bytes(), step, &MessageLimits::default())?;
    }
}

proptest! {
    #![proptest_config(cases(100_000))]

    #[test]
    fn nearly_json_is_judged_alike(bytes in strategies::nearly_json(), step in 1..40_usize) {
        let whole = [b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":", &bytes[..], b"}"].concat();
        agree(&whole, step, &MessageLimits::default())?;
        agree(&bytes, step, &MessageLimits::default())?;
        let tight = MessageLimits { depth: 4, nodes: 12, bytes: 90, ..MessageLimits::default() };
        agree(&whole, step, &tight)?;
    }
}

#[test]
fn what_decides_stays_and_what_is_long_goes() {
    let long = "x".repeat(70_000);
    let rows = r#"{"row":"some text"},"#.repeat(5_000);
    let message = format!(
        r#"{{"jsonrpc":"2.0","id":7,"result":{{"content":[{{"type":"text","text":"{long}"}},{{"type":"resource_link","uri":"file:///a"}}],"structuredContent":{{"rows":[{rows}1]}},"isError":false}}}}"#
    );
    let sifted = sift(message.as_bytes(), 1000, &MessageLimits::default()).unwrap();
    assert!(sifted.skeleton.len() < 400, "{}", String::from_utf8_lossy(&sifted.skeleton));
    let forms: Vec<_> = sifted.detached.iter().map(|hole| hole.kind).collect();
    assert_eq!(forms, [DetachedValueKind::Text, DetachedValueKind::Object]);
    let aside = aside(message.as_bytes(), &sifted);
    let frame = Frame::parse(sifted.skeleton, &MessageLimits::default()).unwrap();
    let result = frame.result().unwrap();
    let text = scan::pointer(result, &["structuredContent"]).unwrap().slice(result);
    assert!(text.starts_with(b"{"), "an object still looks like one");
    assert_eq!(
        aside.value_len(text),
        message.len() as u64 - message.find("{\"rows").unwrap() as u64 - 18
    );
    assert_eq!(aside.resolve_placeholder(b"\"~nothing.0\""), None);
    let uris = scan::elements(scan::member(result, "content").unwrap().slice(result)).count();
    assert_eq!(uris, 2);
}

#[test]
fn an_edit_keeps_what_lies_beside() {
    let long = "y".repeat(70_000);
    let message = format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{"a":"{long}","b":1}}}}"#);
    let sifted = sift(message.as_bytes(), 4096, &MessageLimits::default()).unwrap();
    let aside = aside(message.as_bytes(), &sifted);
    let frame = Frame::parse(sifted.skeleton, &MessageLimits::default())
        .unwrap()
        .with_detached(Some(aside));
    let result = frame.result_span().unwrap();
    let edited = frame
        .edit()
        .replace_found(frame.id_span(), "8")
        .delete_member(result, "b")
        .finish_frame()
        .unwrap();
    let aside = edited.detached_values().expect("it goes with the message").clone();
    assert_eq!(
        refilled(&aside, edited.bytes()),
        format!(r#"{{"jsonrpc":"2.0","id":8,"result":{{"a":"{long}"}}}}"#).into_bytes()
    );
}

#[test]
fn many_blocks_leave_a_small_skeleton() {
    let block = format!(r#"{{"type":"text","text":"{}"}},"#, "z".repeat(900));
    let message =
        format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{}1]}}}}"#, block.repeat(50_000));
    let limits = MessageLimits { bytes: MessageLimits::MAX_BYTES, ..MessageLimits::default() };
    let sifted = sift(message.as_bytes(), 1 << 16, &limits).unwrap();
    assert!(sifted.skeleton.len() < 4 << 20, "{}", sifted.skeleton.len());
    let aside = aside(message.as_bytes(), &sifted);
    assert!(refilled(&aside, &sifted.skeleton) == message.as_bytes());
}

#[test]
fn limits_hold_for_what_is_kept_out() {
    let limits = MessageLimits { nodes: 1000, ..MessageLimits::default() };
    let many = format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{"structuredContent":[{}0]}}}}"#,
        "0,".repeat(60_000)
    );
    let stop = sift(many.as_bytes(), 4096, &limits).unwrap_err();
    assert!(matches!(stop, SkeletonError::Invalid(WireErrorKind::TooManyNodes(_))), "{stop:?}");
    let deep = format!(r#"{{"jsonrpc":"2.0","id":5,"result":{}"#, "[".repeat(100));
    let stop = sift(deep.as_bytes(), 7, &limits).unwrap_err();
    assert!(matches!(stop, SkeletonError::Invalid(WireErrorKind::TooDeep(_))), "{stop:?}");
    assert_eq!(stop.into_wire_error(deep.as_bytes()).unwrap().id().unwrap().raw(), "5");
}

#[test]
fn what_is_no_single_answer_is_read_otherwise() {
    for message in ["[{}]", " 7", "\"x\""] {
        assert_eq!(
            sift(message.as_bytes(), 1, &MessageLimits::default()).unwrap_err(),
            SkeletonError::Unfit
        );
    }
    let params = format!(r#"{{"method":"m","params":{{"a":"{}"}}}}"#, "x".repeat(7 << 20));
    assert_eq!(
        sift(params.as_bytes(), 1 << 16, &MessageLimits::default()).unwrap_err(),
        SkeletonError::Unfit
    );
}
