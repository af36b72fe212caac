//! Any text, as HTML.
#![no_main]

mod reading;

use libfuzzer_sys::fuzz_target;
use toolgate_reading::DocumentFormat;

fuzz_target!(|input: &[u8]| reading::check(DocumentFormat::Html, input));
