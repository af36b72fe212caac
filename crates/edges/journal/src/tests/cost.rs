//! What a record costs. Nothing is asserted about time: run it with `--release --no-capture`.

use std::time::Instant;

use toolgate_model::{Digest, Mask};

use super::{decided, tool};
use crate::chain::{ChainHead, RecordTime};
use crate::{JournalEvent, JournalOutcome, JournalRecord, body};

/// Two records, as a call has them.
#[test]
fn the_cost_of_a_call_is_printed() {
    const CALLS: u64 = 20_000;
    let about = tool();
    let arguments = format!(
        r#"{{"path":"/srv/projects/app/src/lib.rs","options":{{"follow":true,"limit":200}},"text":"{}"}}"#,
        "some words of a text that is neither long nor short ".repeat(3)
    );
    let digest = Digest::of(arguments.as_bytes());
    let mask = Mask::new((0..10).map(|n| format!("canary-{n}-of-some-length")));
    let (mut head, mut bodies, mut lines) = (ChainHead::start_of("c"), Vec::new(), Vec::new());
    let begun = Instant::now();
    for call in 0..CALLS {
        let mut first = decided(&about, arguments.as_bytes(), call);
        if let JournalEvent::Decided { definition, arguments_digest, .. } = &mut first.event {
            (*definition, *arguments_digest) = (Some(&digest), Some(&digest));
        }
        let event = JournalEvent::Done {
            outcome: JournalOutcome::Ok,
            detail: "",
            micros: 1200,
            bytes: 4096,
        };
        for record in [first, JournalRecord { event, ..first }] {
            bodies.clear();
            body::write(&record, &mask, &mut bodies);
            lines.clear();
            head.push(&bodies, RecordTime { ms: 1_794_823_373_123, mono: call }, &mut lines);
        }
    }
    assert_eq!(head.seq, 2 * CALLS);
    let each = begun.elapsed().as_nanos() as f64 / (2 * CALLS) as f64;
    println!("a record of two: {each:.0} ns; the last is {} bytes long", lines.len());
}
