//! Measures how long one message takes to parse: `cargo run --release -p toolgate-wire --example
//! scan_speed`.
//!
//! Prints the best of several rounds, to exclude the noise of the machine.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use bytes::Bytes;
use toolgate_wire::{Frame, MessageLimits, build};

fn main() {
    let call = br#"{"jsonrpc":"2.0","id":12345,"method":"tools/call","params":{"name":"files__read_file","arguments":{"path":"src/main.rs","limit":200},"_meta":{"progressToken":7}}}"#;
    let text = "The quick brown fox jumps over the lazy dog. ".repeat(1457);
    let long = build::response(
        "1",
        format!(r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#).as_bytes(),
    );
    let tool = r#"{"name":"read_file","title":"Read a file","description":"Reads a file and returns its content as text.","inputSchema":{"type":"object","properties":{"path":{"type":"string","description":"Where the file is"},"limit":{"type":"integer","minimum":1}},"required":["path"]},"annotations":{"readOnlyHint":true}}"#;
    let list =
        build::response("1", format!(r#"{{"tools":[{}]}}"#, vec![tool; 1000].join(",")).as_bytes());

    let call = Bytes::from_static(call);
    report("request", &call, |call| {
        drop(black_box(Frame::parse(call.clone(), &MessageLimits::default())))
    });
    report("64 KiB string", &long, |long| {
        drop(black_box(Frame::parse(long.clone(), &MessageLimits::default())))
    });
    report("1000 tools", &list, |list| {
        drop(black_box(Frame::parse(list.clone(), &MessageLimits::default())))
    });
    if let Ok(frame) = Frame::parse(call.clone(), &MessageLimits::default()) {
        report("splice of id and name", &call, |_| {
            drop(black_box(
                frame
                    .edit()
                    .replace_found(frame.id_span(), "1")
                    .replace_found(frame.name_span(), "\"read_file\"")
                    .finish(),
            ));
        });
    }
}

fn report(what: &str, bytes: &Bytes, work: impl Fn(&Bytes)) {
    let round = || {
        let mut times = 0_u32;
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(50) {
            (0..32).for_each(|_| work(bytes));
            times += 32;
        }
        start.elapsed().as_secs_f64() * 1e6 / f64::from(times)
    };
    let best = (0..10).map(|_| round()).fold(f64::INFINITY, f64::min);
    let rate = bytes.len() as f64 / best / 1000.0;
    println!("{what:<22} {:>7} bytes {best:>9.3} µs {rate:>6.2} GB/s", bytes.len());
}
